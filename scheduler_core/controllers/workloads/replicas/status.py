"""The status of a ReplicaSet or a ReplicationController.

kube: pkg/controller/replicaset/replica_set_utils.go @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.apiserver.status import Refused
from scheduler_core.controllers.contract import World
from scheduler_core.controllers.workloads.owners import Owner
from scheduler_core.controllers.workloads.pods import is_available

_FAILURE = "ReplicaFailure"


def replica_status(
    world: World, owner: Owner, pods: Sequence[Pod], refused: Refused | None
) -> dict[str, Any]:
    """Fields of the status, counted from the pods as they were before anything was done about them."""
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
