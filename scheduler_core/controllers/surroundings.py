"""The state of the components around the schedulers: their work queues, their memory, and the user's inputs.

Each controller with state between two syncs has a field here; state that can be read from the store is not kept.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from scheduler_core.base.state import Copied, State
from scheduler_core.controllers.inputs.programs import Program
from scheduler_core.controllers.inputs.usage import UsageEntry
from scheduler_core.controllers.memory.devices import Devices
from scheduler_core.controllers.memory.kubelet import KubeletMemory
from scheduler_core.controllers.memory.nodes import NodesMemory, Troubles
from scheduler_core.controllers.memory.volumes import Volumes
from scheduler_core.controllers.memory.workloads import DisruptionMemory, Garbage, WorkloadsMemory
from scheduler_core.scheduler.extenders.behaviour import Behaviours

MOST_DONE = 20
MOST_LEVELS = 400  # of one object


@dataclass(frozen=True, slots=True)
class Reconciliation:
    """One reconciliation: its time (ns), its object, and a description."""

    t: int
    key: str
    text: str


@dataclass(slots=True)
class WorkQueue(State):
    """A controller's work queue: keys with their due times (ns), consecutive failures, and the latest actions."""

    due: Copied[dict[str, int]] = field(default_factory=dict)
    failures: Copied[dict[str, int]] = field(default_factory=dict)
    done: tuple[Reconciliation, ...] = ()

    def note(self, t: int, key: str, text: str) -> None:
        """Record a reconciliation. Only the newest are kept."""
        self.done = (*self.done, Reconciliation(t, key, text))[-MOST_DONE:]


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition that a kubelet, or another component on the node, reports from now on."""

    node: str
    type: str
    status: str
    reason: str = ""
    message: str = ""


@dataclass(frozen=True, slots=True)
class Inputs:
    """The user's settings besides objects; replaced, never changed, so that changes can be undone."""

    programs: tuple[Program, ...] = ()  # the programs of containers; the first matching rule counts
    usage: tuple[UsageEntry, ...] = ()  # declared usage, ordered by its start `at`
    stopped: tuple[str, ...] = ()  # nodes whose kubelet does not run
    conditions: tuple[Condition, ...] = ()
    rules: tuple[Mapping[str, Any], ...] = ()  # the programs as the user wrote them
    entries: tuple[Mapping[str, Any], ...] = ()  # the usage as the user wrote it
    extenders: Behaviours = ()  # the behavior of extenders' servers


Figures = tuple[tuple[str, int | str], ...]


@dataclass(frozen=True, slots=True)
class Level:
    """Figures of an object from a time (ns) on; none: the object was deleted."""

    t: int
    figures: Figures


@dataclass(slots=True)
class Surroundings(State):
    """The memory of everything around the schedulers."""

    inputs: Inputs = Inputs()
    queues: Copied[dict[str, WorkQueue]] = field(default_factory=dict)  # by controller
    levels: Copied[dict[str, tuple[Level, ...]]] = field(default_factory=dict)  # by kind/namespace/name, oldest first
    kubelet: Copied[KubeletMemory] = field(default_factory=KubeletMemory)
    nodes: Copied[NodesMemory] = field(default_factory=NodesMemory)
    disruption: Copied[DisruptionMemory] = field(default_factory=DisruptionMemory)
    garbage: Copied[Garbage] = field(default_factory=Garbage)
    workloads: Copied[WorkloadsMemory] = field(default_factory=WorkloadsMemory)
    volumes: Copied[Volumes] = field(default_factory=Volumes)
    devices: Copied[Devices] = field(default_factory=Devices)
    troubles: Copied[Troubles] = field(default_factory=Troubles)

    def note_level(self, key: str, t: int, figures: Figures) -> None:
        """Record figures if they have changed. Only the newest are kept."""
        kept = self.levels.get(key, ())
        if not kept or kept[-1].figures != figures:
            self.levels[key] = (*kept, Level(t, figures))[-MOST_LEVELS:]
