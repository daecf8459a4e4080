"""What was read of a manifest, remembered by the manifest's identity: a stored manifest never changes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class ByIdentity(Generic[T]):
    """At most `limit` readings; the older half is dropped where there are more. Holds each manifest, so that its id stays its own."""

    __slots__ = ("_found", "_limit")

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._found: dict[int, tuple[Mapping[str, Any], T]] = {}

    def of(self, manifest: Mapping[str, Any], read: Callable[[Mapping[str, Any]], T]) -> T:
        """Return the result of `read` for a manifest, calling `read` only on the first use."""
        found = self._found.get(id(manifest))
        if found is not None:
            return found[1]
        reading = read(manifest)
        if len(self._found) >= self._limit:
            for key in list(self._found)[: self._limit // 2]:
                del self._found[key]
        self._found[id(manifest)] = (manifest, reading)
        return reading
