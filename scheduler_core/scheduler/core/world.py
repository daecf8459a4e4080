"""The parts of the world that a scheduler uses, as a protocol that Simulation implements."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from scheduler_core.apimachinery.objects import Pod
from scheduler_core.apiserver import Faults, Store
from scheduler_core.apiserver.server import APIServer
from scheduler_core.base.clock.agenda import Agenda
from scheduler_core.base.state import Copied, State
from scheduler_core.base.trace.journal import Journal, Why
from scheduler_core.base.trace.kinds import Facts
from scheduler_core.base.trace.records import LazyFacts
from scheduler_core.scheduler.cache.table import NodeTable
from scheduler_core.scheduler.config.settings import WorldSettings
from scheduler_core.scheduler.core.cycles.scheduling_cycle import BindingCycle
from scheduler_core.scheduler.extenders.behaviour import Behaviours
from scheduler_core.scheduler.framework import Features
from scheduler_core.scheduler.framework.claims import ClaimTracker
from scheduler_core.scheduler.framework.groups import PodGroupState
from scheduler_core.scheduler.framework.plugin import Assumptions
from scheduler_core.scheduler.framework.runtime.framework import Framework
from scheduler_core.scheduler.metrics.catalogue import Figures
from scheduler_core.scheduler.queue.queue import SchedulingQueue


@dataclass(slots=True)
class Ids(State):
    """Counters that are part of the world's state."""

    attempt: int = 0
    values: Copied[dict[str, int]] = field(default_factory=dict)


class SchedulerWorld(Protocol):
    """The surroundings of a scheduler: clock, API server, records, randomness."""

    agenda: Agenda
    store: Store
    journal: Journal
    settings: WorldSettings
    position: int
    ids: Ids
    faults: Faults
    outside: bool

    @property
    def now(self) -> int: ...

    @property
    def behaviours(self) -> Behaviours:
        """The behaviors of the extender servers."""

    @property
    def api(self) -> APIServer:
        """The API server."""

    def record(self, facts: Facts | LazyFacts, scheduler: str = "", parent: int = 0) -> int: ...

    def draw(self, n: int, names: Sequence[str] = ()) -> int: ...

    def exited(self, name: str) -> None:
        """Handle the end of a scheduler's process."""


class Owner(Protocol):
    """A scheduler as seen by its parts. `bucket` is the time (ns) at which its token bucket is full again."""

    bucket: int
    replica: Store | None

    @property
    def name(self) -> str: ...

    @property
    def world(self) -> SchedulerWorld: ...

    @property
    def features(self) -> Features: ...

    @property
    def profiles(self) -> Mapping[str, Framework]: ...

    @property
    def queue(self) -> SchedulingQueue: ...

    @property
    def figures(self) -> Figures: ...

    @property
    def assumed(self) -> Assumptions: ...

    @property
    def preempting(self) -> Mapping[str, int]: ...

    @property
    def claims(self) -> ClaimTracker: ...

    @property
    def snapshot(self) -> NodeTable: ...

    @property
    def view(self) -> Store: ...

    @property
    def limits(self) -> tuple[float, int] | None: ...

    @property
    def hang(self) -> int | None:
        """The time (ns) after which its API calls fail, or None if it is not cut off from the API server."""

    def framework_of(self, pod: Pod) -> Framework | None: ...

    def live(self, key: str) -> Pod | None: ...

    def move(self, pod: str, place: str, cause: str, why: Why = (), until: int = 0, kept: bool = True) -> None: ...

    def pod_group(self, namespace: str, name: str) -> PodGroupState | None: ...

    def pods_waiting(self) -> list[BindingCycle]: ...
