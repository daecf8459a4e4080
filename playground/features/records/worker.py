"""The records of a history, newest first, inside a worker."""

import time
from collections import deque
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

from playground.features.records.query import ListedStep, Records, RecordsFound, StepList, StepRecords, StepsFound
from playground.presenters.narrator import sentence
from playground.presenters.scene import present_step
from playground.presenters.sentences.kinds import row
from playground.presenters.words import clock, format_message
from playground.sessions.worker.conditions.cel import Allowance
from playground.sessions.worker.conditions.matching import Matcher
from playground.sessions.worker.engine import Engine
from playground.sessions.worker.time_sharing import Steps, answers
from scheduler_core.base.trace.kinds import KINDS, AttemptEnded, BindingEnded, CommandApplied
from scheduler_core.world.readonly import Record

MOST_OF_A_STEP = 20
T = TypeVar("T")


class MatchingStep(NamedTuple):
    """The matching records of one step, and the number of further ones."""

    position: int
    t: int
    records: list[Record]
    more: int


@answers(Records)
def records(engine: Engine, request: Records) -> Steps[RecordsFound]:
    """Return at least the requested number of records, or all if there are fewer. Steps are never split."""
    matcher = Matcher(request.point) if request.point is not None else None
    steps, before = yield from _look_back(
        engine, request, lambda world: _matching(world, matcher), lambda step: len(step.records)
    )
    return RecordsFound([_present_step_records(step) for step in steps], before)


@answers(StepList)
def step_list(engine: Engine, request: StepList) -> Steps[StepsFound]:
    """Return the requested number of records, or all if there are fewer."""
    steps, before = yield from _look_back(engine, request, lambda world: _list_step(world, request), lambda _: 1)
    return StepsFound(steps, before)


def _look_back(
    engine: Engine, request: Records | StepList, pick: Callable[[Any], T | None], size: Callable[[T], int]
) -> Steps[tuple[list[T], int]]:
    """Return the values picked from steps, newest first, and the position to continue from.

    Replays the history in pieces that begin at a known world, the last piece first.
    """
    over = time.perf_counter() + request.seconds
    found: list[tuple[int, T]] = []
    count, end = 0, request.position
    while end > 0 and count < request.most and (end == request.position or time.perf_counter() < over):
        start, piece = yield from _piece(engine, end, request.most, pick, size)
        for position, step in reversed(piece):
            if count >= request.most:
                break
            found.append((position, step))
            count += size(step)
        end = start
    return [step for _, step in found], found[-1][0] - 1 if count >= request.most else end


def _piece(
    engine: Engine, end: int, most: int, pick: Callable[[Any], T | None], size: Callable[[T], int]
) -> Steps[tuple[int, deque[tuple[int, T]]]]:
    """Return the start of the piece of history before a position, and the last picked values in it."""
    world = engine.history.nearest(end - 1)
    start = world.position
    piece: deque[tuple[int, T]] = deque()
    held = 0
    while world.position < end:
        engine.replay(world)
        if (step := pick(world)) is not None:
            piece.append((world.position, step))
            held += size(step)
            while held - size(piece[0][1]) >= most:
                held -= size(piece.popleft()[1])
        if engine.slice.over():
            yield
    return start, piece


def _list_step(world: Any, request: StepList) -> ListedStep | None:
    ran, last = present_step(world), world.last[:64]
    command = any(record.kind == CommandApplied.KIND for record in last)
    if request.kind and (ran is not None) != (request.kind == "decisions"):
        return None
    line = sentence(world)
    ended = next((record.facts for record in last if record.kind in (AttemptEnded.KIND, BindingEnded.KIND)), None)
    pod = ran[1].pod.key if ran is not None else getattr(ended, "pod", "")
    said = format_message(line["sentence"], str) if line["sentence"] else ""
    if request.text.lower() not in f"{line['head']} {pod} {said}".lower():
        return None
    return ListedStep(
        position=world.position,
        type=line["head"].partition(" · ")[0],
        sentence=line["sentence"],
        pod=pod,
        cycle=ran[1].number if ran is not None else 0,
        no=ran is not None and not ran[0].skipped and (bool(ran[0].refused) or not ran[0].status.ok),
        ends=getattr(ended, "outcome", ""),
        command=command,
    )


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
