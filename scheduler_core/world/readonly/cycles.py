"""Read-only views of cycles: their state and the steps that ran."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.scheduler.cache.table import NodeTable
from scheduler_core.scheduler.core.cycles.phases import Phase
from scheduler_core.scheduler.extenders.exchange import Exchange
from scheduler_core.scheduler.framework import CycleState, NodeToStatus, PluginStep, Rows, Status
from scheduler_core.scheduler.framework.per_node import ScoreBoard
from scheduler_core.scheduler.queue.types import QueuedPod


class ExtensionView(Protocol):
    """The extender calls of a cycle. `awaited` are the calls without an answer."""

    @property
    def exchanges(self) -> Sequence[Exchange]: ...

    @property
    def awaited(self) -> Sequence[Exchange]: ...

    @property
    def filtered(self) -> int:
        """The number of nodes left after the plugins."""


class CycleView(Protocol):
    """The common part of scheduling and binding cycles; `number` is the attempt's."""

    @property
    def number(self) -> int: ...

    @property
    def profile(self) -> str: ...

    @property
    def pod(self) -> Pod: ...

    @property
    def queued(self) -> QueuedPod:
        """The pod as it was popped."""

    @property
    def started(self) -> int: ...

    @property
    def phase(self) -> Phase: ...

    @property
    def state(self) -> CycleState: ...

    @property
    def steps(self) -> Sequence[PluginStep]: ...

    @property
    def extension(self) -> ExtensionView | None: ...


class SearchView(Protocol):
    """Filter's search: rows in `order`, up to `stop` so far, until `wanted` are feasible."""

    @property
    def order(self) -> Rows: ...

    @property
    def wanted(self) -> int: ...

    @property
    def stop(self) -> int: ...

    @property
    def seen(self) -> int:
        """The number of rows evaluated; 0 during the search."""

    @property
    def own_nomination(self) -> bool:
        """True if the search covers only the node that the pod is nominated to."""

    @property
    def nominated(self) -> bool:
        """True if other pods are nominated to some evaluated node."""


class SchedulingCycleView(CycleView, Protocol):
    """One attempt to schedule one pod. `node_names` are the nodes that PreFilter keeps (None: all); `narrowed_by` are the plugins that
    chose them.
    """

    @property
    def search(self) -> SearchView | None: ...

    @property
    def node_names(self) -> frozenset[str] | None: ...

    @property
    def narrowed_by(self) -> Sequence[str]: ...

    @property
    def nodes(self) -> NodeTable: ...

    @property
    def pre_filter_status(self) -> Status: ...

    @property
    def node_to_status(self) -> NodeToStatus: ...

    @property
    def feasible(self) -> Rows | None: ...

    @property
    def scores(self) -> ScoreBoard | None: ...

    @property
    def hint(self) -> str:
        """The node that batching tried alone; "" if none."""

    @property
    def tied(self) -> Sequence[str]: ...

    @property
    def chosen(self) -> str | None: ...

    @property
    def draw(self) -> int | None: ...

    @property
    def ended(self) -> int | None: ...

    @property
    def outcome(self) -> str: ...

    @property
    def message(self) -> str: ...

    def status_of(self, row: int) -> Status | None: ...


class BindingCycleView(CycleView, Protocol):
    """The binding cycle of a successful attempt. `waiting`: Permit plugin -> deadline (ns); `entered`: phase start (ns)."""

    @property
    def node(self) -> str: ...

    @property
    def waiting(self) -> Mapping[str, int]: ...

    @property
    def entered(self) -> int: ...
