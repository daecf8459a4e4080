"""replicaset-controller and replicationcontroller-controller: as many pods of one template as are wanted."""

from scheduler_core.controllers.workloads.replicas.controller import (
    ReplicaSetController,
    ReplicationControllerController,
)

__all__ = ["ReplicaSetController", "ReplicationControllerController"]
