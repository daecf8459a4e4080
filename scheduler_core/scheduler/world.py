"""What a scheduler needs of the world it runs in; Simulation is one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Protocol

from scheduler_core.api.faults import Faults
from scheduler_core.api.store import Store
from scheduler_core.clock.agenda import MILLISECOND, SECOND, Agenda
from scheduler_core.trace.journal import Journal
from scheduler_core.trace.records import Data

MAX_DURATION = 3600 * SECOND
READ_AT_START = (
    "demonstration",
    "pop_from_backoff",
    "async_preemption",
    "async_api_calls",
    "expect_nominated_node",
    "max_in_unschedulable",
)


@dataclass(frozen=True, slots=True)
class WorldSettings:
    """What can be set about a world besides its objects. Durations are virtual nanoseconds."""

    cycle_cost: int = MILLISECOND  # a scheduling cycle, from pop to its decision
    bind_cost: int = 5 * MILLISECOND  # the API call that binds
    patch_cost: int = MILLISECOND  # the API call that writes a waiting pod's status
    evict_cost: int = MILLISECOND  # each of the two API calls that evict a victim
    pod_start_latency: int = 2 * SECOND  # from bound to Running
    demonstration: bool = False  # adds the demonstration plugin to every profile
    controllers: bool = True  # kubelets and the controllers of volumes do their work
    manual: bool = False  # a scheduling cycle begins only when it is asked for
    pop_from_backoff: bool = True  # kube's gate SchedulerPopFromBackoffQ
    async_preemption: bool = True  # kube's gate SchedulerAsyncPreemption
    async_api_calls: bool = True  # kube's gate SchedulerAsyncAPICalls
    expect_nominated_node: bool = False  # kube's gate NominatedNodeNameForExpectation
    max_in_unschedulable: int = 300 * SECOND  # podMaxInUnschedulablePodsDuration

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    def needs_restart(self, before: WorldSettings) -> bool:
        """Whether something differs that a scheduler reads only when it starts."""
        return any(getattr(self, name) != getattr(before, name) for name in READ_AT_START)

    def changed(self, changes: Mapping[str, Any]) -> WorldSettings:
        """These settings with some replaced; ValueError says which one is unknown or out of range."""
        known = {f.name: f.type for f in fields(self)}
        for name, value in changes.items():
            if name not in known:
                raise ValueError(f"settings.{name}: unknown setting; expected one of {', '.join(known)}")
            flag = known[name] == "bool"
            if flag and not isinstance(value, bool):
                raise ValueError(f"settings.{name}: received {value!r}; expected true or false")
            if not flag and (isinstance(value, bool) or not isinstance(value, int)):
                raise ValueError(f"settings.{name}: received {value!r}; expected whole nanoseconds")
            if not flag and not 0 <= value <= MAX_DURATION:
                raise ValueError(f"settings.{name}: received {value}; expected 0 to {MAX_DURATION} ns")
        return WorldSettings(**{**self.to_json(), **changes})


@dataclass(slots=True)
class Ids:
    """Counters that are part of the world's state."""

    attempt: int = 0
    values: dict[str, int] = field(default_factory=dict)

    def copy(self) -> Ids:
        return Ids(self.attempt, dict(self.values))


class World(Protocol):
    """The surroundings of a scheduler: clock, API server, records, randomness."""

    agenda: Agenda
    store: Store
    journal: Journal
    settings: WorldSettings
    position: int
    ids: Ids
    faults: Faults

    @property
    def now(self) -> int: ...

    def record(
        self, kind: str, data: Data | Callable[[], Data], scheduler: str = "", parent: int = 0
    ) -> int: ...

    def draw(self, n: int) -> int: ...
