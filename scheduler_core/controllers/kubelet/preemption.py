"""Which pods a kubelet ends so that a critical pod fits: as few and as small as it finds, guaranteed pods last.

kube: pkg/kubelet/preemption/preemption.go @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from scheduler_core.apimachinery.objects.demand import BEST_EFFORT, BURSTABLE, GUARANTEED, qos_class
from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.apimachinery.objects.resources import CPU, MEMORY, PODS
from scheduler_core.controllers.kubelet.critical import preemptable

PREEMPTING = "Preempting"
MESSAGE = "Preempted in order to admit critical pod"
CONDITION = "Pod was preempted by Kubelet to accommodate a critical pod."
Missing = list[tuple[str, int]]  # resources and how much of each is missing


class NoSuchPods(Exception):
    """Not even all pods that may be ended would make enough room; the text is kube's."""


def victims(pod: Pod, others: Iterable[Pod], missing: Missing) -> list[Pod]:
    """The pods to end. NoSuchPods."""
    classes: dict[str, list[Pod]] = {BEST_EFFORT: [], BURSTABLE: [], GUARANTEED: []}
    for other in others:
        if preemptable(pod, other):
            classes[qos_class(other.manifest["spec"])].append(other)
    best_effort, burstable, guaranteed = classes.values()
    beyond = _without(missing, [*best_effort, *burstable, *guaranteed])
    if beyond:
        raise _none(beyond)
    # Guaranteed pods are chosen first, as if all others went, so that as few of them go as possible; likewise the
    # burstable ones, before the best-effort ones fill the rest.
    last = _nearest(guaranteed, _without(missing, [*best_effort, *burstable]))
    middle = _nearest(burstable, _without(missing, [*best_effort, *last]))
    first = _nearest(best_effort, _without(missing, [*middle, *last]))
    return [*first, *middle, *last]


def _nearest(pods: Sequence[Pod], missing: Missing) -> list[Pod]:
    """One after the other the pod that comes nearest to what is missing, of equals the smaller one."""
    left, chosen = list(pods), []
    while missing:
        if not left:
            raise _none(missing)
        best, shortest = 0, float(len(missing) + 1)
        for i, pod in enumerate(left):
            distance = _distance(missing, pod)
            if distance < shortest or (distance == shortest and _is_smaller(pod, left[best])):
                best, shortest = i, distance
        chosen.append(left[best])
        missing = _without(missing, [left[best]])
        left[best] = left[-1]  # as kube takes it out, which decides who is the first of equals
        left.pop()
    return chosen


def _request(pod: Pod, resource: str) -> int:
    return 1 if resource == PODS else pod.requests.get(resource)


def _without(missing: Missing, pods: Sequence[Pod]) -> Missing:
    """Return the amounts still missing without the pods."""
    left = [(name, amount - sum(_request(pod, name) for pod in pods)) for name, amount in missing]
    return [(name, amount) for name, amount in left if amount > 0]


def _distance(missing: Missing, pod: Pod) -> float:
    return sum((max(amount - _request(pod, name), 0) / amount) ** 2 for name, amount in missing)


def _is_smaller(pod: Pod, other: Pod) -> bool:
    for name in (MEMORY, CPU):
        if pod.requests.get(name) != other.requests.get(name):
            return pod.requests.get(name) < other.requests.get(name)
    return True


def _none(missing: Missing) -> NoSuchPods:
    listed = "".join(f"(res: {name}, q: {amount}), " for name, amount in missing)
    return NoSuchPods(
        f"preemption: error finding a set of pods to preempt: no set of running pods found to reclaim resources: [{listed}]"
    )
