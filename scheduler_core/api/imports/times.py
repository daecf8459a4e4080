"""A snapshot's times on a world's clock: the moment a snapshot was taken becomes the world's now, so that ages stay what they were.

Otherwise pods that the world makes would look older than those that the snapshot brought, and preemption goes by who started last.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from scheduler_core.api.store import Store
from scheduler_core.objects.times import format_time, parse_time

Manifest = Mapping[str, Any]
_TIMES = frozenset(
    (
        "acquireTime",
        "completionTime",
        "creationTimestamp",
        "deletionTimestamp",
        "finishedAt",
        "lastHeartbeatTime",
        "lastProbeTime",
        "lastScheduleTime",
        "lastSuccessfulTime",
        "lastTransitionTime",
        "lastUpdateTime",
        "renewTime",
        "startTime",
        "startedAt",
        "timeAdded",
    )
)
_AHEAD = frozenset(("deletionTimestamp",))  # says when something will have happened
_SPECS = ("Node", "Lease")  # kinds whose spec holds times


def moved(store: Store, now: int, manifests: Sequence[Any]) -> tuple[list[Any], int]:
    """The objects on the clock of a world, and by how many ns they were moved: 0 where they are no snapshot, or are of this very world."""
    snapshot = [each for each in manifests if _uid(each)]
    if not snapshot or any(store.by_uid(_uid(each)) for each in snapshot):
        return list(manifests), 0
    latest = max((time for each in snapshot for time in _times(each)), default=None)
    if latest is None or latest == store.epoch + now:
        return list(manifests), 0
    shift = store.epoch + now - latest
    return [_moved(each, shift) if _uid(each) else each for each in manifests], shift


def _uid(manifest: Any) -> str:
    meta = manifest.get("metadata") if isinstance(manifest, Mapping) else None
    uid = meta.get("uid") if isinstance(meta, Mapping) else None
    return uid if isinstance(uid, str) else ""


def _times(manifest: Manifest) -> Iterator[int]:
    for part in _parts(manifest):
        yield from _within(manifest.get(part))


def _within(value: Any) -> Iterator[int]:
    if isinstance(value, Mapping):
        for name, entry in value.items():
            if isinstance(entry, Mapping | list):
                yield from _within(entry)
            elif name in _TIMES and name not in _AHEAD and (time := _time(entry)) is not None:
                yield time
    elif isinstance(value, list):
        for entry in value:
            yield from _within(entry)


def _parts(manifest: Manifest) -> tuple[str, ...]:
    specs = manifest.get("kind") in _SPECS
    return ("metadata", "status", "spec") if specs else ("metadata", "status")


def _moved(manifest: Manifest, shift: int) -> Manifest:
    return {
        **manifest,
        **{part: _shifted(manifest[part], shift) for part in _parts(manifest) if part in manifest},
    }


def _shifted(value: Any, shift: int) -> Any:
    if isinstance(value, Mapping):
        return {name: _entry(name, entry, shift) for name, entry in value.items()}
    return [_shifted(entry, shift) for entry in value] if isinstance(value, list) else value


def _entry(name: str, value: Any, shift: int) -> Any:
    if isinstance(value, Mapping | list):
        return _shifted(value, shift)
    time = _time(value) if name in _TIMES else None
    return value if time is None else format_time(time + shift)


def _time(value: Any) -> int | None:
    if not isinstance(value, str):
        return None
    try:
        return parse_time(value)
    except ValueError:
        return None
