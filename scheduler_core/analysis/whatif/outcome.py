"""What comes of changes: a fork with them beside one without, both run to the same virtual time, until the first is at rest."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from scheduler_core.analysis.fixes.effects import Effect, Watch, effects_of
from scheduler_core.analysis.status import read_drains
from scheduler_core.analysis.whatif.changes import Change, make
from scheduler_core.analysis.whatif.loops import End, Loop, ends_of
from scheduler_core.analysis.whatif.rest import STEPS, Progress, Rest, Settling, release
from scheduler_core.world.simulation import Simulation


@dataclass(frozen=True, slots=True)
class Outcome:
    """`effects`: what becomes of pods that exist; `created`: pods that only exist with the changes, and their nodes ("": they wait), in
    the order of their names; `pending` and `pending_without`: who waits in the end. `time`: virtual nanoseconds that it took.

    `rest`: how the world with the changes came to rest. `failed`: the pods that failed with the changes and not without them.
    `held_up`: the evictions that a drain asks for in vain: node, pod, and why. `world` and `baseline`: with the changes and without.
    """

    effects: tuple[Effect, ...]
    created: tuple[tuple[str, str], ...]
    pending: tuple[str, ...]
    pending_without: tuple[str, ...]
    time: int
    rest: Rest
    world: Simulation
    baseline: Simulation
    failed: tuple[End, ...] = ()
    held_up: tuple[tuple[str, str, str], ...] = ()

    @property
    def at_rest(self) -> bool:
        return self.rest.at_rest

    def to_json(self) -> dict[str, Any]:
        return {
            "effects": [effect.to_json() for effect in self.effects],
            "created": [{"pod": pod, "node": node} for pod, node in self.created],
            "pending": list(self.pending),
            "pendingWithout": list(self.pending_without),
            "seconds": self.time / 1e9,
            "atRest": self.at_rest,
            "failed": [end.to_json() for end in self.failed],
            "heldUp": [{"node": node, "pod": pod, "message": why} for node, pod, why in self.held_up],
            "stuck": [loop.to_json() for loop in self.rest.loops],
        }


def what_if(
    sim: Simulation,
    changes: Sequence[Change],
    steps: int = STEPS,
    progress: Progress | None = None,
    loops: Iterable[Loop] = (),
) -> Outcome:
    """Return the outcome of changes that are made at once. `sim` does not change, and should be at rest. Raise Refused if one fails.

    `loops`: the loops that are paused in `sim`; with the changes they can make progress.
    """
    with_them = Watch(sim.fork())
    for change in changes:
        make(change, with_them)
    with_them.world.change(lambda: release(with_them.world, [loop.owner for loop in loops]))
    rest = Settling(with_them, steps, progress).run()
    without = Watch(sim.fork())
    for _ in without.until(with_them.world.now, steps):
        pass
    effects = effects_of(sim, without.at(with_them.world.now), with_them)
    replaced = {effect.by for effect in effects}
    before = {pod.key for pod in without.world.store.pods()}
    failed = {end.pod: end for end in ends_of(with_them.world.store)}
    for end in ends_of(without.world.store):
        failed.pop(end.pod, None)
    created = [
        (pod.key, pod.node_name)
        for pod in with_them.world.store.pods()
        if pod.key not in before and pod.key not in replaced and pod.key not in failed
    ]
    return Outcome(
        effects,
        tuple(sorted(created)),
        waiting(with_them.world),
        waiting(without.world),
        with_them.world.now - sim.now,
        rest,
        with_them.world,
        without.world,
        tuple(failed.values()),
        tuple(
            (drain["node"], refused["pod"], refused["why"])
            for drain in read_drains(with_them.world)
            for refused in drain["stuck"]
        ),
    )


def waiting(sim: Simulation) -> tuple[str, ...]:
    """The pods that have no node and have not ended, by key."""
    return tuple(sorted(p.key for p in sim.store.pods() if not p.node_name and not p.terminal and not p.deleting))
