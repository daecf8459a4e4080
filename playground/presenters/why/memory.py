"""An explanation asks every node, so it is kept until something has changed that it could rest on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

from scheduler_core.analysis.explain import Explanation, explain
from scheduler_core.world.readonly import QueuedPod, WorldView


@dataclass(frozen=True, slots=True)
class _Known:
    """An explanation and the state it was made for: `entry` is the pod's queue entry, which is replaced whenever it changes."""

    stand: tuple[object, ...]
    entry: QueuedPod | None
    explanation: Explanation | None


_LATEST: WeakKeyDictionary[Any, _Known] = WeakKeyDictionary()


def get_explanation(sim: WorldView, key: str) -> Explanation | None:
    """Explain the state of a pod "namespace/name"; the last explanation in each world is cached."""
    stand = (
        key,
        sim.store.resource_version,
        sim.journal.last_attempt.get(key),
        *(scheduler.cache.generation for scheduler in sim.schedulers),
        *_under_way(sim, key),
    )
    entry = next((found for s in sim.schedulers if (found := s.queue.find(key)) is not None), None)
    known = _LATEST.get(sim.store)
    if known is None or known.stand != stand or known.entry is not entry:
        known = _LATEST[sim.store] = _Known(stand, entry, explain(sim, key))
    return known.explanation


def _under_way(sim: WorldView, key: str) -> tuple[int, ...]:
    """The pod's cycles and bindings."""
    return tuple(
        cycle.number
        for scheduler in sim.schedulers
        for cycle in (scheduler.cycle, *scheduler.bindings.values())
        if cycle is not None and cycle.pod.key == key
    )
