"""Near misses: of each group of nodes that are refused alike, the few on which least is missing."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from scheduler_core.analysis.fixes.diagnosis import Diagnosis
from scheduler_core.apimachinery.objects.selection import misses

GROUPS = 12
LOOKED_AT = 200  # rows of a group whose labels are compared one by one
EACH = 2


def near_rows(diagnosis: Diagnosis) -> list[int]:
    """Rows to aim at: of each distinct refusal at most EACH, the groups with the least missing first."""
    short = shortage(diagnosis)
    groups: dict[tuple[str, tuple[str, ...]], list[int]] = {}
    if diagnosis.whole is not None:
        groups[(diagnosis.whole.plugin, diagnosis.whole.reasons)] = list(range(len(diagnosis.nodes)))
    for row, status in sorted(diagnosis.refused.items()):
        groups.setdefault((status.plugin, status.reasons), []).append(row)
    chosen = [_nearest(diagnosis, rows, short) for rows in groups.values()]
    ranked = sorted(chosen, key=lambda rows: _rank(diagnosis, rows[0], short))
    return [row for rows in ranked[:GROUPS] for row in rows]


def shortage(diagnosis: Diagnosis) -> NDArray[np.float64]:
    """Per row how much of the requests is missing, summed over resources: 0 where all is free, 1 for each one lacking whole."""
    nodes, requests = diagnosis.nodes, diagnosis.pod.requests
    missing = np.zeros(len(nodes), np.float64)
    for name in ("cpu", "memory", "ephemeral-storage", *(scalar for scalar, _ in requests.scalar)):
        wanted = requests.get(name)
        column = nodes.resources.columns.get(name)
        if not wanted:
            continue
        if column is None or column >= nodes.allocatable.shape[1]:
            missing += 1.0
            continue
        free = nodes.allocatable[:, column] - nodes.requested[:, column]
        missing += np.clip((wanted - free) / wanted, 0.0, None)
    return missing + (nodes.pod_count >= nodes.allowed_pods)


def _nearest(diagnosis: Diagnosis, rows: list[int], short: NDArray[np.float64]) -> list[int]:
    by_room = sorted(rows, key=lambda row: (float(short[row]), row))[:LOOKED_AT]
    return sorted(by_room, key=lambda row: _rank(diagnosis, row, short))[:EACH]


def _rank(diagnosis: Diagnosis, row: int, short: NDArray[np.float64]) -> tuple[bool, int, float, int]:
    return bool(short[row] > 0), misses(diagnosis.pod, diagnosis.nodes.nodes[row]), float(short[row]), row
