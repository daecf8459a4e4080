"""Lists of tolerations: merging, and checking against allowed ones.

kube: pkg/util/tolerations/tolerations.go @ v1.34.1
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from scheduler_core.apimachinery.objects import Manifest, is_extended_name
from scheduler_core.apimachinery.objects.demand import BEST_EFFORT, qos_class
from scheduler_core.apiserver.admission.plugin import AdmissionPlugin, Request
from scheduler_core.apiserver.options import APIServerOptions
from scheduler_core.apiserver.rewriting import with_section
from scheduler_core.apiserver.status import unknown_error
from scheduler_core.apiserver.store import Store

# DefaultTolerationSeconds: pods tolerate nodes that are not ready or unreachable for a time, unless they have such tolerations.
# kube: plugin/pkg/admission/defaulttolerationseconds/admission.go @ v1.34.1

NOT_READY, UNREACHABLE = "node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"


class DefaultTolerationSeconds(AdmissionPlugin):
    name = "DefaultTolerationSeconds"
    pods_by_spec = True

    def admit(self, request: Request, manifest: Manifest) -> Manifest:
        if not request.writes_pod:
            return manifest
        tolerations = manifest["spec"].get("tolerations") or []
        added = [
            each
            for each in build_default_tolerations(request.options)
            if not any(_covers(toleration, each["key"]) for toleration in tolerations)
        ]
        return with_section(manifest, "spec", {"tolerations": [*tolerations, *added]}) if added else manifest


def build_default_tolerations(options: APIServerOptions) -> list[Manifest]:
    """Build the tolerations that DefaultTolerationSeconds adds to pods without tolerations for these taints."""
    seconds = {NOT_READY: options.not_ready_toleration_seconds, UNREACHABLE: options.unreachable_toleration_seconds}
    return [
        {"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": each}
        for key, each in seconds.items()
    ]


def _covers(toleration: Manifest, key: str) -> bool:
    return (toleration.get("key") or key) == key and (toleration.get("effect") or "NoExecute") == "NoExecute"


# ExtendedResourceToleration: pods that request extended resources tolerate the taint of dedicated nodes. Off by default.
# kube: plugin/pkg/admission/extendedresourcetoleration/admission.go @ v1.34.1


class ExtendedResourceToleration(AdmissionPlugin):
    name = "ExtendedResourceToleration"
    on_by_default = False
    pods_by_spec = True

    def admit(self, request: Request, manifest: Manifest) -> Manifest:
        if not request.writes_pod:
            return manifest
        spec = manifest["spec"]
        own = spec.get("tolerations") or []
        tolerations = list(own)
        for name in _list_extended_resources(spec):
            tolerations = _with({"key": name, "operator": "Exists", "effect": "NoSchedule"}, tolerations)
        return manifest if tolerations == own else with_section(manifest, "spec", {"tolerations": tolerations})


def _list_extended_resources(spec: Manifest) -> list[str]:
    containers = (*(spec.get("containers") or ()), *(spec.get("initContainers") or ()))
    names = {
        name
        for each in containers
        for name in (each.get("resources") or {}).get("requests") or ()
        if is_extended_name(name)
    }
    return sorted(names)


def _with(added: dict[str, Any], tolerations: list[Any]) -> list[Any]:
    """Return the list with a toleration, which replaces those for the same taints."""
    alike = [are_alike(added, each) for each in tolerations]
    if not any(alike):
        return [*tolerations, added]
    return [added if same else each for each, same in zip(tolerations, alike, strict=True)]


def are_alike(one: Manifest, other: Manifest) -> bool:
    """Return whether two tolerations are for the same taints."""
    return all((one.get(name) or "") == (other.get(name) or "") for name in ("key", "effect", "operator", "value"))


# TaintNodesByCondition: a new node has the taint not-ready, so that no pod is bound before the node controller has processed it.
#
# The node controller has already processed an imported node.
# kube: plugin/pkg/admission/nodetaint/admission.go @ v1.34.1

TAINT = {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}


class TaintNodesByCondition(AdmissionPlugin):
    name = "TaintNodesByCondition"

    def admit(self, request: Request, manifest: Manifest) -> Manifest:
        if request.kind.key != "Node" or request.operation != "CREATE" or request.imported:
            return manifest
        taints = (manifest.get("spec") or {}).get("taints") or []
        if any(all(taint.get(name) == value for name, value in TAINT.items()) for taint in taints):
            return manifest
        return with_section(manifest, "spec", {"taints": [*taints, dict(TAINT)]})


Toleration = Mapping[str, Any]


def merge_tolerations(first: Sequence[Toleration], second: Sequence[Toleration]) -> list[Toleration]:
    """Return both lists without tolerations that another one covers."""
    everything = [*first, *second]
    kept: list[Toleration] = []
    for i, each in enumerate(everything):
        if any(covers(other, each) for other in kept):
            continue
        if any(not _same(each, other) and covers(other, each) for other in everything[i + 1 :]):
            continue
        kept.append(each)
    return kept


def within(tolerations: Sequence[Toleration], allowed: Sequence[Toleration]) -> bool:
    """Return whether each toleration is covered by an allowed one; an empty list allows all."""
    return not allowed or all(any(covers(other, each) for other in allowed) for each in tolerations)


def covers(wide: Toleration, narrow: Toleration) -> bool:
    """Return whether the first toleration tolerates at least as much as the second."""
    if _same(wide, narrow):
        return True
    operator, effect = wide.get("operator") or "", wide.get("effect") or ""
    key = wide.get("key") or ""
    if (narrow.get("key") or "") != key and (key or operator != "Exists"):
        return False
    if effect and (narrow.get("effect") or "") != effect:
        return False
    if effect == "NoExecute" and wide.get("tolerationSeconds") is not None:
        seconds = narrow.get("tolerationSeconds")
        if seconds is None or seconds > wide["tolerationSeconds"]:
            return False
    if operator == "Exists":
        return True
    return (
        operator in ("", "Equal")
        and narrow.get("operator") == "Equal"
        and (narrow.get("value") or "") == (wide.get("value") or "")
    )


def _same(one: Toleration, other: Toleration) -> bool:
    return _plain(one) == _plain(other)


def _plain(toleration: Toleration) -> dict[str, Any]:
    return {name: value for name, value in toleration.items() if value not in (None, "")}


# PodTolerationRestriction: adds a namespace's tolerations to its pods, and limits the allowed ones. Off by default.
#
# A pod that is not best-effort tolerates memory pressure; only this plugin adds that toleration.
# kube: plugin/pkg/admission/podtolerationrestriction/admission.go @ v1.34.1

DEFAULTS = "scheduler.alpha.kubernetes.io/defaultTolerations"
ALLOWED = "scheduler.alpha.kubernetes.io/tolerationsWhitelist"
MEMORY_PRESSURE = {"key": "node.kubernetes.io/memory-pressure", "operator": "Exists", "effect": "NoSchedule"}
_CONFLICT = "pod tolerations (possibly merged with namespace default tolerations) conflict with its namespace whitelist"


class PodTolerationRestriction(AdmissionPlugin):
    name = "PodTolerationRestriction"
    on_by_default = False
    pods_by_spec = True

    def admit(self, request: Request, manifest: Manifest) -> Manifest:
        if not request.writes_pod:
            return manifest
        extra: list[Toleration] = []
        if request.operation == "CREATE":
            extra += _of_namespace(request, DEFAULTS)
        known = (manifest.get("status") or {}).get("qosClass") if request.old else None
        if (known or qos_class(manifest["spec"])) != BEST_EFFORT:
            extra.append(MEMORY_PRESSURE)
        if not extra:
            return manifest
        own = manifest["spec"].get("tolerations") or []
        tolerations = merge_tolerations(own, extra)
        return manifest if tolerations == own else with_section(manifest, "spec", {"tolerations": tolerations})

    def validate(self, request: Request, manifest: Manifest) -> None:
        if not request.writes_pod:
            return
        own = manifest["spec"].get("tolerations") or []
        if own and not within(own, _of_namespace(request, ALLOWED)):
            raise unknown_error(_CONFLICT, request.what)


def _of_namespace(request: Request, annotation: str) -> list[Toleration]:
    try:
        return read_annotation(request.store, request.namespace, annotation)
    except ValueError as error:
        raise unknown_error(f"{annotation}: {error}", request.what) from error


def read_annotation(store: Store, namespace: str, annotation: str) -> list[Toleration]:
    """Return the tolerations in a namespace's annotation, or none without it. Raise ValueError if it is no list of tolerations."""
    there = store.get("Namespace", "", namespace) or {"metadata": {}}
    text = (there["metadata"].get("annotations") or {}).get(annotation)
    listed: Any = json.loads(text) if text else []
    if not isinstance(listed, list) or not all(isinstance(each, dict) for each in listed):
        raise ValueError("expected a list of tolerations")
    return listed
