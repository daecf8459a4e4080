"""The hits of breakpoints and watches for the timeline's marks, inside a worker."""

import time

from playground.features.breakpoints.query import Hits, HitsFound
from playground.sessions.protocol.breakpoints import Hit
from playground.sessions.worker.conditions.matching import Condition
from playground.sessions.worker.engine import Engine
from playground.sessions.worker.time_sharing import Steps, answers


@answers(Hits)
def hits(engine: Engine, request: Hits) -> Steps[HitsFound]:
    """Return the hits of breakpoints and watches between two positions, within the seconds; turns of others do not count."""
    condition, held, left = Condition(request.points), list[Hit](), request.seconds
    world = (yield from engine.at(request.first)).fork()
    condition.hits(world)
    while world.position < request.position and left > 0:
        started = time.perf_counter()
        engine.replay(world)
        held += condition.hits(world)
        left -= time.perf_counter() - started
        if engine.slice.over():
            yield
    return HitsFound(held[-request.most :], world.position)
