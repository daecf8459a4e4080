"""Reads trace events as Perfetto does: a begin opens a slice on its track, an end closes the one opened last."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

Track = tuple[int, int]


@dataclass
class Slice:
    """Times are nanoseconds."""

    name: str
    track: Track
    start: int
    args: dict[str, Any]
    end: int = -1
    above: Slice | None = None
    path: list[str] = field(default_factory=list)


def slices(events: Iterable[dict[str, Any]]) -> list[Slice]:
    """In the order in which they begin. On a track no event is earlier than the one before."""
    made: list[Slice] = []
    open_: dict[Track, list[Slice]] = {}
    latest: dict[Track, float] = {}
    for event in events:
        if event["ph"] == "M":
            continue
        track = (event["pid"], event["tid"])
        assert event["ts"] >= latest.get(track, 0)
        latest[track] = event["ts"]
        stack = open_.setdefault(track, [])
        if event["ph"] == "E":
            stack.pop().end = round(event["ts"] * 1000)
            continue
        assert event["ph"] == "B"
        above = stack[-1] if stack else None
        path = [*(above.path if above else []), event["name"]]
        stack.append(Slice(event["name"], track, round(event["ts"] * 1000), event["args"], above=above, path=path))
        made.append(stack[-1])
    assert not any(open_.values())
    return made
