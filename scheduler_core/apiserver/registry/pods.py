"""Pods' own rules: what of a new pod is the API server's to say, and what an update of its status may write.

kube: pkg/registry/core/pod/strategy.go @ v1.34.1
"""

from __future__ import annotations

from typing import Any

from scheduler_core.apimachinery.objects.demand import qos_class
from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apiserver.rewriting import with_condition

_GATED = {
    "type": "PodScheduled",
    "status": "False",
    "reason": "SchedulingGated",
    "message": "Scheduling is blocked due to non-empty scheduling gates",
}


def prepare_new_pod(manifest: Manifest, timestamp: str, imported: bool) -> Manifest:
    """A new pod with its first status; one that is said to be there already keeps its own."""
    spec = manifest["spec"]
    given = dict(manifest.get("status") or {}) if imported else {}
    status: dict[str, Any] = {**given, "phase": given.get("phase") or "Pending"}
    if not status.get("qosClass"):
        status["qosClass"] = qos_class(spec)
    conditions = status.get("conditions") or ()
    if spec.get("schedulingGates") and not any(each.get("type") == "PodScheduled" for each in conditions):
        status = with_condition(status, _GATED, timestamp) or status
    return {**manifest, "status": status}


def with_status(old: Manifest, new: Manifest) -> Manifest:
    """Return the pod that the status subresource writes: with the new metadata, except for the owners."""
    status = dict(new.get("status") or {})
    before = old.get("status") or {}
    if not status.get("qosClass") and before.get("qosClass"):
        status["qosClass"] = before["qosClass"]
    owners = old["metadata"].get("ownerReferences")
    metadata = {name: value for name, value in new["metadata"].items() if name != "ownerReferences"}
    if owners:
        metadata["ownerReferences"] = owners
    return {**old, "metadata": metadata, "status": status}


def apply_resize(old: Manifest, new: Manifest) -> Manifest:
    """Return the pod that the resize subresource writes: with new container resources, matched by name."""
    spec = dict(old["spec"])
    for field in ("containers", "initContainers"):
        known = {each.get("name"): each for each in spec.get(field) or ()}
        given = (new.get("spec") or {}).get(field) or ()
        changed = [
            _copy_resources(known[each.get("name")], each) if each.get("name") in known else each for each in given
        ]
        if changed:
            spec[field] = changed
    return {**old, "spec": spec}


def _copy_resources(container: Manifest, like: Manifest) -> Manifest:
    taken = {name: like[name] for name in ("resources", "resizePolicy") if name in like}
    return {**container, **taken}
