"""What a scheduler needs of the world it runs in; Simulation is one."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from scheduler_core.apiserver import Faults, Store
from scheduler_core.apiserver.server import APIServer
from scheduler_core.base.clock.agenda import Agenda
from scheduler_core.base.state import Copied, State
from scheduler_core.base.trace.journal import Journal
from scheduler_core.base.trace.kinds import Facts
from scheduler_core.base.trace.records import LazyFacts
from scheduler_core.scheduler.config.settings import WorldSettings
from scheduler_core.scheduler.extenders.behaviour import Behaviours


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
        """A scheduler's process is over."""
