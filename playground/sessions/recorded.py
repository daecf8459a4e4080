"""The records of a history, listed from the newest back: what happened at each step, as far as it matches."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Generator
from typing import TYPE_CHECKING, Any

from playground.presenters.amounts import clock
from playground.presenters.sentences.records import row
from playground.sessions.breakpoints import Breakpoint, Matcher
from scheduler_core.trace.kinds import KINDS
from scheduler_core.trace.records import Record

if TYPE_CHECKING:
    from playground.sessions.engine import Engine

Steps = Generator[None, None, Any]
Found = tuple[int, int, list[Record], int]  # position, virtual time, records, how many more there are

MOST_OF_A_STEP = 20


def recorded(engine: Engine, point: Breakpoint | None, upto: int, most: int, seconds: float) -> Steps:
    """At least `most` records if there are as many, of whole steps, up to a position; at most so many seconds are spent.

    `point` says which; None takes all. {"steps": [{"position", "t", "rows", "more"}], newest first, "before": where to go on, or 0}.
    History is replayed in pieces that begin at a known world, the last piece first.
    """
    matcher, over = Matcher(point) if point is not None else None, time.perf_counter() + seconds
    found: list[Found] = []
    count, end = 0, upto
    while end > 0 and count < most and (end == upto or time.perf_counter() < over):
        world = engine.history.nearest(end - 1)
        start = world.position
        piece: deque[Found] = deque()
        held = 0
        while world.position < end:
            engine.replay(world)
            if one := _matching(world, matcher):
                piece.append(one)
                held += len(one[2])
                while held - len(piece[0][2]) >= most:
                    held -= len(piece.popleft()[2])
            if engine.slice.over():
                yield
        for one in reversed(piece):
            if count >= most:
                break
            found.append(one)
            count += len(one[2])
        end = start
    before = found[-1][0] - 1 if count >= most else end
    return {"steps": [_told(one) for one in found], "before": before}


def _matching(world: Any, matcher: Matcher | None) -> Found | None:
    wanted = tuple(KINDS) if matcher is None else matcher.kinds
    records = [
        record
        for record in world.last
        if record.kind in wanted and (matcher is None or matcher.hit(record, world) is not None)
    ]
    if not records:
        return None
    return world.position, world.now, records[:MOST_OF_A_STEP], len(records) - MOST_OF_A_STEP


def _told(found: Found) -> dict[str, Any]:
    position, now, records, more = found
    return {
        "position": position,
        "t": clock(now),
        "rows": [row(record) for record in records],
        "more": max(0, more),
    }
