"""Workloads of extensions/v1beta1 and apps/v1beta1.

kube: pkg/apis/{extensions,apps}/v1beta1/{defaults,conversion}.go @ v1.17.17
"""

from __future__ import annotations

from typing import Any

from scheduler_core.apimachinery.objects.manifest import Manifest

_LARGEST = 2**31 - 1
_ROLLBACK = "deprecated.deployment.rollback.revision"
_GENERATION = "deprecated.daemonset.template.generation"


def add_template_labels(manifest: Manifest) -> Manifest:
    """Add the labels of the template, and a selector of them, where the manifest has none of its own."""
    spec = manifest.get("spec") or {}
    meta = manifest.get("metadata") or {}
    labels = ((spec.get("template") or {}).get("metadata") or {}).get("labels")
    if not labels:
        return manifest
    if spec.get("selector") is None:
        spec = {**spec, "selector": {"matchLabels": dict(labels)}}
    if not meta.get("labels"):
        meta = {**meta, "labels": dict(labels)}
    return {**manifest, "metadata": meta, "spec": spec}


def deployment_of_extensions(manifest: Manifest) -> Manifest:
    manifest = _deployment(manifest, 1)
    spec = manifest["spec"]
    defaults = {"progressDeadlineSeconds": _LARGEST, "revisionHistoryLimit": _LARGEST}
    return {**manifest, "spec": {**spec, **_missing(spec, defaults)}}


def deployment_of_apps(manifest: Manifest) -> Manifest:
    manifest = _deployment(manifest, "25%")
    spec = manifest["spec"]
    defaults = {"progressDeadlineSeconds": 600, "revisionHistoryLimit": 2}
    return {**manifest, "spec": {**spec, **_missing(spec, defaults)}}


def _deployment(manifest: Manifest, step: int | str) -> Manifest:
    """`step`: how many pods more and less there may be in a rolling update."""
    manifest = add_template_labels(manifest)
    spec = {name: value for name, value in (manifest.get("spec") or {}).items() if name != "rollbackTo"}
    strategy = dict(spec.get("strategy") or {})
    strategy["type"] = strategy.get("type") or "RollingUpdate"
    if strategy["type"] == "RollingUpdate":
        rolling = strategy.get("rollingUpdate") or {}
        missing = _missing(rolling, {"maxUnavailable": step, "maxSurge": step})
        strategy["rollingUpdate"] = {**rolling, **missing}
    spec["strategy"] = strategy
    back = (manifest.get("spec") or {}).get("rollbackTo")
    noted = manifest if back is None else _add_annotation(manifest, _ROLLBACK, back.get("revision") or 0)
    return {**noted, "spec": spec}


def daemon_set_of_extensions(manifest: Manifest) -> Manifest:
    manifest = add_template_labels(manifest)
    spec = {
        name: value for name, value in (manifest.get("spec") or {}).items() if name != "templateGeneration"
    }
    strategy = dict(spec.get("updateStrategy") or {})
    strategy["type"] = strategy.get("type") or "OnDelete"
    if strategy["type"] == "RollingUpdate":
        strategy["rollingUpdate"] = {"maxUnavailable": 1, **(strategy.get("rollingUpdate") or {})}
    generation = (manifest.get("spec") or {}).get("templateGeneration") or 0
    return {
        **_add_annotation(manifest, _GENERATION, generation),
        "spec": {**spec, "updateStrategy": strategy, **_missing(spec, {"revisionHistoryLimit": 10})},
    }


def stateful_set_of_apps(manifest: Manifest) -> Manifest:
    manifest = add_template_labels(manifest)
    spec = manifest.get("spec") or {}
    strategy = dict(spec.get("updateStrategy") or {})
    strategy["type"] = strategy.get("type") or "OnDelete"
    if strategy["type"] == "RollingUpdate" and strategy.get("rollingUpdate") is not None:
        strategy["rollingUpdate"] = {"partition": 0, **strategy["rollingUpdate"]}
    return {**manifest, "spec": {**spec, "updateStrategy": strategy}}


def _missing(given: Manifest, defaults: Manifest) -> dict[str, Any]:
    return {name: value for name, value in defaults.items() if given.get(name) is None}


def _add_annotation(manifest: Manifest, name: str, number: int) -> Manifest:
    meta = manifest.get("metadata") or {}
    annotations = {**(meta.get("annotations") or {}), name: str(number)}
    return {**manifest, "metadata": {**meta, "annotations": annotations}}
