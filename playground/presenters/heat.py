"""The heat map of a large cluster: one byte a node for what the map shows, one number a node for its group.

The client knows the nodes' names from nodes.json, in the same order; `order` says whether its copy is still right.
"""

from __future__ import annotations

import base64
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from playground.presenters.node_cards import Moment
from playground.presenters.refusals import FEASIBLE, Refusals
from playground.presenters.scene import utilisation
from scheduler_core.view import NodeTable

PLAIN, OK, NO, BEST, HERE, CHANGED = 0, 1, 2, 3, 4, 5
MAX_GROUPS = 60


def order_of(table: NodeTable) -> str:
    """A fingerprint of the nodes and their order."""
    return f"{zlib.crc32(chr(10).join(table.names).encode()):08x}" if table.names else ""


def groups_card(table: NodeTable, key: str) -> dict[str, Any]:
    """Which node belongs to which value of a label; the values are ordered by name, what has none comes last."""
    column = table.label(key) if key else None
    values = list(column.values) if column is not None else []
    if len(values) > MAX_GROUPS:
        values, column = [], None
    ranks = np.full(len(values) + 1, len(values), np.uint8)
    ordered = sorted(range(len(values)), key=lambda i: values[i])
    for rank, i in enumerate(ordered):
        ranks[i] = rank
    codes = ranks[column.codes] if column is not None else np.zeros(len(table), np.uint8)
    return {
        "id": "map-groups",
        "kind": "groups",
        "order": order_of(table),
        "values": [values[i] for i in ordered],
        "codes": packed(codes),
    }


def heat_card(table: NodeTable, refusals: Refusals, moment: Moment, mode: str) -> dict[str, Any]:
    """State and value (0..255) of every node."""
    state = np.zeros(len(table), np.uint8)
    state[refusals.group == FEASIBLE] = OK
    state[refusals.group >= 0] = NO
    if moment.score is not None:
        state[(moment.score == moment.best) & (moment.score >= 0)] = BEST
    row = table.row(moment.placed_on) if moment.placed_on else None
    if row is not None:
        state[row] = HERE
    value = _value(table, moment, mode)
    reason = np.where(refusals.group >= 0, refusals.group, 255).astype(np.uint8)
    return {
        "id": "map-heat",
        "kind": "heat",
        "mode": mode,
        "state": packed(state),
        "value": packed(value),
        "reason": packed(reason),
        "reasons": [status.message for status in refusals.statuses],
        "scores": _scores(moment, mode),
        "chosen": moment.chosen_node,
    }


def _value(table: NodeTable, moment: Moment, mode: str) -> NDArray[np.uint8]:
    if mode == "score" and moment.score is not None and moment.best > 0:
        low = lowest(moment.score)
        spread = max(moment.best - low, 1)
        return np.clip((moment.score - low) * 255 // spread, 0, 255).astype(np.uint8)
    if mode == "filter":
        return np.zeros(len(table), np.uint8)
    return np.clip(utilisation(table) * 255, 0, 255).astype(np.uint8)


def lowest(score: NDArray[np.int64]) -> int:
    """The lowest total of a scored node: the pale end of the scale."""
    scored = score[score >= 0]
    return int(scored.min()) if len(scored) else 0


def _scores(moment: Moment, mode: str) -> list[int]:
    """The totals at the ends of the scale; empty where the map shows no scores."""
    return [lowest(moment.score), moment.best] if mode == "score" and moment.score is not None else []


def packed(values: NDArray[np.uint8]) -> str:
    """Bytes as base64."""
    return base64.b64encode(np.ascontiguousarray(values, np.uint8).tobytes()).decode()
