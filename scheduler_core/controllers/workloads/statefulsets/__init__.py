"""statefulset-controller: pods with a name, an order and claims of their own."""

from scheduler_core.controllers.workloads.statefulsets.controller import StatefulSetController

__all__ = ["StatefulSetController"]
