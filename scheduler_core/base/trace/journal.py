"""The journal: the parts of a world's past that must be available at once: attempts, and the places of each pod over time.

Both lists are append-only. The moves of one pod are chained by index, so that its lane is found without reading the others'.
"""

from typing import Any, NamedTuple

from scheduler_core.base.state import Copied, Derived, Growing, Shared, State


class Place:
    """The places where a pod can be (words of the screen and of the trace)."""

    GATED = "gated"
    ACTIVE = "active"
    BACKOFF = "backoff"
    UNSCHEDULABLE = "unschedulable"
    IN_FLIGHT = "in flight"
    WAITING = "waiting on permit"
    BINDING = "binding"
    BOUND = "bound"
    RUNNING = "running"
    IGNORED = "ignored"
    DELETED = "deleted"


Why = tuple[str, str, str] | tuple[()]
"""The event that moved a pod, the plugin whose hint decided ("" where none did), and the hint; () where no event moved it."""


class Move(NamedTuple):
    """A pod's arrival at a place. `prev` is the index of the pod's previous move (-1: none). `until`: the end of its backoff (ns), or 0."""

    pod: str
    t: int
    position: int
    place: str
    cause: str
    prev: int
    why: Why = ()
    until: int = 0


class Attempt(NamedTuple):
    """Summary of one finished scheduling cycle. Times are virtual nanoseconds.

    `plugins` are those that rejected the pod. `nominated` is the node that preemption selected, and `victims` are the pods to evict.
    """

    number: int
    pod: str
    scheduler: str
    profile: str
    started: int
    ended: int
    first_position: int
    last_position: int
    outcome: str
    node: str
    message: str
    evaluated: int
    feasible: int
    tied: int
    refusals: tuple[tuple[str, int], ...]
    plugins: tuple[str, ...] = ()
    nominated: str = ""
    victims: tuple[str, ...] = ()


class ProcessMove(NamedTuple):
    """A change of state of a scheduler process: a stage, or "leading". `leader` is the leader as far as the process knows."""

    scheduler: str
    identity: str
    t: int
    position: int
    state: str
    leader: str
    cut_off: bool


class Journal(State):
    """Attempts and moves, oldest first. `ignored` are the pods that no scheduler is for."""

    __slots__ = ("_same", "attempts", "ignored", "last_attempt", "last_move", "moves", "processes")

    attempts: Growing[Attempt]
    moves: Growing[Move]
    processes: Growing[ProcessMove]
    last_move: Derived[Copied[dict[str, int]]]
    last_attempt: Derived[Copied[dict[str, int]]]  # pod -> index of its last attempt
    ignored: Copied[dict[str, None]]
    _same: Derived[Shared[dict[Any, Any]]]  # equal texts and reasons are kept once; only ever added to

    def __init__(self) -> None:
        self.attempts = []
        self.moves = []
        self.processes = []
        self.last_move = {}
        self.last_attempt = {}
        self.ignored = {}
        self._same = {}

    def decoded(self) -> None:
        self.last_move = {move.pod: index for index, move in enumerate(self.moves)}
        self.last_attempt = {attempt.pod: index for index, attempt in enumerate(self.attempts)}

    def move(self, pod: str, t: int, position: int, place: str, cause: str, why: Why = (), until: int = 0) -> None:
        prev, same = self.last_move.get(pod, -1), self._same
        if prev >= 0:
            pod = self.moves[prev].pod
        if why:
            why = same.setdefault(why, why)
        cause = same.setdefault(cause, cause)
        self.last_move[pod] = len(self.moves)
        self.moves.append(Move(pod, t, position, place, cause, prev, why, until))
        if place == Place.IGNORED:
            self.ignored[pod] = None
        elif self.ignored:
            self.ignored.pop(pod, None)

    def attempt(self, attempt: Attempt) -> None:
        self.last_attempt[attempt.pod] = len(self.attempts)
        self.attempts.append(attempt)

    def place(self, pod: str) -> str:
        """Return the pod's current place; "" if the pod was never seen."""
        index = self.last_move.get(pod)
        return self.moves[index].place if index is not None else ""

    def lane(self, pod: str) -> list[Move]:
        """The pod's moves, oldest first."""
        out: list[Move] = []
        index = self.last_move.get(pod, -1)
        while index >= 0:
            out.append(self.moves[index])
            index = self.moves[index].prev
        out.reverse()
        return out

    def attempts_of(self, pod: str) -> list[Attempt]:
        """The pod's finished attempts, oldest first."""
        last = self.last_attempt.get(pod, -1)
        return [attempt for attempt in self.attempts[: last + 1] if attempt.pod == pod]
