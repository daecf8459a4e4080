"""Two sessions as charts: how full the cluster is, and how many pods have a node over virtual time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

SECOND = 1_000_000_000
NAMES = ("A", "B")


class ResourceUse(Protocol):
    """The requested and allocatable amounts of a resource."""

    @property
    def resource(self) -> str: ...

    @property
    def requested(self) -> int: ...

    @property
    def allocatable(self) -> int: ...


class History(Protocol):
    """`bound` is (virtual time, pods that have a node), where that number changed."""

    @property
    def resources(self) -> Sequence[ResourceUse]: ...

    @property
    def bound(self) -> Sequence[tuple[int, int]]: ...


def utilisation(sides: Sequence[History]) -> dict[str, Any]:
    """A figure: per resource how much of it is requested, in percent, one bar for each session."""
    names = list(dict.fromkeys(use.resource for side in sides for use in side.resources))
    data = []
    for name, side in zip(NAMES, sides, strict=True):
        used = {use.resource: 100 * use.requested / use.allocatable for use in side.resources}
        bars = [round(used.get(resource, 0.0), 1) for resource in names]
        data.append({"type": "bar", "name": name, "x": names, "y": bars})
    layout = {"barmode": "group", "yaxis": {"ticksuffix": " %", "rangemode": "tozero"}}
    return {"kind": "utilisation", "data": data, "layout": layout}


def plot_bound_pods(sides: Sequence[History]) -> dict[str, Any]:
    """A figure: pods with a node over virtual time in seconds, one line for each session."""
    data = [
        {
            "type": "scatter",
            "mode": "lines",
            "line": {"shape": "hv"},
            "name": name,
            "x": [t / SECOND for t, _ in side.bound],
            "y": [count for _, count in side.bound],
        }
        for name, side in zip(NAMES, sides, strict=True)
    ]
    return {
        "kind": "bound",
        "data": data,
        "layout": {"xaxis": {"ticksuffix": " s"}, "yaxis": {"rangemode": "tozero"}},
    }
