"""The map of a large cluster: a byte a node for its verdict, its band and its refusal, a number for its group.

The client knows the nodes' names from nodes.json, in the same order; `order` says whether its copy is still right.
"""

import base64
import zlib
from typing import Literal, TypedDict

import numpy as np
from numpy.typing import NDArray

from playground.presenters.cluster_map.measure import VERDICT, Measure
from playground.presenters.cluster_map.node_cards import Moment
from playground.presenters.cluster_map.search import Mask
from playground.presenters.refusals import FEASIBLE, Refusals
from scheduler_core.world.readonly import Code, NodeTable

PLAIN, OK, NO, BEST, HERE, CHANGED = 0, 1, 2, 3, 4, 5
LABEL_KEYS = "playground.label_keys"  # of the table's memo
MAX_GROUPS = 250  # a byte tells them apart


def order_of(table: NodeTable) -> str:
    """A fingerprint of the nodes and their order."""
    return f"{zlib.crc32(chr(10).join(table.names).encode()):08x}" if table.names else ""


class GroupsCard(TypedDict):
    id: str
    kind: Literal["groups"]
    order: str
    values: list[str]
    codes: str
    blocks: str


def groups_card(table: NodeTable, key: str) -> GroupsCard:
    """Return the card that maps each node to its value of a label, and to its rack within that value."""
    values, codes = _encode_label(table, key)
    racks = next((name for name in table.memo.get(LABEL_KEYS, ()) if name.rpartition("/")[2] == "rack"), "")
    blocks = _encode_label(table, racks)[1] if racks and racks != key else None
    return {
        "id": "map-groups",
        "kind": "groups",
        "order": order_of(table),
        "values": values,
        "codes": encode_base64(codes),
        "blocks": encode_base64(blocks) if blocks is not None else "",
    }


def _encode_label(table: NodeTable, key: str) -> tuple[list[str], NDArray[np.uint8]]:
    """The values are ordered by name, what has none comes last; too many are as good as none."""
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
    """State, band and refusal of every node; `labels` of the bands, which the legend shows as they are."""
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
    """The lowest total of a scored node."""
    scored = score[score >= 0]
    return int(scored.min()) if len(scored) else 0


def encode_base64(values: NDArray[np.uint8]) -> str:
    """Bytes as base64."""
    return base64.b64encode(np.ascontiguousarray(values, np.uint8).tobytes()).decode()
