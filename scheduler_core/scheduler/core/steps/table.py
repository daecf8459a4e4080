"""The table of a scheduler's actions: the condition under which each is valid, its function, and its station in stepping by point."""

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Generic, TypeVar

from scheduler_core.scheduler.core import actions, measure
from scheduler_core.scheduler.core.calls.dispatcher import BINDING, PATCH, StatusPatch
from scheduler_core.scheduler.core.scheduler import Scheduler
from scheduler_core.scheduler.core.steps import api_calls, binding, election, eviction, informers, permit, startup
from scheduler_core.scheduler.core.steps.handlers import expire
from scheduler_core.scheduler.core.steps.podgroups import steps as cycles
from scheduler_core.scheduler.framework.plugin import Point

A = TypeVar("A", bound=actions.SchedulerAction)


def _always(scheduler: Scheduler, action: actions.SchedulerAction) -> bool:
    """always"""
    return True


def _has_work(scheduler: Scheduler, action: actions.StartCycle) -> bool:
    """a pod is ready to be popped"""
    return scheduler.has_work()


def _is_binding(scheduler: Scheduler, action: actions.AdvanceBinding) -> bool:
    """the binding cycle is not over"""
    return action.number in scheduler.bindings


def _waits(scheduler: Scheduler, action: actions.TimeOutPermit) -> bool:
    """the pod waits for the plugin"""
    cycle = scheduler.bindings.get(action.number)
    return cycle is not None and action.plugin in cycle.waiting


def _is_under_way(scheduler: Scheduler, action: actions.AnswerCall) -> bool:
    """the call is under way"""
    return scheduler.calls.is_running(action.number)


def _is_evicting(scheduler: Scheduler, action: actions.AdvanceEviction) -> bool:
    """the preemption is not over"""
    return action.number in scheduler.evictions


def _is_assumed(scheduler: Scheduler, action: actions.ExpireAssumedPod) -> bool:
    """this very pod is assumed"""
    return scheduler.cache.is_assumed(action.uid)


def _is_due(scheduler: Scheduler, action: actions.Flush) -> bool:
    """there is a pod to move"""
    return scheduler.flush_is_due(action)


def _itself(scheduler: Scheduler, action: actions.SchedulerAction) -> Hashable:
    """its own"""
    return None


def _phase_of_cycle(scheduler: Scheduler, action: actions.AdvanceCycle) -> Hashable:
    """the phase of the scheduling cycle"""
    cycle = scheduler.cycle
    return None if cycle is None else (cycle.number, cycle.phase)


def _phase_of_binding(scheduler: Scheduler, action: actions.AdvanceBinding) -> Hashable:
    """the phase of the binding cycle"""
    cycle = scheduler.bindings.get(action.number)
    return None if cycle is None else cycle.phase


def _answer_call(scheduler: Scheduler, number: int) -> None:
    """Deliver a call to the API server and process its answer: write a status, or continue a binding cycle."""
    if (scheduler.world.faults or scheduler.hang is not None) and api_calls.retry_call(scheduler, number):
        return
    call = scheduler.calls.finish(number)
    took = scheduler.world.now - scheduler.calls.sent.pop(number)
    if isinstance(call, StatusPatch):
        measure.record_api_call(scheduler, PATCH, api_calls.patch(scheduler, call).ok, took)
    elif (cycle := scheduler.bindings.get(call.number)) is not None:
        binding.advance(scheduler, call.number)
        ok = any(step.point is Point.BIND and step.status.ok for step in cycle.steps)
        measure.record_api_call(scheduler, BINDING, ok, took)
    api_calls.pump(scheduler)


@dataclass(frozen=True, slots=True)
class ActionRow(Generic[A]):
    """One kind of action. `station` distinguishes stations of one action."""

    kind: type[A]
    run: Callable[[Scheduler, A], None]
    stands: Callable[[Scheduler, A], bool] = _always
    station: Callable[[Scheduler, A], Hashable] = _itself


ACTIONS = (
    ActionRow(actions.StartCycle, lambda scheduler, _: cycles.start(scheduler), _has_work),
    ActionRow(actions.AdvanceCycle, lambda scheduler, _: cycles.advance(scheduler), station=_phase_of_cycle),
    ActionRow(
        actions.AdvanceBinding,
        lambda scheduler, action: binding.advance(scheduler, action.number),
        _is_binding,
        _phase_of_binding,
    ),
    ActionRow(
        actions.TimeOutPermit,
        lambda scheduler, action: permit.time_out(scheduler, action.number, action.plugin),
        _waits,
    ),
    ActionRow(actions.AnswerCall, lambda scheduler, action: _answer_call(scheduler, action.number), _is_under_way),
    ActionRow(
        actions.AdvanceEviction, lambda scheduler, action: eviction.advance(scheduler, action.number), _is_evicting
    ),
    ActionRow(actions.HearChange, lambda scheduler, _: informers.hear(scheduler)),
    ActionRow(
        actions.ExpireAssumedPod, lambda scheduler, action: expire(scheduler, action.pod, action.uid), _is_assumed
    ),
    ActionRow(actions.AdvanceStartUp, lambda scheduler, _: election.advance_start_up(scheduler), startup.is_starting),
    ActionRow(actions.Elect, lambda scheduler, _: election.take_turn(scheduler), election.is_due),
    ActionRow(actions.AnswerLease, lambda scheduler, _: election.answer(scheduler), election.is_asked),
    ActionRow(actions.EndProcess, lambda scheduler, _: startup.exit_(scheduler, 0), startup.may_end),
    ActionRow(actions.FlushBackoff, Scheduler.flush, _is_due),
    ActionRow(actions.FlushUnschedulable, Scheduler.flush, _is_due),
)
