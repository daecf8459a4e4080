"""Which stage shows the present step: by the extension point whose plugin ran, or else by what the last transition did."""

from __future__ import annotations

from playground.presenters.scene import cycle_of, present_step
from scheduler_core.base.trace.kinds import (
    AttemptEnded,
    AttemptStarted,
    BindingEnded,
    BindingStarted,
    NodeSelected,
    PodAssumed,
    PodForgotten,
    PodWaits,
    PreemptionStarted,
    QueueMoved,
    Reconciled,
    WaitDecided,
    WaitEnded,
)
from scheduler_core.world.readonly import Point, WorldView

OF_POINT = {
    Point.PRE_ENQUEUE: "queue",
    Point.QUEUE_SORT: "queue",
    Point.PRE_FILTER: "filter",
    Point.FILTER: "filter",
    Point.EXTENDER_FILTER: "filter",
    Point.POST_FILTER: "preemption",
    Point.EXTENDER_PREEMPT: "preemption",
    Point.PRE_SCORE: "score",
    Point.SCORE: "score",
    Point.NORMALIZE_SCORE: "score",
    Point.EXTENDER_PRIORITIZE: "score",
    Point.RESERVE: "binding",
    Point.UNRESERVE: "binding",
    Point.PERMIT: "binding",
    Point.WAIT_ON_PERMIT: "binding",
    Point.PRE_BIND: "binding",
    Point.EXTENDER_BIND: "binding",
    Point.BIND: "binding",
    Point.POST_BIND: "binding",
}
# What a transition did that ran no plugin, the most telling first. A cluster change without any of these is the viewer's.
_OF_KIND = {
    NodeSelected.KIND: "score",
    AttemptStarted.KIND: "queue",
    PodAssumed.KIND: "binding",
    PodForgotten.KIND: "binding",
    PodWaits.KIND: "binding",
    WaitDecided.KIND: "binding",
    WaitEnded.KIND: "binding",
    BindingStarted.KIND: "binding",
    BindingEnded.KIND: "binding",
    PreemptionStarted.KIND: "preemption",
    AttemptEnded.KIND: "filter",
    Reconciled.KIND: "controller",
    QueueMoved.KIND: "queue",
}
_LOOKED_THROUGH = 64  # records of one transition; an import makes thousands


def at_hand(sim: WorldView) -> str:
    """The stage of the present step."""
    if sim.position == 0:
        return "queue"
    step = present_step(sim)
    if step is not None:
        return _of_failure(sim) if step[0].point is Point.POST_FILTER else OF_POINT[step[0].point]
    kinds = {record.kind for record in sim.last[:_LOOKED_THROUGH]}
    stage = next((stage for kind, stage in _OF_KIND.items() if kind in kinds), "controller")
    return _of_failure(sim) if AttemptEnded.KIND in kinds and stage == "filter" else stage


def _of_failure(sim: WorldView) -> str:
    """A pod without a feasible node: preemption where candidates were looked for."""
    cycle = cycle_of(sim)
    looked_for = cycle is not None and any(step.point is Point.POST_FILTER for step in cycle.steps)
    return "preemption" if looked_for else "filter"
