"""Where the pods of binding cycles are, for the journal."""

from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.base.trace.journal import Place
from scheduler_core.scheduler.core.cycles.scheduling_cycle import BindingCycle
from scheduler_core.scheduler.core.scheduler import Scheduler


def move(scheduler: Scheduler, binding: BindingCycle, place: str, cause: str) -> None:
    """The pod of a binding cycle came to a place."""
    live = scheduler.world.store.pod_at(binding.pod.key)
    there = live is not None and live.uid == binding.pod.uid
    scheduler.move(binding.pod.key, place, cause, kept=there)


def note_place(scheduler: Scheduler, pod: Pod) -> None:
    """A pod was popped and passed over. Where it is being bound (it was queued once more when the attempt of a deleted pod of its name
    failed), the journey goes on there.
    """
    for binding in scheduler.bindings.values():
        if binding.pod.uid == pod.uid:
            move(scheduler, binding, Place.WAITING if binding.waiting else Place.BINDING, "already assumed")
