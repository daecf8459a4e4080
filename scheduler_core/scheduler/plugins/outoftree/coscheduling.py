"""Coscheduling: binds all pods of a group together, or none. Ours, after the plugin of that name in kubernetes-sigs/scheduler-plugins.

PreFilter rejects a pod whose group lacks members. Permit makes each pod wait until enough of the group have a node, and then allows all.
If one of them can't be placed, or waits too long, the others are rejected, too.

It can deadlock: two groups that each hold a part of the cluster wait for the rest until the timeout. CoschedulingSort, which keeps a
group's pods together in the queue, makes that rare. PostFilter ends it early: one pod that fits nowhere rejects its group.
"""

import re
from dataclasses import dataclass
from typing import Any

from scheduler_core.apimachinery.objects import FieldError, Pod, invalid, optional_time
from scheduler_core.apimachinery.objects.strict import INTEGER64
from scheduler_core.scheduler.cache.table import NodeTable
from scheduler_core.scheduler.framework import Code, Features, Reason, Status, error, unresolvable, unschedulable
from scheduler_core.scheduler.framework import plugin as framework
from scheduler_core.scheduler.framework.arguments import Arguments, Given, when_absent
from scheduler_core.scheduler.framework.cycle_state import PODS_TO_ACTIVATE, CycleState
from scheduler_core.scheduler.framework.events import ASSIGNED_POD, POD, Action, On
from scheduler_core.scheduler.plugins.outoftree.base import OutOfTreePlugin

# Pod groups: pods of a namespace with the same label; an annotation on each pod sets the minimum.
#
# scheduler-plugins has a kind PodGroup for it; here the pods carry its fields.

LABEL = "scheduling.x-k8s.io/pod-group"
MIN_MEMBER = "playground.dev/min-member"

BAD_GROUP = Reason("BadGroup", f'{MIN_MEMBER}: "<text>" is not understood; expected a whole number from 1 on')

_NUMBER = re.compile(r"[0-9]{1,6}\Z", re.ASCII)


@dataclass(frozen=True, slots=True)
class PodGroup:
    """A pod's group; `min_member` is the value on this pod."""

    namespace: str
    name: str
    min_member: int = 1

    @property
    def key(self) -> str:
        return f"{self.namespace}/{self.name}"

    def has(self, pod: Pod) -> bool:
        return pod.namespace == self.namespace and pod.labels.get(LABEL) == self.name


class BadGroup(ValueError):
    """The error for a pod's unreadable group data."""


def group_of(pod: Pod) -> PodGroup | None:
    """Return the pod's group, or None. Raise BadGroup if its minimum is not a positive number."""
    name = pod.labels.get(LABEL)
    if not name:
        return None
    text = pod.annotations.get(MIN_MEMBER, "1")
    if not _NUMBER.match(text) or int(text) < 1:
        raise BadGroup(BAD_GROUP(text=text))
    return PodGroup(pod.namespace, name, int(text))


def members(handle: framework.Handle, group: PodGroup) -> list[dict[str, Any]]:
    """Return the `metadata` of the group's pods that have not ended, placed or not, by name."""
    found = []
    for manifest in handle.list("Pod"):
        metadata = manifest["metadata"]
        ended = (manifest.get("status") or {}).get("phase") in ("Succeeded", "Failed")
        if metadata.get("namespace") == group.namespace and not ended:
            if (metadata.get("labels") or {}).get(LABEL) == group.name:
                found.append(metadata)
    return found


# CoschedulingSort: keeps the pods of a group together in the queue. Ours, after Coscheduling in kubernetes-sigs/scheduler-plugins.
#
# It replaces PrioritySort in all profiles of a scheduler.


class CoschedulingSort(framework.Plugin):
    """QueueSort by priority, creation time of the group's oldest pod, and the group's name; a single pod is its own group."""

    name = "CoschedulingSort"

    def sort_key(self, pod: Pod, timestamp: int) -> tuple[int, ...]:
        name = pod.labels.get(LABEL)
        if not name:
            return (-pod.priority, pod.creation_time or 0, *map(ord, pod.key))
        group = PodGroup(pod.namespace, name)
        times = (optional_time(each.get("creationTimestamp")) or 0 for each in members(self.handle, group))
        return (-pod.priority, min(times, default=0), *map(ord, group.key))


NAME = "Coscheduling"

_TOO_FEW = Reason(
    "TooFewSiblings",
    "pre-filter pod <pod> cannot find enough sibling pods, current pods number: <there>, minMember of group: <members>",
)
_NO_GROUP = Reason("GroupNotFound", "can not find pod group")
_GROUP_REJECTED = Reason(
    "GroupRejected", "PodGroup <group> gets rejected due to Pod <pod> is unschedulable even after PostFilter"
)

SECOND = 1_000_000_000
NEARLY_ALL = 10  # percent of the group that may be missing without a rejection


def _validate(args: Given, path: str, features: Features) -> list[FieldError]:
    seconds = args["permitWaitingTimeSeconds"]
    if seconds > 0:
        return []
    return [invalid(f"{path}.permitWaitingTimeSeconds", seconds, "must be greater than 0")]


def sibling_added(plugin: Any, pod: Pod, old: Any, new: Any) -> bool:
    """Return whether the new pod is in the same group."""
    name = pod.labels.get(LABEL)
    return bool(name) and isinstance(new, Pod) and new.namespace == pod.namespace and new.labels.get(LABEL) == name


class Coscheduling(OutOfTreePlugin):
    """Pods of a group are bound together or not at all."""

    name = NAME
    reasons = (_TOO_FEW, _NO_GROUP, _GROUP_REJECTED, BAD_GROUP)
    arguments = Arguments(
        {"permitWaitingTimeSeconds": INTEGER64}, when_absent(permitWaitingTimeSeconds=60), _validate, lenient=True
    )
    events = (On(POD, Action.ADD, sibling_added), On(ASSIGNED_POD, Action.DELETE))

    def pre_filter(self, state: CycleState, pod: Pod, nodes: NodeTable) -> framework.PreFilterResult:
        try:
            group = group_of(pod)
        except BadGroup as bad:
            return framework.PreFilterResult(unresolvable(str(bad)))
        there = 0 if group is None else len(members(self.handle, group))
        if group is None or there >= group.min_member:
            return framework.PreFilterResult()
        text = _TOO_FEW(pod=pod.name, there=there, members=group.min_member)
        return framework.PreFilterResult(unresolvable(text))

    def post_filter(
        self, state: CycleState, pod: Pod, nodes: NodeTable, failure: framework.Failure
    ) -> framework.PostFilterResult:
        """Reject the whole group when one pod fits nowhere, unless nearly all of it is placed."""
        group = _group(pod)
        if group is None:
            return framework.PostFilterResult(unschedulable(_NO_GROUP()))
        placed = self._count_placed(group)
        if placed >= group.min_member:
            return framework.PostFilterResult(unschedulable())
        if (group.min_member - placed) * 100 <= NEARLY_ALL * group.min_member:
            return framework.PostFilterResult(unschedulable())
        self._reject(group, "optimistic rejection in PostFilter")
        return framework.PostFilterResult(unschedulable(_GROUP_REJECTED(group=group.key, pod=pod.name)))

    def permit(self, state: CycleState, pod: Pod, node_name: str) -> framework.PermitResult:
        """Wait until enough of the group have a node; the last missing member allows the others."""
        try:
            group = group_of(pod)
        except BadGroup as bad:
            return framework.PermitResult(error(str(bad)))
        if group is None:
            return framework.PermitResult()
        if self._count_placed(group) + 1 >= group.min_member:
            for waiting in self.handle.waiting_pods():
                if group.has(waiting.pod):
                    waiting.allow(NAME)
            return framework.PermitResult()
        keys = (f"{each['namespace']}/{each['name']}" for each in members(self.handle, group))
        state.write(PODS_TO_ACTIVATE, tuple(key for key in keys if key != pod.key))
        wait: Status = Status(Code.WAIT)
        return framework.PermitResult(wait, int(self.args["permitWaitingTimeSeconds"]) * SECOND)

    def reserve(self, state: CycleState, pod: Pod, node_name: str) -> Status:
        """Reserve nothing; only plugins that implement Reserve get an Unreserve call."""
        return Status()

    def unreserve(self, state: CycleState, pod: Pod, node_name: str) -> None:
        """Reject the whole group when one of its pods gives up its node."""
        group = _group(pod)
        if group is not None:
            self._reject(group, "rejection in Unreserve")

    def is_idle(self, point: framework.Point, state: CycleState, pod: Pod) -> bool:
        return point is framework.Point.RESERVE or _group(pod) is None

    def _count_placed(self, group: PodGroup) -> int:
        """Return the number of the group's pods with a node in the snapshot, including waiting pods."""
        return sum(group.has(pod) for pods in self.handle.snapshot.pods for pod in pods)

    def _reject(self, group: PodGroup, why: str) -> None:
        for waiting in self.handle.waiting_pods():
            if group.has(waiting.pod):
                waiting.reject(NAME, why)


def _group(pod: Pod) -> PodGroup | None:
    """Return the pod's group, or None if the pod has none or its minimum is invalid."""
    try:
        return group_of(pod)
    except BadGroup:
        return None
