"""What of each resource the pods on the nodes ask for, as a scheduler's cache sums it up, and how much of the rest is stranded.

A resource that is free is stranded where the average pod does not fit: on a node with too little cpu, memory or pod slots left for it.
The average pod asks for the mean of what the pods on the nodes ask for, rounded down; kube's defaults count for those that ask for
none (100m, 200 MiB), and as long as no pod is there the average pod asks for these.

kube: plugins/noderesources/resource_allocation.go, scheduler/util/pod_resources.go @ v1.34.1
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scheduler_core.apimachinery.objects.resources import DEFAULT_MEMORY, DEFAULT_MILLI_CPU
from scheduler_core.scheduler.cache.cache import Cache

PODS = "pods"


class Use(NamedTuple):
    """Amounts of one resource over all nodes: cpu in millis, all else in its own unit; `pods` are slots."""

    resource: str
    allocatable: int
    requested: int
    free: int
    stranded: int


def read_use(cache: Cache) -> tuple[Use, ...]:
    """Each resource that a node has or a pod asks for."""
    there = _find_known_slots(cache)
    allocatable = np.column_stack((cache.allocatable, cache.counts[:, 1]))[there]
    requested = np.column_stack((cache.requested, cache.counts[:, 0]))[there]
    free = np.maximum(allocatable - requested, 0)
    full = ~_fits(free, *_average(cache.nonzero[there], int(requested[:, -1].sum())))
    columns = zip(
        (*cache.resources.names[: cache.requested.shape[1]], PODS),
        allocatable.sum(0).tolist(),
        requested.sum(0).tolist(),
        free.sum(0).tolist(),
        free[full].sum(0).tolist(),
        strict=True,
    )
    return tuple(Use(*column) for column in columns if column[1] or column[2])


def _find_known_slots(cache: Cache) -> NDArray[np.bool_]:
    """The slots whose Node is there: of others only pods are known."""
    there = np.zeros(len(cache.counts), np.bool_)
    there[: len(cache.nodes)] = [node is not None for node in cache.nodes]
    return there


def _average(nonzero: NDArray[np.int64], pods: int) -> tuple[int, int]:
    """Cpu and memory of the average pod."""
    if not pods:
        return DEFAULT_MILLI_CPU, DEFAULT_MEMORY
    cpu, memory = nonzero.sum(0).tolist()
    return cpu // pods, memory // pods


def _fits(free: NDArray[np.int64], cpu: int, memory: int) -> NDArray[np.bool_]:
    """The nodes on which the average pod fits."""
    fits: NDArray[np.bool_] = (free[:, 0] >= cpu) & (free[:, 1] >= memory) & (free[:, -1] >= 1)
    return fits
