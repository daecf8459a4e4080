"""Validation of pod updates: images, a shorter deadline, more tolerations, and fewer gates are allowed; a gated pod's placement may
narrow.

kube: pkg/apis/core/validation/validation.go ValidatePodUpdate, ValidatePodStatusUpdate @ v1.34.1
"""

from collections.abc import Mapping, Sequence
from typing import Any

from scheduler_core.apimachinery.objects.affinity import REQUIRED
from scheduler_core.apimachinery.objects.demand import qos_class
from scheduler_core.apimachinery.objects.errors import Errors, FieldError, forbidden
from scheduler_core.apimachinery.objects.names import subdomain_errors
from scheduler_core.apimachinery.objects.resources import CPU, MEMORY, is_sidecar
from scheduler_core.apiserver.rewriting import list_changed_paths
from scheduler_core.apiserver.validation.checks import IMMUTABLE, UpdateRules, alike, plain
from scheduler_core.apiserver.validation.devices.pods import is_mirror

# The subresource resize may change cpu and memory of a pod's containers and sidecars.
# kube: pkg/apis/core/validation/validation.go ValidatePodResize @ v1.34.1

Spec = Mapping[str, Any]
_CONTAINERS = ("containers", "initContainers")
_SIDES = ("requests", "limits")
_NO_LEVELS = (
    "resize of pods with pod-level resources is forbidden when InPlacePodLevelResourcesVerticalScalingEnabled feature gate is "
    "disabled"
)
_RESTARTS = "non-sidecar init containers with a resize policy of RestartContainer cannot be resized"


def pod_resize(old: Mapping[str, Any], new: Mapping[str, Any], rules: UpdateRules) -> list[FieldError]:
    """Return the errors of a pod resize. kube's path of the whole pod is []."""
    before, after = old.get("spec") or {}, new.get("spec") or {}
    leveled = any((spec.get("resources") or {}).get(side) for spec in (before, after) for side in _SIDES)
    if leveled and "resize-levels" not in rules:
        return [forbidden("[]", "pods with pod-level resources cannot be resized")]
    if is_mirror(old["metadata"]):
        return [forbidden("[]", "static pods cannot be resized")]
    if (before.get("os") or {}).get("name") == "windows":
        return [forbidden("[]", "windows pods cannot be resized")]
    errors = Errors()
    status = old.get("status") or {}
    known = status.get("qosClass") or qos_class(before)
    if known != qos_class(after):
        shown = (new.get("status") or {}).get("qosClass") or ""
        errors.invalid("spec", shown, "Pod QOS Class may not change as a result of resizing")
    errors.forbidden("spec", "Pod running on node without support for resize", when=not _can_node_resize(status))
    munged = dict(after)
    if leveled:
        if "pod-level-resize" not in rules:
            return [*errors, forbidden("[]", _NO_LEVELS)]
        _check_levels(before, munged, errors)
    if not _same_containers(before, after, errors):
        return errors
    for field in reversed(_CONTAINERS):
        for i, (was, now) in enumerate(zip(before.get(field) or (), after.get(field) or (), strict=True)):
            if field == "containers" or "init-containers-resized" in rules or is_sidecar(was):
                _check_kept(was, now, f"spec.{field}[{i}].resources", errors)
    for field in _CONTAINERS:
        pairs = zip(before.get(field) or (), after.get(field) or (), strict=True)
        munged[field] = [
            _container(was, now, f"spec.{field}[{i}]", rules, errors) for i, (was, now) in enumerate(pairs)
        ]
    errors.forbidden("spec", "only cpu and memory resources are mutable", when=not errors and not alike(before, munged))
    return errors


def _can_node_resize(status: Mapping[str, Any]) -> bool:
    """Return whether the node reports resources of running containers, which only nodes with resize support do."""
    statuses = status.get("containerStatuses") or ()
    first = next((each for each in statuses if (each.get("state") or {}).get("running") is not None), None)
    return first is None or first.get("resources") is not None


def _same_containers(before: Spec, after: Spec, errors: Errors) -> bool:
    same = True
    for field in _CONTAINERS:
        ours, theirs = ([each.get("name") for each in spec.get(field) or ()] for spec in (before, after))
        if len(ours) != len(theirs):
            errors.forbidden(f"spec.{field}", f"{field} may not be added or removed on resize")
            same = False
            continue
        for i, (was, now) in enumerate(zip(ours, theirs, strict=True)):
            if was != now:
                errors.forbidden(f"spec.{field}[{i}].name", f"{field} may not be renamed or reordered on resize")
                same = False
    return same


def _check_levels(before: Spec, munged: dict[str, Any], errors: Errors) -> None:
    """Validate the pod-level resources, and give the new spec the old cpu and memory."""
    old, new = before.get("resources"), munged.get("resources")
    if old is not None and new is None:
        errors.forbidden("spec.resources", "pod-level resources cannot be removed")
        return
    _check_kept(before, munged, "spec.resources", errors, "pod-level ")
    munged["resources"] = _restore_amounts(old or {}, new or {}, False)
    if not alike(old or {}, munged["resources"]):
        errors.forbidden("spec", "only cpu and memory resources are mutable at pod-level")


def _check_kept(before: Spec, after: Spec, where: str, errors: Errors, of: str = "") -> None:
    """Refuse requests and limits that were removed."""
    for side in _SIDES:
        ours, theirs = ((each.get("resources") or {}).get(side) or {} for each in (before, after))
        if any(name not in theirs for name in ours):
            errors.forbidden(f"{where}.{side}", f"{of}resource {side} cannot be removed")


def _restore_amounts(old: Spec, new: Spec, only_known: bool) -> dict[str, Any]:
    """Return new resources with the cpu and memory of the old ones. `only_known`: only for requests or limits that existed."""
    restored = {"claims": new["claims"]} if not only_known and "claims" in new else {}
    for side in _SIDES:
        ours, theirs = old.get(side) or {}, new.get(side) or {}
        if ours or not only_known:
            others = {name: amount for name, amount in theirs.items() if name not in (CPU, MEMORY)}
            restored[side] = {**others, **{name: ours[name] for name in (CPU, MEMORY) if name in ours}}
    return restored


def _container(before: Spec, after: Spec, where: str, rules: UpdateRules, errors: Errors) -> Spec:
    """Validate a container's resize. Return the new container with the old cpu and memory."""
    of_init = where.startswith("spec.initContainers")
    once = of_init and not is_sidecar(before)
    if once and "init-containers-resized" not in rules:
        if not alike(before, after):
            errors.forbidden("spec", "resources for non-sidecar init containers are immutable")
        return after
    strict = "resize-levels" not in rules
    restored = _restore_amounts(before.get("resources") or {}, after.get("resources") or {}, strict)
    if "fields-judged-singly" not in rules:
        restored.pop("claims", None)
    munged = {**after, "resources": restored}
    if not alike(before, munged):
        of = (
            ""
            if not of_init
            else " for init or sidecar containers"
            if "init-containers-resized" in rules
            else " for sidecar containers"
        )
        at = where if of_init and "init-containers-resized" in rules else "spec"
        errors.forbidden(at, f"only cpu and memory resources{of} are mutable")
    for policy in after.get("resizePolicy") or () if once and not alike(before, after) else ():
        errors.forbidden(where, _RESTARTS, when=policy.get("restartPolicy") == "RestartContainer")
    return munged


def pod_ephemeral_containers(old: Mapping[str, Any], new: Mapping[str, Any], rules: UpdateRules) -> list[FieldError]:
    """Return the errors in an update of ephemeral containers: existing ones must not change."""
    if is_mirror(old["metadata"]):
        return [forbidden("", "static pods do not support ephemeral containers")]
    errors, where = Errors(), "spec.ephemeralContainers"
    kept = {each.get("name"): each for each in new["spec"].get("ephemeralContainers") or ()}
    for each in old["spec"].get("ephemeralContainers") or ():
        name = each.get("name")
        if name not in kept:
            errors.forbidden(where, f'existing ephemeral containers "{name}" may not be removed\n')
        elif not alike(each, kept[name]):
            errors.forbidden(where, f'existing ephemeral containers "{name}" may not be changed\n')
    return errors


_MOST_SECONDS = 2**31 - 1
_OTHERS = (
    "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,"
    "`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),"
    "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)"
)


def pod_update(old: Mapping[str, Any], new: Mapping[str, Any], rules: UpdateRules) -> list[FieldError]:
    """Return the errors of an update of the pod itself."""
    before, after = old.get("spec") or {}, new.get("spec") or {}
    errors = Errors()
    for field in _CONTAINERS:
        if len(before.get(field) or ()) != len(after.get(field) or ()):
            return [forbidden(f"spec.{field}", "pod updates may not add or remove containers")]
        for i, container in enumerate(after.get(field) or ()):
            image = str(container.get("image") or "")
            if image.strip() != image:
                errors.invalid(f"spec.{field}[{i}].image", image, "must not have leading or trailing whitespace")
    if not _deadline(before, after, errors):
        return errors
    _tolerations(before.get("tolerations") or (), after.get("tolerations") or (), errors)
    _gates(before.get("schedulingGates") or (), after.get("schedulingGates") or (), errors)
    munged = _revert_allowed_changes(before, after)
    if before.get("schedulingGates"):
        munged = _validate_gated_placement(before, munged, errors)
    if not alike(before, munged):
        paths = list_changed_paths(plain(before), plain(munged), "spec")
        errors.forbidden("spec", "\n".join((_OTHERS, *paths)))
    return errors


def _deadline(before: Spec, after: Spec, errors: Errors) -> bool:
    """Validate a deadline, which may be set and shortened; return whether to continue."""
    where = "spec.activeDeadlineSeconds"
    was, seconds = (spec.get("activeDeadlineSeconds") for spec in (before, after))
    if seconds is None:
        errors.invalid(where, None, "must not update from a positive integer to nil value", when=was is not None)
        return True
    if not 0 <= seconds <= _MOST_SECONDS:
        errors.invalid(where, seconds, f"must be between 0 and {_MOST_SECONDS}, inclusive")
        return False
    if was is not None and was < seconds:
        errors.invalid(where, seconds, "must be less than or equal to previous value")
        return False
    return True


def _tolerations(before: Sequence[Spec], after: Sequence[Spec], errors: Errors) -> None:
    kept = [_without_seconds(each) for each in after]
    if any(_without_seconds(each) not in kept for each in before):
        errors.forbidden("spec.tolerations", "existing toleration can not be modified except its tolerationSeconds")


def _without_seconds(toleration: Spec) -> Any:
    return plain({name: value for name, value in toleration.items() if name != "tolerationSeconds"})


def _gates(before: Sequence[Spec], after: Sequence[Spec], errors: Errors) -> None:
    known = [gate.get("name") for gate in before]
    for i, gate in enumerate(after):
        if gate.get("name") not in known:
            detail = f"only deletion is allowed, but found new scheduling gate '{gate.get('name')}'"
            errors.forbidden(f"spec.schedulingGates[{i}].name", detail)


def _revert_allowed_changes(before: Spec, after: Spec) -> dict[str, Any]:
    """Return the new spec with the old values of fields whose changes are allowed, or already validated."""
    munged = dict(after)
    for field in _CONTAINERS:
        pairs = zip(before.get(field) or (), after.get(field) or (), strict=True)
        munged[field] = [{**new, "image": old.get("image")} for old, new in pairs]
    for field in ("activeDeadlineSeconds", "schedulingGates", "tolerations"):
        munged[field] = before.get(field)
    grace = "terminationGracePeriodSeconds"
    if (before.get(grace) or 0) < 0 and after.get(grace) == 1:
        munged[grace] = before[grace]
    return munged


def _validate_gated_placement(before: Spec, munged: dict[str, Any], errors: Errors) -> dict[str, Any]:
    """Validate a gated pod's placement: its node selector may grow, and its node affinity may narrow."""
    old, new = before.get("nodeSelector") or {}, munged.get("nodeSelector") or {}
    if any(new.get(key) != value for key, value in old.items()):
        detail = "only additions to spec.nodeSelector are allowed (no mutations or deletions)"
        errors.invalid("spec.nodeSelector", dict(new), detail)
    was, now = before.get("affinity") or {}, munged.get("affinity") or {}
    if not alike(was.get("nodeAffinity"), now.get("nodeAffinity")):
        _node_affinity(was.get("nodeAffinity") or {}, now.get("nodeAffinity") or {}, errors)
    affinity = {**now, "nodeAffinity": was.get("nodeAffinity")}
    return {**munged, "nodeSelector": before.get("nodeSelector"), "affinity": affinity}


def _node_affinity(before: Spec, after: Spec, errors: Errors) -> None:
    old = (before.get(REQUIRED) or {}).get("nodeSelectorTerms") or []
    new = (after.get(REQUIRED) or {}).get("nodeSelectorTerms") or []
    where = f"spec.affinity.nodeAffinity.{REQUIRED}.nodeSelectorTerms"
    if old and len(old) != len(new):
        errors.invalid(where, new, "no additions/deletions to non-empty NodeSelectorTerms list are allowed")
        return
    for i, term in enumerate(old):
        if not _only_additions(term, new[i]):
            errors.invalid(f"{where}[{i}]", new[i], "only additions are allowed (no mutations or deletions)")


def _only_additions(before: Spec, after: Spec) -> bool:
    fields = ("matchExpressions", "matchFields")
    if not any(before.get(field) for field in fields):
        return not any(after.get(field) for field in fields)
    return all(
        alike((after.get(field) or [])[: len(before.get(field) or ())], before.get(field) or []) for field in fields
    )


def pod_status_update(old: Mapping[str, Any], new: Mapping[str, Any], rules: UpdateRules) -> list[FieldError]:
    """Return the errors of an update of the pod's status."""
    errors = Errors()
    before, after = old.get("status") or {}, new.get("status") or {}
    node = after.get("nominatedNodeName")
    if node and node != before.get("nominatedNodeName"):
        errors.problems("status.nominatedNodeName", node, subdomain_errors(node))
        bound = "resize-levels" in rules and (old.get("spec") or {}).get("nodeName")
        errors.forbidden(
            "status.nominatedNodeName", "may not be set on pods that are already bound to a node", when=bound
        )
    generation = after.get("observedGeneration") or 0
    errors.invalid("status.observedGeneration", generation, "must be a non-negative integer", when=generation < 0)
    first = next((each.get("ip") for each in after.get("hostIPs") or ()), None)
    wrong = first is not None and first != (after.get("hostIP") or "")
    errors.invalid("status.hostIPs[0].ip", first, "must be equal to `hostIP`", when=wrong)
    if before.get("qosClass") != after.get("qosClass"):
        errors.invalid("status.qosClass", after.get("qosClass"), IMMUTABLE)
    spec = old.get("spec") or {}
    policy = spec.get("restartPolicy") or "Always"
    sidecars = [each.get("name") for each in spec.get("initContainers") or () if is_sidecar(each)]
    if policy == "Always":
        return errors
    for field in ("containerStatuses", "initContainerStatuses"):
        running = [each.get("name") for each in after.get(field) or () if _get_terminated_state(each) is None]
        for i, status in enumerate(before.get(field) or ()):
            ended = _get_terminated_state(status)
            if ended is None or (policy == "OnFailure" and ended.get("exitCode")) or status.get("name") in sidecars:
                continue
            if status.get("name") in running:
                errors.forbidden(f"status.{field}[{i}].state", "may not be transitioned to non-terminated state")
    return errors


def _get_terminated_state(status: Spec) -> Spec | None:
    ended: Spec | None = (status.get("state") or {}).get("terminated")
    return ended
