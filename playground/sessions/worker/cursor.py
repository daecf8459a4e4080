"""Where a viewer's cursor goes: forward and back by a grain, through what has happened."""

from playground.sessions.protocol.moving import Back, Forward
from playground.sessions.worker.engine import Engine
from playground.sessions.worker.registry import answers
from playground.sessions.worker.time_sharing import Steps
from playground.sessions.worker.world import Grain


@answers(Forward)
def forward(engine: Engine, request: Forward) -> Steps[int]:
    """A command is a step of its own."""
    if request.position >= request.head:
        return request.head
    return (yield from _next(engine, request.position, request.grain, request.head))


def _next(engine: Engine, at: int, grain: Grain, head: int) -> Steps[int]:
    if at in engine.commands or grain == Grain.CALL:
        return min(at + 1, head)
    world = (yield from engine.at(at)).fork()
    world.step(grain, engine.stops(grain, world))
    after = world.position if world.position > at else at + 1
    return min([after, head] + [where for where in engine.commands if at < where < after])


@answers(Back)
def back(engine: Engine, request: Back) -> Steps[int]:
    """Return the position from which a step of the grain leads to this position, or past it."""
    at, grain = request.position, request.grain
    if at <= 1 or grain == Grain.CALL:
        return max(0, at - 1)
    start = yield from _start_before(engine, at)
    if start in engine.commands:
        return start
    world = (yield from engine.at(start)).fork()
    while True:
        world.step(grain, engine.stops(grain, world))
        if world.position >= at or world.position == start:
            return start
        start = world.position
        if engine.slice.over():
            yield


def _start_before(engine: Engine, at: int) -> Steps[int]:
    """Return the start of the last attempt or command before a position: both end a step of any grain."""
    world = yield from engine.at(at)
    starts = [where + 1 for where in engine.commands if where + 1 < at]
    starts += [where for where in engine.commands if where < at]
    for attempt in reversed(world.journal.attempts):
        if attempt.first_position < at:
            starts.append(attempt.first_position)
            break
    return max(starts, default=0)
