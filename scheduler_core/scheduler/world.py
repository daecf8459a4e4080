"""What a scheduler needs of the world it runs in; Simulation is one."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from scheduler_core.api.faults import Faults
from scheduler_core.api.server import APIServer
from scheduler_core.api.store import Store
from scheduler_core.clock.agenda import Agenda
from scheduler_core.config.settings import WorldSettings
from scheduler_core.extenders.behaviour import Behaviours
from scheduler_core.state import Copied, State
from scheduler_core.trace.journal import Journal
from scheduler_core.trace.kinds import Facts
from scheduler_core.trace.records import LazyFacts


@dataclass(slots=True)
class Ids(State):
    """Counters that are part of the world's state."""

    attempt: int = 0
    values: Copied[dict[str, int]] = field(default_factory=dict)


class World(Protocol):
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
        """What the servers of extenders do."""
        ...

    @property
    def api(self) -> APIServer:
        """The API server."""
        ...

    def record(self, facts: Facts | LazyFacts, scheduler: str = "", parent: int = 0) -> int: ...

    def draw(self, n: int) -> int: ...

    def exited(self, name: str) -> None:
        """A scheduler's process is over."""
        ...
