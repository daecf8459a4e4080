"""GangScheduling: holds the pods of a PodGroup until minCount of them exist, and binds them only if minCount of them have a node.

kube: plugins/gangscheduling/gangscheduling.go @ v1.37.2. DEVIATION: composite groups are not modeled.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduler_core.apimachinery.objects import Manifest, Pod
from scheduler_core.base.clock.agenda import SECOND
from scheduler_core.base.releases import Behavior
from scheduler_core.scheduler.framework import Features, Reason
from scheduler_core.scheduler.framework.cycle_state import PODS_TO_ACTIVATE, CycleState
from scheduler_core.scheduler.framework.events import ASSIGNED_POD, UNSCHEDULED_POD, Action, On
from scheduler_core.scheduler.framework.groups import RESOURCE, gang, min_count
from scheduler_core.scheduler.framework.plugin import Handle, PermitResult, Plugin, Point
from scheduler_core.scheduler.framework.status import SUCCESS, Code, Status, error, unresolvable, unschedulable

NAME = "GangScheduling"
PERMIT_TIMEOUT = 300 * SECOND

_TOO_FEW = Reason("TooFewMembers", "waiting for minCount pods from a gang to appear in scheduling queue")
_NO_GROUP = Reason("GroupMissing", 'waiting for pods\'s pod group "<group>" to appear in scheduling queue')
_QUORUM = Reason(
    "QuorumImpossible", "minCount (<needed>) cannot be satisfied: <scheduled> scheduled, <remaining> remaining"
)
_NOT_YET = Reason(
    "QuorumOpen", "minCount (<needed>) is not yet satisfied: <scheduled> scheduled, <remaining> remaining"
)
_WAITING = Reason("QuorumAwaited", "waiting for minCount pods from a gang to be scheduled")


def after_pod_added(plugin: GangScheduling, pod: Pod, old: None, new: Pod) -> bool:
    """Return whether the new pod is in the same group. kube: isSchedulableAfterPodAdded"""
    return bool(pod.spec.group) and (new.namespace, new.spec.group) == (pod.namespace, pod.spec.group)


def _is_own(pod: Pod, group: Manifest) -> bool:
    metadata = group["metadata"]
    return (metadata.get("namespace"), metadata["name"]) == (pod.namespace, pod.spec.group)


def after_group_added(plugin: GangScheduling, pod: Pod, old: None, new: Manifest) -> bool:
    """Return whether the new PodGroup is the pod's. kube: isSchedulableAfterPodGroupAdded"""
    return _is_own(pod, new)


def after_group_updated(plugin: GangScheduling, pod: Pod, old: Manifest, new: Manifest) -> bool:
    """Return whether minCount of the pod's group has fallen. kube: isSchedulableAfterPodGroupUpdated"""
    both = gang(old) is not None and gang(new) is not None
    return _is_own(pod, new) and both and min_count(new) < min_count(old)


class GangScheduling(Plugin):
    """PreEnqueue and Permit count the members; `judge_quorum` is asked by the cycle of a group."""

    name = NAME
    reasons = (_TOO_FEW, _NO_GROUP, _QUORUM, _NOT_YET, _WAITING)
    events = (
        On(UNSCHEDULED_POD, Action.ADD, after_pod_added),
        On(ASSIGNED_POD, Action.ADD, after_pod_added),
        On(RESOURCE, Action.ADD, after_group_added),
        On(RESOURCE, Action.UPDATE, after_group_updated),
    )

    def __init__(self, args: Mapping[str, Any], handle: Handle) -> None:
        super().__init__(args, handle)
        self._enabled = handle.features.generic_workload

    @classmethod
    def variant(cls, features: Features) -> type[Plugin] | None:
        return cls if Behavior.POD_GROUPS in features.behaviors else None

    @classmethod
    def in_default_set(cls, features: Features) -> bool:
        return features.generic_workload

    def registrations(self) -> tuple[On, ...]:
        return self.events if self._enabled else ()

    def pre_enqueue(self, pod: Pod) -> Status:
        """Hold the pod back while its group has too few pods or does not exist."""
        if not self._enabled or not pod.spec.group:
            return SUCCESS
        group = self.handle.pod_group(pod.namespace, pod.spec.group)
        if group is None:
            return unresolvable(_NO_GROUP(group=pod.spec.group))
        if gang(group.manifest) is not None and len(group.pods) < min_count(group.manifest):
            return unresolvable(_TOO_FEW())
        return SUCCESS

    def permit(self, state: CycleState, pod: Pod, node_name: str) -> PermitResult:
        """Wait until enough members have a node; the last missing member allows the others."""
        if not self._enabled or not pod.spec.group:
            return PermitResult()
        group = self.handle.pod_group(pod.namespace, pod.spec.group)
        if group is None:
            text = f'podgroup.scheduling.k8s.io "{pod.spec.group}" not found'
            return PermitResult(error(f"failed to get podGroup {pod.namespace}/{pod.spec.group}: {text}"))
        if gang(group.manifest) is None:
            return PermitResult()
        if len(group.scheduled) < min_count(group.manifest):
            state.write(PODS_TO_ACTIVATE, tuple(each.key for each in group.unscheduled))
            return PermitResult(Status(Code.WAIT, (_WAITING(),)), PERMIT_TIMEOUT)
        for waiting in self.handle.waiting_pods():
            if waiting.pod.uid in group.assumed:
                waiting.allow(NAME)
        return PermitResult()

    def is_idle(self, point: Point, state: CycleState, pod: Pod) -> bool:
        return not pod.spec.group

    @staticmethod
    def judge_quorum(group: Manifest, scheduled: int, remaining: int) -> Status:
        """Return Success, Wait, or Unschedulable: whether a placement can still reach minCount. kube: PlacementFeasible"""
        needed = min_count(group)
        if remaining + scheduled < needed:
            return unschedulable(_QUORUM(needed=needed, scheduled=scheduled, remaining=remaining))
        if scheduled < needed:
            return Status(Code.WAIT, (_NOT_YET(needed=needed, scheduled=scheduled, remaining=remaining),))
        return SUCCESS
