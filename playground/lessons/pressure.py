"""What a kubelet measures on its node, for the facts of lessons."""

from __future__ import annotations

from typing import Any, NamedTuple, cast

from scheduler_core.readings import read_node
from scheduler_core.view import WorldView, format_quantity


class Left(NamedTuple):
    """What is left of a signal, and the largest amount below which the kubelet evicts pods for it; bytes, inodes or process numbers."""

    available: int
    threshold: int

    @property
    def beyond(self) -> int:
        return self.available - self.threshold


def left_of(node: str, signal: str, world: WorldView) -> Left | None:
    """None where there is no such node, or its kubelet doesn't measure the signal."""
    row = read_node(cast("Any", world), node)
    measured = next((each for each in row["signals"] if each["signal"] == signal), None) if row else None
    if measured is None:
        return None
    return Left(measured["available"], max((each["amount"] for each in measured["thresholds"]), default=0))


def amount(number: int) -> str:
    """As manifests have it: 1300Mi."""
    return format_quantity(number, binary=True)
