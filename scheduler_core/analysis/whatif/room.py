"""How many more of a pod fit: copies of it are created on a fork until one fits nowhere, as cluster-capacity does it.

Nothing is reckoned: each copy goes through the scheduler, so that whatever decides about a pod decides about the copies too (spreading,
affinity, ports, devices, sampling). They come in batches, which the queue pops in their order; a test holds this equal to one by one.
"""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from scheduler_core.base.trace.journal import Attempt
from scheduler_core.world.commands import ApplyObjects
from scheduler_core.world.simulation import Simulation

MOST = 10_000
BATCH = 64
STEPS_EACH = 1_000  # transitions for each copy, at most
_OWN = ("uid", "resourceVersion", "creationTimestamp", "generation", "ownerReferences", "managedFields")
_DECIDED = ("nodeName", "schedulingGates")


@dataclass(frozen=True, slots=True)
class Room:
    """`nodes`: how many of the copies each node takes, the most first. `why`: kube's message of the attempt that found no node.

    `enough`: as many fit as were asked for, and more may.
    """

    count: int
    nodes: tuple[tuple[str, int], ...]
    why: str = ""
    enough: bool = False


def room_for(sim: Simulation, manifest: Mapping[str, Any], most: int = MOST, batch: int = BATCH) -> Room:
    """Return how many more such pods fit, up to `most`, without evicting any pod. `sim` does not change.

    The world should be at rest: waiting pods are scheduled as usual. Raise Refused if a copy cannot be created.
    """
    world = sim.fork()
    taken: Counter[str] = Counter()
    while (count := taken.total()) < most:
        names = [f"{_prefix(manifest)}-{count + i}" for i in range(min(batch, most - count))]
        world.apply(ApplyObjects(tuple(copy_of(manifest, name) for name in names), create_only=True))
        keys = [f"{manifest['metadata'].get('namespace') or 'default'}/{name}" for name in names]
        for attempt in _attempts(world, keys):
            if attempt is None or attempt.outcome != "scheduled":
                return Room(taken.total(), _rank_by_count(taken), attempt.message if attempt else "")
            taken[attempt.node] += 1
    return Room(most, _rank_by_count(taken), enough=True)


def copy_of(manifest: Mapping[str, Any], name: str) -> dict[str, Any]:
    """A pod like this one that nothing has been decided about yet."""
    made = copy.deepcopy(dict(manifest))
    made.pop("status", None)
    metadata, spec = made["metadata"], made["spec"]
    for field in (*_OWN, "generateName"):
        metadata.pop(field, None)
    for field in _DECIDED:
        spec.pop(field, None)
    metadata["name"] = name
    return made


def _prefix(manifest: Mapping[str, Any]) -> str:
    metadata = manifest["metadata"]
    return f"{(metadata.get('name') or metadata.get('generateName') or 'pod')[:240].rstrip('-.')}-more"


def _attempts(world: Simulation, keys: list[str]) -> list[Attempt | None]:
    """Return each pod's first attempt in the order of the keys, None if there was none. Stop at the first that failed."""
    waiting = dict.fromkeys(keys)
    ended: list[Attempt | None] = []
    seen = len(world.journal.attempts)
    for _ in range(STEPS_EACH * len(keys)):
        if not waiting or not world.advance():
            break
        for attempt in world.journal.attempts[seen:]:
            if attempt.pod in waiting:
                waiting.pop(attempt.pod)
                ended.append(attempt)
                if attempt.outcome != "scheduled":
                    return ended
        seen = len(world.journal.attempts)
    return [*ended, *[None for _ in waiting]]


def _rank_by_count(taken: Counter[str]) -> tuple[tuple[str, int], ...]:
    return tuple(sorted(taken.items(), key=lambda item: (-item[1], item[0])))
