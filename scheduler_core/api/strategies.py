"""What the API server does to an object of each kind besides admission: defaults, and fields that may not change.

kube: pkg/registry/*/strategy.go, apiserver/pkg/registry/rest/{create,update}.go @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduler_core.api import namespaces
from scheduler_core.api.admission.admission import defaulted
from scheduler_core.api.admission.label_keys import merged_label_keys, uses_label_keys
from scheduler_core.api.kinds import Kind
from scheduler_core.api.requests.updates import fits_in_place
from scheduler_core.api.rewriting import merge_patch
from scheduler_core.objects.errors import FieldError, forbidden

Manifest = Mapping[str, Any]


def prepare_for_create(kind: Kind, manifest: Manifest) -> Manifest:
    """With the defaults of its kind, before admission."""
    if kind.key == "Pod" and uses_label_keys(manifest.get("spec") or {}):
        labels = manifest["metadata"].get("labels") or {}
        manifest = {**manifest, "spec": merged_label_keys(manifest["spec"], labels)}
    return defaulted(manifest, kind)


def complete(kind: Kind, manifest: Manifest) -> Manifest:
    """With what follows from the object as admission left it."""
    return namespaces.created(manifest) if kind.key == "Namespace" else manifest


def prepare_for_update(kind: Kind, old: Manifest, new: Manifest, subresource: str) -> Manifest:
    """The object to be: with its defaults, and only the part that the (sub)resource may write."""
    if subresource == "status":
        return {**old, "status": new.get("status") or {}}
    if kind.key == "Namespace":
        new = namespaces.updated(old, new, subresource)
    return defaulted(new, kind)


def update_errors(kind: Kind, old: Manifest, new: Manifest, subresource: str) -> list[FieldError]:
    """What may not be changed so."""
    if kind.key == "Pod" and not subresource and not fits_in_place(old, new):
        return [forbidden("spec", "pod updates may not change fields other than those that kube allows")]
    return []


def strategic_patch(old: Manifest, patch: Any) -> Any:
    """A strategic merge patch."""
    return merge_patch(old, patch)
