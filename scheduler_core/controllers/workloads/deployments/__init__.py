"""deployment-controller: rollouts from one ReplicaSet to the next."""

from scheduler_core.controllers.workloads.deployments.controller import DeploymentController

__all__ = ["DeploymentController"]
