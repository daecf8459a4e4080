"""Two sessions as charts: how full the cluster is, and how many pods have a node over virtual time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

SECOND = 1_000_000_000
NAMES = ("A", "B")


def utilisation(sides: Sequence[Any]) -> dict[str, Any]:
    """A figure: per resource how much of it is requested, in percent, one bar for each session."""
    names = list(dict.fromkeys(resource.resource for side in sides for resource in side.resources))
    data = []
    for name, side in zip(NAMES, sides, strict=True):
        used = {line.resource: 100 * line.requested / line.allocatable for line in side.resources}
        bars = [round(used.get(resource, 0.0), 1) for resource in names]
        data.append({"type": "bar", "name": name, "x": names, "y": bars})
    layout = {"barmode": "group", "yaxis": {"ticksuffix": " %", "rangemode": "tozero"}}
    return {"kind": "utilisation", "data": data, "layout": layout}


def bound_over_time(sides: Sequence[Any]) -> dict[str, Any]:
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
