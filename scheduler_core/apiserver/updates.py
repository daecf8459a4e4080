"""Updates of objects: the fields that the server owns, the fields that differ, and those that defaulting and admission write."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apiserver.rewriting import list_changed_paths, path_below

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


class Writing:
    """What is made of an object stage by stage, and who wrote which field of it.

    A new value under a field that was not there is told leaf by leaf, and an element that is added to a list by itself.
    """

    def __init__(self, manifest: Manifest) -> None:
        self.manifest = manifest
        self.written: list[Manifest] = []

    def take(self, by: str, manifest: Manifest) -> Manifest:
        """The object as a stage would have it."""
        if manifest is not self.manifest:
            found = _changes(self.manifest, manifest, "")
            self.written += ({"by": by, "path": path, "value": value} for path, value in found)
            self.manifest = manifest
        return manifest


def _changes(old: Any, new: Any, path: str) -> Iterator[tuple[str, Any]]:
    if old is new or old == new:
        return
    if isinstance(new, Mapping) and new and isinstance(old, Mapping | None):
        for name, value in new.items():
            yield from _changes((old or {}).get(name), value, path_below(path, str(name)))
        yield from ((path_below(path, str(name)), None) for name in old or () if name not in new)
    elif isinstance(new, list) and isinstance(old, list) and len(old) <= len(new):
        for number, value in enumerate(new):
            place = f"{path}[{number}]"
            if number < len(old):
                yield from _changes(old[number], value, place)
            else:
                yield place, value
    else:
        yield path, new
