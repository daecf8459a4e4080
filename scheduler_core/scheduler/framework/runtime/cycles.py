"""What the runtime knows of the cycle that a plugin runs in."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.scheduler.cache.table import NodeTable
from scheduler_core.scheduler.framework.cycle_state import CycleState
from scheduler_core.scheduler.framework.step import PluginStep


class Cycle(Protocol):
    """A scheduling or binding cycle: its pod, its state, when and at which position it makes its present step, and its steps so far."""

    @property
    def pod(self) -> Pod: ...

    @property
    def state(self) -> CycleState: ...

    @property
    def t(self) -> int: ...

    @property
    def position(self) -> int: ...

    @property
    def steps(self) -> list[PluginStep]: ...


class SnapshotCycle(Cycle, Protocol):
    """One that looks at a snapshot."""

    @property
    def nodes(self) -> NodeTable: ...


class NodeCycle(Cycle, Protocol):
    """One that has a node for its pod."""

    @property
    def node(self) -> str: ...


@dataclass(slots=True)
class Trial:
    """Plugins asked about a pod outside any attempt: by diagnoses, by tests, by the corpora's drivers. It is not recorded."""

    pod: Pod
    nodes: NodeTable
    state: CycleState = field(default_factory=CycleState)
    node: str = ""
    t: int = 0
    position: int = 0
    steps: list[PluginStep] = field(default_factory=list)
