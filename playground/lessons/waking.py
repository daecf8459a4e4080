"""What a scheduling queue did with a pod between two attempts, as lessons ask about it."""

from __future__ import annotations

from scheduler_core.view import Attempt, Move, WorldView

QUEUED = frozenset({"active", "backoff"})


def wakings(pod: str, world: WorldView) -> list[str]:
    """The cluster events that moved a pod to the active queue or the backoff queue, oldest first."""
    return [move.why[0] for move in world.journal.lane(pod) if move.why and move.place in QUEUED]


def woken_before(attempt: Attempt, earlier: Attempt, world: WorldView) -> Move | None:
    """The move by which an event woke the pod between two attempts; None where no event did."""
    between = [
        move
        for move in world.journal.lane(attempt.pod)
        if earlier.last_position <= move.position <= attempt.first_position
        and move.why
        and move.place in QUEUED
    ]
    return between[0] if between else None


def backoff_after(attempt: Attempt, world: WorldView) -> int:
    """Until when (ns) the backoff lasts that follows an attempt; 0 where the pod did not back off."""
    later = [
        move.until
        for move in world.journal.lane(attempt.pod)
        if move.position >= attempt.last_position and move.until
    ]
    return later[0] if later else 0
