"""The kubelets' own state, which the API server does not have: the containers on the nodes, and the start time of each kubelet."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from scheduler_core.base.state import Copied, Shared, State
from scheduler_core.scheduler.config.kubelet import Threshold

# The state of the kubelets' eviction managers: thresholds and conditions with their times, and the last ranking of each node.


@dataclass(frozen=True, slots=True)
class EvictionState:
    """A node's eviction state after its last housekeeping. Times in ns.

    `first`: when each threshold was first met; `last`: when conditions were last met; `observed`: the conditions met in the last
    housekeeping; `met`: the thresholds to act on. `freed`: the bytes of unused images, and how many of them were freed. `waits_for`: pods
    (keys) that are being evicted, until `patience` at most.
    """

    at: int
    first: tuple[tuple[Threshold, int], ...] = ()
    last: tuple[tuple[str, int], ...] = ()
    observed: tuple[str, ...] = ()
    met: tuple[Threshold, ...] = ()
    freed: tuple[int, int] = (0, 0)
    waits_for: tuple[str, ...] = ()
    patience: int = 0


@dataclass(frozen=True, slots=True)
class RankedVictim:
    """A pod in a ranking for eviction, with the values that determine its rank (bytes, inodes or pids)."""

    pod: str
    priority: int
    usage: int
    request: int
    exceeds: bool
    critical: bool = False


@dataclass(frozen=True, slots=True)
class Eviction:
    """A kubelet's choice of a pod to evict: reason, `threshold` and `available` as text, the pods in the order of eviction."""

    t: int
    node: str
    signal: str
    resource: str
    threshold: str
    available: str
    ranking: tuple[RankedVictim, ...]
    chosen: str
    message: str


MOST_EVICTIONS = 5  # kept per node


@dataclass(frozen=True, slots=True)
class ContainerEnd:
    """A run of a container that is over. Times in ns."""

    started: int
    ended: int
    exit_code: int
    reason: str


@dataclass(frozen=True, slots=True)
class ContainerRun:
    """The state of a container on its node. Times in ns.

    `started` and `ended` belong to the current or last run; `ends` is the planned end of that run, with `exit_code`, whether by itself or
    after a signal. `last` is the previous run. `pause` is the back-off, which was reached at `paused_at`.
    """

    name: str
    image: str = ""
    starts: int = 0
    started: int | None = None
    ends: int | None = None
    ended: int | None = None
    exit_code: int = 0
    reason: str = ""
    signalled: bool = False  # SIGTERM was sent
    changed: bool = False  # it ends because its image has changed
    last: ContainerEnd | None = None
    pause: int = 0
    paused_at: int = 0
    allocated: Mapping[str, Any] | None = None  # requests and limits that the kubelet granted
    actual: Mapping[str, Any] | None = None  # its current requests and limits, until a resize is done

    @property
    def running(self) -> bool:
        return self.started is not None and self.ended is None

    def runs_at(self, now: int) -> bool:
        """Return whether a container runs at `now`, considering an end not observed yet."""
        return self.running and (self.ends is None or self.ends > now)


@dataclass(frozen=True, slots=True)
class Kill:
    """A pod's termination: its start and latest end (ns), and the reason, if the kubelet initiated the termination.

    `disruption`: the message of the pod's condition DisruptionTarget, set with its phase; "" for none.
    """

    at: int
    until: int
    grace: int  # seconds
    reason: str = ""
    message: str = ""
    disruption: str = ""


@dataclass(frozen=True, slots=True)
class PodRun:
    """A pod that a kubelet has admitted, and when (ns). `starts_at`: the earliest start of its containers (ns).

    `pending` and `in_progress` are the conditions PodResizePending and PodResizeInProgress; `actuates_at`: when the runtime will have
    resized the containers (ns).
    """

    uid: str
    node: str
    admitted: int
    starts_at: int
    init: tuple[ContainerRun, ...]
    containers: tuple[ContainerRun, ...]
    kill: Kill | None = None
    pending: Mapping[str, Any] | None = None
    in_progress: Mapping[str, Any] | None = None
    actuates_at: int | None = None

    @property
    def all(self) -> tuple[ContainerRun, ...]:
        return (*self.init, *self.containers)

    def with_each(self, change: Callable[[ContainerRun], ContainerRun]) -> PodRun:
        """Return the run after a change of each container."""
        return replace(self, init=tuple(map(change, self.init)), containers=tuple(map(change, self.containers)))


@dataclass(frozen=True, slots=True)
class Resizes:
    """A node's pods with a pending resize, and the time of the last attempt (ns)."""

    pods: tuple[str, ...] = ()
    at: int = 0


@dataclass(slots=True)
class KubeletMemory(State):
    """The state of all kubelets.

    `pods` by key; by node `on_node`, keys of the admitted pods in the order of admission, `since` and `stopped`.
    """

    pods: Copied[dict[str, PodRun]] = field(default_factory=dict)
    on_node: Copied[dict[str, tuple[str, ...]]] = field(default_factory=dict)
    since: Copied[dict[str, int]] = field(default_factory=dict)  # when the kubelet started (ns)
    stopped: Copied[dict[str, int]] = field(default_factory=dict)  # when the kubelet stopped, if it does not run (ns)

    eviction: Copied[dict[str, EvictionState]] = field(default_factory=dict)
    evictions: Copied[dict[str, tuple[Eviction, ...]]] = field(default_factory=dict)  # the newest of each node
    pressure: Copied[dict[str, tuple[str, ...]]] = field(default_factory=dict)  # conditions that are True

    resizes: Copied[dict[str, Resizes]] = field(default_factory=dict)  # by node
    asking: Copied[dict[str, bool]] = field(
        default_factory=dict
    )  # pods whose requests differ from their allocated resources
    mirrors: Copied[dict[str, Shared[tuple[Mapping[str, Any], PodRun]]]] = field(default_factory=dict)  # deleted ones
    image_sizes: Copied[dict[str, int]] = field(default_factory=dict)  # bytes, by name with its tag
    pulled: Copied[dict[str, tuple[str, ...]]] = field(default_factory=dict)  # by node, images not yet reported
    homeless: Copied[dict[str, tuple[str, ...]]] = field(default_factory=dict)  # pods of nodes that do not exist

    def put(self, key: str, run: PodRun) -> None:
        """Store the current state of a pod."""
        if key not in self.pods:
            self.on_node[run.node] = (*self.on_node.get(run.node, ()), key)
        self.pods[key] = run

    def note(self, eviction: Eviction) -> None:
        """Record an eviction. The last few of each node are kept."""
        kept = (*self.evictions.get(eviction.node, ()), eviction)
        self.evictions[eviction.node] = kept[-MOST_EVICTIONS:]

    def drop(self, key: str) -> None:
        """Delete a pod's state."""
        run = self.pods.pop(key, None)
        self.asking.pop(key, None)
        if run is not None:
            others = tuple(other for other in self.on_node.get(run.node, ()) if other != key)
            if others:
                self.on_node[run.node] = others
            else:
                self.on_node.pop(run.node, None)
