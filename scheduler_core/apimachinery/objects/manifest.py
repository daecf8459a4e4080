"""An API object as it is read and written: nested mappings, lists, and scalars, with the field names of the Kubernetes API."""

from collections.abc import Mapping
from typing import Any

# Read-only, because the store shares one object among all readers. Code that builds an object writes to a MutableManifest.
Manifest = Mapping[str, Any]
MutableManifest = dict[str, Any]
