"""Extended resources that devices may provide (gate DRAExtendedResource): DynamicResources checks those that a node lacks.

For a pod without extended resources no classes are looked up, and kube leaves all scalar resources that a node lacks to the plugin.

kube: plugins/noderesources/fit.go (withDeviceClass, fitsRequest) @ v1.34.1
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from scheduler_core.apimachinery.dra.classes import KIND, classes_by_resource
from scheduler_core.apimachinery.objects import Node, Resources, is_extended_name
from scheduler_core.scheduler.cache.table import FIXED_RESOURCES, NodeTable
from scheduler_core.scheduler.framework.plugin import Handle, Rows


@dataclass(frozen=True, slots=True)
class Check:
    """One resource check: the reason, the failing rows, the resource, and the rows where preemption can't help."""

    reason: str
    fails: NDArray[np.bool_]
    resource: str = ""
    incoming: int = 0
    allocatable: NDArray[np.int64] | None = None

    @property
    def hopeless(self) -> NDArray[np.bool_] | int:
        return 0 if self.allocatable is None else self.fails & (self.incoming > self.allocatable)


def find_class_resources(handle: Handle, requests: Resources, alone: bool) -> frozenset[str] | None:
    """Return the resources of device classes; None if the pod requests no extended resource, unless `alone`."""
    if not alone and not any(amount and is_extended_name(name) for name, amount in requests.scalar):
        return None
    classes = handle.list(KIND)
    return frozenset(classes_by_resource(classes)) if classes else frozenset()


def exclude_device_resources(
    checks: Sequence[Check], served: frozenset[str] | None, nodes: NodeTable, rows: Rows
) -> list[Check]:
    """Return the checks without failures for resources that a node lacks and devices may provide."""
    fixed = ("", *FIXED_RESOURCES)
    return [
        check
        if check.resource in fixed or not (served is None or check.resource in served)
        else replace(check, fails=check.fails & _has(nodes, check.resource)[rows])
        for check in checks
    ]


def _has(nodes: NodeTable, resource: str) -> NDArray[np.bool_]:
    """Return the rows whose allocatable names the resource, even with amount 0."""
    key = "NodeResourcesFit has", resource
    found: NDArray[np.bool_] | None = nodes.memo.get(key)
    if found is None:
        found = nodes.memo[key] = np.array([has_scalar(node, resource) for node in nodes.nodes], np.bool_)
    return found


def has_scalar(node: Node, resource: str) -> bool:
    """Return whether the node's allocatable names the resource."""
    return any(name == resource for name, _ in node.allocatable.scalar)
