"""The kubelet's admission of pods bound to its node: resources, affinity, ports and taints, in the kubelet's order and words.

kube: pkg/kubelet/lifecycle/predicate.go, pkg/kubelet/eviction/eviction_manager.go (Admit), pkg/scheduler/eventhandlers.go
(AdmissionCheck), pkg/scheduler/framework/plugins/noderesources/fit.go (fitsRequest) @ v1.34.1
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from scheduler_core.apimachinery.objects import NO_EXECUTE, NO_SCHEDULE, Node, Pod, Taint
from scheduler_core.apimachinery.objects.demand import BEST_EFFORT, BURSTABLE, GUARANTEED, qos_class
from scheduler_core.apimachinery.objects.resources import CPU, EPHEMERAL_STORAGE, MEMORY, PODS, is_extended_name
from scheduler_core.apiserver.server import Preconditions
from scheduler_core.apiserver.watch import WatchEvent
from scheduler_core.controllers.contract import World
from scheduler_core.scheduler.plugins.node_ports import list_taken_ports

# Critical and static pods: a kubelet neither rejects them because of resources nor evicts them.
# kube: pkg/kubelet/types/pod_update.go @ v1.34.1

SYSTEM_CRITICAL = 2_000_000_000  # the priority from which on a pod is critical
NODE_CRITICAL = "system-node-critical"
_SOURCE, _MIRROR = "kubernetes.io/config.source", "kubernetes.io/config.mirror"


def is_mirror(pod: Pod) -> bool:
    """Return whether a pod is the mirror of a static pod."""
    return _MIRROR in pod.annotations


def is_static(pod: Pod) -> bool:
    """Return whether a pod does not come from the API server. Mirror pods count too, as only they are visible here."""
    return is_mirror(pod) or pod.annotations.get(_SOURCE, "api") != "api"


def is_critical(pod: Pod) -> bool:
    return is_static(pod) or pod.priority >= SYSTEM_CRITICAL


def is_node_critical(pod: Pod) -> bool:
    return is_critical(pod) and pod.manifest["spec"].get("priorityClassName") == NODE_CRITICAL


# The pods that a kubelet preempts for a critical pod: as few and as small as possible, guaranteed pods last.
# kube: pkg/kubelet/preemption/preemption.go @ v1.34.1

PREEMPTING = "Preempting"
MESSAGE = "Preempted in order to admit critical pod"
CONDITION = "Pod was preempted by Kubelet to accommodate a critical pod."
Missing = list[tuple[str, int]]  # resources and how much of each is missing


class NoSuchPods(Exception):
    """All preemptible pods together would not free enough resources; the text is kube's."""


def victims(pod: Pod, others: Iterable[Pod], missing: Missing) -> list[Pod]:
    """Return the pods to preempt. Raise NoSuchPods."""
    classes: dict[str, list[Pod]] = {BEST_EFFORT: [], BURSTABLE: [], GUARANTEED: []}
    for other in others:
        # A kubelet may end a pod of lower priority to admit another, and any non-critical one to admit a critical pod.
        if (is_critical(pod) and not is_critical(other)) or pod.priority > other.priority:
            classes[qos_class(other.manifest["spec"])].append(other)
    best_effort, burstable, guaranteed = classes.values()
    beyond = _without(missing, [*best_effort, *burstable, *guaranteed])
    if beyond:
        raise _none(beyond)
    # Guaranteed pods are chosen first, as if all others were preempted, so that as few of them are as possible; likewise the
    # burstable ones, before the best-effort ones cover the rest.
    last = _nearest(guaranteed, _without(missing, [*best_effort, *burstable]))
    middle = _nearest(burstable, _without(missing, [*best_effort, *last]))
    first = _nearest(best_effort, _without(missing, [*middle, *last]))
    return [*first, *middle, *last]


def _nearest(pods: Sequence[Pod], missing: Missing) -> list[Pod]:
    """Return pods that cover the shortage: each time the one nearest to the rest of it, of equals the smaller. Raise NoSuchPods."""
    left, chosen = list(pods), []
    while missing:
        if not left:
            raise _none(missing)
        best, shortest = 0, float(len(missing) + 1)
        for i, pod in enumerate(left):
            distance = sum((max(amount - _request(pod, name), 0) / amount) ** 2 for name, amount in missing)
            if distance < shortest or (distance == shortest and _is_smaller(pod, left[best])):
                best, shortest = i, distance
        chosen.append(left[best])
        missing = _without(missing, [left[best]])
        left[best] = left[-1]  # kube removes it like this, which determines the order of equal pods
        left.pop()
    return chosen


def _request(pod: Pod, resource: str) -> int:
    return 1 if resource == PODS else pod.requests.get(resource)


def _without(missing: Missing, pods: Sequence[Pod]) -> Missing:
    """Return the amounts still missing without the pods."""
    left = [(name, amount - sum(_request(pod, name) for pod in pods)) for name, amount in missing]
    return [(name, amount) for name, amount in left if amount > 0]


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


OS_LABEL, OS = "kubernetes.io/os", "linux"
MEMORY_PRESSURE = "MemoryPressure"
EVICTED = "Evicted"
WRONG_OS_LABEL, WRONG_OS = "PodOSSelectorNodeLabelDoesNotMatch", "PodOSNotSupported"
_PREDICATES = {
    "NodeAffinity": "node(s) didn't match Pod's node affinity/selector",
    "NodePorts": "node(s) didn't have free ports for the requested pod ports",
    "TaintToleration": "node(s) had taints that the pod didn't tolerate",
}


@dataclass(frozen=True, slots=True)
class Refusal:
    """The reason why a node rejects a pod; `resource` is the short one, `missing` its shortage (milli-CPUs, bytes, units)."""

    reason: str
    message: str
    resource: str = ""
    missing: int = 0


def find_early_refusal(pod: Pod, node: Node, pressure: Sequence[str]) -> Refusal | None:
    """Return a refusal that no free room can avoid: the node is under pressure, or of another operating system."""
    if pressure and not is_critical(pod) and not _bears(pod, pressure):
        return Refusal(EVICTED, f"The node had condition: [{' '.join(pressure)}]. ")
    info = (node.manifest.get("status") or {}).get("nodeInfo") or {}
    system = info.get("operatingSystem") or node.labels.get(OS_LABEL, OS)
    if pod.labels.get(OS_LABEL, system) != system:
        return Refusal(WRONG_OS_LABEL, "Failed to admit pod as the `kubernetes.io/os` label doesn't match node label")
    if (pod.manifest["spec"].get("os") or {}).get("name", system) != system:
        return Refusal(WRONG_OS, "Failed to admit pod as the OS field doesn't match node OS")
    return None


def refusals(pod: Pod, node: Node, others: Sequence[Pod]) -> list[Refusal]:
    """Return all reasons to reject a pod on a node with these other pods, in kube's order; the first one is reported."""
    found = list(_short(pod, node, others))
    if not _matches(pod, node):
        found.append(_predicate("NodeAffinity"))
    if pod.spec.host_ports and list_taken_ports(pod, [port for other in others for port in other.spec.host_ports]):
        found.append(_predicate("NodePorts"))
    if not is_static(pod) and any(
        taint.effect == NO_EXECUTE and not pod.spec.tolerates(taint) for taint in node.taints
    ):
        found.append(_predicate("TaintToleration"))
    return found


def _bears(pod: Pod, pressure: Sequence[str]) -> bool:
    """Return True if memory is the only pressure, and the pod has requests or tolerates the taint."""
    if list(pressure) != [MEMORY_PRESSURE]:
        return False
    taint = Taint("node.kubernetes.io/memory-pressure", "", NO_SCHEDULE)
    return qos_class(pod.manifest["spec"]) != BEST_EFFORT or pod.spec.tolerates(taint)


def _predicate(name: str) -> Refusal:
    return Refusal(name, f"Predicate {name} failed: {_PREDICATES[name]}")


def _matches(pod: Pod, node: Node) -> bool:
    spec = pod.spec
    if any(node.labels.get(key) != value for key, value in spec.node_selector.items()):
        return False
    required = spec.node_affinity_required
    return required is None or required.matches(node.labels, node.name)


def _short(pod: Pod, node: Node, others: Sequence[Pod]) -> Iterator[Refusal]:
    """Yield the resources with a shortage. Extended resources that the node does not report are skipped: others account for them."""
    if len(others) + 1 > node.allowed_pods:
        yield _out_of(PODS, 1, len(others), node.allowed_pods)
    there = {name for name, _ in node.allocatable.scalar}
    scalars = [
        name for name, amount in pod.spec.requests.scalar if amount and (name in there or not is_extended_name(name))
    ]
    for name in (CPU, MEMORY, EPHEMERAL_STORAGE, *scalars):
        wanted = pod.spec.requests.get(name)
        if wanted:
            used, capacity = sum(other.requests.get(name) for other in others), node.allocatable.get(name)
            if wanted > capacity - used:
                yield _out_of(name, wanted, used, capacity)


def _out_of(name: str, wanted: int, used: int, capacity: int) -> Refusal:
    message = f"Node didn't have enough resource: {name}, requested: {wanted}, used: {used}, capacity: {capacity}"
    return Refusal(f"OutOf{name}", message, name, wanted - (capacity - used))


# Mirror pods: the representations of static pods in the API server. A deleted one is created again; the static pod continues to run.
#
# A pod with the annotation kubernetes.io/config.mirror counts as one; the static pod itself is not visible.
# kube: pkg/kubelet/kubelet.go (SyncPod), pkg/kubelet/pod/mirror_client.go @ v1.34.1

_MADE_ANEW = (
    *("uid", "resourceVersion", "creationTimestamp", "generation", "deletionTimestamp", "deletionGracePeriodSeconds"),
)


def remember(world: World, event: WatchEvent) -> bool:
    """Keep a deleted mirror pod whose kubelet runs. Return whether it was kept."""
    pod, memory = event.old_pod, world.surroundings.kubelet
    if pod is None or not is_mirror(pod) or pod.node_name not in memory.since or pod.key not in memory.pods:
        return False
    memory.mirrors[pod.key] = (event.old or {}, memory.pods[pod.key])
    return True


def restore(world: World, key: str) -> str:
    """Create a deleted mirror pod again if its node exists. Return a description."""
    kept = world.surroundings.kubelet.mirrors.pop(key, None)
    if kept is None:
        return ""
    manifest, run = kept
    if world.store.node(run.node) is None:
        return ""
    created = world.api.create(_fresh(manifest))
    world.surroundings.kubelet.put(key, replace(run, uid=str(created["metadata"]["uid"]), kill=None))
    return "recreated the mirror pod: its static pod continues to run"


def let_go(world: World, pod: Pod) -> str:
    """Remove a mirror pod that a client deletes; it will be created again. The static pod continues to run."""
    world.api.delete(("Pod", pod.namespace, pod.name), 0, preconditions=Preconditions(pod.uid))
    return "removed the mirror pod, which will be recreated"


def _fresh(manifest: Mapping[str, Any]) -> dict[str, Any]:
    meta = {name: value for name, value in manifest["metadata"].items() if name not in _MADE_ANEW}
    return {**manifest, "metadata": meta}
