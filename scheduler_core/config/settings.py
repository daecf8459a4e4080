"""The world's settings: what can be set about a world besides its objects and its schedulers' configurations (docs/world.md)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from scheduler_core.clock.agenda import MILLISECOND, SECOND
from scheduler_core.framework.features import Features
from scheduler_core.objects.pod import Reading

MAX_DURATION = 3600 * SECOND
CURRENT, HISTORICAL = "v1.34", "historical"
CHOICES = {"queue_mode": (CURRENT, HISTORICAL)}
COUNTS = {"client_qps": (0, 10_000, "calls a second"), "client_burst": (1, 10_000, "calls")}
READ_AT_START = (
    "demonstration",
    "pop_from_backoff",
    "async_preemption",
    "async_api_calls",
    "expect_nominated_node",
    "observed_generation",
    *(f.name for f in fields(Features)),
    "max_in_unschedulable",
    "queue_mode",
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
    observed_generation: bool = True  # kube's gate PodObservedGenerationTracking
    pod_level_resources: bool = True  # kube's gate PodLevelResources
    in_place_scaling: bool = True  # kube's gate InPlacePodVerticalScaling
    spread_label_keys: bool = True  # kube's gate MatchLabelKeysInPodTopologySpread
    volume_attributes_class: bool = True  # kube's gate VolumeAttributesClass
    storage_capacity_scoring: bool = False  # kube's gate StorageCapacityScoring
    dynamic_resources: bool = True  # kube's gate DynamicResourceAllocation
    max_in_unschedulable: int = 300 * SECOND  # podMaxInUnschedulablePodsDuration
    queue_mode: str = CURRENT  # or HISTORICAL: the queue as reference 003 describes it
    assumed_pod_ttl: int = 0  # historical: unconfirmed, an assumed pod is forgotten after this; 0: never
    informer_lag: int = 0  # from a change in the API server until schedulers hear of it
    client_qps: int = 0  # calls a second of a scheduler's API client; 0: as the configuration says, by default without limit
    client_burst: int = 100  # calls at once where client_qps is set

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @property
    def features(self) -> Features:
        """The gates that plugins ask for."""
        return Features(**{f.name: getattr(self, f.name) for f in fields(Features)})

    @property
    def reading(self) -> Reading:
        """How the gates have pods' requests read."""
        return Reading(
            self.pod_level_resources * Reading.POD_LEVEL + self.in_place_scaling * Reading.IN_PLACE
        )

    def needs_restart(self, before: WorldSettings) -> bool:
        """Whether something differs that a scheduler reads only when it starts."""
        return any(getattr(self, name) != getattr(before, name) for name in READ_AT_START)

    def changed(self, changes: Mapping[str, Any]) -> WorldSettings:
        """These settings with some replaced; ValueError says which one is unknown or out of range."""
        known = {f.name: f.type for f in fields(self)}
        for name, value in changes.items():
            if name not in known:
                raise ValueError(f"settings.{name}: unknown setting; expected one of {', '.join(known)}")
            if problem := _problem(name, str(known[name]), value):
                raise ValueError(f"settings.{name}: received {value!r}; expected {problem}")
        return WorldSettings(**{**self.to_json(), **changes})


def _problem(name: str, kind: str, value: object) -> str:
    """What is expected instead of a value; "" where it is good."""
    if kind == "bool":
        return "" if isinstance(value, bool) else "true or false"
    if name in CHOICES:
        return "" if value in CHOICES[name] else " or ".join(CHOICES[name])
    low, high, unit = COUNTS.get(name, (0, MAX_DURATION, "nanoseconds"))
    if isinstance(value, bool) or not isinstance(value, int):
        return f"whole {unit}"
    return "" if low <= value <= high else f"{low} to {high} {unit}"
