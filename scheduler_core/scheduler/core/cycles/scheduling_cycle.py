"""A scheduling cycle as data: its position, state, and past steps. A cycle can be copied, stored, and stepped."""

import enum
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.apiserver.faults import DELETE, STATUS
from scheduler_core.base.state import Copied, Shared, State
from scheduler_core.scheduler.cache.table import NodeTable
from scheduler_core.scheduler.core.cycles.phases import Extension, Phase
from scheduler_core.scheduler.framework import SUCCESS, CycleState, NodeToStatus, PluginStep, Status
from scheduler_core.scheduler.framework.per_node import ScoreBoard
from scheduler_core.scheduler.framework.plugin import PostFilterResult, Rows
from scheduler_core.scheduler.queue.types import QueuedPod

# A binding cycle as data.


@dataclass(slots=True)
class BindingCycle(State):
    """The binding cycle after a successful scheduling cycle: WaitOnPermit, PreBind, Bind, PostBind."""

    number: int
    scheduler: str
    profile: str
    queued: QueuedPod
    pod: Pod  # as assumed: with its nodeName
    node: str
    state: Copied[CycleState]
    started: int
    popped: int = 0  # when the attempt began (ns)
    entered: int = 0  # when the phase was entered (ns)
    since: int = 0  # when the plugin at `index` was called first (ns)
    span: int = 0
    point_span: int = 0
    phase: Phase = Phase.WAIT_ON_PERMIT
    index: int = 0
    t: int = 0  # of the step in progress
    position: int = 0
    steps: Copied[list[PluginStep]] = field(default_factory=list)
    waiting: Copied[dict[str, int]] = field(default_factory=dict)  # Permit plugin -> deadline (ns)
    decision: Status | None = None  # of the wait
    done: bool = False  # the plugin at `index` has answered and only its latency remains
    answer: Status = SUCCESS
    extension: Copied[Extension | None] = None  # of extenders that bind, once one is called
    exchanges: int = 0  # with extenders, in the scheduling cycle


# A preemption in progress, as data.


@dataclass(frozen=True, slots=True)
class Eviction:
    """A preemption in progress: the victim at `index` is next. `has_condition`: the victim has its condition. `held_up`: a cycle waits.
    `tries`: the number of retries of the call about the victim. `in_memory`: the last victim was evicted without a call.

    An eviction beside the cycles begins (`begun`) when the cycle that decided on it is over.
    """

    number: int
    preemptor: Pod
    node: str
    victims: tuple[Pod, ...]
    held_up: bool
    chosen: int = 0  # number of victims, including terminating ones
    begun: bool = False
    index: int = 0
    has_condition: bool = False
    evicted: int = 0
    tries: int = 0
    in_memory: bool = False

    @property
    def next_call(self) -> tuple[str, str]:
        return DELETE if self.has_condition else STATUS, self.victims[self.index].key


# The progress of Filter's search.


class Stage(enum.StrEnum):
    """The filter pass that a step belongs to."""

    MAIN = "main"
    NOMINATED = "nominated pass 1"


@dataclass(slots=True)
class Search(State):
    """The state of the search. `rows` are the rows of the current block that still pass in the current stage."""

    order: Shared[Rows]
    wanted: int
    own_nomination: bool = False  # only the node that the pod itself is nominated to
    nominated: bool = False  # other pods are nominated to an evaluated node
    start: int = 0  # first of `order` in the current block
    stop: int = 0  # end (exclusive) of the current block
    rows: Shared[Rows | None] = None
    stage: Stage = Stage.MAIN
    rest: Shared[Rows | None] = None  # rows of the block that the stage leaves out
    view: Shared[NodeTable | None] = None  # of the stage, if it is a what-if
    state: Shared[CycleState | None] = None
    found: int = 0
    seen: int = 0  # rows that the filters evaluated
    processed: int = 0  # the number by which the start index moves
    beyond: int | None = None  # the feasible row that ended the search


@dataclass(slots=True)
class SchedulingCycle(State):
    """One attempt to place one pod, from the snapshot to the end of Permit."""

    number: int
    scheduler: str
    profile: str
    queued: QueuedPod
    nodes: Shared[NodeTable]  # if this is the scheduler's snapshot, a copied scheduler sets its own
    started: int
    first_position: int = 0
    span: int = 0
    point_span: int = 0
    phase: Phase = Phase.PRE_FILTER
    run: tuple[int, ...] = ()  # the point's plugins that run in this phase
    index: int = 0  # position in `run`
    t: int = 0  # of the step in progress
    position: int = 0
    state: Copied[CycleState] = field(default_factory=CycleState)
    steps: Copied[list[PluginStep]] = field(default_factory=list)
    node_names: frozenset[str] | None = None  # PreFilter's merged result
    narrowed_by: tuple[str, ...] = ()
    absent: Status = SUCCESS  # status of nodes outside PreFilter's result, or of all nodes if PreFilter rejects
    pre_filter_status: Status = SUCCESS
    search: Copied[Search | None] = None
    refused_by: Copied[NDArray[np.int32]] = field(default_factory=lambda: np.zeros(0, np.int32))
    reason: Copied[NDArray[np.int32]] = field(default_factory=lambda: np.zeros(0, np.int32))
    feasible: Shared[Rows | None] = None
    scores: Copied[ScoreBoard | None] = None
    tied_rows: Shared[Rows | None] = None  # the best nodes, in list order
    chosen: str | None = None
    draw: int | None = None
    ended: int | None = None
    outcome: str = ""
    message: str = ""
    failure: Status = SUCCESS
    nominated_mark: tuple[int, int, int] | None = None  # row, step and reason of that refusal
    nominated_refusal: Status | None = None  # of the node that the pod was nominated to
    post_filter: Status = SUCCESS  # of all PostFilter plugins together
    nomination: str | None = None  # the pod's new nomination: None keeps the old one, "" clears it
    preemption: PostFilterResult | None = None  # to be carried out
    unschedulable_plugins: tuple[str, ...] = ()
    waits: tuple[tuple[str, int], ...] = ()  # Permit plugins that wait, with their timeouts (ns)
    evicting: bool = False  # the preemption has started
    decided: int = 0  # when the algorithm ended (ns)
    extension: Copied[Extension | None] = None  # of the extenders, once one is called
    hint: str = ""  # the node that batching tried alone
    batching: str = ""  # kube's reason why batching discarded its list, or stored none
    within: frozenset[str] | None = None  # nodes of a group's placement: only these are searched; plugins see all

    @property
    def pod(self) -> Pod:
        return self.queued.pod

    @property
    def size(self) -> int:
        """The number of nodes in the search: all nodes, or those of the group's placement."""
        return len(self.nodes if self.within is None else self.within)

    @property
    def tied(self) -> tuple[str, ...]:
        """Names of the best nodes, in list order."""
        return () if self.tied_rows is None else tuple(self.nodes.names[row] for row in self.tied_rows.tolist())

    @property
    def node(self) -> str:
        """The chosen node. The cycle must have one."""
        assert self.chosen is not None
        return self.chosen

    @property
    def held_up(self) -> bool:
        """True if the cycle is done except for the answer to an API call."""
        return self.phase is Phase.DONE and self.ended is None

    @property
    def node_to_status(self) -> NodeToStatus:
        """The Filter statuses of the rows so far."""
        return NodeToStatus(self.refused_by, self.reason, self.steps, self.absent, self.pre_filter_status)

    def status_of(self, row: int) -> Status | None:
        """Return the status that refused a row, or None if the row passed or was not evaluated."""
        return self.node_to_status.status_of(row)
