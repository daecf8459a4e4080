"""Reads single series of a scheduler's metrics."""

from __future__ import annotations

from scheduler_core.analysis.status.families import Spread, Value, read_families
from scheduler_core.world.simulation import Simulation

Series = Value | Spread


def series(sim: Simulation, name: str) -> dict[tuple[str, ...], Series]:
    """The series of scheduler_`name` by their labels."""
    (family,) = [one for one in read_families(sim.schedulers[0]) if one.metric.name == f"scheduler_{name}"]
    return {one.labels: one for one in family.series}


def values(sim: Simulation, name: str) -> dict[tuple[str, ...], int]:
    """Of a counter or gauge."""
    return {labels: one.value for labels, one in series(sim, name).items() if isinstance(one, Value)}


def spreads(sim: Simulation, name: str) -> dict[tuple[str, ...], tuple[int, float]]:
    """Of a histogram: how many, and their sum."""
    return {labels: (sum(one.counts), one.sum) for labels, one in series(sim, name).items() if isinstance(one, Spread)}
