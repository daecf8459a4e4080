"""The start and the end of a scheduler's process: informers, handlers, election, scheduling loop. process.py draws the stages.

kube: cmd/kube-scheduler/app/server.go Run, scheduler.go Run @ v1.34.1
"""

from scheduler_core.base.trace.journal import Place, ProcessMove
from scheduler_core.base.trace.kinds import SchedulerStage
from scheduler_core.scheduler.core.actions import AdvanceStartUp, EndProcess, StartCycle
from scheduler_core.scheduler.core.process import GRACE, Process, Stage, working_process
from scheduler_core.scheduler.core.scheduler import Scheduler
from scheduler_core.scheduler.core.steps import informers


def begin(scheduler: Scheduler) -> None:
    """Start the process. If informers are delayed until the process leads, leader election comes first."""
    process = process_of(scheduler)
    process.since = scheduler.world.now
    if process.delayed and process.elector is not None:
        enter(scheduler, Stage.STANDBY)
    else:
        _list(scheduler)


def _list(scheduler: Scheduler) -> None:
    """Start the informers' lists."""
    enter(scheduler, Stage.STARTING)
    latency = scheduler.world.settings.cluster.api_latency
    scheduler.world.agenda.push(scheduler.world.now + latency, AdvanceStartUp(scheduler.name))


def advance(scheduler: Scheduler) -> None:
    """Run the next step of the start."""
    process = process_of(scheduler)
    if process.stage is Stage.STARTING:
        enter(scheduler, Stage.LISTED)
        scheduler.world.agenda.push(scheduler.world.now, AdvanceStartUp(scheduler.name))
        return
    if process.elector is None or process.leads:
        work(scheduler)
    else:
        enter(scheduler, Stage.STANDBY)
    process.listed = True
    informers.list_anew(scheduler)
    scheduler.wake_up()


def is_starting(scheduler: Scheduler, action: AdvanceStartUp) -> bool:
    """it starts, and is not cut off"""
    process = scheduler.process
    if process is None or process.hang is not None:
        return False
    return process.stage in (Stage.STARTING, Stage.LISTED)


def lead(scheduler: Scheduler) -> None:
    """Start to schedule after winning the election. If the informers are delayed, start them instead."""
    if process_of(scheduler).delayed:
        _list(scheduler)
    else:
        work(scheduler)
        _take_over(scheduler)
        scheduler.wake_up()


def _take_over(scheduler: Scheduler) -> None:
    """Record the places of the pods in this leader's queue if they differ from the former leader's."""
    queue = scheduler.queue
    for place, entries in (
        (Place.ACTIVE, queue.active()),
        (Place.BACKOFF, [*queue.backoff_after_refusal(), *queue.backoff_after_error()]),
        (Place.UNSCHEDULABLE, queue.unschedulable()),
        (Place.GATED, queue.gated()),
    ):
        for entry in entries:
            if scheduler.world.journal.place(entry.key) != place:
                scheduler.move(entry.key, place, "OnStartedLeading")


def work(scheduler: Scheduler) -> None:
    """Start the scheduling loop."""
    process_of(scheduler).delayed = False
    enter(scheduler, Stage.WORKING)


def enter(scheduler: Scheduler, stage: Stage) -> None:
    process = process_of(scheduler)
    process.stage = stage
    scheduler.world.record(SchedulerStage(stage.value, process.identity), scheduler.name)
    note(scheduler)


def note(scheduler: Scheduler) -> None:
    """Record the process' current state in the journal."""
    process, world = process_of(scheduler), scheduler.world
    state = "leading" if process.leads and process.stage is Stage.WORKING else process.stage.value
    leader = "" if process.elector is None else process.elector.candidate.observed.holder
    world.journal.processes.append(
        ProcessMove(
            scheduler.name, process.identity, world.now, world.position, state, leader, process.hang is not None
        )
    )


def process_of(scheduler: Scheduler) -> Process:
    """Return the scheduler's process; create a working one if there is none."""
    if scheduler.process is None:
        scheduler.process = working_process(scheduler.name, scheduler.world.now)
    return scheduler.process


# the end


def end(scheduler: Scheduler) -> None:
    """Handle SIGTERM: start no more cycles, but finish the current one."""
    world = scheduler.world
    enter(scheduler, Stage.ENDING)
    waiting = StartCycle(scheduler.name)
    if any(entry.action == waiting for entry in world.agenda.unsorted()):
        world.agenda.discard(lambda action: action == waiting)
        scheduler.running = False
    world.agenda.push(world.now + GRACE, EndProcess(scheduler.name, forced=True))
    scheduler.wake_up()


def may_end(scheduler: Scheduler, action: EndProcess) -> bool:
    """it has received SIGTERM, and is done, or its time is over"""
    process = scheduler.process
    return process is not None and process.stage is Stage.ENDING and (action.forced or scheduler.done)


def exit_(scheduler: Scheduler, code: int) -> None:
    """End the process."""
    process = process_of(scheduler)
    process.exit_code, process.call = code, None
    enter(scheduler, Stage.ENDED)
    scheduler.world.exited(scheduler.name)
