"""A cycle is data: where it is, what it knows, what has run. So it can be copied, stored and stepped.

```
scheduling cycle                                                    binding cycle (overlaps with later scheduling cycles)
PreFilter -> Filter -> PreScore -> Score -> NormalizeScore -> Select -> Reserve -> Permit -> WaitOnPermit -> PreBind -> Bind -> PostBind
    |           |          |         |            |                       |          |            |            |         |
    +-----------+--> PostFilter      +------------+--> Failed <-----------+----------+            +-- rollback +---------+
                         +-> Failed
```
"""

from __future__ import annotations

import enum
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from scheduler_core.cluster.table import NodeTable
from scheduler_core.framework.cycle_state import CycleState
from scheduler_core.framework.plugin import Point, PostFilterResult, Rows, Scores, Verdicts
from scheduler_core.framework.status import SUCCESS, Code, Status
from scheduler_core.objects.pod import Pod
from scheduler_core.queue.types import QueuedPod

if TYPE_CHECKING:
    from scheduler_core.scheduler.search import Search

PASSED = -1
NOT_EVALUATED = -2
EXCLUDED = -3


class Phase(enum.StrEnum):
    """Where a scheduling or binding cycle stands: the point whose plugin runs next."""

    PRE_FILTER = "PreFilter"
    FILTER = "Filter"
    POST_FILTER = "PostFilter"
    PRE_SCORE = "PreScore"
    SCORE = "Score"
    NORMALIZE_SCORE = "NormalizeScore"
    SELECT = "Select"
    RESERVE = "Reserve"
    PERMIT = "Permit"
    WAIT_ON_PERMIT = "WaitOnPermit"
    PRE_BIND = "PreBind"
    BIND = "Bind"
    POST_BIND = "PostBind"
    FAILED = "Failed"
    DONE = "Done"


@dataclass(slots=True, eq=False)
class PluginStep:
    """What one plugin did at one extension point. `rows`, `verdicts` and `scores` are node-wise detail, read when somebody looks.

    Never changed once made; it is not `frozen` because that makes it five times as slow to make, and an attempt makes about thirty.
    """

    point: Point
    plugin: str
    status: Status = SUCCESS
    t: int = 0
    position: int = 0
    evaluated: int = 0
    refused: int = 0
    rows: Rows | None = None
    verdicts: Verdicts | None = None
    scores: Scores | None = None
    node_names: frozenset[str] | None = None
    timeout: int = 0
    stage: str = ""  # of Filter: which pass
    evidence: Any = None  # of PostFilter: what the plugin looked at

    @property
    def skipped(self) -> bool:
        return self.status.code is Code.SKIP

    def summary(self, pod: str) -> dict[str, Any]:
        """The step in short, as JSON data."""
        return {
            "point": self.point.value,
            "plugin": self.plugin,
            "pod": pod,
            "status": self.status.to_json(),
            "evaluated": self.evaluated,
            "refusals": self.refused,
        }

    def detail(self, nodes: NodeTable) -> dict[str, Any]:
        """The step node by node, as JSON data: refusals with their statuses, or scores."""
        out: dict[str, Any] = {}
        if self.rows is not None and self.verdicts is not None:
            out["refused"] = {
                nodes.names[int(row)]: self.verdicts.statuses[int(reason)].to_json()
                for row, reason in zip(self.rows, self.verdicts.reason, strict=True)
                if reason >= 0
            }
        if self.rows is not None and self.scores is not None:
            out["scores"] = {nodes.names[int(r)]: int(s) for r, s in zip(self.rows, self.scores, strict=True)}
        if self.node_names is not None:
            out["nodes"] = sorted(self.node_names)
        if self.stage:
            out["stage"] = self.stage
        if self.evidence is not None:
            out["evidence"] = self.evidence.to_json()
        return out


class StepFacts:
    """The data of a step's record. What is told node by node is made only when the record is looked at; `brief` is the rest."""

    __slots__ = ("nodes", "pod", "step")

    def __init__(self, step: PluginStep, pod: str, nodes: NodeTable) -> None:
        self.step = step
        self.pod = pod
        self.nodes = nodes

    def __call__(self) -> dict[str, Any]:
        return self.step.summary(self.pod) | self.step.detail(self.nodes)

    def brief(self) -> dict[str, Any]:
        """The data without the parts that grow with the number of nodes."""
        return self.step.summary(self.pod)

    def codes(self) -> list[str]:
        """The codes that the plugin answered with: for the pod, and for at least one node each."""
        step, out = self.step, [self.step.status.code.kube_name]
        if step.verdicts is not None and step.refused:
            statuses = step.verdicts.statuses
            out += [one.code.kube_name for i, one in enumerate(statuses) if np.any(step.verdicts.reason == i)]
        return out

    def code_of(self, node: str) -> str | None:
        """The code for one node: of its refusal, or Success where it passed or got a score; None where it was not asked."""
        step, row = self.step, self.nodes.row(node)
        if step.rows is None or row is None:
            return None
        found = np.flatnonzero(step.rows == row)
        if not len(found):
            return None
        reason = -1 if step.verdicts is None else int(step.verdicts.reason[found[0]])
        if step.verdicts is None or reason < 0:
            return Code.SUCCESS.kube_name
        return step.verdicts.statuses[reason].code.kube_name


@dataclass(slots=True)
class ScoreBoard:
    """Scores of the feasible rows: one vector per plugin, from raw over normalised to weighted, and their sum."""

    rows: Rows
    plugins: list[str] = field(default_factory=list)
    weights: list[int] = field(default_factory=list)
    raw: list[Scores] = field(default_factory=list)
    normalized: list[Scores] = field(default_factory=list)
    total: Scores | None = None

    @property
    def weighted(self) -> list[Scores]:
        return [scores * weight for scores, weight in zip(self.normalized, self.weights, strict=True)]

    def copy(self) -> ScoreBoard:
        return replace(
            self,
            plugins=list(self.plugins),
            weights=list(self.weights),
            raw=list(self.raw),
            normalized=list(self.normalized),
        )


@dataclass(slots=True)
class SchedulingCycle:
    """One attempt to place one pod, from the snapshot to the end of Permit."""

    number: int
    scheduler: str
    profile: str
    queued: QueuedPod
    nodes: NodeTable
    started: int
    first_position: int = 0
    span: int = 0
    point_span: int = 0
    phase: Phase = Phase.PRE_FILTER
    run: tuple[int, ...] = ()  # which of the point's plugins run in this phase
    index: int = 0  # position in `run`
    t: int = 0  # of the step in progress
    position: int = 0
    state: CycleState = field(default_factory=CycleState)
    steps: list[PluginStep] = field(default_factory=list)
    node_names: frozenset[str] | None = None  # PreFilter's merged result
    narrowed_by: tuple[str, ...] = ()
    absent: Status = (
        SUCCESS  # status of nodes outside PreFilter's result, or of all nodes when PreFilter refused
    )
    pre_filter_status: Status = SUCCESS
    search: Search | None = None
    refused_by: NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, np.int32))
    reason: NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, np.int32))
    feasible: Rows | None = None
    scores: ScoreBoard | None = None
    tied_rows: Rows | None = None  # the best nodes, in list order
    chosen: str | None = None
    draw: int | None = None
    ended: int | None = None
    outcome: str = ""
    message: str = ""
    failure: Status = SUCCESS
    nominated_mark: tuple[int, int, int] | None = None  # row, step and reason of that refusal
    nominated_refusal: Status | None = None  # of the node that the pod was nominated to
    post_filter: Status = SUCCESS  # of all PostFilter plugins together
    nomination: str | None = None  # what becomes of the pod's nomination: None leaves it, "" clears it
    preemption: PostFilterResult | None = None  # what is to be carried out
    unschedulable_plugins: tuple[str, ...] = ()
    waits: tuple[tuple[str, int], ...] = ()  # Permit plugins that wait, with their timeouts (ns)
    evicting: bool = False  # the preemption has begun to be carried out
    decided: int = 0  # when the algorithm was over (ns)

    @property
    def pod(self) -> Pod:
        return self.queued.pod

    @property
    def tied(self) -> tuple[str, ...]:
        """Names of the best nodes, in list order."""
        return (
            () if self.tied_rows is None else tuple(self.nodes.names[row] for row in self.tied_rows.tolist())
        )

    @property
    def node(self) -> str:
        """The chosen node of a cycle that has one."""
        assert self.chosen is not None
        return self.chosen

    @property
    def held_up(self) -> bool:
        """Whether all is done and only the answer of an API call is waited for."""
        return self.phase is Phase.DONE and self.ended is None

    @property
    def skip_filter(self) -> tuple[str, ...]:
        return self.state.skip_filter

    @property
    def skip_score(self) -> tuple[str, ...]:
        return self.state.skip_score

    def did(self, step: PluginStep) -> PluginStep:
        """Keeps what a plugin did."""
        self.steps.append(step)
        return step

    def status_of(self, row: int) -> Status | None:
        """Why a row was refused; None where it passed or was not evaluated."""
        if self.pre_filter_status.code is not Code.SUCCESS:
            return self.pre_filter_status
        if row >= len(self.refused_by):
            return None
        step = int(self.refused_by[row])
        if step == EXCLUDED:
            return self.absent
        if step < 0:
            return None
        verdicts = self.steps[step].verdicts
        assert verdicts is not None
        return verdicts.statuses[int(self.reason[row])].by(self.steps[step].plugin)

    def copy(self, nodes: NodeTable) -> SchedulingCycle:
        """The same cycle over another copy of its snapshot; what has been recorded is shared."""
        return replace(
            self,
            nodes=nodes,
            state=self.state.copy(),
            steps=list(self.steps),
            search=replace(self.search) if self.search is not None else None,
            refused_by=self.refused_by.copy(),
            reason=self.reason.copy(),
            scores=self.scores.copy() if self.scores is not None else None,
        )


@dataclass(slots=True)
class BindingCycle:
    """What follows a successful scheduling cycle: waiting on Permit, PreBind, Bind, PostBind."""

    number: int
    scheduler: str
    profile: str
    queued: QueuedPod
    pod: Pod  # as assumed: with its nodeName
    node: str
    state: CycleState
    started: int
    popped: int = 0  # when the attempt began (ns)
    entered: int = 0  # when the phase was entered (ns)
    since: int = 0  # when the plugin at `index` was called first (ns)
    span: int = 0
    point_span: int = 0
    phase: Phase = Phase.WAIT_ON_PERMIT
    index: int = 0
    steps: list[PluginStep] = field(default_factory=list)
    waiting: dict[str, int] = field(default_factory=dict)  # Permit plugin -> deadline (ns)
    decision: Status | None = None  # of the wait
    done: bool = False  # the plugin at `index` has answered and only its latency is being waited for
    answer: Status = SUCCESS

    def copy(self) -> BindingCycle:
        return replace(self, state=self.state.copy(), steps=list(self.steps), waiting=dict(self.waiting))
