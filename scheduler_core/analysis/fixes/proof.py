"""Proof: a fork on which the commands are applied and run until the pod is scheduled, and on until others have settled.

Where so many pods wait before it that the attempt would not come within the budget, the others are held back on the fork, and the
proof says so: the pod fits then if its turn comes before theirs.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from scheduler_core.analysis.fixes.admission import COUNTING, CREATING, acts
from scheduler_core.analysis.fixes.effects import Effect, Watch, effects_of
from scheduler_core.analysis.fixes.fix import Budget
from scheduler_core.apiserver.status import Refused
from scheduler_core.world.commands import ApplyObjects, Command, SetSettings
from scheduler_core.world.simulation import Simulation

CHUNK = 20  # transitions between two chances for others
OF_AN_ATTEMPT = 25  # transitions that an attempt takes at least, about
_EPHEMERAL = "ephemeral-volume-controller"
_BINDING = ("persistentvolume-binder-controller", "csi-provisioner")
ACTING = {
    "StorageClass": _BINDING,
    "PersistentVolume": _BINDING,
    "PersistentVolumeClaim": _BINDING,
    "Deployment": ("deployment-controller", "replicaset-controller"),
}
PATIENT = 5  # attempts, where pods have to go before the pod fits


@dataclass(frozen=True, slots=True)
class Proof:
    """`node` is where the attempt put the pod, "" where it did not; `steps` transitions were made after the commands.

    `held_back` counts the pods that did not take part in it; `effects` is what became of the others.
    """

    node: str
    steps: int
    held_back: int = 0
    effects: tuple[Effect, ...] = ()


Proving = Generator[None, None, Proof]


class Prover:
    """Proves fixes for one pod of a world; what becomes of the world without any of them is found out once."""

    def __init__(self, sim: Simulation, key: str, budget: Budget) -> None:
        self.sim = sim
        self.key = key
        self.budget = budget
        self._without: Watch | None = None

    def prove(
        self, commands: Sequence[Command], steps: int, *, patient: bool = False, alone: bool = False
    ) -> Proving:
        """Runs at most `steps` transitions. An attempt counts that began after the commands; a refused command proves nothing.

        `alone`: with all others that wait held back.
        """
        with _watch_fork(self.sim) as fixed:
            return (yield from self._prove(fixed, commands, steps, patient, alone))

    def _prove(
        self, fixed: Watch, commands: Sequence[Command], steps: int, patient: bool, alone: bool
    ) -> Proving:
        try:
            _have_act(fixed.world, commands)
            for command in commands:
                fixed.world.apply(command)
                fixed.note()
        except Refused:
            return Proof("", 0)
        held_back = 0
        waiting = sum(len(s.queue.active_pods) for s in fixed.world.schedulers)
        if alone or waiting * OF_AN_ATTEMPT > steps:
            held_back = _hold_back(fixed.world, self.key)
        node = yield from self._attempted(fixed, steps, PATIENT if patient else 1)
        made = fixed.steps
        if not node:
            return Proof("", made)
        effects = yield from self._effects(fixed, held_back)
        return Proof(node, made, held_back, effects)

    def created(self, commands: Sequence[Command], owner: Mapping[str, Any]) -> Proving:
        """The same of a pod that its owner could not create: until one is bound that was not there before."""
        with _watch_fork(self.sim) as fixed:
            if not acts(fixed.world, owner["kind"]):
                _acting(fixed.world, [CREATING[owner["kind"]], COUNTING])
            return (yield from self._created(fixed, commands, owner["metadata"]["uid"]))

    def _created(self, fixed: Watch, commands: Sequence[Command], owner: str) -> Proving:
        try:
            for command in commands:
                fixed.world.apply(command)
                fixed.note()
        except Refused:
            return Proof("", 0)
        deadline = fixed.world.now + self.budget.proof_time
        while fixed.steps < self.budget.proof_steps and fixed.advance() and fixed.world.now <= deadline:
            for _, key, standing in fixed.log[-1:]:
                if standing.owner == owner and standing.node and self.sim.store.pod_at(key) is None:
                    self.key, made = key, fixed.steps
                    effects = yield from self._effects(fixed, 0)
                    return Proof(standing.node, made, 0, effects)
            if fixed.steps % CHUNK == 0:
                yield
        return Proof("", fixed.steps)

    def _attempted(self, fixed: Watch, steps: int, attempts: int) -> Generator[None, None, str]:
        """The node that the pod is scheduled to; "" where its attempts end otherwise. A nomination is waited for."""
        world, seen = fixed.world, -1
        start, deadline = world.position, world.now + self.budget.proof_time
        while fixed.steps < steps:
            if not fixed.advance() or world.now > deadline:
                return ""
            index = world.journal.last_attempt.get(self.key)
            if index is not None and index != seen and world.journal.attempts[index].first_position > start:
                seen, attempt = index, world.journal.attempts[index]
                if attempt.outcome == "scheduled":
                    return attempt.node
                attempts -= not attempt.nominated
                if attempts <= 0:
                    return ""
            if fixed.steps % CHUNK == 0:
                yield
        return ""

    def _effects(self, fixed: Watch, held_back: int) -> Generator[None, None, tuple[Effect, ...]]:
        made = fixed.steps
        while not fixed.world.idle and fixed.steps - made < self.budget.settling:
            fixed.advance()
            if fixed.steps % CHUNK == 0:
                yield
        if held_back:  # without the others nothing is to be compared with; who was being bound is no effect
            found = effects_of(self.sim, {}, fixed, self.key)
            return tuple(effect for effect in found if effect.kind != "placed")
        self._without = self._without or Watch(self.sim.fork())
        now = fixed.world.now
        for _ in self._without.until(now, self.budget.proof_steps):
            if self._without.steps % CHUNK == 0:
                yield
        return effects_of(self.sim, self._without.at(now), fixed, self.key)


@contextmanager
def _watch_fork(sim: Simulation) -> Iterator[Watch]:
    """A fork whose memory is free as soon as it was looked at."""
    watch = Watch(sim.fork())
    try:
        yield watch
    finally:
        watch.world.disconnect()


def _have_act(world: Simulation, commands: Sequence[Command]) -> None:
    """Start the controllers that handle the changed objects, in a snapshot in which no controllers run."""
    if world.settings.cluster.controllers is None:
        return
    made = [each for command in commands if isinstance(command, ApplyObjects) for each in command.objects]
    acting = [name for each in made for name in ACTING.get(str(each.get("kind")), ())]
    if any(_has_ephemeral_claims(each) for each in made):
        acting += [_EPHEMERAL, *_BINDING]
    if acting:
        _acting(world, acting)


def _acting(world: Simulation, more: Sequence[str]) -> None:
    """These controllers act, too."""
    running = world.settings.cluster.controllers or ()
    names = list(dict.fromkeys((*running, *more)))
    world.apply(SetSettings({"cluster": {"controllers": names}}))


def _has_ephemeral_claims(manifest: Mapping[str, Any]) -> bool:
    """Return True if the manifest is a pod with ephemeral volumes, for which claims are created."""
    volumes = (manifest.get("spec") or {}).get("volumes") or ()
    return manifest.get("kind") == "Pod" and any("ephemeral" in each for each in volumes)


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
