"""The records of a history, listed from the newest back, inside a worker."""

from __future__ import annotations

import time
from collections import deque
from typing import Any, NamedTuple

from playground.features.records.query import Records, RecordsFound, StepRecords
from playground.presenters.amounts import clock
from playground.presenters.sentences.kinds import row
from playground.sessions.worker.conditions.cel import Allowance
from playground.sessions.worker.conditions.matching import Matcher
from playground.sessions.worker.engine import Engine
from playground.sessions.worker.registry import answers
from playground.sessions.worker.time_sharing import Steps
from scheduler_core.base.trace.kinds import KINDS
from scheduler_core.world.readonly import Record

MOST_OF_A_STEP = 20


class MatchingStep(NamedTuple):
    """The records of one step that match, and how many more there are."""

    position: int
    t: int
    records: list[Record]
    more: int


@answers(Records)
def records(engine: Engine, request: Records) -> Steps[RecordsFound]:
    """At least as many as are asked for if there are as many, of whole steps.

    History is replayed in pieces that begin at a known world, the last piece first.
    """
    matcher = Matcher(request.point) if request.point is not None else None
    over = time.perf_counter() + request.seconds
    steps: list[MatchingStep] = []
    count, end = 0, request.position
    while end > 0 and count < request.most and (end == request.position or time.perf_counter() < over):
        start, piece = yield from _piece(engine, matcher, end, request.most)
        for step in reversed(piece):
            if count >= request.most:
                break
            steps.append(step)
            count += len(step.records)
        end = start
    before = steps[-1].position - 1 if count >= request.most else end
    return RecordsFound([_present_step_records(step) for step in steps], before)


def _piece(engine: Engine, matcher: Matcher | None, end: int, most: int) -> Steps[tuple[int, deque[MatchingStep]]]:
    """Return the start of the piece of history before a position, and the last matching steps in it."""
    world = engine.history.nearest(end - 1)
    start = world.position
    piece: deque[MatchingStep] = deque()
    held = 0
    while world.position < end:
        engine.replay(world)
        if (step := _matching(world, matcher)) is not None:
            piece.append(step)
            held += len(step.records)
            while held - len(piece[0].records) >= most:
                held -= len(piece.popleft().records)
        if engine.slice.over():
            yield
    return start, piece


def _matching(world: Any, matcher: Matcher | None) -> MatchingStep | None:
    wanted, allowance = tuple(KINDS) if matcher is None else matcher.kinds, Allowance()
    records = [
        record
        for record in world.last
        if record.kind in wanted and (matcher is None or matcher.hit(record, world, allowance) is not None)
    ]
    if not records:
        return None
    return MatchingStep(world.position, world.now, records[:MOST_OF_A_STEP], max(0, len(records) - MOST_OF_A_STEP))


def _present_step_records(step: MatchingStep) -> StepRecords:
    return StepRecords(step.position, clock(step.t), [row(record) for record in step.records], step.more)
