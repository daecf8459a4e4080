"""The journal: what is kept of a world's past so that it can be shown at once: attempts, and where each pod was when.

Both lists only grow. The moves of one pod are chained by index, so that its lane is found without reading the others'.
"""

from __future__ import annotations

from typing import NamedTuple


class Place:
    """Where a pod can be (words of the screen and of the trace)."""

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


class Move(NamedTuple):
    """A pod came to a place; `prev` is the index of its move before (-1: none)."""

    pod: str
    t: int
    position: int
    place: str
    cause: str
    prev: int


class Attempt(NamedTuple):
    """One finished scheduling cycle in summary. Times are virtual nanoseconds."""

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


class Journal:
    """Attempts and moves, oldest first."""

    __slots__ = ("attempts", "last_attempt", "last_move", "moves")

    def __init__(self) -> None:
        self.attempts: list[Attempt] = []
        self.moves: list[Move] = []
        self.last_move: dict[str, int] = {}
        self.last_attempt: dict[str, int] = {}  # pod -> index of its last attempt

    def move(self, pod: str, t: int, position: int, place: str, cause: str) -> None:
        self.moves.append(Move(pod, t, position, place, cause, self.last_move.get(pod, -1)))
        self.last_move[pod] = len(self.moves) - 1

    def attempt(self, attempt: Attempt) -> None:
        self.last_attempt[attempt.pod] = len(self.attempts)
        self.attempts.append(attempt)

    def place(self, pod: str) -> str:
        """Where the pod is now; "" if it was never seen."""
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

    def copy(self) -> Journal:
        twin = Journal()
        twin.attempts = list(self.attempts)
        twin.moves = list(self.moves)
        twin.last_move = dict(self.last_move)
        twin.last_attempt = dict(self.last_attempt)
        return twin
