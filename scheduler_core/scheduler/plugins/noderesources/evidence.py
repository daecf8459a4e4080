"""How near the nodes came that lack something: the least that is missing, and on how many about as little."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from scheduler_core.scheduler.cache.table import NodeTable
from scheduler_core.scheduler.framework.plugin import Evidence, Rows

SHOWN = 5
POD_SLOTS = "pods"
_STEPS = (1, 2, 5)


def lacking(nodes: NodeTable, rows: Rows, resource: str, wanted: int, column: int | None, field: str) -> Evidence:
    """Amounts are in kube's base units: millicores of cpu, bytes of memory. `tooSmall`: nodes that would lack it even if empty."""
    if column is None or column >= nodes.allocatable.shape[1]:
        return {"resource": resource, "requested": wanted, "field": field, "tooSmall": len(rows), "most": 0}
    allocatable = nodes.allocatable[rows, column]
    free = allocatable - nodes.requested[rows, column]
    return _figures(nodes, rows, {"resource": resource, "requested": wanted, "field": field}, allocatable, free)


def collect_crowding(nodes: NodeTable, rows: Rows) -> Evidence:
    """Nodes without room for one more pod."""
    allowed = nodes.allowed_pods[rows]
    said = {"resource": POD_SLOTS, "requested": 1, "field": "status.allocatable.pods"}
    return _figures(nodes, rows, said, allowed, allowed - nodes.pod_count[rows])


def _figures(
    nodes: NodeTable, rows: Rows, said: Mapping[str, object], allocatable: NDArray[np.int64], free: NDArray[np.int64]
) -> Evidence:
    wanted = int(str(said["requested"]))
    short = wanted - free
    possible = allocatable >= wanted
    figures = {**said, "tooSmall": int((~possible).sum()), "most": int(allocatable.max())}
    if not possible.any():
        return figures
    order = np.lexsort((rows, np.where(possible, short, np.iinfo(np.int64).max)))[:SHOWN].tolist()
    below = _round_up(int(short[order[0]]))
    return {
        **figures,
        "near": {
            "atMost": below,
            "count": int((possible & (short <= below)).sum()),
            "nodes": [
                {
                    "node": nodes.names[rows[i]],
                    "short": int(short[i]),
                    "free": int(free[i]),
                    "allocatable": int(allocatable[i]),
                }
                for i in order
                if possible[i]
            ],
        },
    }


def _round_up(number: int) -> int:
    """Round up to 1, 2 or 5 and zeros; from 1 MiB, to a power of two of mebibytes."""
    unit = 1 << 20 if number >= 1 << 20 else 1
    scale = unit
    while True:
        for step in _STEPS if unit == 1 else (1, 2, 4, 8):
            if step * scale >= number:
                return step * scale
        scale *= 10 if unit == 1 else 16
