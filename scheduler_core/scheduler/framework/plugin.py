"""The base class of plugins, vectorized over the rows of a NodeTable.

A plugin takes part in an extension point by overriding its method; the runtime calls no other methods. Points that evaluate nodes get the
snapshot (`nodes`) and `rows`: the positions in list order to evaluate, an int array. A vector that a plugin returns has one entry per row
of `rows`, in that order.

kube: staging/src/k8s.io/kube-scheduler/framework/interface.go @ v1.34.1
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from scheduler_core.apimachinery.objects import NEVER, Node, Pod
from scheduler_core.base.releases import Behavior
from scheduler_core.scheduler.framework.claims import ClaimTracker, ObjectCalls
from scheduler_core.scheduler.framework.events import EVERYTHING, On
from scheduler_core.scheduler.framework.reasons import Reason, RefusalReason
from scheduler_core.scheduler.framework.status import SKIP, SUCCESS, Code, Status

if TYPE_CHECKING:
    from scheduler_core.scheduler.cache.table import NodeTable
    from scheduler_core.scheduler.cache.what_if import Change
    from scheduler_core.scheduler.framework.arguments import Arguments
    from scheduler_core.scheduler.framework.cycle_state import CycleState
    from scheduler_core.scheduler.framework.drafts import Draft, Refusal
    from scheduler_core.scheduler.framework.explanation import Explanation
    from scheduler_core.scheduler.framework.features import Features
    from scheduler_core.scheduler.framework.formula import Formula
    from scheduler_core.scheduler.framework.groups import PodGroupState

Rows = NDArray[np.intp]
Scores = NDArray[np.int64]
Evidence = Mapping[str, Any]
Assumptions = dict[tuple[str, str, str], Mapping[str, Any]]

MAX_NODE_SCORE = 100
MIN_NODE_SCORE = 0


@lru_cache(maxsize=64)
def no_scores(rows: int) -> Scores:
    """Return the score 0 for each row. All callers share one vector, so that it can be recognized by identity."""
    scores = np.zeros(rows, np.int64)
    scores.flags.writeable = False
    return scores


class Point(enum.StrEnum):
    """The extension points, in the order of a pod's way (Unreserve runs on the way back)."""

    PRE_ENQUEUE = "PreEnqueue"
    QUEUE_SORT = "QueueSort"
    PRE_FILTER = "PreFilter"
    FILTER = "Filter"
    EXTENDER_FILTER = "ExtenderFilter"  # at these four points extenders run, not plugins
    POST_FILTER = "PostFilter"
    EXTENDER_PREEMPT = "ExtenderPreempt"
    PRE_SCORE = "PreScore"
    SCORE = "Score"
    NORMALIZE_SCORE = "NormalizeScore"
    EXTENDER_PRIORITIZE = "ExtenderPrioritize"
    RESERVE = "Reserve"
    UNRESERVE = "Unreserve"
    PERMIT = "Permit"
    WAIT_ON_PERMIT = "WaitOnPermit"
    PRE_BIND = "PreBind"
    EXTENDER_BIND = "ExtenderBind"
    BIND = "Bind"
    POST_BIND = "PostBind"


@dataclass(frozen=True, slots=True)
class PreFilterResult:
    """PreFilter's answer: a status and, if the plugin narrows the search, the names of the remaining nodes (None: all)."""

    status: Status = SUCCESS
    node_names: frozenset[str] | None = None


GO_ON, NOTHING_TO_DO = PreFilterResult(), PreFilterResult(SKIP)


@dataclass(frozen=True, slots=True)
class Verdicts:
    """Filter's answer for the evaluated rows: `reason[i]` is -1 if row i passes, else an index into `statuses`."""

    reason: NDArray[np.int32]
    statuses: tuple[Status, ...]

    @classmethod
    def refuse(cls, refused: NDArray[np.bool_], status: Status) -> Verdicts:
        """Return verdicts with one status for all refused rows."""
        return cls(np.where(refused, np.int32(0), np.int32(-1)).astype(np.int32), (status,))

    @property
    def refused(self) -> NDArray[np.bool_]:
        """A mask of the refused rows among the evaluated rows."""
        return self.reason >= 0

    def status_at(self, i: int) -> Status | None:
        """Return the status that rejects the i-th evaluated row, or None if the row passes."""
        reason = int(self.reason[i])
        return None if reason < 0 else self.statuses[reason]

    def first(self) -> Status | None:
        """Return the status of the first rejected row, or None."""
        refused = np.flatnonzero(self.refused)
        return self.status_at(int(refused[0])) if len(refused) else None

    def refusals(self, rows: Rows) -> list[tuple[int, Status]]:
        """Return the rejected rows with their statuses; `rows` are the evaluated rows."""
        refused, statuses = self.refused, self.statuses
        reasons = self.reason[refused].tolist()
        return [(row, statuses[i]) for row, i in zip(rows[refused].tolist(), reasons, strict=True)]

    def counted(self, evaluated: NDArray[np.bool_] | None = None) -> list[tuple[Status, int]]:
        """Return each status with the number of its rows; with a mask `evaluated`, of the marked rows alone."""
        reason = self.reason if evaluated is None else self.reason[evaluated]
        counts = np.bincount(reason[reason >= 0], minlength=len(self.statuses)).tolist()
        return [(status, count) for status, count in zip(self.statuses, counts, strict=True) if count]

    def first_error(self) -> int | None:
        """Return the index of the first evaluated row with an internal error, or None."""
        errors = [i for i, status in enumerate(self.statuses) if status.code is Code.ERROR]
        if not errors:
            return None
        rows = np.flatnonzero(np.isin(self.reason, errors))
        return int(rows[0]) if len(rows) else None


class Filters(Protocol):
    """The profile's Filter plugins, for what-ifs (with nominated pods, as in the main search)."""

    def refusals(self, state: CycleState, pod: Pod, nodes: NodeTable, rows: Rows) -> dict[int, Status]:
        """Return the first plugin's rejection (signed) by row; rows that pass are left out."""

    def adjust(self, state: CycleState, pod: Pod, nodes: NodeTable, changes: Sequence[Change]) -> None:
        """Add or remove pods in the view `nodes` and in the plugins' state."""

    def local_to_rows(self, state: CycleState) -> tuple[object, ...] | None:
        """Return a key, or None if a filter of this cycle reads more than its row. The key, pod spec, and pods on a row decide the row's
        rejection until a Node changes (except for rows with nominated pods).
        """


@dataclass(frozen=True, slots=True)
class Failure:
    """The input of PostFilter: the status code of every row, the filters, and the nominated pods by node."""

    codes: NDArray[np.int8]  # Code by row
    filters: Filters
    nominated: Callable[[str], tuple[Pod, ...]]  # node name -> pods
    nominated_nodes: Callable[[], list[str]]
    draw: Callable[..., int]  # a number below n from the seeded stream; the tied names are optional
    now: int = NEVER  # ns since 1970; without a clock: later than all
    # Extenders take part in preemption: a plugin that finds victims returns Wait, and `nominate` is called later.
    extended: bool = False


@dataclass(frozen=True, slots=True)
class PostFilterResult:
    """PostFilter's answer. `nominated_node`: None keeps the pod's nomination, "" clears it.

    `victims` (most important first) are to be evicted, the nominations in `cleared` to be cleared. `evidence` is the data of the
    decision, for display; its `to_json()` is plain data.
    """

    status: Status
    nominated_node: str | None = None
    victims: tuple[Pod, ...] = ()
    cleared: tuple[Pod, ...] = ()
    evidence: Any = None


@dataclass(frozen=True, slots=True)
class PermitResult:
    """Permit's answer; with code WAIT the pod waits at most `timeout` nanoseconds."""

    status: Status = SUCCESS
    timeout: int = 0


@dataclass(frozen=True, slots=True)
class CallResult:
    """PreBind's or Bind's answer, which arrives `latency` nanoseconds of virtual time after the call.

    With code WAIT the plugin is called again after that time.
    """

    status: Status = SUCCESS
    latency: int | None = None


class WaitingPod(Protocol):
    """A pod that waits on Permit. The first decision that ends the wait counts, as in kube; later ones change nothing."""

    @property
    def pod(self) -> Pod:
        """The pod as assumed, with its nodeName."""

    @property
    def pending(self) -> tuple[str, ...]:
        """The Permit plugins that have not allowed it yet. kube: GetPendingPlugins"""

    def allow(self, plugin: str) -> None:
        """Allow the pod for one plugin. The pod continues when no plugin is pending."""

    def reject(self, plugin: str, message: str) -> None:
        """Reject the pod for a plugin, pending or not."""


class Handle(Protocol):
    """The framework's services for plugins besides the snapshot: live listers, pods that wait on Permit, and the binding call.

    `assumed` holds the plugins' decisions about other objects that the API server does not have yet, by (kind, namespace, name); it
    belongs to the scheduler, so that a copy of the scheduler has the same.
    """

    @property
    def assumed(self) -> Assumptions: ...

    @property
    def features(self) -> Features:
        """kube's feature gates, as they were when the scheduler started."""

    @property
    def claims(self) -> ClaimTracker:
        """The scheduler's resource claims. kube: SharedDRAManager().ResourceClaims()"""

    @property
    def device_cost(self) -> int:
        """The time (ns) to try a device."""

    @property
    def preempting(self) -> Mapping[str, int] | None:
        """UIDs of the pods whose victims are being evicted, or None if eviction is part of the scheduling cycle."""

    @property
    def snapshot(self) -> NodeTable:
        """The snapshot of the current cycle, for points that don't receive it. kube: SnapshotSharedLister"""

    @property
    def now(self) -> int:
        """The time of the world, in ns since 1970."""

    def pod_group(self, namespace: str, name: str) -> PodGroupState | None:
        """Return a PodGroup with its pods from the scheduler's cache, or None."""

    def waiting_pods(self) -> list[WaitingPod]:
        """Return the pods that wait on Permit, in the order in which they began. kube: IterateOverWaitingPods"""

    def get(self, kind: str, namespace: str, name: str) -> Mapping[str, Any] | None:
        """Return the informer's version of an object, or None. It differs from the API server's only if the informers lag."""

    def list(self, kind: str) -> list[Mapping[str, Any]]:
        """Return all objects of a kind, ordered by namespace and name."""

    def patch(self, kind: str, namespace: str, name: str, patch: Mapping[str, Any], pod: Pod) -> Status:
        """Send a JSON merge patch of an object to the API server for a pod. Return the answer as a status."""

    def held_up(self, pod: Pod, tries: int, calls: int, of: str = "volumes") -> int:
        """Return the delay (ns) before sending `calls` updates on behalf of a pod; `tries`: the number of earlier tries.

        `of`: the kind of update, as faults name it ("volumes", "claims").
        """

    def calls(self, pod: Pod) -> ObjectCalls:
        """Return the calls that write claims for a pod."""

    def note(self, pod: Pod, reason: str, message: str, action: str) -> None:
        """Record a Kubernetes Event about a pod, of type Normal."""

    def behind(self, kind: str, namespace: str, name: str) -> bool:
        """Return whether the API server has another version of the object than `get` (informers that lag)."""

    def bind(self, pod: Pod, node_name: str) -> Status:
        """Set the pod's nodeName in the API server. Return the answer as a status."""


class Plugin:
    """Base of all plugins. `args` are the plugin's arguments with defaults filled in (v1 JSON names).

    `arguments` declares the arguments (None: any are accepted). `state_classes` are our own classes of which the plugin leaves objects in
    a cycle (values of its CycleState, PostFilter's evidence): a checkpoint can hold no others. `row_local`: Filter depends only on the
    pod's spec, the Node, and the pods on the row. `explains`: the points after which the plugin can explain a node. `skips`: why it skips
    at PreFilter or PreScore, for display. `guarded`: an error in it ends only the cycle (guard.py). `reasons`: its reasons against a pod
    (reasons.py).
    """

    name: ClassVar[str]
    arguments: ClassVar[Arguments | None] = None
    events: ClassVar[tuple[On, ...]] = ()
    state_classes: ClassVar[tuple[type, ...]] = ()
    row_local: ClassVar[bool] = False
    # Pods of one workload may exclude each other: Filter reads the pods on the nodes, not only their requests.
    between_pods: ClassVar[bool] = False
    explains: ClassVar[tuple[Point, ...]] = (Point.FILTER,)
    guarded: ClassVar[bool] = False
    canceled: ClassVar[str] = "context canceled"  # its error if a preemption ends its PreBind
    skips: ClassVar[Mapping[Point, str]] = {}
    reasons: ClassVar[tuple[Reason, ...]] = ()

    def __init__(self, args: Mapping[str, Any], handle: Handle) -> None:
        self.args = args
        self.handle = handle

    @classmethod
    def variant(cls, features: Features) -> type[Plugin] | None:
        """Return the class that a release has for this name, or None if the release has no such plugin."""
        return cls

    @classmethod
    def in_default_set(cls, features: Features) -> bool:
        """Return whether a plugin of kube's default order is in the default set with these gates."""
        return True

    @property
    def taints_unheard(self) -> bool:
        """True if the plugin receives taint events only if its registrations include them."""
        return Behavior.TAINTS_UNHEARD in self.handle.features.behaviors

    def registrations(self) -> tuple[On, ...]:
        """Return the events that may help a pod that this plugin rejected; EVERYTHING if it can reject but declares no events."""
        if any("events" in vars(base) for base in type(self).__mro__ if base is not Plugin):
            return self.events
        return EVERYTHING if any(takes_part(type(self), point) for point in _REFUSING) else ()

    def pre_enqueue(self, pod: Pod) -> Status:
        raise NotImplementedError

    def sort_key(self, pod: Pod, timestamp: int) -> tuple[int, ...]:
        """Return the key for QueueSort: smaller sorts first; `timestamp` is when the pod was added to the queue (ns)."""
        raise NotImplementedError

    def sort_status(self, pod: Pod, timestamp: int) -> Status:
        """Return whether QueueSort has a valid key for a pod, as a status; called only for guarded plugins."""
        return SUCCESS

    def pre_filter(self, state: CycleState, pod: Pod, nodes: NodeTable) -> PreFilterResult:
        raise NotImplementedError

    def adjust(self, state: CycleState, pod: Pod, nodes: NodeTable, changes: Sequence[Change]) -> None:
        """PreFilter's AddPod and RemovePod for many rows at once: write a new value of the plugin's state.

        Overridden by plugins whose PreFilter state counts pods. Calls add up. `state` is a copy that belongs to the what-if.
        """

    def filter(self, state: CycleState, pod: Pod, nodes: NodeTable, rows: Rows) -> Verdicts | None:
        """Return the verdicts for the rows, or None if every row passes."""
        raise NotImplementedError

    def post_filter(self, state: CycleState, pod: Pod, nodes: NodeTable, failure: Failure) -> PostFilterResult:
        raise NotImplementedError

    def nominate(
        self,
        pod: Pod,
        nodes: NodeTable,
        failure: Failure,
        evidence: Any,
        victims: Sequence[tuple[str, tuple[Pod, ...], int]] | str,
    ) -> PostFilterResult:
        """Decide after a PostFilter that returned Wait (`failure.extended`); the extenders have reduced the candidates of its `evidence`.

        `victims`: nodes with their victims and the number of violated budgets; or the text of the error that ended the extenders' calls.
        """
        raise NotImplementedError

    def pre_score(self, state: CycleState, pod: Pod, nodes: NodeTable, rows: Rows) -> Status:
        raise NotImplementedError

    def score(self, state: CycleState, pod: Pod, nodes: NodeTable, rows: Rows) -> Scores | Status:
        """Return raw scores, int64[len(rows)]; a status if the plugin cannot score, which ends the cycle as an error."""
        raise NotImplementedError

    def normalize(self, state: CycleState, pod: Pod, nodes: NodeTable, rows: Rows, scores: Scores) -> Scores | Status:
        """Return normalized scores within 0..100, a new array; a status if the plugin cannot, which ends the cycle as an error."""
        raise NotImplementedError

    def reserve(self, state: CycleState, pod: Pod, node_name: str) -> Status:
        raise NotImplementedError

    def unreserve(self, state: CycleState, pod: Pod, node_name: str) -> Status | None:
        """Undo Reserve. In kube this has no result; a guard returns the error, which is recorded and changes nothing."""
        raise NotImplementedError

    def permit(self, state: CycleState, pod: Pod, node_name: str) -> PermitResult:
        raise NotImplementedError

    def pre_bind(self, state: CycleState, pod: Pod, node_name: str) -> CallResult:
        raise NotImplementedError

    def will_pre_bind(self, state: CycleState, pod: Pod, node_name: str) -> bool:
        """Return whether PreBind has work for the pod. kube: PreBindPreFlight"""
        return not self.is_idle(Point.PRE_BIND, state, pod)

    def is_idle(self, point: Point, state: CycleState, pod: Pod) -> bool:
        """Return whether the plugin has no work for the pod at Reserve, Unreserve, Permit, or PreBind."""
        return False

    def bind(self, state: CycleState, pod: Pod, node_name: str) -> CallResult:
        """Bind the pod. SKIP leaves the pod to the next Bind plugin."""
        raise NotImplementedError

    def post_bind(self, state: CycleState, pod: Pod, node_name: str) -> Status | None:
        """Act after the binding. The result is like unreserve's. A text in the state under "PostBind" and the plugin's name is recorded."""
        raise NotImplementedError

    def describe_prepared(self, point: Point, state: CycleState, pod: Pod, nodes: NodeTable) -> Explanation:
        """Return what the plugin prepared at PreFilter or PreScore, for display."""
        return ()

    def explain(self, state: CycleState, pod: Pod, nodes: NodeTable, row: int) -> Explanation:
        """Return the plugin's view of one node, for display; called only on demand, for a node that Filter evaluated."""
        return ()

    def formula(self, state: CycleState, pod: Pod, nodes: NodeTable, row: int) -> Formula | None:
        """Return the formula for a row's raw score, for display; None if the plugin stores no figures."""
        return None

    def normalization(
        self, state: CycleState, pod: Pod, nodes: NodeTable, rows: Rows, scores: Scores, i: int
    ) -> Formula | None:
        """Return the formula by which NormalizeScore turned the raw `scores` into the score of row `i`."""
        return None

    def detail(self, text: str, pod: Pod, node: Node) -> str:
        """Return a more precise text of this plugin's reason against one node, if kube's text is less precise."""
        return text

    def evidence(self, state: CycleState, pod: Pod, nodes: NodeTable, rows: Rows, said: RefusalReason) -> Evidence:
        """Return the facts on rows refused for one reason, as JSON data; `rows`: all, if PreFilter refused. Changes nothing."""
        return {}

    def propose_fixes(self, draft: Draft, refusal: Refusal) -> Iterator[Draft]:
        """Yield drafts with changes that might remove the plugin's rejection of a node; the caller tries each draft."""
        yield from ()


_REFUSING = (Point.PRE_ENQUEUE, Point.PRE_FILTER, Point.FILTER, Point.RESERVE, Point.PERMIT)

_NOT_OF_PLUGINS = ("EXTENDER_", "WAIT_")  # prefixes of points at which no plugin runs
METHODS: dict[Point, str] = {
    **{point: point.name.lower() for point in Point if not point.name.startswith(_NOT_OF_PLUGINS)},
    Point.QUEUE_SORT: "sort_key",
    Point.NORMALIZE_SCORE: "normalize",
}


def takes_part(plugin: type[Plugin], point: Point) -> bool:
    """Return whether the plugin's class overrides the point's method."""
    method = METHODS.get(point)
    return method is not None and getattr(plugin, method) is not getattr(Plugin, method)
