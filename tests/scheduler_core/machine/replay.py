"""What was done to a world, so that it can be done again from its start."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from scheduler_core.base.trace.records import Record
from scheduler_core.world.simulation import Simulation


@dataclass(slots=True)
class Log:
    """Changes by the position they were made at, and all records as JSON data."""

    changes: list[tuple[int, Callable[[Simulation], list[Record]]]] = field(default_factory=list)
    records: list[dict[str, Any]] = field(default_factory=list)


def replayed(log: Log, start: Simulation, end: int) -> list[dict[str, Any]]:
    """The records of doing it all again up to a position."""
    records: list[dict[str, Any]] = []
    pending = list(log.changes)
    while start.position < end:
        if pending and pending[0][0] == start.position:
            made = pending.pop(0)[1](start)
        else:
            position, made = start.position, start.advance()
            assert start.position > position, "nothing left to happen before the end of the log"
        records += [record.to_json() for record in made]
    return records


def assert_same(again: list[dict[str, Any]], records: list[dict[str, Any]]) -> None:
    """The same records, and where not, which one differs first."""
    for one, other in zip(again, records, strict=False):
        assert one == other, f"again {one}, before {other}"
    assert len(again) == len(records)
