"""The heat map of a large cluster: for each node, a byte each for verdict, band, refusal, and group.

The client reads the nodes' names from nodes.json, in the same order; `order` tells whether its copy is current.
"""

import base64
import itertools
import zlib
from dataclasses import dataclass
from typing import Literal, TypedDict

import numpy as np
from numpy.typing import NDArray

from playground.presenters.cluster_map.node_cards import Moment
from playground.presenters.cluster_map.search import Mask
from playground.presenters.scene import FEASIBLE, Refusals, cycle_of, framework_of, utilisation, verdict_rows
from playground.presenters.words import beside
from scheduler_core.world.readonly import Code, NodeTable, Point, WorldView

VERDICT, TOTAL, FULLER, PODS = "filter", "score", "utilisation", "pods"
POINTS = "score:"  # and a plugin's name
BANDS = 7
NONE = 255
PODS_OF_CARD = 12


@dataclass(frozen=True, slots=True)
class Measure:
    """`band[i]` is the band of node i, or NONE without a value. `labels` describe the bands, lowest first."""

    band: NDArray[np.uint8]
    labels: list[str]


class Choices(TypedDict):
    """The resources that any node has, and the plugins that score."""

    resources: list[str]
    plugins: list[str]


def choices(sim: WorldView, table: NodeTable) -> Choices:
    names = list(table.resources.names)[: table.allocatable.shape[1]]
    resources = [name for i, name in enumerate(names) if table.allocatable[:, i].any()]
    return {"resources": [*resources, PODS], "plugins": [plugin.name for plugin in framework_of(sim).at(Point.SCORE)]}


def compute_measure(sim: WorldView, table: NodeTable, mode: str) -> Measure | None:
    """Return the measure of a mode; None for verdicts and unknown modes."""
    if mode == TOTAL or mode.startswith(POINTS):
        return _bands_of(points(sim, table, mode.removeprefix(POINTS) if mode != TOTAL else ""))
    if mode == FULLER:
        return _shares(utilisation(table), np.ones(len(table), np.bool_))
    used, has = _use(table, mode)
    return None if used is None or has is None else _shares(used / np.maximum(has, 1), has > 0)


def _use(table: NodeTable, resource: str) -> tuple[NDArray[np.int64] | None, NDArray[np.int64] | None]:
    if resource == PODS:
        return table.pod_count.astype(np.int64), table.allowed_pods.astype(np.int64)
    names = table.resources.names[: table.allocatable.shape[1]]
    if resource not in names:
        return None, None
    column = list(names).index(resource)
    return table.requested[:, column].astype(np.int64), table.allocatable[:, column].astype(np.int64)


def _shares(part: NDArray[np.float64], there: NDArray[np.bool_]) -> Measure:
    band = np.clip((part * BANDS).astype(np.int64), 0, BANDS - 1)
    edges = [-(-100 * i // BANDS) for i in range(BANDS + 1)]
    labels = [f"{low}–{high - 1} %" for low, high in itertools.pairwise(edges)]
    labels[-1] = f"≥ {edges[-2]} %"
    return Measure(np.where(there, band, NONE).astype(np.uint8), labels)


def points(sim: WorldView, table: NodeTable, plugin: str = "") -> NDArray[np.int64] | None:
    """Return each node's weighted points of a plugin, or the total so far; -1 for nodes without a score. None without any scores."""
    cycle = cycle_of(sim)
    board = cycle.scores if cycle is not None else None
    if cycle is None or board is None or not board.normalized:
        return None
    if plugin and plugin not in board.plugins[: len(board.normalized)]:
        return None
    if plugin:
        found = board.weighted[board.plugins.index(plugin)]
    else:
        found = board.total if board.total is not None else np.sum(board.weighted, axis=0)
    # Map scores from the scored rows to the rows of the table.
    rows = board.rows
    out = np.full(cycle.nodes.snapshot_rows, -1, np.int64)
    origins = rows if cycle.nodes.origins is None else cycle.nodes.origins[rows]
    out[origins[origins >= 0]] = found[origins >= 0]
    moved = verdict_rows(cycle, table.names)
    if moved is None:
        return out
    shown: NDArray[np.int64] = np.where(moved >= 0, out[np.maximum(moved, 0)], -1)
    return shown


def _bands_of(points: NDArray[np.int64] | None) -> Measure | None:
    """Divide integer points into bands of equal width, so that a band's label holds for each of its nodes."""
    if points is None or not (points >= 0).any():
        return None
    scored = points[points >= 0]
    low, high = int(scored.min()), int(scored.max())
    count = min(BANDS, high - low + 1)
    band = (points - low) * count // (high - low + 1)
    edges = [low + -(-i * (high - low + 1) // count) for i in range(count + 1)]
    labels = [str(a) if b - a == 1 else f"{a}–{b - 1}" for a, b in itertools.pairwise(edges)]
    return Measure(np.where(points >= 0, band, NONE).astype(np.uint8), labels)


def exactly(sim: WorldView, table: NodeTable, row: int, mode: str) -> str:
    """Return the value of one node with its full precision, or ""."""
    if mode == TOTAL or mode.startswith(POINTS):
        found = points(sim, table, mode.removeprefix(POINTS) if mode != TOTAL else "")
        return str(int(found[row])) if found is not None and found[row] >= 0 else ""
    resource = _resource(mode)
    used, has = _use(table, resource)
    if used is None or has is None or not has[row]:
        return ""
    return f"{' / '.join(beside(resource, int(used[row]), int(has[row])))} {resource}"


class NodeFact(TypedDict):
    row: int
    value: str
    percent: int
    pods: list[str]
    more: int


def facts(sim: WorldView, table: NodeTable, rows: list[int], mode: str) -> list[NodeFact]:
    """Return the card data of some nodes on the large map: the value, its share for a bar in percent (-1: none), and the pods."""
    share = _share(table, mode)
    return [
        {
            "row": row,
            "value": exactly(sim, table, row, mode),
            "percent": -1 if share is None else min(round(100 * float(share[row])), 100),
            "pods": [pod.name for pod in table.pods[row][:PODS_OF_CARD]],
            "more": max(len(table.pods[row]) - PODS_OF_CARD, 0),
        }
        for row in rows
        if 0 <= row < len(table)
    ]


def _share(table: NodeTable, mode: str) -> NDArray[np.float64] | None:
    if mode == TOTAL or mode.startswith(POINTS):
        return None
    used, has = _use(table, _resource(mode))
    return None if used is None or has is None else used / np.maximum(has, 1)


def _resource(mode: str) -> str:
    """Return the resource of a mode. Verdicts, and the fuller of cpu and memory, are shown with the cpu."""
    return "cpu" if mode in (VERDICT, FULLER) else mode


PLAIN, OK, NO, BEST, HERE, CHANGED = 0, 1, 2, 3, 4, 5
LABEL_KEYS = "playground.label_keys"  # of the table's memo
MAX_GROUPS = 250  # values that fit into a byte


class GroupsCard(TypedDict):
    id: str
    kind: Literal["groups"]
    order: str
    values: list[str]
    codes: str
    blocks: str


def groups_card(table: NodeTable, key: str) -> GroupsCard:
    """Return the card that maps each node to its value of a label, and to its rack."""
    values, codes = _encode_label(table, key)
    racks = next((name for name in table.memo.get(LABEL_KEYS, ()) if name.rpartition("/")[2] == "rack"), "")
    blocks = _encode_label(table, racks)[1] if racks and racks != key else None
    return {
        "id": "map-groups",
        "kind": "groups",
        "order": f"{zlib.crc32(chr(10).join(table.names).encode()):08x}" if table.names else "",
        "values": values,
        "codes": encode_base64(codes),
        "blocks": encode_base64(blocks) if blocks is not None else "",
    }


def _encode_label(table: NodeTable, key: str) -> tuple[list[str], NDArray[np.uint8]]:
    """Return a label's values, sorted, and each node's index; nodes without the label come last. Empty above MAX_GROUPS values."""
    column = table.label(key) if key else None
    values = list(column.values) if column is not None else []
    if column is None or len(values) > MAX_GROUPS:
        return [], np.zeros(len(table), np.uint8)
    ordered = sorted(range(len(values)), key=lambda i: values[i])
    ranks = np.full(len(values) + 1, len(values), np.uint8)
    for rank, i in enumerate(ordered):
        ranks[i] = rank
    codes: NDArray[np.uint8] = ranks[column.codes]
    return [values[i] for i in ordered], codes


class HeatCard(TypedDict):
    id: str
    kind: Literal["heat"]
    mode: str
    over: bool
    state: str
    value: str
    labels: list[str]
    reason: str
    reasons: list[str]
    found: str
    searched: bool
    chosen: str


def heat_card(
    table: NodeTable, refusals: Refusals, moment: Moment, mode: str, measure: Measure | None, mask: Mask | None
) -> HeatCard:
    """Return the state, band, and refusal of every node. The legend shows the `labels` of the bands unchanged."""
    state = np.zeros(len(table), np.uint8)
    state[refusals.group == FEASIBLE] = OK
    state[refusals.group >= 0] = NO
    if moment.score is not None and moment.best > lowest(moment.score):
        state[moment.score == moment.best] = BEST
    row = table.row(moment.placed_on) if moment.placed_on else None
    if row is not None:
        state[row] = HERE
    reason = np.where(refusals.group >= 0, np.minimum(refusals.group, 254), 255).astype(np.uint8)
    return {
        "id": "map-heat",
        "kind": "heat",
        "mode": mode if measure is not None else VERDICT,
        "over": moment.over,
        "state": encode_base64(state),
        "value": encode_base64(measure.band) if measure is not None else "",
        "labels": measure.labels if measure is not None else [],
        "reason": encode_base64(reason),
        "reasons": [
            ("⊘ " if status.code is Code.UNRESOLVABLE else "✕ ") + status.message for status in refusals.statuses[:254]
        ],
        "found": encode_base64(np.packbits(mask)) if mask is not None else "",
        "searched": mask is not None,
        "chosen": moment.chosen_node,
    }


def lowest(score: NDArray[np.int64]) -> int:
    """Return the lowest total of the scored nodes."""
    scored = score[score >= 0]
    return int(scored.min()) if len(scored) else 0


def encode_base64(values: NDArray[np.uint8]) -> str:
    return base64.b64encode(np.ascontiguousarray(values, np.uint8).tobytes()).decode()
