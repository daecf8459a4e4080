"""Waiting on Permit: a pod waits for the plugins that returned Wait, until all have allowed it or one has rejected it.

kube: framework/runtime/waiting_pods_map.go @ v1.34.1
"""

from scheduler_core.apimachinery.objects.durations import go_duration
from scheduler_core.base.trace.journal import Place
from scheduler_core.base.trace.kinds import PodWaits
from scheduler_core.scheduler.core.actions import TimeOutPermit
from scheduler_core.scheduler.core.cycles.scheduling_cycle import BindingCycle
from scheduler_core.scheduler.core.scheduler import Scheduler
from scheduler_core.scheduler.core.steps import journeys
from scheduler_core.scheduler.core.waiting import allow, preempt, reject

__all__ = ["allow", "preempt", "reject", "time_out", "wait"]


def wait(scheduler: Scheduler, binding: BindingCycle, waits: tuple[tuple[str, int], ...]) -> None:
    """Begin the wait for each (plugin, timeout in ns)."""
    world = scheduler.world
    binding.waiting = {plugin: world.now + timeout for plugin, timeout in waits}
    world.record(PodWaits(binding.pod.key, binding.node, dict(waits)), scheduler.name, binding.span)
    journeys.move(scheduler, binding, Place.WAITING, "Permit")
    for plugin, deadline in binding.waiting.items():
        world.agenda.push(deadline, TimeOutPermit(scheduler.name, binding.number, plugin))


def time_out(scheduler: Scheduler, number: int, plugin: str) -> None:
    """Reject the pod because the wait for a plugin has timed out."""
    binding = scheduler.bindings[number]
    waited = binding.waiting[plugin] - binding.started
    text = f"rejected due to timeout after waiting {go_duration(waited)} at plugin {plugin}"
    reject(scheduler, binding, plugin, text)
