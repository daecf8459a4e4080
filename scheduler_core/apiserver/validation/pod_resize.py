"""What the subresource resize may change of a pod: cpu and memory of its containers and sidecars.

kube: pkg/apis/core/validation/validation.go ValidatePodResize @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduler_core.apimachinery.objects.demand import qos_class
from scheduler_core.apimachinery.objects.errors import FieldError, forbidden, invalid
from scheduler_core.apimachinery.objects.resources import CPU, MEMORY, is_sidecar
from scheduler_core.apiserver.validation.checks import Errors
from scheduler_core.apiserver.validation.likeness import alike

Spec = Mapping[str, Any]
_MIRROR = "kubernetes.io/config.mirror"
_CONTAINERS = ("containers", "initContainers")


def pod_resize(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[FieldError]:
    """Return the errors of a pod resize."""
    before, after = old.get("spec") or {}, new.get("spec") or {}
    if any((spec.get("resources") or {}).get(side) for spec in (before, after) for side in ("requests", "limits")):
        return [forbidden("", "pods with pod-level resources cannot be resized")]
    if _MIRROR in (old["metadata"].get("annotations") or {}):
        return [forbidden("", "static pods cannot be resized")]
    if (before.get("os") or {}).get("name") == "windows":
        return [forbidden("", "windows pods cannot be resized")]
    errors: Errors = []
    status = old.get("status") or {}
    known = status.get("qosClass") or qos_class(before)
    if known != qos_class(after):
        errors.append(invalid("spec", known, "Pod QOS Class may not change as a result of resizing"))
    if not _can_node_resize(status):
        errors.append(forbidden("spec", "Pod running on node without support for resize"))
    if not _same_containers(before, after, errors):
        return errors
    for field in reversed(_CONTAINERS):
        for i, (was, now) in enumerate(zip(before.get(field) or (), after.get(field) or (), strict=True)):
            if field == "containers" or is_sidecar(was):
                _check_kept(was, now, f"spec.{field}[{i}].resources", errors)
    munged = dict(after)
    for field in _CONTAINERS:
        pairs = zip(before.get(field) or (), after.get(field) or (), strict=True)
        munged[field] = [_container(was, now, field, errors) for was, now in pairs]
    if not errors and not alike(before, munged):
        errors.append(forbidden("spec", "only cpu and memory resources are mutable"))
    return errors


def _can_node_resize(status: Mapping[str, Any]) -> bool:
    """Tell if the node reports resources of running containers, which only nodes that can resize do."""
    statuses = status.get("containerStatuses") or ()
    first = next((each for each in statuses if (each.get("state") or {}).get("running") is not None), None)
    return first is None or first.get("resources") is not None


def _same_containers(before: Spec, after: Spec, errors: Errors) -> bool:
    same = True
    for field in _CONTAINERS:
        ours, theirs = ([each.get("name") for each in spec.get(field) or ()] for spec in (before, after))
        if len(ours) != len(theirs):
            errors.append(forbidden(f"spec.{field}", f"{field} may not be added or removed on resize"))
            same = False
        for i, (was, now) in enumerate(zip(ours, theirs, strict=False)):
            if was != now:
                where = f"spec.{field}[{i}].name"
                errors.append(forbidden(where, f"{field} may not be renamed or reordered on resize"))
                same = False
    return same


def _check_kept(before: Spec, after: Spec, where: str, errors: Errors) -> None:
    """Refuse requests and limits that were removed."""
    for side in ("requests", "limits"):
        ours, theirs = ((each.get("resources") or {}).get(side) or {} for each in (before, after))
        if any(name not in theirs for name in ours):
            errors.append(forbidden(f"{where}.{side}", f"resource {side} cannot be removed"))


def _container(before: Spec, after: Spec, field: str, errors: Errors) -> Spec:
    """The container with its old cpu and memory, once they were judged."""
    if field == "initContainers" and not is_sidecar(before):
        if not alike(before, after):
            errors.append(forbidden("spec", "resources for non-sidecar init containers are immutable"))
        return after
    old, new = before.get("resources") or {}, after.get("resources") or {}
    restored = {}
    for side in ("requests", "limits"):
        ours, theirs = old.get(side) or {}, new.get(side) or {}
        if ours:
            others = {name: amount for name, amount in theirs.items() if name not in (CPU, MEMORY)}
            restored[side] = {**others, **{name: ours[name] for name in (CPU, MEMORY) if name in ours}}
    munged = {**after, "resources": restored}
    if not alike(before, munged):
        of = " for sidecar containers" if field == "initContainers" else ""
        errors.append(forbidden("spec", f"only cpu and memory resources{of} are mutable"))
    return munged
