"""Read-only views of a world. Simulation, Scheduler, Framework, and Plugin are such views."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Protocol

from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.apiserver.faults import Fault
from scheduler_core.base.clock.agenda import Entry
from scheduler_core.base.trace.kinds import KINDS
from scheduler_core.base.trace.records import FieldSchema, Record, fields_of
from scheduler_core.controllers.catalogue import CONTROLLERS
from scheduler_core.controllers.memory.kubelet import KubeletMemory
from scheduler_core.controllers.memory.nodes import NodesMemory
from scheduler_core.controllers.surroundings import Inputs, WorkQueue
from scheduler_core.scheduler.cache.table import NodeTable
from scheduler_core.scheduler.config.settings import WorldSettings
from scheduler_core.scheduler.core.cycles.group_cycle import GroupCycle
from scheduler_core.scheduler.extenders.extender import Extender
from scheduler_core.scheduler.framework import CycleState, Explanation, Features, Formula, On, Point, Rows, Scores
from scheduler_core.scheduler.framework.claims import ClaimTracker
from scheduler_core.world.commands import CommandRecord
from scheduler_core.world.readonly.cycles import BindingCycleView, SchedulingCycleView
from scheduler_core.world.readonly.objects import CacheView, JournalView, StoreView
from scheduler_core.world.readonly.queue import QueueView
from scheduler_core.world.simulation import Simulation


class AgendaView(Protocol):
    """The pending events."""

    def entries(self) -> Sequence[Entry]: ...


class PluginView(Protocol):
    """A plugin with its explanations."""

    @property
    def name(self) -> str: ...

    @property
    def explains(self) -> tuple[Point, ...]:
        """The extension points after which the plugin can explain its view of a node."""

    @property
    def skips(self) -> Mapping[Point, str]:
        """The reasons for Skip at PreFilter or PreScore, in words for people."""

    @property
    def taints_unheard(self) -> bool: ...

    def registrations(self) -> tuple[On, ...]: ...

    def is_idle(self, point: Point, state: CycleState, pod: Pod, /) -> bool: ...

    def describe_prepared(self, point: Point, state: CycleState, pod: Pod, nodes: NodeTable, /) -> Explanation: ...

    def explain(self, state: CycleState, pod: Pod, nodes: NodeTable, row: int, /) -> Explanation: ...

    def formula(self, state: CycleState, pod: Pod, nodes: NodeTable, row: int, /) -> Formula | None: ...

    def normalization(
        self, state: CycleState, pod: Pod, nodes: NodeTable, rows: Rows, scores: Scores, i: int, /
    ) -> Formula | None: ...


class ProfileView(Protocol):
    """A profile's plugins."""

    @property
    def name(self) -> str: ...

    @property
    def weights(self) -> Mapping[str, int]:
        """The weight of each Score plugin."""

    @property
    def percentage_of_nodes_to_score(self) -> int | None:
        """The profile's own value, or None if the scheduler's value applies."""

    def at(self, point: Point) -> Sequence[PluginView]: ...

    def plugin(self, name: str) -> PluginView | None: ...


class CallView(Protocol):
    """A call about a pod: `verb` as in Fault, `key` the pod's."""

    @property
    def verb(self) -> str: ...

    @property
    def key(self) -> str: ...


class CallsView(Protocol):
    """A scheduler's API calls; `running` are under way, by number."""

    @property
    def running(self) -> Mapping[int, CallView]: ...


class SchedulerView(Protocol):
    """One scheduler. `cycle` is the one that runs now or ended last, `bindings` are those that run, by the attempt's number."""

    @property
    def name(self) -> str: ...

    @property
    def features(self) -> Features: ...

    @property
    def claims(self) -> ClaimTracker: ...

    @property
    def profiles(self) -> Mapping[str, ProfileView]: ...

    @property
    def queue(self) -> QueueView: ...

    @property
    def cache(self) -> CacheView: ...

    @property
    def calls(self) -> CallsView: ...

    @property
    def cycle(self) -> SchedulingCycleView | None: ...

    @property
    def group(self) -> GroupCycle | None:
        """The pod group of the current or last group cycle."""

    @property
    def bindings(self) -> Mapping[int, BindingCycleView]: ...

    @property
    def percentage_of_nodes_to_score(self) -> int:
        """The percentage for profiles without their own; 0 adapts to the cluster's size."""

    @property
    def extenders(self) -> Sequence[Extender]:
        """The extenders in call order; empty if not used."""

    def framework_of(self, pod: Pod) -> ProfileView | None: ...


class SurroundingsView(Protocol):
    """The schedulers' environment; `inputs` are a user's settings besides objects, `nodes` and `kubelet` the memory of each.

    `queues` are the controllers' own, by their names.
    """

    @property
    def inputs(self) -> Inputs: ...

    @property
    def queues(self) -> Mapping[str, WorkQueue]: ...

    @property
    def nodes(self) -> NodesMemory: ...

    @property
    def kubelet(self) -> KubeletMemory: ...


class WorldView(Protocol):
    """A world at one position. `now` is virtual time (ns); `last` are the last transition's records, `faults` calls that are to fail."""

    @property
    def itself(self) -> Simulation:
        """The world itself, for an analysis that calls its plugins or forks it. Do not change it."""

    @property
    def position(self) -> int: ...

    @property
    def now(self) -> int: ...

    @property
    def seed(self) -> int:
        """The seed of random draws."""

    @property
    def idle(self) -> bool: ...

    @property
    def over(self) -> bool: ...

    @property
    def outside(self) -> bool:
        """True if the answer of a real extender is pending."""

    @property
    def settings(self) -> WorldSettings: ...

    @property
    def store(self) -> StoreView: ...

    @property
    def surroundings(self) -> SurroundingsView: ...

    @property
    def journal(self) -> JournalView: ...

    @property
    def agenda(self) -> AgendaView: ...

    @property
    def faults(self) -> Mapping[tuple[str, str], Fault]: ...

    @property
    def schedulers(self) -> Sequence[SchedulerView]: ...

    @property
    def last(self) -> Sequence[Record]: ...


CONTROLLER_NAMES = tuple(each.name for each in CONTROLLERS if not (each.always_on or each.of_kubelet))
"""Those that the settings may leave out, as kube calls them."""

RECORD_FIELDS: dict[str, tuple[FieldSchema, ...]] = {
    kind: fields_of(facts) for kind, facts in {**KINDS, CommandRecord.KIND: CommandRecord}.items()
}
"""The fields of records by kind, those of every command included, in the order in which pages list them."""


@cache
def nobody() -> SchedulerView:
    """Return a scheduler without history, for a world without schedulers: its queue and cache are empty."""
    world: WorldView = Simulation()  # here mypy compares every view with its class
    return world.schedulers[0]
