"""What trace and journal keep of a scheduling cycle besides its steps: its decision, its end."""

from __future__ import annotations

from scheduler_core.base.trace.journal import Attempt
from scheduler_core.base.trace.kinds import AttemptEnded, NodeSelected
from scheduler_core.scheduler.core.algorithm.post_filter import refusals
from scheduler_core.scheduler.core.cycles.scheduling_cycle import SchedulingCycle
from scheduler_core.scheduler.core.scheduler import Scheduler


def decision(scheduler: Scheduler, cycle: SchedulingCycle) -> None:
    """Writes which node was chosen; nothing where none was."""
    if cycle.chosen is None:
        return
    feasible = 0 if cycle.feasible is None else len(cycle.feasible)
    facts = NodeSelected(cycle.pod.key, cycle.chosen, list(cycle.tied), cycle.draw, feasible)
    scheduler.world.record(facts, scheduler.name, cycle.span)


def close(scheduler: Scheduler, cycle: SchedulingCycle) -> None:
    """The attempt is over: summary to the journal, record to the trace."""
    world = scheduler.world
    cycle.ended = world.now
    counts = () if cycle.chosen else tuple(sorted(refusals(cycle).items(), key=lambda item: (-item[1], item[0])))
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
    ended = AttemptEnded(
        cycle.number,
        cycle.pod.key,
        cycle.outcome,
        attempt.node,
        cycle.message,
        attempt.evaluated,
        attempt.feasible,
        cycle.draw,
    )
    world.record(ended, scheduler.name, cycle.span)
