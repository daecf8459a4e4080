"""The agenda actions of a scheduler. steps/table.py has the condition under which each action is valid, and the function that runs it."""

from typing import ClassVar

from scheduler_core.base.clock.agenda import SECOND, TIMER, URGENT, Action
from scheduler_core.scheduler.queue.moves import FLUSH_PERIOD


class SchedulerAction(Action, frozen=True):
    """An action of one scheduler. Removing the scheduler removes the action."""

    scheduler: str


class StartCycle(SchedulerAction, frozen=True):
    """Pops a pod and begins its scheduling cycle."""

    in_cycle: ClassVar[bool] = True


class AdvanceCycle(SchedulerAction, frozen=True):
    """Makes the next step of the scheduling cycle."""

    in_cycle: ClassVar[bool] = True


class AdvanceBinding(SchedulerAction, frozen=True):
    """Makes the next step of a binding cycle."""

    number: int


class TimeOutPermit(SchedulerAction, frozen=True):
    """Rejects a pod that has waited on Permit for too long."""

    number: int
    plugin: str


class AnswerCall(SchedulerAction, frozen=True):
    """Has a call reach the API server, and be answered."""

    number: int


class AdvanceEviction(SchedulerAction, frozen=True):
    """Makes the next call of a preemption that is being carried out."""

    number: int


class HearChange(SchedulerAction, frozen=True):
    """Lets a scheduler whose informers lag hear of a change."""

    priority: ClassVar[int] = URGENT


class ExpireAssumedPod(SchedulerAction, frozen=True):
    """Has the cache forget an assumed pod that no watch event has confirmed."""

    pod: str
    uid: str


class AdvanceStartUp(SchedulerAction, frozen=True):
    """Makes the next step of a process' start: its informers have listed everything, its handlers know of it."""


class Elect(SchedulerAction, frozen=True):
    """Gives a candidate its turn: to try for the lease, to renew it, or to wait no longer for an answer."""

    priority: ClassVar[int] = TIMER
    quiet: ClassVar[bool] = True
    due: int


class AnswerLease(SchedulerAction, frozen=True):
    """Has a call about the lease reach the API server, and be answered."""

    priority: ClassVar[int] = TIMER
    quiet: ClassVar[bool] = True
    number: int


class EndProcess(SchedulerAction, frozen=True):
    """Ends a process that received SIGTERM. `forced`: at any point."""

    priority: ClassVar[int] = TIMER
    forced: bool = False


class Flush(SchedulerAction, frozen=True):
    """A timer of the queue; one that fires again is another action."""

    priority: ClassVar[int] = TIMER
    timer: ClassVar[str]
    period: ClassVar[int]
    due: int


class FlushBackoff(Flush, frozen=True):
    """Moves the pods whose backoff is over to the active queue."""

    timer: ClassVar[str] = "flush_backoff"
    period: ClassVar[int] = SECOND


class FlushUnschedulable(Flush, frozen=True):
    """Moves the pods that have been unschedulable for too long."""

    timer: ClassVar[str] = "flush_unschedulable"
    period: ClassVar[int] = FLUSH_PERIOD
