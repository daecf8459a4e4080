"""The places of pods in binding cycles, for the journal."""

from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.base.trace.journal import Place
from scheduler_core.scheduler.core.cycles.scheduling_cycle import BindingCycle
from scheduler_core.scheduler.core.scheduler import Scheduler


def move(scheduler: Scheduler, binding: BindingCycle, place: str, cause: str) -> None:
    """Record that the pod of a binding cycle moved to a place."""
    live = scheduler.world.store.pod_at(binding.pod.key)
    there = live is not None and live.uid == binding.pod.uid
    scheduler.move(binding.pod.key, place, cause, kept=there)


def note_place(scheduler: Scheduler, pod: Pod) -> None:
    """Record the place of a popped pod that was skipped. If the pod is already being bound (it was queued again when the attempt of a
    deleted pod of the same name failed), its journey continues in the binding cycle.
    """
    for binding in scheduler.bindings.values():
        if binding.pod.uid == pod.uid:
            move(scheduler, binding, Place.WAITING if binding.waiting else Place.BINDING, "already assumed")
