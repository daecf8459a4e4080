"""The controllers of workloads, in the order in which they hear of a change."""

from __future__ import annotations

from scheduler_core.controllers.contract import Controller
from scheduler_core.controllers.workloads.cronjobs import CronJobController
from scheduler_core.controllers.workloads.daemonsets import DaemonSetController
from scheduler_core.controllers.workloads.deployments import DeploymentController
from scheduler_core.controllers.workloads.jobs import JobController
from scheduler_core.controllers.workloads.replicas import (
    ReplicaSetController,
    ReplicationControllerController,
)
from scheduler_core.controllers.workloads.statefulsets import StatefulSetController
from scheduler_core.controllers.workloads.ttl import TTLController

CONTROLLERS: tuple[Controller, ...] = (
    ReplicaSetController(),  # before Deployments: what is too many goes before more comes
    ReplicationControllerController(),
    DeploymentController(),
    StatefulSetController(),
    DaemonSetController(),
    JobController(),
    CronJobController(),
    TTLController(),
)
