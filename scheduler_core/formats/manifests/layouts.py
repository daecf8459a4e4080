"""Objects that leave their kind to the file they are in, as those of support bundles do."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from scheduler_core.apiserver.kinds import KINDS

_VERSIONS = {"HorizontalPodAutoscaler": "v2"}
_SHORT = {"pvs": "PersistentVolume", "pvcs": "PersistentVolumeClaim"}


def with_kind(manifest: Any, file: str) -> Any:
    """An object without a kind as the one that its file's name tells: `cluster-resources/pods/web.json` holds Pods."""
    if (
        not isinstance(manifest, Mapping)
        or manifest.get("kind")
        or not isinstance(manifest.get("metadata"), Mapping)
    ):
        return manifest
    for part in reversed(file.replace("\\", "/").split("/")):
        known = _resources().get(part.partition(".")[0].replace("-", "").replace("_", "").lower())
        if known is not None:
            version, kind = known
            return {**manifest, "apiVersion": manifest.get("apiVersion") or version, "kind": kind}
    return manifest


@cache
def _resources() -> Mapping[str, tuple[str, str]]:
    """Version and kind by the plural that files are named by."""
    known = {name: KINDS[kind] for name, kind in _SHORT.items()} | {
        kind.plural: kind for kind in KINDS.values()
    }
    return {
        name: (f"{kind.group}/{_VERSIONS.get(kind.key, 'v1')}".removeprefix("/"), kind.key)
        for name, kind in known.items()
    }
