"""Scopes: which pods and claims a quota counts at all.

kube: pkg/quota/v1/evaluator/core/pods.go (podMatchesScopeFunc), persistent_volume_claims.go (pvcMatchesScopeFunc) @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduler_core.apimachinery.objects.demand.qos import BEST_EFFORT, qos_class
from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apiserver.kinds import Kind

Scope = Mapping[str, Any]  # a ScopedResourceSelectorRequirement: scopeName, operator, values
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def scopes_of(quota: Manifest) -> list[Scope]:
    """All scopes of a quota; spec.scopes are those that must exist."""
    spec = quota.get("spec") or {}
    plain = [{"scopeName": name, "operator": "Exists"} for name in spec.get("scopes") or ()]
    return [*plain, *((spec.get("scopeSelector") or {}).get("matchExpressions") or ())]


def in_scope(scope: Scope, kind: Kind, manifest: Manifest) -> bool:
    """Return whether an object is within a scope; objects of kinds without scopes are in none."""
    if kind.key == "Pod":
        return _pod(scope, manifest)
    if kind.key == "PersistentVolumeClaim" and scope.get("scopeName") == "VolumeAttributesClass":
        return _claim(scope, manifest)
    return False


def format_scopes(scopes: list[Scope]) -> str:
    """Scopes as kube prints them: `[{PriorityClass In [high]}]`."""
    parts = [
        f"{{{each.get('scopeName')} {each.get('operator')} [{' '.join(each.get('values') or ())}]}}"
        for each in scopes
    ]
    return f"[{' '.join(parts)}]"


def is_terminating(pod: Manifest) -> bool:
    """Return whether a pod has a deadline; the pod need not be terminating."""
    seconds = (pod.get("spec") or {}).get("activeDeadlineSeconds")
    return seconds is not None and seconds >= 0


def _pod(scope: Scope, pod: Manifest) -> bool:
    name, spec = scope.get("scopeName"), pod.get("spec") or {}
    if name in ("Terminating", "NotTerminating"):
        return is_terminating(pod) is (name == "Terminating")
    if name in ("BestEffort", "NotBestEffort"):
        known = (pod.get("status") or {}).get("qosClass") or qos_class(spec)
        return (known == BEST_EFFORT) is (name == "BestEffort")
    if name == "PriorityClass":
        return _is_scope_match(scope, [spec.get("priorityClassName") or ""])
    return name == "CrossNamespacePodAffinity" and _crosses_namespaces(spec)


def _is_scope_match(scope: Scope, names: list[str]) -> bool:
    """Return whether the scope selects one of the names (empty: none)."""
    given, values = [name for name in names if name], scope.get("values") or ()
    operator = scope.get("operator")
    if operator == "Exists":
        return bool(given)
    if operator == "DoesNotExist":
        return not given
    found = any(name in values for name in given)
    return found if operator == "In" else operator == "NotIn" and not found


def _claim(scope: Scope, claim: Manifest) -> bool:
    spec, status = claim.get("spec") or {}, claim.get("status") or {}
    target = (status.get("modifyVolumeStatus") or {}).get("targetVolumeAttributesClassName")
    names = (spec.get("volumeAttributesClassName"), status.get("currentVolumeAttributesClassName"), target)
    return _is_scope_match(scope, [name or "" for name in names])


def _crosses_namespaces(spec: Manifest) -> bool:
    affinity = spec.get("affinity") or {}
    for kind in ("podAffinity", "podAntiAffinity"):
        terms = affinity.get(kind) or {}
        preferred = [each.get("podAffinityTerm") or {} for each in terms.get(_PREFERRED) or ()]
        for term in (*(terms.get(_REQUIRED) or ()), *preferred):
            if term.get("namespaces") or term.get("namespaceSelector") is not None:
                return True
    return False
