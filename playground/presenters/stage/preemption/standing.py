"""Before anybody is removed, or where nobody can be: the nodes that refused the pod, and who stands there with less priority than it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypedDict

from playground.presenters.amounts import amount
from playground.presenters.scene import PodRef, pod_ref
from playground.presenters.stage.preemption.room import level
from scheduler_core.world.readonly import Pod, SchedulingCycleView, Status

NODES = 6
PODS = 8
LASTING = "UnschedulableAndUnresolvable"
REFUSED = ("Unschedulable", LASTING)
LACKS = "Insufficient "


class Standing(TypedDict):
    nodes: list[StandingNode]
    more: int
    priority: int


def standing(cycle: SchedulingCycleView) -> Standing:
    """The nodes that refused the pod: those where somebody of lower priority may go first; `more` are not shown."""
    statuses = ((row, cycle.status_of(row)) for row in range(len(cycle.nodes)))
    refused = [(row, status) for row, status in statuses if status is not None and status.code.kube_name in REFUSED]
    refused.sort(key=lambda each: (_lasting(each[1]), not any(map(_lower(cycle.pod), cycle.nodes.pods[each[0]]))))
    return {
        "nodes": [_node(cycle, row, status) for row, status in refused[:NODES]],
        "more": max(len(refused) - NODES, 0),
        "priority": cycle.pod.priority,
    }


def _lasting(status: Status) -> bool:
    """Return whether evictions cannot resolve the refusal."""
    return status.code.kube_name == LASTING


def _lower(pod: Pod) -> Callable[[Pod], bool]:
    return lambda other: other.priority < pod.priority


class StandingPod(PodRef):
    priority: int
    amount: str
    lower: bool


class StandingNode(TypedDict):
    name: str
    resource: str
    requested: str
    allocatable: str
    reason: str
    lasting: bool
    pods: list[StandingPod]
    more: int


def _node(cycle: SchedulingCycleView, row: int, status: Status) -> StandingNode:
    """One node: what of it is requested, why it refused, and its pods, the most important first."""
    name = cycle.nodes.names[row]
    lacking = next((reason.removeprefix(LACKS) for reason in status.reasons if reason.startswith(LACKS)), "cpu")
    found = level(cycle.nodes, name, lacking)
    pods = sorted(cycle.nodes.pods[row], key=lambda pod: (-pod.priority, pod.key))
    lower = _lower(cycle.pod)
    return {
        "name": name,
        "resource": lacking,
        "requested": "" if found is None else amount(lacking, found[0]),
        "allocatable": "" if found is None else amount(lacking, found[1]),
        "reason": status.message,
        "lasting": _lasting(status),
        "pods": [
            {
                **pod_ref(pod.key),
                "priority": pod.priority,
                "amount": amount(lacking, pod.requests.get(lacking)),
                "lower": lower(pod) and not _lasting(status),
            }
            for pod in pods[:PODS]
        ],
        "more": max(len(pods) - PODS, 0),
    }
