"""A session's own gangs in each way, inside a worker."""

import msgspec

from playground.features.gangs.query import GangComparison, GangWay
from playground.sessions.protocol.base import Data
from playground.sessions.worker.engine import Engine
from playground.sessions.worker.time_sharing import Steps, answers
from scheduler_core.analysis.gangs import begin_way, compare_gangs, read_input
from scheduler_core.world.commands import Refused


@answers(GangComparison, slow=True)
def compare(engine: Engine, request: GangComparison) -> Steps[Data]:
    """Return the outcomes as JSON data, none without gangs; "refused" where a world cannot be made."""
    given = read_input((yield from engine.at(request.position)))
    if not any(each["kind"] == "PodGroup" for each in given.objects):
        return {"outcomes": [], "refused": ""}
    try:
        outcomes = yield from compare_gangs(given)
    except Refused as refused:
        return {"outcomes": [], "refused": str(refused)}
    return {"outcomes": msgspec.to_builtins(outcomes), "refused": ""}


@answers(GangWay)
def begin(engine: Engine, request: GangWay) -> Steps[Data]:
    """Return the commands as JSON data."""
    world = yield from engine.at(request.position)
    return {"commands": msgspec.to_builtins(begin_way(read_input(world), request.way))}
