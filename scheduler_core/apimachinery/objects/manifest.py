"""API objects as they are read and written: nested mappings, lists, and scalars with the field names of the Kubernetes API."""

from collections.abc import Mapping
from typing import Any

# Read-only, because the store shares one object among all readers. Code that builds an object writes to a MutableManifest.
Manifest = Mapping[str, Any]
MutableManifest = dict[str, Any]


def version_of(manifest: Manifest) -> int:
    """Return the resourceVersion, or 0 if the object has none."""
    return int(manifest["metadata"].get("resourceVersion") or 0)
