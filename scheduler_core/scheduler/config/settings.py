"""The settings of a world besides its objects and its schedulers' configurations (docs/world.md)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import msgspec

from scheduler_core.apimachinery.objects.pod import Reading
from scheduler_core.apimachinery.objects.typed import convert_data
from scheduler_core.apiserver.registry.devices.defaults import DeviceGates
from scheduler_core.base.clock.agenda import MILLISECOND, SECOND
from scheduler_core.base.gates import FeatureGates
from scheduler_core.base.releases import OLDEST, Behavior, Release, behaviors_of
from scheduler_core.scheduler.config.cluster import ClusterSettings
from scheduler_core.scheduler.config.gates import default_settings, gates_of
from scheduler_core.scheduler.framework.features import Features
from scheduler_core.scheduler.plugins.cel import Definition

MAX_DURATION = 3600 * SECOND
CURRENT: Literal["v1.34"] = "v1.34"
HISTORICAL: Literal["historical"] = "historical"
Duration = Annotated[int, msgspec.Meta(ge=0, le=MAX_DURATION, extra={"unit": "nanoseconds"})]
Rate = Annotated[int, msgspec.Meta(ge=0, le=10_000, extra={"unit": "calls a second"})]
Burst = Annotated[int, msgspec.Meta(ge=1, le=10_000, extra={"unit": "calls"})]
QueueMode = Literal["v1.34", "historical"]
_GATES = FeatureGates.__struct_fields__
_DEVICE_GATES = DeviceGates.__struct_fields__
READ_AT_START = ("release", "switched_off", "demonstration", *_GATES, "max_in_unschedulable", "queue_mode")


REMOVED = ("controllers", "devices", "extenders")
"""Switches that 0.6 still had, for worlds without a cluster, devices, or extenders. Logs may name them; they are ignored."""


class WorldSettings(FeatureGates, frozen=True, forbid_unknown_fields=True):
    """The settings of a world besides its objects. Durations are virtual nanoseconds."""

    release: Release = OLDEST  # of kube; the gates are those of this release (`of_release`)
    switched_off: tuple[Behavior, ...] = ()  # disabled behaviors of the release, to show the effect of each
    cycle_cost: Duration = MILLISECOND  # a scheduling cycle, from pop to its decision
    bind_cost: Duration = 5 * MILLISECOND  # the API call that binds
    patch_cost: Duration = MILLISECOND  # the API call that writes a waiting pod's status
    evict_cost: Duration = MILLISECOND  # each of the two API calls that evict a victim
    pod_start_latency: Duration = 2 * SECOND  # from bound to Running
    device_cost: Duration = 0  # each device that the allocator tries, against DynamicResources' filterTimeout
    demonstration: bool = False  # adds the demonstration plugin to every profile
    manual: bool = False  # a scheduling cycle begins only on command
    max_in_unschedulable: Duration = 300 * SECOND  # podMaxInUnschedulablePodsDuration
    queue_mode: QueueMode = CURRENT  # or HISTORICAL: the queue as reference 003 describes it
    assumed_pod_ttl: Duration = 0  # historical: the time until an unconfirmed assumed pod is forgotten; 0: never
    informer_lag: Duration = 0  # from a change in the API server until the informers deliver it
    client_qps: Rate = 0  # of a scheduler's API client; 0: by the configuration, by default without limit
    client_burst: Burst = 100  # calls at once if client_qps is set
    cluster: ClusterSettings = ClusterSettings()  # the components around the schedulers
    plugins: Mapping[str, Definition] = {}  # custom plugins in CEL; set by DefinePlugin
    scheduler_releases: Mapping[str, Release] = {}  # by name of a scheduler with another release than the world

    @property
    def behaviors(self) -> frozenset[Behavior]:
        """The differences from the oldest release that the schedulers have."""
        return behaviors_of(self.release) - frozenset(self.switched_off)

    @property
    def features(self) -> Features:
        """The gates for plugins."""
        return Features(**{name: getattr(self, name) for name in _GATES}, behaviors=self.behaviors)

    @property
    def topology_labels(self) -> bool:
        """True if the gate PodTopologyLabelsAdmission is on in the release."""
        return Behavior.TOPOLOGY_LABELS in self.behaviors

    @property
    def device_gates(self) -> DeviceGates:
        """The API server's gates for devices."""
        return DeviceGates(**{name: getattr(self, name) for name in _DEVICE_GATES})

    @property
    def reading(self) -> Reading:
        """The way the gates affect reading pods' requests."""
        flags = {
            Reading.POD_LEVEL: self.pod_level_resources,
            Reading.IN_PLACE: self.in_place_scaling,
            Reading.COMPARE: self.toleration_operators,
            Reading.POD_IN_PLACE: self.pod_level_scaling,
            Reading.WHOLE_SUMS: Behavior.WHOLE_POD_SUMS in self.behaviors,
        }
        return Reading(sum(flag for flag, on in flags.items() if on))

    def release_of(self, name: str) -> Release:
        """Return the release of a scheduler: its own, or the world's."""
        return self.scheduler_releases.get(name, self.release)

    def of_scheduler(self, name: str) -> WorldSettings:
        """Return the settings for a scheduler, with its own release if it has one."""
        release = self.release_of(name)
        return self if release == self.release else self.of_release(release)

    def of_release(self, release: Release) -> WorldSettings:
        """Return these settings under another release: a gate at its default gets the default of that release.

        A gate that is locked or missing in that release gets its only possible value. Schedulers lose their own releases.
        """
        before, after, known = default_settings(self.release), default_settings(release), gates_of(release)
        free = {gate.setting for gate in known.values() if gate.setting and not gate.locked}
        gates = {
            name: now if name in free and (now := getattr(self, name)) != before[name] else default
            for name, default in after.items()
        }
        return self.changed({"release": release, "scheduler_releases": {}, **gates})

    def needs_restart(self, before: WorldSettings) -> bool:
        """Return whether any setting differs that a scheduler reads only at start."""
        return any(getattr(self, name) != getattr(before, name) for name in READ_AT_START)

    def changed(self, changes: Mapping[str, Any]) -> WorldSettings:
        """Return these settings with some replaced. Raise InvalidObject if one is unknown or out of range."""
        changes = {name: value for name, value in changes.items() if name not in REMOVED}
        settings: WorldSettings = convert_data({**msgspec.to_builtins(self), **changes}, WorldSettings)
        return settings
