"""daemonset-controller: one pod on each node that is to have one."""

from scheduler_core.controllers.workloads.daemonsets.controller import DaemonSetController

__all__ = ["DaemonSetController"]
