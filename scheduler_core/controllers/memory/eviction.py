"""What the eviction managers of kubelets remember: thresholds and conditions with their times, and the last ranking of each node."""

from __future__ import annotations

from dataclasses import dataclass

from scheduler_core.scheduler.config.kubelet import Threshold


@dataclass(frozen=True, slots=True)
class EvictionState:
    """A node's eviction state after its last housekeeping. Times in ns.

    `first`: since when thresholds are met; `last`: when conditions were last met; `observed`: the conditions met in the last
    housekeeping; `met`: the thresholds to act on. `freed`: the bytes of unused images, and how many of them were freed.
    `waits_for`: pods (keys) that are being evicted, until `patience` at most.
    """

    at: int
    first: tuple[tuple[Threshold, int], ...] = ()
    last: tuple[tuple[str, int], ...] = ()
    observed: tuple[str, ...] = ()
    met: tuple[Threshold, ...] = ()
    freed: tuple[int, int] = (0, 0)
    waits_for: tuple[str, ...] = ()
    patience: int = 0


@dataclass(frozen=True, slots=True)
class Ranked:
    """One pod of a ranking, with what its place came from (bytes, inodes or pids)."""

    pod: str
    priority: int
    usage: int
    request: int
    exceeds: bool
    critical: bool = False


@dataclass(frozen=True, slots=True)
class Eviction:
    """A kubelet's choice of a pod to evict: reason, `threshold` and `available` as text, the pods in the order of eviction."""

    t: int
    node: str
    signal: str
    resource: str
    threshold: str
    available: str
    ranking: tuple[Ranked, ...]
    chosen: str
    message: str
