"""The state of the node controllers."""

from dataclasses import dataclass, field

from scheduler_core.base.state import Copied, State

# Signs that controllers undo each other's work: the last writer of a field, and early ends of an owner's objects.


@dataclass(frozen=True, slots=True)
class FieldWrite:
    """The last write of a field: the controller and its key, the controller and key `against` which it wrote, the time (ns), and a digest
    of the former value. `swings` counts consecutive writes that restored a value after another's change, since `since` (ns).
    """

    controller: str
    key: str
    against: tuple[str, str]
    t: int
    before: str
    swings: int
    since: int


@dataclass(frozen=True, slots=True)
class EarlyEnds:
    """The times (ns) when an owner's objects ended soon after creation, and the controller behind the last end."""

    owner: str
    kind: str
    by: str
    times: tuple[int, ...]


@dataclass(slots=True)
class Troubles(State):
    """The signs of trouble: `fields` by object and path, `early` by the owner's UID. The oldest are dropped."""

    fields: Copied[dict[str, FieldWrite]] = field(default_factory=dict)
    early: Copied[dict[str, EarlyEnds]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PlannedEviction:
    """A pod that a NoExecute taint evicts later: the time of the plan and the due time (ns), and the reason."""

    since: int
    at: int
    why: str


@dataclass(slots=True)
class Zone(State):
    """A zone of nodes: its state, and the nodes that wait for their NoExecute taint.

    `rate`: the nodes to taint per second, negative for none; `free_at`: the next time (ns) for one. `waiting`: nodes with the time (ns)
    from which they may be tainted; `seen`: nodes that wait or were tainted, which are not queued a second time.
    """

    state: str
    rate: float
    free_at: int
    waiting: Copied[dict[str, int]] = field(default_factory=dict)
    seen: Copied[dict[str, None]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class DrainedPod:
    """A pod that a drain evicts: the number of eviction requests, and the last refusal."""

    key: str  # namespace/name
    uid: str
    tries: int = 0
    evicted: bool = False
    refusal: str = ""
    done: bool = False  # the pod is gone, or can't be evicted at all: `refusal` has the reason

    @property
    def waits(self) -> bool:
        """True if the eviction has yet to be granted."""
        return not self.done and not self.evicted


@dataclass(frozen=True, slots=True)
class Drain:
    """A drain of a node: its start (ns), its pods, and its end and outcome ("" for success)."""

    node: str
    since: int
    grace: int | None
    pods: tuple[DrainedPod, ...]
    warnings: tuple[str, ...] = ()
    ended: int | None = None
    outcome: str = ""


@dataclass(slots=True)
class NodesMemory(State):
    """The state of the node controllers. `evictions` by pod (namespace/name). `heard`: the known nodes, with the time (ns) of their last
    health report. `drains`: the last one of each node.
    """

    evictions: Copied[dict[str, PlannedEviction]] = field(default_factory=dict)
    heard: Copied[dict[str, int]] = field(default_factory=dict)
    zones: Copied[dict[str, Zone]] = field(default_factory=dict)  # by kube's key of the zone
    drains: Copied[dict[str, Drain]] = field(default_factory=dict)
