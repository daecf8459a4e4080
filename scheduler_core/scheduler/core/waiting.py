"""The decisions that end a pod's wait on Permit, and the plugins' handle of a waiting pod.

kube: framework/runtime/waiting_pods_map.go @ v1.34.1
"""

from dataclasses import dataclass

from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.base.trace.kinds import WaitDecided
from scheduler_core.scheduler.core.actions import AdvanceBinding
from scheduler_core.scheduler.core.cycles.scheduling_cycle import BindingCycle
from scheduler_core.scheduler.core.world import Owner
from scheduler_core.scheduler.framework.status import SUCCESS, Code, Status


def allow(owner: Owner, binding: BindingCycle, plugin: str) -> None:
    """Record a plugin's approval. After the last approval, the pod continues."""
    binding.waiting.pop(plugin, None)
    if not binding.waiting:
        _decide(owner, binding, SUCCESS)


def reject(owner: Owner, binding: BindingCycle, plugin: str, message: str) -> None:
    """Reject the waiting pod, because a plugin rejects it or the pod was deleted."""
    binding.waiting.clear()
    _decide(owner, binding, Status(Code.UNSCHEDULABLE, (message,), plugin))


def preempt(owner: Owner, binding: BindingCycle, plugin: str) -> None:
    """Reject the waiting pod because of a preemption. The pod does not become unschedulable. kube: waitingPod.Preempt"""
    binding.waiting.clear()
    _decide(owner, binding, Status(Code.ERROR, ("preempted",), plugin))


def _decide(owner: Owner, binding: BindingCycle, status: Status) -> None:
    """Set the decision, unless there is one already."""
    # kube: WaitOnPermit receives once from a channel that holds one status, and a second sender does not block.
    if binding.decision is None:
        binding.decision = status
        owner.world.agenda.push(owner.world.now, AdvanceBinding(owner.name, binding.number))


@dataclass(frozen=True, slots=True)
class WaitingPod:
    """A plugin's handle of a pod that waits on Permit. Decisions are recorded."""

    _owner: Owner
    _binding: BindingCycle

    @property
    def pod(self) -> Pod:
        return self._binding.pod

    @property
    def pending(self) -> tuple[str, ...]:
        return tuple(self._binding.waiting)

    def allow(self, plugin: str) -> None:
        if plugin in self._binding.waiting:
            self._record(plugin, "allow", "")
            allow(self._owner, self._binding, plugin)

    def reject(self, plugin: str, message: str) -> None:
        if self._binding.waiting:
            self._record(plugin, "reject", message)
            reject(self._owner, self._binding, plugin, message)

    def _record(self, plugin: str, decision: str, message: str) -> None:
        facts = WaitDecided(self._binding.pod.key, plugin, decision, message)
        self._owner.world.record(facts, self._owner.name, self._binding.span)
