"""What one evaluation holds: its cost so far, its limit, what is watched, then the variables by slot.

A plain list, since every step of an evaluation reads and writes it.
"""

from collections.abc import Callable
from typing import Any

from scheduler_core.apimachinery.cel.limits import OVER
from scheduler_core.apimachinery.cel.values import Failure

__all__ = ["COST", "FIRST_SLOT", "LIMIT", "OVER", "SEEN", "UNSET", "Frame", "Run", "Step", "is_failure"]

COST, LIMIT, SEEN, FIRST_SLOT = 0, 1, 2, 3
UNSET = object()
"""What an accumulator holds before its first use."""

Frame = list[Any]
Run = Callable[[Frame], Any]
"""One node, compiled."""
Step = Callable[[Frame, Any], Any]
"""One field or index, compiled: of the frame and the value it is taken of."""


def is_failure(value: object) -> bool:
    return value.__class__ is Failure
