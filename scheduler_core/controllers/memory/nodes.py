"""What the controllers of nodes remember between two looks at the store."""

from __future__ import annotations

from dataclasses import dataclass, field

from scheduler_core.state import Copied, State


@dataclass(frozen=True, slots=True)
class PlannedEviction:
    """A pod that a NoExecute taint evicts later: planned when and due when (ns), and why."""

    since: int
    at: int
    why: str


@dataclass(slots=True)
class Zone(State):
    """A zone of nodes: its state, and the nodes that wait there for their NoExecute taint.

    `rate`: how many nodes may be tainted a second, 0 for none; `free_at`: when (ns) the next one may be. `waiting`: nodes with the
    time (ns) from which on they may be tainted; `seen`: those that wait or have had their turn, and are not taken on a second time.
    """

    state: str
    rate: float
    free_at: int
    waiting: Copied[dict[str, int]] = field(default_factory=dict)
    seen: Copied[dict[str, None]] = field(default_factory=dict)


@dataclass(slots=True)
class NodesMemory(State):
    """`evictions` by pod (namespace/name). `heard`: the nodes that are known, with when (ns) their health last counted as reported."""

    evictions: Copied[dict[str, PlannedEviction]] = field(default_factory=dict)
    heard: Copied[dict[str, int]] = field(default_factory=dict)
    zones: Copied[dict[str, Zone]] = field(default_factory=dict)  # by kube's key of the zone
