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
class NodesMemory(State):
    """`evictions` by pod (namespace/name)."""

    evictions: Copied[dict[str, PlannedEviction]] = field(default_factory=dict)
