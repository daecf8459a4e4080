"""Validation of updates: immutable fields of each kind except pods.

kube: pkg/apis/{core,apps,batch,storage,node,scheduling}/validation/validation.go @ v1.34.1
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from scheduler_core.apimachinery.objects import Manifest, nanos
from scheduler_core.apimachinery.objects.errors import Errors, FieldError, forbidden
from scheduler_core.apiserver.validation.checks import IMMUTABLE, UpdateRules, alike
from scheduler_core.apiserver.validation.devices.slices import as_go_writes
from scheduler_core.apiserver.validation.jobs import job_status
from scheduler_core.apiserver.validation.rules import not_negative
from scheduler_core.apiserver.validation.storage.classes import NOT_SOURCES, apply_claim_defaults, apply_volume_defaults

_SET_FIELDS = (
    *("replicas", "ordinals", "template", "updateStrategy", "revisionHistoryLimit"),
    *("persistentVolumeClaimRetentionPolicy", "minReadySeconds"),
)
_SET = (
    f"updates to statefulset spec for fields other than {', '.join(repr(name) for name in _SET_FIELDS[:-1])}"
    " and 'minReadySeconds' are forbidden"
)
_CLAIM = "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims"
_GROUP_FIXED = ("schedulingConstraints", "priorityClassName", "priority", "workloadRef", "preemptionPolicy")
_ROLE_REF = ("apiGroup", "kind", "name")
_AS_GO_WRITES = {"podFailurePolicy": "*PodFailurePolicy", "successPolicy": "*SuccessPolicy"}
_JOB_FIXED = ("completionMode", "podFailurePolicy", "backoffLimitPerIndex", "managedBy", "successPolicy")


def object_update(old: Manifest, new: Manifest, kind: str, rules: UpdateRules) -> list[FieldError]:
    """Return the errors of an update of any kind except pods."""
    errors = Errors()
    if (ruled := _RULED.get(kind)) is not None:
        ruled(old, new, rules, errors)
    elif (check := _CHECKS.get(kind)) is not None:
        check(old, new, errors)
    return errors


# Immutable fields are validated before the new object itself.
CHANGES_FIRST = ("ConfigMap", "Secret", "IngressClass", "VolumeAttributesClass")
# Errors in a new object that an update may have: the field cannot change, or is not validated again.
_NOT_JUDGED = {
    "StatefulSet": re.compile(r"spec\.(serviceName|volumeClaimTemplates).*"),
    "PriorityClass": re.compile(r"(?!metadata).*"),
    "Pod": re.compile(r"spec\.nodeName"),
}


def select_judged(kind: str, errors: Sequence[FieldError]) -> list[FieldError]:
    """Return the errors of a new object for which an update is refused."""
    skipped = _NOT_JUDGED.get(kind)
    return [each for each in errors if skipped is None or not skipped.fullmatch(each.path)]


# Counts of a status that must not be negative; those that must not exceed its replicas; and kube's name of the ready ones.
_COUNTS: Mapping[str, list[str]] = json.loads(Path(__file__).with_name("counts.json").read_text())


def status_update(old: Manifest, new: Manifest, kind: str) -> list[FieldError]:
    """Return the errors of a status: of its counts, and of a Job's other fields."""
    errors, status = Errors(), new.get("status") or {}
    counts, parts, ready = _COUNTS.get(kind, ("", "", ""))
    not_negative(*counts.split())(status, "status", errors)
    limits = [(part, "replicas", "status.replicas") for part in parts.split()]
    for part, whole, words in [*limits, ("availableReplicas", "readyReplicas", ready)] if parts else ():
        count, most = (status.get(name) or 0 for name in (part, whole))
        errors.invalid(f"status.{part}", count, f"cannot be greater than {words}", when=count > most)
    now, was = (-1 if (each := of.get("collisionCount")) is None else each for of in (status, old.get("status") or {}))
    errors.invalid(
        "status.collisionCount",
        status.get("collisionCount") or 0,
        "cannot be decremented",
        when="collisionCount" in counts and now < was,
    )
    if kind == "Job":
        job_status(old, new, errors)
    return errors


_COUNTED = {
    "Deployment": ("metadata.annotations",),
    "PodTemplate": ("template",),
    "EndpointSlice": ("metadata.labels", "endpoints", "ports"),
}


def is_new_generation(kind: str, old: Manifest, new: Manifest) -> bool:
    """Return whether a client's update is a new generation even if the spec has not changed."""
    return any(not alike(_at(old, path), _at(new, path)) for path in _COUNTED.get(kind, ()))


_TEXTS = ("spec.serviceName", "storageClassName", "provisioner")  # empty if they are missing


def _forbid_changes(*paths: str) -> Callable[[Manifest, Manifest, Errors], None]:
    """Return a check that fields never change."""

    def check(old: Manifest, new: Manifest, errors: Errors) -> None:
        for path in paths:
            before, after = _at(old, path), _at(new, path)
            shown = "" if after is None and path in _TEXTS else after
            errors.invalid(path, shown, IMMUTABLE, when=not alike(before, after))

    return check


def _at(manifest: Any, path: str) -> Any:
    for name in path.split("."):
        manifest = manifest.get(name) if isinstance(manifest, Mapping) else None
    return manifest


def _priority_class(old: Manifest, new: Manifest, errors: Errors) -> None:
    if int(old.get("value") or 0) != int(new.get("value") or 0):
        errors.forbidden("value", "may not be changed in an update.")
    _forbid_changes("preemptionPolicy")(old, new, errors)


def _role_ref(old: Manifest, new: Manifest, errors: Errors) -> None:
    was, now = (each.get("roleRef") or {} for each in (old, new))
    # kube prints the internal type, whose fields have no JSON names (pkg/apis/rbac/types.go).
    shown = {name: now.get(field, "") for name, field in zip(("APIGroup", "Kind", "Name"), _ROLE_REF, strict=True)}
    errors.invalid("roleRef", shown, "cannot change roleRef", when=not alike(was, now))


def _forbid_updates(*names: str) -> Callable[[Manifest, Manifest, Errors], None]:
    def check(old: Manifest, new: Manifest, errors: Errors) -> None:
        for name in names:
            errors.forbidden(name, f"updates to {name} are forbidden.", when=not alike(old.get(name), new.get(name)))

    return check


def _storage_class(old: Manifest, new: Manifest, rules: UpdateRules, errors: Errors) -> None:
    judge = _forbid_changes if "classes-immutable" in rules else _forbid_updates
    judge("parameters", "provisioner", "reclaimPolicy")(old, new, errors)
    _forbid_changes("volumeBindingMode")(old, new, errors)


def _csi_node(old: Manifest, new: Manifest, rules: UpdateRules, errors: Errors) -> None:
    """Validate an update of drivers: fields are immutable, except the limit if the gate MutableCSINodeAllocatableCount is on."""
    kept = () if "resize-levels" not in rules else ("allocatable",)
    known = {each.get("name"): each for each in (old.get("spec") or {}).get("drivers") or ()}
    for driver in (new.get("spec") or {}).get("drivers") or ():
        was = known.get(driver.get("name"), driver)
        pair = [{name: value for name, value in each.items() if name not in kept} for each in (was, driver)]
        errors.invalid("spec.drivers", driver, IMMUTABLE, when=not alike(*pair))


def _pod_group(old: Manifest, new: Manifest, errors: Errors) -> None:
    _forbid_changes(*(f"spec.{name}" for name in _GROUP_FIXED))(old, new, errors)
    modes = [_at(each, "spec.disruptionMode") for each in (old, new)]
    errors.invalid("spec.disruptionMode", modes[1], IMMUTABLE, when=modes[0] != modes[1])
    policies = [(each.get("spec") or {}).get("schedulingPolicy") or {} for each in (old, new)]
    was, now = ("basic" in each for each in policies)
    errors.invalid("spec.schedulingPolicy.basic", None, IMMUTABLE, when=was != now)
    was, now = ("gang" in each for each in policies)
    detail = "field cannot be cleared once set" if was else "field cannot be set once created"
    errors.invalid("spec.schedulingPolicy.gang", None, detail, when=was != now)


def _stateful_set(old: Manifest, new: Manifest, rules: UpdateRules, errors: Errors) -> None:
    if "fields-judged-singly" in rules:
        names = ("selector", "volumeClaimTemplates", "serviceName", "podManagementPolicy")
        _forbid_changes(*(f"spec.{name}" for name in names))(old, new, errors)
        return
    fixed = [{n: v for n, v in (each.get("spec") or {}).items() if n not in _SET_FIELDS} for each in (old, new)]
    errors.forbidden("spec", _SET, when=not alike(*fixed))


def _job(old: Manifest, new: Manifest, rules: UpdateRules, errors: Errors) -> None:
    for path in ("spec.selector", *(f"spec.{name}" for name in _JOB_FIXED)):
        name = path[5:]
        if name in _AS_GO_WRITES and not alike(_at(old, path), _at(new, path)):
            errors.invalid_text(path, as_go_writes(_at(new, path), _AS_GO_WRITES[name]), IMMUTABLE)
        else:
            _forbid_changes(path)(old, new, errors)
    before, after = old.get("spec") or {}, new.get("spec") or {}
    if after.get("completionMode") != "Indexed":
        _forbid_changes("spec.completions")(old, new, errors)
    elif after.get("completions") not in (None, before.get("completions"), after.get("parallelism")):
        detail = "can only be modified in tandem with spec.parallelism"
        errors.invalid("spec.completions", after.get("completions"), detail)
    was, now = before.get("template") or {}, after.get("template") or {}
    status = old.get("status") or {}
    suspended = any(
        each.get("type") == "Suspended" and each.get("status") == "True" for each in status.get("conditions") or ()
    )
    idle = before.get("suspend") and (not status.get("startTime") or ("suspended-jobs-change" in rules and suspended))
    if idle and not ("suspended-jobs-change" in rules and status.get("active")):
        was = _copy_scheduling_directives(was, now)
        if "suspended-jobs-change" in rules:
            was, now = _copy_container_resources(was["spec"], now.get("spec") or {}), now.get("spec") or {}
            errors.invalid("spec.template.spec", now, IMMUTABLE, when=not alike(was, now))
            return
    errors.invalid("spec.template", now, IMMUTABLE, when=not alike(was, now))


def _copy_container_resources(was: Manifest, now: Manifest) -> dict[str, Any]:
    """Return the old spec with the resources of the new containers, if the number of containers is equal."""
    copied = dict(was)
    for field in ("containers", "initContainers"):
        ours, theirs = was.get(field) or (), now.get(field) or ()
        if len(ours) == len(theirs):
            pairs = zip(ours, theirs, strict=True)
            copied[field] = [
                {**mine, "resources": other.get("resources")} if mine.get("name") == other.get("name") else mine
                for mine, other in pairs
            ]
    return copied


def _copy_scheduling_directives(was: Manifest, now: Manifest) -> dict[str, Any]:
    """Return the old template with the new scheduling directives, which may change before a Job starts."""
    spec, wanted = dict(was.get("spec") or {}), now.get("spec") or {}
    spec.update({name: wanted.get(name) for name in ("nodeSelector", "tolerations", "schedulingGates")})
    affinity = {**(spec.get("affinity") or {}), "nodeAffinity": (wanted.get("affinity") or {}).get("nodeAffinity")}
    meta, given = dict(was.get("metadata") or {}), now.get("metadata") or {}
    meta.update({name: given.get(name) for name in ("labels", "annotations")})
    return {**was, "metadata": meta, "spec": {**spec, "affinity": affinity}}


def _claim(old: Manifest, new: Manifest, errors: Errors) -> None:
    before, after = (dict(apply_claim_defaults(each)["spec"]) for each in (old, new))
    was, now = _storage(before), _storage(after)
    if not before.get("volumeName"):
        before["volumeName"] = after.get("volumeName")
    if before.get("storageClassName") is None:
        before["storageClassName"] = after.get("storageClassName")
    if (new.get("status") or {}).get("phase") == "Bound":
        after["resources"] = _with_storage(after, before)
        after["volumeAttributesClassName"] = before.get("volumeAttributesClassName")
    errors.forbidden("spec", _CLAIM, when=not alike(before, after))
    if now < was and now <= nanos(((old.get("status") or {}).get("capacity") or {}).get("storage") or 0):
        errors.forbidden("spec.resources.requests.storage", "field can not be less than status.capacity")
    _forbid_changes("spec.volumeMode")({"spec": before}, {"spec": after}, errors)


def _storage(spec: Manifest) -> int:
    return nanos(((spec.get("resources") or {}).get("requests") or {}).get("storage") or 0)


def _with_storage(spec: Manifest, like: Manifest) -> Any:
    """Return the resources of a claim with the size of another claim."""
    resources = spec.get("resources") or {}
    if not resources.get("requests"):
        return resources
    size = ((like.get("resources") or {}).get("requests") or {}).get("storage")
    return {**resources, "requests": {**resources["requests"], "storage": size}}


def _volume(old: Manifest, new: Manifest, errors: Errors) -> None:
    old, new = apply_volume_defaults(old), apply_volume_defaults(new)
    before, after = old["spec"], new["spec"]
    sources = [{n: v for n, v in spec.items() if n not in NOT_SOURCES} for spec in (before, after)]
    field = "spec.persistentvolumesource"
    errors.forbidden(field, f"{field} is immutable after creation", when=not alike(*sources))
    _forbid_changes("spec.volumeMode")(old, new, errors)
    affinity = before.get("nodeAffinity")
    if affinity and not alike(affinity, after.get("nodeAffinity")):
        detail = f"{IMMUTABLE}, except for updating from beta label to GA"
        errors.invalid("nodeAffinity", after.get("nodeAffinity"), detail)


def _node(old: Manifest, new: Manifest, rules: UpdateRules, errors: Errors) -> None:
    before, after = old.get("spec") or {}, new.get("spec") or {}
    for name, text in (("podCIDRs", "podCIDR"), ("providerID", "providerID")):
        changed = bool(before.get(name)) and before[name] != after.get(name)
        if changed and "fields-judged-singly" in rules and name == "providerID":
            errors.invalid(
                "spec.providerID", None, f"field cannot be {'modified' if after.get(name) else 'cleared'} once set"
            )
        elif changed:
            errors.forbidden(f"spec.{name}", f'node updates may not change {text} except from "" to valid')
    was, now = (each.get("externalID") or "" for each in (before, after))
    errors.forbidden("spec.externalID", "may not be updated", when=was != now)


def _quota(old: Manifest, new: Manifest, errors: Errors) -> None:
    was, now = (sorted((each.get("spec") or {}).get("scopes") or ()) for each in (old, new))
    errors.invalid("spec.scopes", now or None, IMMUTABLE, when=was != now)


def _data(old: Manifest, new: Manifest, errors: Errors) -> None:
    """Validate that immutable ConfigMaps and Secrets, and a Secret's type, are unchanged."""
    was, now = (each.get("type") or "Opaque" for each in (old, new))
    errors.invalid("type", now, IMMUTABLE, when=old["kind"] == "Secret" and was != now)
    if not old.get("immutable"):
        return
    changed = [] if new.get("immutable") else ["immutable"]
    changed += [name for name in ("data", "binaryData") if not alike(old.get(name), new.get(name))]
    errors += [forbidden(name, "field is immutable when `immutable` is set") for name in changed]


_CHECKS: dict[str, Callable[[Manifest, Manifest, Errors], None]] = {
    "PriorityClass": _priority_class,
    "RuntimeClass": _forbid_changes("handler"),
    "IngressClass": _forbid_changes("spec.controller"),
    "PodGroup": _pod_group,
    "VolumeAttributesClass": _forbid_updates("driverName", "parameters"),
    "CSIDriver": _forbid_changes("spec.attachRequired", "spec.volumeLifecycleModes"),
    "CSIStorageCapacity": _forbid_changes("nodeTopology", "storageClassName"),
    "Deployment": _forbid_changes("spec.selector"),
    "ReplicaSet": _forbid_changes("spec.selector"),
    "DaemonSet": _forbid_changes("spec.selector"),
    "PersistentVolumeClaim": _claim,
    "PersistentVolume": _volume,
    "ResourceQuota": _quota,
    "ControllerRevision": _forbid_changes("data"),
    "ConfigMap": _data,
    "Secret": _data,
    "RoleBinding": _role_ref,
    "ClusterRoleBinding": _role_ref,
}
_RULED: dict[str, Callable[[Manifest, Manifest, UpdateRules, Errors], None]] = {
    "StorageClass": _storage_class,
    "CSINode": _csi_node,
    "StatefulSet": _stateful_set,
    "Job": _job,
    "Node": _node,
}
