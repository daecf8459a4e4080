"""What the API server does to an object of each kind besides admission: defaults, fields that may not change, finalizers.

kube: pkg/registry/*/strategy.go, apiserver/pkg/registry/rest/{create,update,delete}.go @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduler_core.api.admission.admission import defaulted
from scheduler_core.api.admission.label_keys import merged_label_keys, uses_label_keys
from scheduler_core.api.admission.workload_defaults import defaulted_workload
from scheduler_core.api.kinds import Kind
from scheduler_core.api.requests.updates import fits_in_place
from scheduler_core.api.rewriting import merge_patch, with_section
from scheduler_core.api.store import Store
from scheduler_core.objects.errors import FieldError, forbidden

Manifest = Mapping[str, Any]
_ORPHAN, _FOREGROUND = "orphan", "foregroundDeletion"
_PROPAGATION = {"Orphan": _ORPHAN, "Foreground": _FOREGROUND}


def prepare_for_create(kind: Kind, manifest: Manifest) -> Manifest:
    """With the defaults of its kind, before admission."""
    if kind.key == "Pod" and uses_label_keys(manifest.get("spec") or {}):
        labels = manifest["metadata"].get("labels") or {}
        manifest = {**manifest, "spec": merged_label_keys(manifest["spec"], labels)}
    return defaulted_workload(defaulted(manifest, kind))


def complete(kind: Kind, manifest: Manifest) -> Manifest:
    """With what follows from the object as admission left it."""
    return manifest


def prepare_for_update(kind: Kind, old: Manifest, new: Manifest, subresource: str) -> Manifest:
    """The object to be: with its defaults, and only the part that the (sub)resource may write."""
    if subresource == "status":
        return {**old, "status": new.get("status") or {}}
    return defaulted_workload(defaulted(new, kind))


def update_errors(kind: Kind, old: Manifest, new: Manifest, subresource: str) -> list[FieldError]:
    """What may not be changed so."""
    if kind.key == "Pod" and not subresource and not fits_in_place(old, new):
        return [forbidden("spec", "pod updates may not change fields other than those that kube allows")]
    return []


def strategic_patch(old: Manifest, patch: Any) -> Any:
    """A strategic merge patch."""
    return merge_patch(old, patch)


def delete(store: Store, kind: Kind, old: Manifest, now: int, grace: int | None, propagation: str) -> None:
    """Removes the object, or marks it where something holds it back: a pod's grace period, finalizers."""
    meta = old["metadata"]
    namespace, name = meta.get("namespace") or "", meta["name"]
    finalizers = list(meta.get("finalizers") or ())
    added = _PROPAGATION.get(propagation)
    if added and added not in finalizers:
        finalizers.append(added)
    if not finalizers:
        store.delete(kind.key, namespace, name, now, grace)
        return
    if meta.get("deletionTimestamp") is None:
        marks: dict[str, Any] = {
            "deletionTimestamp": store.timestamp(now),
            "deletionGracePeriodSeconds": 0,
            "finalizers": finalizers,
        }
        store.overwrite(with_section(old, "metadata", marks), kind.key)


def collect(store: Store, kind: Kind, stored: Manifest) -> None:
    """Removes what was deleted and is held back by nothing any more."""
    meta = stored["metadata"]
    if meta.get("deletionTimestamp") is None or meta.get("finalizers"):
        return
    if kind.key == "Pod" and meta.get("deletionGracePeriodSeconds"):
        return
    store.remove(kind.key, meta.get("namespace") or "", meta["name"])
