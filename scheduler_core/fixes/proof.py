"""Proof: a fork on which the command is applied and run until the pod's next attempt ends.

Where so many pods wait before it that the attempt would not come within the budget, the others are held back on the fork, and the
proof says so: the pod fits then if its turn comes before theirs.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

from scheduler_core.api.status import Refused
from scheduler_core.commands import Command
from scheduler_core.fixes.fix import Budget
from scheduler_core.simulation import Simulation

CHUNK = 20  # transitions between two chances for others
OF_AN_ATTEMPT = 25  # transitions that an attempt takes at least, about


@dataclass(frozen=True, slots=True)
class Proof:
    """`node` is where the attempt put the pod, "" where it did not; `steps` transitions were made after the command.

    `held_back` counts the pods that did not take part in it.
    """

    node: str
    steps: int
    held_back: int = 0


def prove(
    sim: Simulation, key: str, command: Command, budget: Budget, steps: int
) -> Generator[None, None, Proof]:
    """Runs at most `steps` transitions. An attempt counts that began after the command; a refused command proves nothing."""
    world = sim.fork()
    try:
        world.apply(command)
    except Refused:
        return Proof("", 0)
    held_back = 0
    if sum(len(s.queue.active_pods) for s in world.schedulers) * OF_AN_ATTEMPT > steps:
        held_back = _hold_back(world, key)
    start, deadline = world.position, world.now + budget.proof_time
    for done in range(1, steps + 1):
        if not world.advance() or world.now > deadline:
            return Proof("", done)
        index = world.journal.last_attempt.get(key)
        if index is not None and world.journal.attempts[index].first_position > start:
            attempt = world.journal.attempts[index]
            node = attempt.node if attempt.outcome == "scheduled" else ""
            return Proof(node, done, held_back)
        if done % CHUNK == 0:
            yield
    return Proof("", steps)


def _hold_back(world: Simulation, key: str) -> int:
    """Takes all other waiting pods out of the queues, but for those that are nominated to a node; returns how many."""
    count = 0
    for scheduler in world.schedulers:
        queue = scheduler.queue
        waiting = [*queue.active(), *queue.backoff(), *queue.unschedulable()]
        for entry in waiting:
            if entry.key != key and not entry.pod.nominated_node_name:
                queue.delete(entry.pod)
                count += 1
    return count
