"""A session's own gangs in each way, inside a worker."""

import msgspec

from playground.features.gangs.query import SessionGangs
from playground.sessions.protocol.base import Data
from playground.sessions.worker.engine import Engine
from playground.sessions.worker.time_sharing import Steps, answers
from scheduler_core.analysis.gangs import begin_way, compare_gangs, read_input
from scheduler_core.world.commands import Refused


@answers(SessionGangs, slow=True)
def answer(engine: Engine, request: SessionGangs) -> Steps[Data]:
    """Return the outcomes as JSON data (none without gangs), "refused" if a world can't be created, or the commands."""
    given = read_input((yield from engine.at(request.position)))
    if request.way:
        return {"commands": msgspec.to_builtins(begin_way(given, request.way))}
    try:
        has = any(each["kind"] == "PodGroup" for each in given.objects)
        outcomes = (yield from compare_gangs(given)) if has else ()
    except Refused as refused:
        return {"outcomes": [], "refused": str(refused)}
    return {"outcomes": msgspec.to_builtins(outcomes), "refused": ""}
