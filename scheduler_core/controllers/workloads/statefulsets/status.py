"""The status of a StatefulSet.

kube: pkg/controller/statefulset/stateful_set_control.go (computeReplicaStatus) @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.controllers.contract import World
from scheduler_core.controllers.workloads import history
from scheduler_core.controllers.workloads.owners import Owner
from scheduler_core.controllers.workloads.pods import is_available
from scheduler_core.controllers.workloads.statefulsets.identity import revision_of


def stateful_status(
    world: World, owner: Owner, pods: Sequence[Pod], current: Mapping[str, Any], revisions: history.Revisions
) -> dict[str, Any]:
    """Fields of the status, counted from the pods that are there."""
    now, update = history.name_of(current), history.name_of(revisions.update)
    running = [pod for pod in pods if pod.phase == "Running" and pod.ready]
    staying = [revision_of(pod) for pod in pods if not pod.deleting]
    return {
        "observedGeneration": owner.generation or None,
        "replicas": len(pods),
        "readyReplicas": len(running) or None,
        "currentReplicas": staying.count(now) or None,
        "updatedReplicas": staying.count(update) or None,
        "currentRevision": now,
        "updateRevision": update,
        "collisionCount": revisions.collisions,
        "availableReplicas": sum(
            is_available(world, pod, owner.number("minReadySeconds")) for pod in running
        ),
    }
