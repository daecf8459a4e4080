"""The controllers of workloads, in the order in which they hear of a change."""

from __future__ import annotations

from scheduler_core.controllers.contract import Controller
from scheduler_core.controllers.workloads.deployments import DeploymentController
from scheduler_core.controllers.workloads.replicas import (
    ReplicaSetController,
    ReplicationControllerController,
)
from scheduler_core.controllers.workloads.statefulsets import StatefulSetController

CONTROLLERS: tuple[Controller, ...] = (
    DeploymentController(),
    ReplicaSetController(),
    ReplicationControllerController(),
    StatefulSetController(),
)
