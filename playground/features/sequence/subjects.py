"""What a sequence diagram is about: which records are its own, and at which steps the journal knows of it."""

from __future__ import annotations

from typing import Any

from playground.presenters.amounts import clock
from playground.sessions.protocol.base import Data
from scheduler_core.base.trace.kinds import (
    EventRecorded,
    ObjectChanged,
    QueueMoved,
    Reconciled,
    WatchEventHeard,
)
from scheduler_core.world.readonly import Place, Record, StepFacts

OF_PODS = ("kubelet", "taint-eviction-controller")  # controllers whose keys are those of pods
OF_A_VICTIM = ("object", "api_call", "event")
PARTS = 12
OF_A_PROCESS = ("scheduler_started", "scheduler_stage", "leader_election")
POPPED = "popped"
CYCLES = 3  # of a scheduler, after its loop has begun


class OfPod:
    """A pod, and the pods that have to go for it, from the attempt that chose them until they are gone."""

    def __init__(self, world: Any, pod: str) -> None:
        self.pod = pod
        attempts = world.journal.attempts_of(pod)
        self.victims = {
            victim: (attempt.first_position, _find_deletion_position(world, victim))
            for attempt in attempts
            for victim in attempt.victims
        }
        moves = [move.position for move in world.journal.lane(pod)]
        gone = [end for _, end in self.victims.values() if end is not None]
        self.landmarks = sorted({*moves, *gone}) if moves else []
        self.parts: list[Data] = [
            {
                "n": n,
                "first": attempt.first_position - 1,
                "t": clock(attempt.started),
                "outcome": attempt.outcome,
            }
            for n, attempt in enumerate(attempts, 1)
        ][-PARTS:]

    def of(self, world: Any) -> list[Record]:
        """Its records of the last step, with the command, the timer or the controller that led to them."""
        pods = {self.pod, *self._victims_at(world.position)}
        own = {record.seq: record for record in world.last if self._is_own(record, pods)}
        kinds = {record.kind for record in own.values()}
        return [record for record in world.last if record.seq in own or _led_to(record, kinds)]

    def _victims_at(self, position: int) -> list[str]:
        return [
            victim
            for victim, (begin, end) in self.victims.items()
            if begin <= position and (end is None or position <= end)
        ]

    def _is_own(self, record: Record, pods: set[str]) -> bool:
        pod = _pod_of(record)
        if pod == self.pod:
            return True
        source = record.source
        if isinstance(source, Reconciled):
            return source.controller in OF_PODS and source.key in pods
        if isinstance(source, EventRecorded) and source.related == self.pod:
            return True
        return pod in pods and record.kind in OF_A_VICTIM


def _find_deletion_position(world: Any, pod: str) -> int | None:
    return next((m.position for m in reversed(world.journal.lane(pod)) if m.place == Place.DELETED), None)


def _pod_of(record: Record) -> str:
    source = record.source
    if isinstance(source, StepFacts):
        return source.pod
    facts = record.facts
    if isinstance(facts, ObjectChanged | EventRecorded | WatchEventHeard):
        return f"{facts.namespace}/{facts.name}" if facts.kind == "Pod" else ""
    pod = getattr(facts, "pod", "")
    return pod if isinstance(pod, str) else ""


def _led_to(record: Record, kinds: set[str]) -> bool:
    source = record.source
    if isinstance(source, Reconciled):
        return bool(source.did) and "object" in kinds
    if record.kind == "timer_fired":
        return "queue_moved" in kinds
    return record.kind == "command" and bool(kinds)


class OfScheduler:
    """A scheduler's process: its start, its election, its end, and the first cycles of its loop."""

    def __init__(self, world: Any, name: str) -> None:
        self.name = name
        moves = [move for move in world.journal.processes if move.scheduler == name]
        self.landmarks = sorted({move.position for move in moves})
        self.cycles = 0
        self.parts: list[Data] = [
            {"n": n, "first": move.position - 1, "t": clock(move.t), "outcome": ""}
            for n, move in enumerate((m for m in moves if m.state == "starting"), 1)
        ][-PARTS:]

    def of(self, world: Any) -> list[Record]:
        """The process' records of the last step, with the command and the Lease that belong to them."""
        own = {record.seq for record in world.last if record.scheduler == self.name and self._tells(record)}
        if not own:
            return []
        return [
            record
            for record in world.last
            if record.seq in own or record.kind == "command" or _is_lease(record)
        ]

    def _tells(self, record: Record) -> bool:
        source = record.source
        if isinstance(source, QueueMoved):
            self.cycles += source.cause == POPPED
            return source.cause == POPPED and self.cycles <= CYCLES
        if record.kind == "attempt_ended":
            return self.cycles <= CYCLES
        if record.kind == "scheduler_stage":
            self.cycles = 0
        return record.kind in OF_A_PROCESS


def _is_lease(record: Record) -> bool:
    source = record.source
    return isinstance(source, ObjectChanged | EventRecorded) and source.kind == "Lease"
