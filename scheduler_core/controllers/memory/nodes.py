"""What the controllers of nodes remember between two looks at the store."""

from dataclasses import dataclass, field

from scheduler_core.base.state import Copied, State

# Signs that controllers undo each other's work: who wrote a field last, and how soon the objects of an owner end.


@dataclass(frozen=True, slots=True)
class FieldWrite:
    """The last write of a field: by which controller for which key, and `against` whom; when (ns), a digest of what it was before, and
    how often in a row such a write has put back what another had changed, since when (ns).
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
    """`fields` by object and path, `early` by the owner's uid; the oldest of many are forgotten."""

    fields: Copied[dict[str, FieldWrite]] = field(default_factory=dict)
    early: Copied[dict[str, EarlyEnds]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PlannedEviction:
    """A pod that a NoExecute taint evicts later: planned when and due when (ns), and why."""

    since: int
    at: int
    why: str


@dataclass(slots=True)
class Zone(State):
    """A zone of nodes: its state, and the nodes that wait there for their NoExecute taint.

    `rate`: how many nodes may be tainted a second, below 0 for none; `free_at`: when (ns) the next one may be. `waiting`: nodes with the
    time (ns) from which on they may be tainted; `seen`: those that wait or have had their turn, and are not taken on a second time.
    """

    state: str
    rate: float
    free_at: int
    waiting: Copied[dict[str, int]] = field(default_factory=dict)
    seen: Copied[dict[str, None]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class DrainedPod:
    """A pod that a drain wants gone: how often its eviction was asked for, and what was answered last where it was refused."""

    key: str  # namespace/name
    uid: str
    tries: int = 0
    evicted: bool = False
    refusal: str = ""
    done: bool = False  # it has gone, or can't be evicted at all: `refusal` says why

    @property
    def waits(self) -> bool:
        """True if the eviction has yet to be granted."""
        return not self.done and not self.evicted


@dataclass(frozen=True, slots=True)
class Drain:
    """A drain of a node: since when it goes on (ns), its pods, and when and how it ended; `outcome` is "" where it ended well."""

    node: str
    since: int
    grace: int | None
    pods: tuple[DrainedPod, ...]
    warnings: tuple[str, ...] = ()
    ended: int | None = None
    outcome: str = ""


@dataclass(slots=True)
class NodesMemory(State):
    """`evictions` by pod (namespace/name). `heard`: the nodes that are known, with when (ns) their health last counted as reported.
    `drains`: the last one of each node.
    """

    evictions: Copied[dict[str, PlannedEviction]] = field(default_factory=dict)
    heard: Copied[dict[str, int]] = field(default_factory=dict)
    zones: Copied[dict[str, Zone]] = field(default_factory=dict)  # by kube's key of the zone
    drains: Copied[dict[str, Drain]] = field(default_factory=dict)
