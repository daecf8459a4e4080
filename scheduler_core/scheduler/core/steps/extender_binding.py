"""Binding by extenders instead of the Bind plugins: the first extender that binds and is interested in the pod decides.

A real extender writes the binding to the API server itself. An extender here cannot reach the simulated API server, so the scheduler
writes the binding for it. If the API server refuses, this counts as the extender's error.

kube: schedule_one.go (bind, extendersBinding), extender.go (Bind) @ v1.34.1
"""

from scheduler_core.base.trace.kinds import ApiCall
from scheduler_core.scheduler.core.algorithm import extender_calls as calls
from scheduler_core.scheduler.core.cycles.phases import Extension
from scheduler_core.scheduler.core.cycles.scheduling_cycle import BindingCycle
from scheduler_core.scheduler.core.scheduler import Scheduler
from scheduler_core.scheduler.core.steps import extender_calls
from scheduler_core.scheduler.extenders.extender import Extender, Request, Verb
from scheduler_core.scheduler.framework.runtime.framework import record_step
from scheduler_core.scheduler.framework.status import Status


def binders(scheduler: Scheduler, binding: BindingCycle) -> tuple[Extender, ...]:
    """Return the extenders that would bind the pod, in order."""
    extenders = scheduler.algorithm_state.extenders
    return tuple([e for e in extenders if e.serves(Verb.BIND, binding.pod)]) if extenders else ()


def ask(scheduler: Scheduler, binding: BindingCycle, extender: Extender) -> int | None:
    """Call an extender. Return the time (ns) until its answer, or None if the answer comes from outside."""
    if binding.extension is None:
        binding.extension = Extension(numbers_from=binding.exchanges)
    calls.ask(binding.extension, binding, extender, Verb.BIND, Request(binding.pod, node=binding.node))
    return extender_calls.send(scheduler, binding.extension, binding.span)


def take(scheduler: Scheduler, binding: BindingCycle) -> Status:
    """Process the answer. Status Skip: the next extender is called."""
    assert binding.extension is not None
    step = calls.take_binding(binding.extension, binding, lambda: _bind(scheduler, binding))
    record_step(scheduler.world, scheduler.name, binding, step)
    return step.status


def _bind(scheduler: Scheduler, binding: BindingCycle) -> str:
    """Return why the API server refuses the binding, or "" if the pod is bound."""
    world, pod = scheduler.world, binding.pod
    answer = world.api.answer_binding(pod.key, pod.uid, binding.node)
    world.record(ApiCall("BIND", pod.key, binding.node, error=answer.message), scheduler.name)
    return "" if answer.ok else answer.message
