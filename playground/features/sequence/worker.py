"""A sequence diagram inside a worker: replays history around the events of its subject and omits the rest.

The journal has the positions of moves. The records that closely follow a move (API calls, the kubelet) are found by replaying some
further steps.
"""

import time
from bisect import bisect_right
from typing import Any

from playground.features.sequence.presenter import arrows, in_causal_order
from playground.features.sequence.query import Arrow, FoundSequence, Sequence, SequencePart
from playground.presenters.sentences.lines import BINDING, RecordContext
from playground.presenters.words import clock, message
from playground.sessions.worker.engine import Engine
from playground.sessions.worker.time_sharing import Steps, answers
from scheduler_core.base.trace.kinds import EventRecorded, ObjectChanged, QueueMoved, Reconciled, WatchEventHeard
from scheduler_core.world.readonly import Place, Record, StepFacts

MOST = 200  # arrows on one page
QUIET = 1_000  # steps without a word of the subject, after which its next move is gone to
LAGGING = 300
OFFERED = 12


@answers(Sequence)
def sequence(engine: Engine, request: Sequence) -> Steps[FoundSequence]:
    """Return the arrows from a step on, about 200 at most. `next` is the step to continue from, or None at the end. `still`: no move
    follows there.
    """
    world = yield from engine.at(request.position)
    subject = PodSubject(world, request.pod) if request.pod else SchedulerSubject(world, request.scheduler)
    answer = _head(world, request, subject)
    if not subject.landmarks:
        return answer
    begin = max(subject.landmarks[0] - 1 - _before(world), min(request.first, request.position), 0)
    rows, following = yield from _walk(engine, subject, begin, request)
    return {
        **answer,
        "still": following is not None and following > subject.landmarks[-1],
        "first": begin,
        "later": begin >= subject.landmarks[0],
        "rows": rows,
        "next": following,
    }


def _before(world: Any) -> int:
    """Return the maximum number of steps between a change and the move that it caused: 0 without informer lag."""
    return LAGGING if world.settings.informer_lag else 0


def _head(world: Any, request: Sequence, subject: Any) -> FoundSequence:
    chosen = request.pod or request.scheduler
    return {
        "position": world.position,
        "now": world.now,
        "pod": request.pod,
        "scheduler": request.scheduler,
        "known": bool(subject.landmarks) or request.scheduler in [one.name for one in world.schedulers],
        "parts": subject.parts,
        "pods": [] if chosen else list(reversed(world.journal.last_move))[:OFFERED],
        "schedulers": [] if chosen else [one.name for one in world.schedulers],
        "first": 0,
        "later": False,
        "still": False,
        "rows": [],
        "next": None,
    }


def _walk(engine: Engine, subject: Any, begin: int, request: Sequence) -> Steps[tuple[list[Arrow], int | None]]:
    """Replay from a position on. Yield at the end of each time slice."""
    world = yield from engine.own(begin)
    standing = _standing(world, request)
    over, heard, gap = time.perf_counter() + request.seconds, begin, None
    looks_on = begin > subject.landmarks[-1]  # the user continues after the last move
    rows: list[Arrow] = []
    while world.position < request.position:
        if len(rows) >= MOST or time.perf_counter() > over:
            return rows, world.position
        if world.position - heard > QUIET:
            ahead = subject.landmarks[bisect_right(subject.landmarks, world.position) :]
            if not ahead and not looks_on:
                return rows, world.position
            if ahead and ahead[0] - 1 > world.position:
                gap = message("%(n)s steps about other pods", n=f"{ahead[0] - 1 - heard:,}")
                world = yield from engine.own(ahead[0] - 1)
            heard = world.position
        engine.replay(world)
        found, standing = arrows(in_causal_order(subject.of(world)), world.position, standing)
        if found:
            if gap is not None:
                found[0]["gap"], gap = gap, None
            rows, heard = rows + found, world.position
        if engine.slice.over():
            yield
    return rows, None


def _standing(world: Any, request: Sequence) -> RecordContext:
    if request.scheduler:
        return RecordContext(start_up=True)
    binds = any(b.pod.key == request.pod for s in world.schedulers for b in s.bindings.values())
    return RecordContext(cycle=BINDING) if binds else RecordContext()


OF_PODS = ("kubelet", "taint-eviction-controller")  # controllers whose keys are those of pods
OF_A_VICTIM = ("object", "api_call", "event")
PARTS = 12
OF_A_PROCESS = ("scheduler_started", "scheduler_stage", "leader_election")
POPPED = "popped"
CYCLES = 3  # of a scheduler, after its loop has begun


class PodSubject:
    """A pod and its preemption victims, from the attempt that selected them until they are deleted."""

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
        parts: list[SequencePart] = [
            {"n": n, "first": attempt.first_position - 1, "t": clock(attempt.started), "outcome": attempt.outcome}
            for n, attempt in enumerate(attempts, 1)
        ]
        self.parts = parts[-PARTS:]

    def of(self, world: Any) -> list[Record]:
        """Return the pod's records of the last step, with the command, the timer, or the controller that caused them."""
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


class SchedulerSubject:
    """A scheduler's process: its start, its election, its end, and the first cycles of its loop."""

    def __init__(self, world: Any, name: str) -> None:
        self.name = name
        moves = [move for move in world.journal.processes if move.scheduler == name]
        self.landmarks = sorted({move.position for move in moves})
        self.cycles = 0
        parts: list[SequencePart] = [
            {"n": n, "first": move.position - 1, "t": clock(move.t), "outcome": ""}
            for n, move in enumerate((m for m in moves if m.state == "starting"), 1)
        ]
        self.parts = parts[-PARTS:]

    def of(self, world: Any) -> list[Record]:
        """Return the process' records of the last step, with the related command and Lease."""
        own = {record.seq for record in world.last if record.scheduler == self.name and self._tells(record)}
        if not own:
            return []
        return [record for record in world.last if record.seq in own or record.kind == "command" or _is_lease(record)]

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
