"""Objects that stand inside others, and know their place there."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from scheduler_core.apimachinery.objects.loading import Loaded, Place


def inside(outer: Loaded, path: str, manifest: Any) -> Loaded:
    """Return the object at a path of a document."""

    def locate(inner: str) -> Place | None:
        between = "" if not inner or inner.startswith("[") else "."
        return outer.locate(f"{path}{between}{inner}")

    return replace(outer, manifest=manifest, locate=locate)


def replace_manifest(loaded: Loaded, manifest: Any) -> Loaded:
    """The same document with another content."""
    return loaded if manifest is loaded.manifest else replace(loaded, manifest=manifest)
