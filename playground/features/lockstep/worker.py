"""The steps of an attempt and the state at a position, for two sessions side by side."""

from bisect import bisect_left
from collections.abc import Sequence

from playground.features.lockstep.query import HeldMoment, Moment, Stretch, StretchOf, StretchSteps, TakenStep
from playground.presenters.scene import cycle_of, present_step
from playground.sessions.worker.answers.outlines import TOO_MUCH, board_of, refusals_of
from playground.sessions.worker.engine import Engine
from playground.sessions.worker.time_sharing import Steps, answers
from playground.sessions.worker.world import Simulation
from scheduler_core.world.readonly import Attempt, Point

MOST_STEPS = 1_000
LOOKED_THROUGH = 64  # records of one step; an import makes thousands
# Points of binding cycles, which run in parallel: alignment must compare their pods, too.
_OF_ONE_POD = (Point.WAIT_ON_PERMIT, Point.PRE_BIND, Point.EXTENDER_BIND, Point.BIND, Point.POST_BIND)


@answers(StretchOf)
def stretch_of(engine: Engine, request: StretchOf) -> Steps[int]:
    """Return the index of the first attempt that had not ended before the position."""
    attempts = (yield from engine.at(request.position)).journal.attempts
    return bisect_left(attempts, request.where, key=_end)


@answers(Stretch, too_much=TOO_MUCH)
def stretch(engine: Engine, request: Stretch) -> Steps[StretchSteps]:
    """Return each step of the stretch; of a very long one, the first MOST_STEPS and one to its end."""
    attempts = (yield from engine.at(request.position)).journal.attempts
    start, end = _bounds(attempts, request.index, request.position)
    world = yield from engine.own(start)
    steps: list[TakenStep] = []
    while world.position < end and len(steps) < MOST_STEPS:
        engine.replay(world)
        steps.append(_get_current_step(world))
        if engine.slice.over():
            yield
    if world.position < end:
        steps.append(TakenStep(end, "", "", ""))
    return StretchSteps(start, steps)


def _bounds(attempts: Sequence[Attempt], index: int, head: int) -> tuple[int, int]:
    if index > len(attempts):
        return head, head
    start = _end(attempts[index - 1]) if index else 0
    return start, _end(attempts[index]) if index < len(attempts) else head


def _end(attempt: Attempt) -> int:
    return attempt.last_position


def _get_current_step(world: Simulation) -> TakenStep:
    found = present_step(world)
    if found is None:
        kinds = dict.fromkeys(record.kind for record in world.last[:LOOKED_THROUGH])
        return TakenStep(world.position, "", "", " ".join(kinds))
    step, cycle = found
    pod = cycle.pod.key if step.point in _OF_ONE_POD else ""
    return TakenStep(world.position, str(step.point), step.plugin, f"{step.point} {step.plugin} {pod}")


@answers(Moment)
def moment(engine: Engine, request: Moment) -> Steps[HeldMoment]:
    """Return the state of the present cycle, or of the last one."""
    world = yield from engine.at(request.position)
    found = present_step(world)
    point, plugin = (str(found[0].point), found[0].plugin) if found is not None else ("", "")
    cycle = cycle_of(world)
    if cycle is None:
        return HeldMoment(world.position, world.now, "", point, plugin, None, None, "", "", None, [])
    feasible = cycle.feasible
    return HeldMoment(
        position=world.position,
        now=world.now,
        pod=cycle.pod.key,
        point=point,
        plugin=plugin,
        evaluated=cycle.search.seen if feasible is not None and cycle.search is not None else None,
        feasible=None if feasible is None else int(feasible.size),
        node=cycle.chosen or "",
        outcome=cycle.outcome,
        board=board_of(cycle),
        refusals=refusals_of(cycle),
    )
