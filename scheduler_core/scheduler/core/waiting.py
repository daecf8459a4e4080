"""What ends a pod's wait on Permit, and what plugins are given of a pod that waits.

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
    """One plugin approves; the pod goes on when none is left to wait for."""
    binding.waiting.pop(plugin, None)
    if not binding.waiting:
        _decide(owner, binding, SUCCESS)


def reject(owner: Owner, binding: BindingCycle, plugin: str, message: str) -> None:
    """A plugin (or the deletion of the pod) rejects the waiting pod."""
    binding.waiting.clear()
    _decide(owner, binding, Status(Code.UNSCHEDULABLE, (message,), plugin))


def preempt(owner: Owner, binding: BindingCycle, plugin: str) -> None:
    """A preemption takes the room of the waiting pod; the pod is not unschedulable by it. kube: waitingPod.Preempt"""
    binding.waiting.clear()
    _decide(owner, binding, Status(Code.ERROR, ("preempted",), plugin))


def _decide(owner: Owner, binding: BindingCycle, status: Status) -> None:
    """The first decision stands."""
    # kube: WaitOnPermit receives once from a channel that holds one status, and whoever sends a second one does not block.
    if binding.decision is None:
        binding.decision = status
        owner.world.agenda.push(owner.world.now, AdvanceBinding(owner.name, binding.number))


@dataclass(frozen=True, slots=True)
class WaitingPod:
    """A pod that waits on Permit, in the hands of a plugin: what is said of it is recorded."""

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
