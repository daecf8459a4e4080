"""Pods that share their nodes with those of the same Deployment.

kube: pkg/controller/replicaset/replica_set.go (getIndirectlyRelatedPods, getPodsRankedByRelatedPodsOnSameNode) @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Mapping

from scheduler_core.apimachinery.objects.ownership import controller_of
from scheduler_core.controllers.contract import World
from scheduler_core.controllers.workloads.owners import Owner
from scheduler_core.controllers.workloads.pods import is_active


def pods_on_nodes(world: World, owner: Owner) -> Mapping[str, int]:
    """Return the number of active pods per node of the ReplicaSets with the same owner; empty without an owner.

    kube counts the pods that their selectors match; here the pods that they control count, as a Deployment's selectors
    distinguish its ReplicaSets by the hash of the template.
    """
    reference = controller_of(owner.manifest)
    if reference is None:
        return {}
    counts: dict[str, int] = {}
    for namespace, name in world.store.controlled(owner.kind, str(reference.get("uid") or "")):
        related = world.store.get(owner.kind, namespace, name)
        if related is None:
            continue
        for key in world.store.controlled("Pod", related["metadata"].get("uid") or ""):
            pod = world.store.pod(*key)
            if pod is not None and is_active(pod):
                counts[pod.node_name] = counts.get(pod.node_name, 0) + 1
    return counts
