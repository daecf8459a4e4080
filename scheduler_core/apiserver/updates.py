"""Updates of objects: the fields that the server owns, and the fields that differ."""

from __future__ import annotations

from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apiserver.rewriting import list_changed_paths

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


def difference(old: Manifest, new: Manifest) -> list[str]:
    """Paths of the fields that change, the server's own aside."""
    return list_changed_paths(_without_owned(old), _without_owned(new))


def _without_owned(manifest: Manifest) -> Manifest:
    meta = {name: value for name, value in manifest["metadata"].items() if name not in SERVER_OWNED}
    return {**manifest, "metadata": meta}
