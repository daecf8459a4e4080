"""What follows when a call to the API server is answered: a status is written, or a binding cycle goes on."""

from scheduler_core.scheduler.core import measure
from scheduler_core.scheduler.core.calls.dispatcher import BINDING, PATCH, StatusPatch
from scheduler_core.scheduler.core.scheduler import Scheduler
from scheduler_core.scheduler.core.steps import api_calls, binding
from scheduler_core.scheduler.framework.plugin import Point


def finish(scheduler: Scheduler, number: int) -> None:
    """A call reaches the API server and is answered."""
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
