"""How a scheduler's most looked-at figures developed: what a Prometheus would have that scrapes the world now and then.

A scrape is taken where virtual time moves on, so it holds for the whole stretch before it. When there are too many, every other one goes
and they are taken half as often: so a curve of any length has between half of MOST and MOST points, and the same world has the same ones.
"""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scheduler_core.apimachinery.objects.resources import DEFAULT_MEMORY, DEFAULT_MILLI_CPU
from scheduler_core.base.state import Copied, State
from scheduler_core.scheduler.cache.cache import Cache
from scheduler_core.scheduler.core.scheduler import Scheduler

# What of each resource the pods on the nodes ask for, as a scheduler's cache sums it up, and how much of the rest is stranded.
#
# A resource that is free is stranded where the average pod does not fit: on a node with too little cpu, memory or pod slots left for it.
# The average pod asks for the mean of what the pods on the nodes ask for, rounded down; kube's defaults count for those that ask for
# none (100m, 200 MiB), and as long as no pod is there the average pod asks for these.
# kube: plugins/noderesources/resource_allocation.go, scheduler/util/pod_resources.go @ v1.34.1

PODS = "pods"


class ResourceTotals(NamedTuple):
    """Amounts of one resource over all nodes: cpu in millis, all else in its own unit; `pods` are slots."""

    resource: str
    allocatable: int
    requested: int
    free: int
    stranded: int


def read_use(cache: Cache) -> tuple[ResourceTotals, ...]:
    """Return the use of each resource that a node has or a pod requests."""
    there = np.zeros(len(cache.counts), np.bool_)
    there[: len(cache.nodes)] = [node is not None for node in cache.nodes]
    allocatable = np.column_stack((cache.allocatable, cache.counts[:, 1]))[there]
    requested = np.column_stack((cache.requested, cache.counts[:, 0]))[there]
    # Pods may ask for more than a node has, for example after its allocatable shrank: free is then 0, not negative.
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
    return tuple(ResourceTotals(*column) for column in columns if column[1] or column[2])


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


MOST = 256
FIRST_EVERY = 1_000_000


class Scrape(NamedTuple):
    """Pods by queue, finished attempts by result and use of the nodes, at a time (ns) and position."""

    t: int
    position: int
    active: int
    backoff: int
    unschedulable: int
    gated: int
    scheduled: int
    refused: int
    errors: int
    use: tuple[ResourceTotals, ...] = ()


@dataclass(slots=True)
class Scrapes(State):
    """The scrapes by scheduler, oldest first, `every` ns; the next one is `due`. A restarted scheduler continues its curve."""

    every: int = FIRST_EVERY
    due: int = 0
    taken: Copied[dict[str, list[Scrape]]] = field(default_factory=dict)

    def take(self, t: int, position: int, schedulers: tuple[Scheduler, ...]) -> None:
        """Time is about to move on from `t`."""
        for scheduler in schedulers:
            mine = self.taken.setdefault(scheduler.name, [])
            mine.append(scrape(t, position, scheduler))
            if len(mine) > MOST:
                self._thin()
        self.due = t + self.every

    def _thin(self) -> None:
        self.every *= 2
        for name, mine in self.taken.items():
            self.taken[name] = mine[::2]


def scrape(t: int, position: int, scheduler: Scheduler) -> Scrape:
    """Return the current figures."""
    queue = scheduler.queue
    waiting = queue.metrics.waiting
    results = {"scheduled": 0, "unschedulable": 0, "error": 0}
    for (_, result), count in queue.metrics.attempts.items():
        results[result] += count
    return Scrape(
        t,
        position,
        len(queue.active_pods),
        len(queue.backoff_pods) + len(queue.error_backoff_pods),
        waiting["unschedulable"],
        waiting["gated"],
        results["scheduled"],
        results["unschedulable"],
        results["error"],
        read_use(scheduler.cache),
    )
