"""A snapshot's times on a world's clock: the moment a snapshot was taken becomes the world's now, so that ages stay what they were.

Otherwise pods that the world makes would look older than those that the snapshot brought, and preemption goes by who started last.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from typing import Any

from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apimachinery.objects.times import SECOND, format_time, parse_time
from scheduler_core.apiserver.store import Store

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
_MAPPING = (dict, Mapping)  # a dict is told at once
_NESTING = (*_MAPPING, list)


def moving(store: Store, now: int, manifests: Sequence[Any]) -> Generator[int, None, tuple[list[Any], int]]:
    """The objects on the clock of a world, and by how many ns they were moved: 0 where they are no snapshot, or are of this very world.

    Says how many there have been, after a first look at each of them that others had.
    """
    snapshot = [each for each in manifests if _uid(each)]
    if not snapshot or any(store.by_uid(_uid(each)) for each in snapshot):
        return list(manifests), 0
    texts: dict[str, None] = {}
    for number, each in enumerate(snapshot, len(manifests)):
        _collect_all(each, texts)
        yield number
    latest = max((time for text in texts if (time := _time(text)) is not None), default=None)
    if latest is None or latest == store.epoch + now:
        return list(manifests), 0
    shift = store.epoch + now - latest
    times, moved = _Moved(shift), []
    for number, each in enumerate(manifests, 2 * len(manifests)):
        moved.append(_shift_manifest(each, times) if _uid(each) else each)
        yield number
    return moved, shift


def _uid(manifest: Any) -> str:
    meta = manifest.get("metadata") if isinstance(manifest, Mapping) else None
    uid = meta.get("uid") if isinstance(meta, Mapping) else None
    return uid if isinstance(uid, str) else ""


def _collect_all(manifest: Manifest, texts: dict[str, None]) -> None:
    """Adds the times of an object that have passed."""
    for part in _parts(manifest):
        _collect(manifest.get(part), texts)
    meta = manifest.get("metadata") or {}
    ends, grace = meta.get("deletionTimestamp"), meta.get("deletionGracePeriodSeconds")
    if isinstance(ends, str) and isinstance(grace, int) and (time := _time(ends)) is not None:
        texts[format_time(time - grace * SECOND)] = None  # when the deletion was asked for


def _collect(value: Any, texts: dict[str, None]) -> None:
    if isinstance(value, _MAPPING):
        for name, entry in value.items():
            if isinstance(entry, str):
                if name in _TIMES and name not in _AHEAD:
                    texts[entry] = None
            elif isinstance(entry, _NESTING):
                _collect(entry, texts)
    elif isinstance(value, list):
        for entry in value:
            if isinstance(entry, _NESTING):
                _collect(entry, texts)


def _parts(manifest: Manifest) -> tuple[str, ...]:
    specs = manifest.get("kind") in _SPECS
    return ("metadata", "status", "spec") if specs else ("metadata", "status")


class _Moved(dict[str, str | None]):
    """Texts of times as they are when they were moved; None where one is no time."""

    def __init__(self, shift: int) -> None:
        super().__init__()
        self._shift = shift

    def __missing__(self, text: str) -> str | None:
        time = _time(text)
        self[text] = moved = None if time is None else format_time(time + self._shift)
        return moved


def _shift_manifest(manifest: Manifest, times: _Moved) -> Manifest:
    parts = {part: _shift_value(manifest[part], times) for part in _parts(manifest) if part in manifest}
    return {**manifest, **parts}


def _shift_value(value: Any, times: _Moved) -> Any:
    """The value with its times moved; what holds none is the same object."""
    if isinstance(value, _MAPPING):
        new: dict[str, Any] = {}
        for name, entry in value.items():
            if isinstance(entry, str):
                moved = times[entry] if name in _TIMES else None
            else:
                moved = _shift_value(entry, times) if isinstance(entry, _NESTING) else None
            if moved is not None and moved is not entry:
                new[name] = moved
        return {**value, **new} if new else value
    if isinstance(value, list):
        entries = [_shift_value(entry, times) if isinstance(entry, _NESTING) else entry for entry in value]
        return entries if any(new is not old for new, old in zip(entries, value, strict=True)) else value
    return value


def _time(text: str) -> int | None:
    try:
        return parse_time(text)
    except ValueError:
        return None
