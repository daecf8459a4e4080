"""What workloads' own fields must be, besides what they all share.

kube: pkg/apis/apps/validation/validation.go, pkg/apis/core/validation/validation.go @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduler_core.api.validation.budgets import deployment as deployment_fields
from scheduler_core.api.validation.budgets import int_or_percent
from scheduler_core.api.validation.checks import NOT_NEGATIVE, Errors
from scheduler_core.objects.errors import forbidden, invalid, not_supported, required
from scheduler_core.objects.names import label_errors

Manifest = Mapping[str, Any]
_NONE = (None, 0, "0%", "0")


def deployment(manifest: Manifest, errors: Errors) -> None:
    deployment_fields(manifest, errors)
    _long_running(manifest, "ReplicaSet", errors)


def replica_set(manifest: Manifest, errors: Errors) -> None:
    _selects_some(manifest, errors)
    _not_negative(manifest, ("minReadySeconds",), errors)
    _long_running(manifest, "ReplicaSet", errors)


def replication_controller(manifest: Manifest, errors: Errors) -> None:
    spec = manifest.get("spec") or {}
    selector = spec.get("selector")
    labels = ((spec.get("template") or {}).get("metadata") or {}).get("labels") or {}
    _not_negative(manifest, ("minReadySeconds", "replicas"), errors)
    if not selector:
        errors.append(required("spec.selector"))
    elif not selector.items() <= labels.items():
        detail = "`selector` does not match template `labels`"
        errors.append(invalid("spec.template.metadata.labels", dict(labels), detail))
    _long_running(manifest, "ReplicationController", errors)


def stateful_set(manifest: Manifest, errors: Errors) -> None:
    spec = manifest.get("spec") or {}
    _selects_some(manifest, errors)
    _not_negative(manifest, ("minReadySeconds", "revisionHistoryLimit"), errors)
    policy = spec.get("podManagementPolicy")
    if policy not in (None, "OrderedReady", "Parallel"):
        detail = "must be 'OrderedReady' or 'Parallel'"
        errors.append(invalid("spec.podManagementPolicy", policy, detail))
    _stateful_strategy(spec.get("updateStrategy") or {}, errors)
    for name, value in (spec.get("persistentVolumeClaimRetentionPolicy") or {}).items():
        if value not in ("Retain", "Delete"):
            where = f"spec.persistentVolumeClaimRetentionPolicy.{name}"
            errors.append(not_supported(where, value, ("Retain", "Delete")))
    start = (spec.get("ordinals") or {}).get("start") or 0
    if start < 0:
        errors.append(invalid("spec.ordinals.start", start, NOT_NEGATIVE))
    service = spec.get("serviceName")
    errors += [invalid("spec.serviceName", service, detail) for detail in label_errors(service or "x")]
    _long_running(manifest, "StatefulSet", errors)


def _stateful_strategy(strategy: Manifest, errors: Errors) -> None:
    where, type_, rolling = "spec.updateStrategy", strategy.get("type"), strategy.get("rollingUpdate")
    if type_ not in (None, "RollingUpdate", "OnDelete"):
        errors.append(invalid(where, dict(strategy), "must be 'RollingUpdate' or 'OnDelete'"))
    elif type_ == "OnDelete" and rolling is not None:
        detail = "only allowed for updateStrategy 'RollingUpdate'"
        errors.append(invalid(f"{where}.rollingUpdate", dict(rolling), detail))
    elif rolling and (rolling.get("partition") or 0) < 0:
        errors.append(invalid(f"{where}.rollingUpdate.partition", rolling["partition"], NOT_NEGATIVE))


def daemon_set(manifest: Manifest, errors: Errors) -> None:
    _selects_some(manifest, errors)
    _not_negative(manifest, ("minReadySeconds", "revisionHistoryLimit"), errors)
    _daemon_strategy((manifest.get("spec") or {}).get("updateStrategy") or {}, errors)
    _long_running(manifest, "DaemonSet", errors)


def _daemon_strategy(strategy: Manifest, errors: Errors) -> None:
    where, type_ = "spec.updateStrategy", strategy.get("type") or "RollingUpdate"
    if type_ not in ("RollingUpdate", "OnDelete"):
        errors.append(not_supported(where, dict(strategy), ("RollingUpdate", "OnDelete")))
    if type_ != "RollingUpdate":
        return
    rolling = strategy.get("rollingUpdate") or {}
    unavailable, surge = rolling.get("maxUnavailable"), rolling.get("maxSurge")
    int_or_percent(unavailable, f"{where}.rollingUpdate.maxUnavailable", errors, 100)
    int_or_percent(surge, f"{where}.rollingUpdate.maxSurge", errors, 100)
    if unavailable not in _NONE and surge not in _NONE:
        detail = "may not be set when maxUnavailable is non-zero"
        errors.append(invalid(f"{where}.rollingUpdate.maxSurge", surge, detail))
    elif unavailable in _NONE and surge in _NONE:
        detail = "cannot be 0 when maxSurge is 0"
        errors.append(required(f"{where}.rollingUpdate.maxUnavailable", detail))


def _long_running(manifest: Manifest, kind: str, errors: Errors) -> None:
    """What a template of pods that run for ever may not say."""
    pod = ((manifest.get("spec") or {}).get("template") or {}).get("spec") or {}
    policy = pod.get("restartPolicy")
    if policy not in (None, "", "Always"):
        errors.append(not_supported("spec.template.spec.restartPolicy", policy, ("Always",)))
    if pod.get("activeDeadlineSeconds") is not None:
        detail = f"activeDeadlineSeconds in {kind} is not Supported"
        errors.append(forbidden("spec.template.spec.activeDeadlineSeconds", detail))


def _selects_some(manifest: Manifest, errors: Errors) -> None:
    selector = (manifest.get("spec") or {}).get("selector")
    if selector is not None and not selector.get("matchLabels") and not selector.get("matchExpressions"):
        detail = f"empty selector is invalid for {manifest['kind'].lower()}"
        errors.append(invalid("spec.selector", dict(selector), detail))


def _not_negative(manifest: Manifest, fields: tuple[str, ...], errors: Errors) -> None:
    spec = manifest.get("spec") or {}
    for name in fields:
        if (spec.get(name) or 0) < 0:
            errors.append(invalid(f"spec.{name}", spec[name], NOT_NEGATIVE))
