"""What trace and journal keep of a scheduling cycle besides its steps: its decision, its end."""

from __future__ import annotations

from scheduler_core.scheduler.algorithm.fit_error import refusals
from scheduler_core.scheduler.cycles.scheduling_cycle import SchedulingCycle
from scheduler_core.scheduler.scheduler import Scheduler
from scheduler_core.trace.journal import Attempt


def decision(scheduler: Scheduler, cycle: SchedulingCycle) -> None:
    """Writes which node was chosen; nothing where none was."""
    if cycle.chosen is None:
        return
    scheduler.world.record(
        "node_selected",
        {
            "pod": cycle.pod.key,
            "node": cycle.chosen,
            "tied": list(cycle.tied),
            "draw": cycle.draw,
            "feasible": 0 if cycle.feasible is None else len(cycle.feasible),
        },
        scheduler.name,
        cycle.span,
    )


def close(scheduler: Scheduler, cycle: SchedulingCycle) -> None:
    """The attempt is over: summary to the journal, record to the trace."""
    world = scheduler.world
    cycle.ended = world.now
    counts = (
        () if cycle.chosen else tuple(sorted(refusals(cycle).items(), key=lambda item: (-item[1], item[0])))
    )
    search = cycle.search
    attempt = Attempt(
        cycle.number,
        cycle.pod.key,
        scheduler.name,
        cycle.profile,
        cycle.started,
        world.now,
        cycle.first_position,
        world.position,
        cycle.outcome,
        cycle.chosen or "",
        cycle.message,
        0 if search is None else search.processed,
        0 if cycle.feasible is None else len(cycle.feasible),
        0 if cycle.tied_rows is None else len(cycle.tied_rows),
        counts,
        cycle.unschedulable_plugins,
        cycle.nomination or "",
        () if cycle.preemption is None else tuple(pod.key for pod in cycle.preemption.victims),
    )
    world.journal.attempt(attempt)
    world.record(
        "attempt_ended",
        {
            "attempt": cycle.number,
            "pod": cycle.pod.key,
            "outcome": cycle.outcome,
            "node": attempt.node,
            "message": cycle.message,
            "evaluated": attempt.evaluated,
            "feasible": attempt.feasible,
            "draw": cycle.draw,
        },
        scheduler.name,
        cycle.span,
    )
