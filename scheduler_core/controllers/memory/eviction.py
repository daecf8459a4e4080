"""What the eviction managers of kubelets remember: thresholds and conditions with their times, and the last ranking of each node."""

from __future__ import annotations

from dataclasses import dataclass

from scheduler_core.scheduler.config.kubelet import Threshold


@dataclass(frozen=True, slots=True)
class EvictionState:
    """Of one node, as its last housekeeping left it. Times in ns.

    `first` is since when thresholds are met, `last` when conditions were last met; `observed` are those met in the last housekeeping, `met`
    the thresholds that were to be acted on. `freed`: of how many bytes of unused images how many were freed. `waits_for`: pods (keys) that
    are being evicted, until `patience` at most.
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
    """Why and in which ranking a node's kubelet chose a pod: `threshold` and `available` in words, the pods in the order of eviction."""

    t: int
    node: str
    signal: str
    resource: str
    threshold: str
    available: str
    ranking: tuple[Ranked, ...]
    chosen: str
    message: str
