"""replicaset-controller and replicationcontroller-controller: keep the desired number of pods of one template."""

import heapq
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cmp_to_key
from math import inf
from typing import Any

from scheduler_core.apimachinery.objects import Pod, controller_of
from scheduler_core.apimachinery.objects.labels import parse_int64
from scheduler_core.apiserver.status import Refused
from scheduler_core.controllers.contract import World
from scheduler_core.controllers.workloads.owners import Owner, claim_pods
from scheduler_core.controllers.workloads.pods import (
    Work,
    create_pods,
    delete_pod,
    from_template,
    is_active,
    is_available,
    list_pods,
    ready_since,
)
from scheduler_core.controllers.workloads.watching import WorkloadController

# The order in which surplus pods are deleted.
# kube: pkg/controller/controller_utils.go (ActivePodsWithRanks), PodDeletionCost and LogarithmicScaleDown on @ v1.34.1

DELETION_COST = "controller.kubernetes.io/pod-deletion-cost"
_PHASES = {"Pending": 0, "Unknown": 1, "Running": 2}


@dataclass(frozen=True, slots=True)
class Candidate:
    """The properties of a pod used in comparisons; times in ns since 1970."""

    pod: Pod
    first: tuple[bool, int, bool, int, int]  # has a node, phase, is Ready, cost, minus doubled-up pods
    ready_since: int | None
    restarts: tuple[int, int]


def first_to_go(pods: Sequence[Pod], count: int, now: int, on_nodes: Mapping[str, int] | None = None) -> list[Pod]:
    """Return the `count` pods to delete first.

    `now`: ns since 1970. `on_nodes`: the number of related pods on each node; the more, the earlier a pod of the node is deleted.
    """
    if count >= len(pods):
        return list(pods)
    candidates = [_candidate(pod, (on_nodes or {}).get(pod.node_name, 0)) for pod in pods]

    def order(one: Candidate, other: Candidate) -> int:
        return _compare(one, other, now)

    # Only the pods that go need an order, so those that stay are not sorted.
    return [candidate.pod for candidate in heapq.nsmallest(count, candidates, key=cmp_to_key(order))]


def by_age(pods: Sequence[Pod]) -> list[Pod]:
    """Sort pods by their own properties alone, those to delete first in front.

    kube: ActivePods
    """
    return sorted(pods, key=_own_rank)


def _own_rank(pod: Pod) -> tuple[bool, int, bool, float, int, int, float]:
    ready, since = pod.ready, ready_since(pod)
    regular, sidecars = _restarts(pod)
    young = -inf if pod.creation_time is None else -pod.creation_time
    newly = (-inf if since is None else -since) if ready else 0
    return bool(pod.node_name), _PHASES.get(pod.phase, 0), ready, newly, -regular, -sidecars, young


def deletion_cost(annotations: Mapping[str, str]) -> int:
    """Return a pod's deletion cost, from -2147483648 to 2147483647; 0 if it is invalid."""
    text = annotations.get(DELETION_COST)
    # kube's validFirstDigit: neither a plus sign nor a leading zero, though ParseInt would read both.
    if text is None or not (text == "0" or text[:1] == "-" or "1" <= text[:1] <= "9"):
        return 0
    value = parse_int64(text)
    return value if value is not None and -(2**31) <= value < 2**31 else 0


def _candidate(pod: Pod, doubled: int) -> Candidate:
    first = (bool(pod.node_name), _PHASES.get(pod.phase, 0), pod.ready, deletion_cost(pod.annotations), -doubled)
    return Candidate(pod, first, ready_since(pod), _restarts(pod))


def _compare(one: Candidate, other: Candidate, now: int) -> int:
    """Compare two pods; below 0: the first is deleted earlier."""
    if one.first != other.first:
        return -1 if one.first < other.first else 1
    if one.first[2] and one.ready_since != other.ready_since:
        return _younger(one, other, one.ready_since, other.ready_since, now)
    if one.restarts != other.restarts:
        return -1 if one.restarts > other.restarts else 1
    if one.pod.creation_time != other.pod.creation_time:
        return _younger(one, other, one.pod.creation_time, other.pod.creation_time, now)
    return 0


def _younger(one: Candidate, other: Candidate, mine: int | None, others: int | None, now: int) -> int:
    """Compare pods by age in powers of two, then by uid; a missing time is the youngest."""
    if mine is None or others is None:
        return -1 if mine is None else 1
    difference = _magnitude(now - mine) - _magnitude(now - others)
    if difference:
        return difference
    return -1 if one.pod.uid < other.pod.uid else 1


def _magnitude(age: int) -> int:
    return age.bit_length() - 1 if age > 0 else -1


def _restarts(pod: Pod) -> tuple[int, int]:
    """Return the most restarts of a container, and of a sidecar."""
    status: Mapping[str, Any] = pod.manifest.get("status") or {}
    regular = max((int(c.get("restartCount") or 0) for c in status.get("containerStatuses") or ()), default=0)
    if not status.get("initContainerStatuses"):
        return regular, 0
    containers = pod.manifest["spec"].get("initContainers") or ()
    sidecars = {c["name"] for c in containers if c.get("restartPolicy") == "Always"}
    counts = (int(c.get("restartCount") or 0) for c in status["initContainerStatuses"] if c["name"] in sidecars)
    return regular, max(counts, default=0)


# ReplicaSets and ReplicationControllers: adopt and release pods, create missing ones, delete surplus ones.
#
# kube's expectations are not needed: a sync reads the store, which has all earlier writes.
# kube: pkg/controller/replicaset/replica_set.go, pkg/controller/replication @ v1.34.1

# The status of a ReplicaSet or a ReplicationController.
# kube: pkg/controller/replicaset/replica_set_utils.go @ v1.34.1

_FAILURE = "ReplicaFailure"


def replica_status(world: World, owner: Owner, pods: Sequence[Pod], refused: Refused | None) -> dict[str, Any]:
    """Build the status fields, counted from the pods before this sync's changes."""
    labels = (owner.template.get("metadata") or {}).get("labels") or {}
    min_ready = owner.number("minReadySeconds")
    ready = [pod for pod in pods if pod.ready]
    available = sum(is_available(world, pod, min_ready) for pod in ready)
    labelled = sum(labels.items() <= pod.labels.items() for pod in pods)
    return {
        "replicas": len(pods),
        "fullyLabeledReplicas": labelled or None,
        "readyReplicas": len(ready) or None,
        "availableReplicas": available or None,
        "observedGeneration": owner.generation or None,
        "conditions": _conditions(world, owner, len(pods), refused) or None,
    }


def _conditions(world: World, owner: Owner, pods: int, refused: Refused | None) -> list[Any]:
    given = list(owner.status.get("conditions") or ())
    known = any(condition.get("type") == _FAILURE for condition in given)
    if refused is None:
        return [condition for condition in given if condition.get("type") != _FAILURE]
    if known:
        return given
    failure = {
        "type": _FAILURE,
        "status": "True",
        "reason": "FailedCreate" if pods < owner.number("replicas") else "FailedDelete",
        "message": refused.answer.message,
        "lastTransitionTime": world.store.timestamp(world.now),
    }
    return [*given, failure]


# Pods that share their nodes with those of the same Deployment.
# kube: pkg/controller/replicaset/replica_set.go (getIndirectlyRelatedPods, getPodsRankedByRelatedPodsOnSameNode) @ v1.34.1


def pods_on_nodes(world: World, owner: Owner) -> Mapping[str, int]:
    """Return the number of active pods per node of the ReplicaSets with the same owner; empty without an owner.

    kube counts the pods that their selectors match; here the pods that they control count, as a Deployment's selectors
    distinguish its ReplicaSets by the hash of the template.
    """
    reference = controller_of(owner.manifest)
    if reference is None:
        return {}
    keys = world.store.controlled(owner.kind, str(reference.get("uid") or ""))
    related = [one for key in keys if (one := world.store.get(owner.kind, *key)) is not None]
    return Counter(pod.node_name for pod in list_pods(world.store, related) if is_active(pod))


BURST = 500  # pods created or deleted in one look


class ReplicaSetController(WorkloadController):
    """Keeps a ReplicaSet's pods."""

    name = "replicaset-controller"
    kind = "ReplicaSet"
    counts = "replicas"
    watches = ("ReplicaSet", "Pod")

    def sync(self, world: World, key: str) -> str:
        owner = Owner.found(world, self.kind, key)
        if owner is None or owner.selector.errors:
            return ""
        pods = claim_pods(world, owner, is_active)
        work = Work(self, world, owner)
        refused = None if owner.deleting else self._manage(work, pods)
        world.api.patch_status(owner.target, replica_status(world, owner, pods, refused))
        if refused is not None:
            raise refused
        self.look_when_available(world, owner, pods)
        return "; ".join(work.said)

    def _manage(self, work: Work, pods: list[Pod]) -> Refused | None:
        """Create or delete pods. Return the first refusal."""
        world, owner, wanted = work.world, work.owner, work.owner.number("replicas")
        difference = len(pods) - wanted
        count = min(abs(difference), BURST)
        if difference < 0:
            made, refused = create_pods(work, [from_template(owner, owner.template)] * count)
            if made:
                work.said.append(f"created {len(made)} of {wanted} pods: {len(pods)} existed already")
            return refused
        if difference == 0:
            return None
        gone = first_to_go(pods, count, world.store.epoch + world.now, pods_on_nodes(world, owner))
        for pod in gone:
            try:
                delete_pod(work, pod)
            except Refused as refused:
                return refused
        names = ", ".join(pod.name for pod in gone[:3]) + (" ..." if len(gone) > 3 else "")
        work.said.append(f"deleted {len(gone)} of {len(pods)} pods, because {wanted} are desired: {names}")
        return None


class ReplicationControllerController(ReplicaSetController):
    """Keeps a ReplicationController's pods."""

    name = "replicationcontroller-controller"
    component = "replication-controller"
    kind = "ReplicationController"
    watches = ("ReplicationController", "Pod")
