"""The conditions of a Deployment: pure functions of lists.

kube: pkg/controller/deployment/util/deployment_util.go @ v1.34.1
"""

from collections.abc import Sequence

from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.controllers.workloads.deployments.bounds import MAX_INT32

Conditions = list[Manifest]
AVAILABLE, PROGRESSING, FAILURE = "Available", "Progressing", "ReplicaFailure"
UPDATED = "ReplicaSetUpdated"
NOT_CREATED = "ReplicaSetCreateError"
CREATED = "NewReplicaSetCreated"
FOUND = "FoundNewReplicaSet"
COMPLETE = "NewReplicaSetAvailable"
TIMED_OUT = "ProgressDeadlineExceeded"
PAUSED, RESUMED = "DeploymentPaused", "DeploymentResumed"
ENOUGH, NOT_ENOUGH = "MinimumReplicasAvailable", "MinimumReplicasUnavailable"


def condition(type_: str, status: str, reason: str, message: str, now: str) -> Manifest:
    return {
        "type": type_,
        "status": status,
        "lastUpdateTime": now,
        "lastTransitionTime": now,
        "reason": reason,
        "message": message,
    }


def find_condition(conditions: Sequence[Manifest], type_: str) -> Manifest | None:
    return next((one for one in conditions if one.get("type") == type_), None)


def progressing(status: Manifest) -> Manifest | None:
    """Return the condition Progressing of a status, or None."""
    return find_condition(status.get("conditions") or (), PROGRESSING)


def without(conditions: Sequence[Manifest], type_: str) -> Conditions:
    return [one for one in conditions if one.get("type") != type_]


def with_condition(conditions: Sequence[Manifest], new: Manifest) -> Conditions:
    """Set a condition. Equal status and reason change nothing; an equal status keeps `lastTransitionTime`."""
    old = find_condition(conditions, new["type"])
    if old is not None and (old.get("status"), old.get("reason")) == (new.get("status"), new.get("reason")):
        return list(conditions)
    if old is not None and old.get("status") == new.get("status"):
        new = {**new, "lastTransitionTime": old.get("lastTransitionTime")}
    return [*without(conditions, new["type"]), new]


def has_deadline(spec: Manifest) -> bool:
    """Return whether a rollout has a progress deadline."""
    deadline = spec.get("progressDeadlineSeconds")
    return deadline is not None and deadline != MAX_INT32
