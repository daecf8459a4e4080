"""What an object becomes when it is given again: the server's own fields stay, and a pod may change only so
much in place.

kube: pkg/apis/core/validation/validation.go ValidatePodUpdate, ValidatePodResize @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from scheduler_core.api.rewriting import changed_paths

Manifest = Mapping[str, Any]
SERVER_OWNED = (
    "uid",
    "creationTimestamp",
    "generation",
    "resourceVersion",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "managedFields",
    "selfLink",
)
_FREE_FIELDS = ("activeDeadlineSeconds", "nodeName", "schedulingGates", "tolerations", "nodeSelector")
_RESIZABLE = ("cpu", "memory")


def desired(old: Manifest, submitted: Manifest, *, whole: bool = False) -> Manifest:
    """The object as it should be after `given` (admitted) was applied to `old`.

    A bound pod stays bound, and a pod submitted without a node keeps the status it has, for that is the cluster's
    to write. `whole`: submitted is the complete object (a patched or edited one), so its status counts too.
    """
    kept = {name: old["metadata"][name] for name in SERVER_OWNED if name in old["metadata"]}
    own = {name: value for name, value in submitted["metadata"].items() if name not in SERVER_OWNED}
    new: dict[str, Any] = {**submitted, "metadata": {**own, **kept}}
    is_pod = submitted.get("kind") == "Pod"
    node = (old.get("spec") or {}).get("nodeName") if is_pod else None
    if node and not new["spec"].get("nodeName"):
        new["spec"] = {**new["spec"], "nodeName": node}
    keeps_status = is_pod and not whole and not submitted["spec"].get("nodeName")
    if "status" in old and (keeps_status or "status" not in submitted):
        new["status"] = old["status"]
    return new


def difference(old: Manifest, new: Manifest) -> list[str]:
    """Paths of the fields that change, the server's own aside."""
    return changed_paths(_without_owned(old), _without_owned(new))


def _without_owned(manifest: Manifest) -> Manifest:
    meta = {name: value for name, value in manifest["metadata"].items() if name not in SERVER_OWNED}
    return {**manifest, "metadata": meta}


def fits_in_place(old: Manifest, new: Manifest) -> bool:
    """Whether kube would let a pod be changed so; otherwise it has to be deleted and made anew."""
    before, after = old.get("spec") or {}, new.get("spec") or {}
    if before == after:
        return True
    gated = bool(before.get("schedulingGates"))
    return (
        _stays_or_binds(before, after)
        and _subset(after.get("schedulingGates") or (), before.get("schedulingGates") or ())
        and _subset(before.get("tolerations") or (), after.get("tolerations") or ())
        and (
            before.get("nodeSelector") == after.get("nodeSelector") or (gated and _only_added(before, after))
        )
        and _fixed_fields(before) == _fixed_fields(after)
    )


def _stays_or_binds(before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    return before.get("nodeName") in (None, "", after.get("nodeName"))


def _only_added(before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    selector = after.get("nodeSelector") or {}
    return all(selector.get(key) == value for key, value in (before.get("nodeSelector") or {}).items())


def _subset(part: Sequence[Any], whole: Sequence[Any]) -> bool:
    return all(entry in whole for entry in part)


def _fixed_fields(spec: Mapping[str, Any]) -> dict[str, Any]:
    """The spec without what may change in place: images and a resize's cpu and memory included."""
    fixed = {name: value for name, value in spec.items() if name not in _FREE_FIELDS}
    for field in ("containers", "initContainers"):
        if spec.get(field):
            fixed[field] = [_fixed_container(raw) for raw in spec[field]]
    return fixed


def _fixed_container(raw: Mapping[str, Any]) -> dict[str, Any]:
    fixed = {name: value for name, value in raw.items() if name not in ("image", "resources")}
    resources = raw.get("resources") or {}
    for side in ("requests", "limits"):
        amounts = resources.get(side) or {}
        fixed[side] = {name: (None if name in _RESIZABLE else amount) for name, amount in amounts.items()}
    return fixed
