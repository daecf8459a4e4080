"""What one evaluation holds: its cost so far, its limit, what is watched, then the variables by slot.

A plain list, since every step of an evaluation reads and writes it.
"""

from __future__ import annotations

from collections.abc import Callable

from scheduler_core.cel.operators import Cancelled
from scheduler_core.cel.values import Failure

COST, LIMIT, SEEN, FIRST_SLOT = 0, 1, 2, 3
OVER = "operation cancelled: actual cost limit exceeded"
UNSET = object()
"""What an accumulator holds before its first use."""

Frame = list[object]
Run = Callable[[list], object]  # type: ignore[type-arg]
"""One node, compiled."""


def charge(frame: list, cost: int) -> None:  # type: ignore[type-arg]
    """Adds to the cost. Cancelled where it is over the limit."""
    frame[COST] += cost
    if frame[COST] > frame[LIMIT]:
        raise Cancelled(OVER)


def failed(value: object) -> bool:
    return value.__class__ is Failure
