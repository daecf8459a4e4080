"""The queue's treatment of a pod between two attempts, for questions of lessons."""

from scheduler_core.world.readonly import ATTEMPT_FAILED, Attempt, Move, WorldView

QUEUED = frozenset({"active", "backoff"})


def wakings(pod: str, world: WorldView) -> list[str]:
    """The cluster events that moved a pod to the active queue or the backoff queue, oldest first."""
    return [move.why[0] for move in world.journal.lane(pod) if move.why and move.place in QUEUED]


def woken_by(event: str, world: WorldView) -> list[str]:
    """Return the keys of the pods that an event of this name has moved to one of these queues."""
    moves = [move for move in world.journal.moves if move.why and move.place in QUEUED]
    return sorted({move.pod for move in moves if move.why[:1] == (event,)})


def woken_before(attempt: Attempt, earlier: Attempt, world: WorldView) -> Move | None:
    """The move by which an event woke the pod between two attempts; None where no event did."""
    between = [
        move
        for move in world.journal.lane(attempt.pod)
        if earlier.last_position <= move.position <= attempt.first_position and move.why and move.place in QUEUED
    ]
    return between[0] if between else None


def backoff_after(attempt: Attempt, world: WorldView) -> int:
    """Return the duration (ns) of the backoff that follows an attempt; 0 if the pod does not back off."""
    for move in world.journal.lane(attempt.pod):
        if move.position >= attempt.last_position and move.until:
            return move.until - (move.t if move.cause == ATTEMPT_FAILED else attempt.ended)
    return 0
