"""What comes of changes: a fork with them beside one without, both run to the same virtual time, until the first is at rest."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from scheduler_core.commands import Command
from scheduler_core.fixes.effects import Effect, Watch, effects_of
from scheduler_core.simulation import Simulation

STEPS = 2_000_000

Progress = Callable[[int], None]
"""Hears now and then how many transitions were made."""

EACH = 2_000


@dataclass(frozen=True, slots=True)
class Outcome:
    """`effects`: what becomes of pods that exist; `created`: pods that only exist with the changes, and their nodes ("": they wait), in
    the order of their names; `pending` and `pending_without`: who waits in the end. `time`: virtual nanoseconds that it took.

    `at_rest`: whether nothing was left to happen; else the steps were used up.
    """

    effects: tuple[Effect, ...]
    created: tuple[tuple[str, str], ...]
    pending: tuple[str, ...]
    pending_without: tuple[str, ...]
    time: int
    at_rest: bool

    def to_json(self) -> dict[str, Any]:
        return {
            "effects": [effect.to_json() for effect in self.effects],
            "created": [{"pod": pod, "node": node} for pod, node in self.created],
            "pending": list(self.pending),
            "pendingWithout": list(self.pending_without),
            "seconds": self.time / 1e9,
            "atRest": self.at_rest,
        }


def what_if(
    sim: Simulation, changes: Sequence[Command], steps: int = STEPS, progress: Progress | None = None
) -> Outcome:
    """What these changes, made at once, come to. `sim` stays as it is, and should be at rest. Refused where one can't be made."""
    with_them = Watch(sim.fork())
    for change in changes:
        with_them.world.apply(change)
        with_them.note()
    at_rest = _settle(with_them, steps, progress)
    without = Watch(sim.fork())
    for _ in without.until(with_them.world.now, steps):
        pass
    effects = effects_of(sim, without.at(with_them.world.now), with_them, "")
    replaced = {effect.by for effect in effects}
    before = {pod.key for pod in without.world.store.pods()}
    created = [
        (pod.key, pod.node_name)
        for pod in with_them.world.store.pods()
        if pod.key not in before and pod.key not in replaced
    ]
    return Outcome(
        effects,
        tuple(sorted(created)),
        waiting(with_them.world),
        waiting(without.world),
        with_them.world.now - sim.now,
        at_rest,
    )


def settle(sim: Simulation, steps: int = STEPS, progress: Progress | None = None) -> bool:
    """Runs a world until it is at rest; whether it came to that within so many transitions."""
    return _settle(Watch(sim), steps, progress)


def _settle(watch: Watch, steps: int, progress: Progress | None) -> bool:
    while not watch.world.idle:
        if watch.steps >= steps:
            return False
        watch.advance()
        if progress is not None and watch.steps % EACH == 0:
            progress(watch.steps)
    return True


def waiting(sim: Simulation) -> tuple[str, ...]:
    """The pods that have no node and have not ended, by key."""
    return tuple(
        sorted(p.key for p in sim.store.pods() if not p.node_name and not p.terminal and not p.deleting)
    )
