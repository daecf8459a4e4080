"""New manifests from old ones: nothing is changed in place, unchanged parts are shared."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduler_core.apimachinery.objects.manifest import Manifest


def with_section(manifest: Manifest, section: str, changes: Mapping[str, Any]) -> dict[str, Any]:
    """A copy with fields of one top-level section set."""
    return {**manifest, section: {**(manifest.get(section) or {}), **changes}}


def merge_patch(target: Any, patch: Any) -> Any:
    """RFC 7396: objects are merged, null deletes, anything else replaces."""
    if not isinstance(patch, Mapping):
        return patch
    merged = dict(target) if isinstance(target, Mapping) else {}
    for name, value in patch.items():
        if value is None:
            merged.pop(name, None)
        else:
            merged[name] = merge_patch(merged.get(name), value)
    return merged


def with_condition(status: Mapping[str, Any], condition: Mapping[str, Any], timestamp: str) -> dict[str, Any] | None:
    """The status with a condition set; None where it already says so.

    The transition time moves only when the condition's status changes. kube: api/v1/pod/util.go UpdatePodCondition
    """
    conditions = list(status.get("conditions") or ())
    index = next((i for i, old in enumerate(conditions) if old.get("type") == condition["type"]), None)
    fresh = {"lastProbeTime": None, "lastTransitionTime": timestamp, **condition}
    if index is None:
        conditions.append(fresh)
        return {**status, "conditions": conditions}
    old = conditions[index]
    if old.get("status") == fresh.get("status") and old.get("lastTransitionTime"):
        fresh["lastTransitionTime"] = old["lastTransitionTime"]
    if all(
        old.get(field) == fresh.get(field)
        for field in ("status", "reason", "message", "lastTransitionTime", "observedGeneration")
    ):
        return None
    conditions[index] = fresh
    return {**status, "conditions": conditions}


def list_changed_paths(old: Any, new: Any, path: str = "", limit: int = 50) -> list[str]:
    """Paths of the fields in which two manifests differ, in the order of their fields; at most `limit`."""
    paths: list[str] = []
    _compare(old, new, path, paths, limit)
    return paths


def _compare(old: Any, new: Any, path: str, paths: list[str], limit: int) -> None:
    if len(paths) >= limit or old is new or old == new:
        return
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for name in dict.fromkeys((*old, *new)):
            _compare(old.get(name), new.get(name), path_below(path, str(name)), paths, limit)
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for i, (before, after) in enumerate(zip(old, new, strict=True)):
            _compare(before, after, f"{path}[{i}]", paths, limit)
    else:
        paths.append(path)


def path_below(path: str, name: str) -> str:
    """The path of a field of what is at a path."""
    if not name.isidentifier():
        return f"{path}[{name}]"
    return f"{path}.{name}" if path else name
