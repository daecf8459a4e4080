"""Which objects belong to which controller: an index of one kind's objects, kept up with by the store that asked for it.

kube: pkg/controller/controller_utils.go (PodControllerUIDIndex, OrphanPodIndex) @ v1.34.1
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable

from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apimachinery.objects.ownership import controller_of

Key = tuple[str, str]


class ByController:
    """Keys of objects by the uid of their controller, those without one by namespace; each list sorted."""

    __slots__ = ("_keys",)

    def __init__(self, objects: Iterable[tuple[Key, Manifest]]) -> None:
        self._keys: dict[str, list[Key]] = {}
        for key, manifest in objects:
            self._keys.setdefault(_place(key, manifest), []).append(key)
        for keys in self._keys.values():
            keys.sort()

    def of(self, uid: str) -> list[Key]:
        """Keys of the objects that a controller's uid manages."""
        return list(self._keys.get(uid, ()))

    def without(self, namespace: str) -> list[Key]:
        """Keys of a namespace's objects that no controller manages."""
        return list(self._keys.get(f"/{namespace}", ()))

    def note(self, key: Key, old: Manifest | None, new: Manifest | None) -> None:
        """Follows a change of one object."""
        before = None if old is None else _place(key, old)
        after = None if new is None else _place(key, new)
        if before == after:
            return
        if before is not None:
            keys = self._keys[before]
            del keys[bisect_left(keys, key)]
            if not keys:
                del self._keys[before]
        if after is not None:
            insort(self._keys.setdefault(after, []), key)


def _place(key: Key, manifest: Manifest) -> str:
    reference = controller_of(manifest)
    return f"/{key[0]}" if reference is None else str(reference.get("uid") or "")
