"""Levels of several objects on one axis of virtual time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from playground.presenters.amounts import SECOND

MINUTE = 60 * SECOND


def series(
    levels: Mapping[str, Sequence[Mapping[str, Any]]], names: Sequence[str], now: int
) -> tuple[list[float], str, dict[str, list[float]]]:
    """Times in a unit that suits them, the unit, and the values of each object and figure at these times."""
    times = sorted({now, *(level["t"] for kept in levels.values() for level in kept)})
    unit, size = ("min", MINUTE) if times and times[-1] - times[0] > 10 * MINUTE else ("s", SECOND)
    lines = {
        " ".join(part for part in (key, name if len(names) > 1 else "") if part): _steps(kept, name, times)
        for key, kept in levels.items()
        for name in names
    }
    return [round(t / size, 3) for t in times], unit, lines


def _steps(kept: Sequence[Mapping[str, Any]], name: str, times: Sequence[int]) -> list[float]:
    """The value that holds at each time; 0 where there is none yet."""
    values, i, value = [], 0, 0.0
    for t in times:
        while i < len(kept) and kept[i]["t"] <= t:
            value = float(kept[i].get(name) or 0)
            i += 1
        values.append(value)
    return values
