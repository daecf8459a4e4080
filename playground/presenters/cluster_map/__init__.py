"""The cluster map: every node as a card while there are few; a heat map, counted refusals and a window of cards when there are many."""

from __future__ import annotations

from typing import Literal, NotRequired, Required, TypedDict

import numpy as np
from numpy.typing import NDArray

from playground.presenters.amounts import clock
from playground.presenters.cluster_map import heat
from playground.presenters.cluster_map.heat import GroupsCard, HeatCard
from playground.presenters.cluster_map.measure import Choices, choices, compute_measure, points
from playground.presenters.cluster_map.node_cards import Moment, NodeCard, card_id, node_card
from playground.presenters.cluster_map.preempting import preempting
from playground.presenters.cluster_map.search import Mask, matching
from playground.presenters.cluster_map.verdicts import Counts, VerdictChip, chips
from playground.presenters.devices.states import stock
from playground.presenters.look import Look
from playground.presenters.panel import Panel
from playground.presenters.refusals import FEASIBLE, Refusals, is_filter_over, refusals
from playground.presenters.scene import (
    PodRef,
    cycle_of,
    last_attempt,
    pod_ref,
    present_step,
    scheduler_of,
    subject,
    table_of,
)
from scheduler_core.base.trace.kinds import BindingEnded, ObjectChanged, PodAssumed
from scheduler_core.world.readonly import (
    ATTEMPT_FAILED,
    NodeTable,
    Point,
    SchedulerView,
    SchedulingCycleView,
    WorldView,
)

SMALL = 59
WINDOW = 12
PENDING = 12
LATELY = 10
MOST_GROUPS = 24
TOUCHED = 64  # records of one transition that are looked through; an import makes thousands
ZONE = "topology.kubernetes.io/zone"


class MapWindow(TypedDict):
    page: int
    pages: int
    matching: int


class MapContext(TypedDict):
    count: int
    large: bool
    mode: str
    group: str
    keys: list[str]
    q: str
    empty: bool
    preempting: bool
    zones: list[Zone]
    window: NotRequired[MapWindow]
    choices: NotRequired[Choices]


def present(sim: WorldView, look: Look) -> Panel[MapContext, MapCard]:
    """The map as this viewer groups and filters it."""
    scheduler = scheduler_of(sim)
    table, cycle = table_of(scheduler), cycle_of(sim)
    refused = refusals(sim, table.names)
    moment = _moment(sim, look, table, cycle, refused)
    keys = label_keys(table)
    group = look.group if look.group in keys or look.group == "-" else _default_group(table, keys)
    large = len(table) > SMALL
    context: MapContext = {
        "count": len(table),
        "large": large,
        "mode": look.mode,
        "group": group,
        "keys": keys,
        "q": look.q,
        "empty": not len(table),
        "preempting": bool(moment.preempting.ghosts or moment.preempting.candidates),
        "zones": [],
    }
    mask = matching(table, refused, look.q)
    rows, found = _rows(table, look, refused, moment, mask if large else None)
    cards: dict[str, MapCard] = {"map-summary": _summary(table, cycle, refused, look, mask)}
    if large:
        context["window"] = {"page": look.page, "pages": -(-found // WINDOW), "matching": found}
        cards["map-groups"] = heat.groups_card(table, "" if group == "-" else group)
        measure = compute_measure(sim, table, look.mode)
        cards["map-heat"] = heat.heat_card(table, refused, moment, look.mode, measure, mask)
        context["choices"] = choices(sim, table)
        context["zones"] = [{"name": "", "unlabelled": False, "cards": [card_id(table.names[row]) for row in rows]}]
    else:
        context["zones"] = _zones(table, rows, "" if group == "-" else group)
    for row in rows:
        dim = mask is not None and not large and not mask[row]
        cards[card_id(table.names[row])] = node_card(table, row, moment, dim)
    cards["map-pending"] = pending_card(sim, look)
    if not large:
        cards["map-lately"] = lately_card(sim)
    return Panel("map", context, cards)


def label_keys(table: NodeTable) -> list[str]:
    """The label keys that can group the nodes, the zone first; keys with a value of its own for each node are left out."""
    known = table.memo.get(heat.LABEL_KEYS)
    if known is None:
        keys = dict.fromkeys(key for node in table.nodes for key in node.labels)
        useful = [key for key in keys if key != "kubernetes.io/hostname"]
        known = sorted(useful, key=lambda key: (key != ZONE, key))
        table.memo[heat.LABEL_KEYS] = known
    return list(known)


def _default_group(table: NodeTable, keys: list[str]) -> str:
    """The zone; without zones the label with the most values, if these are few enough to look at."""
    if ZONE in keys:
        return ZONE
    labels = [(len(table.label(key).values), key) for key in keys]
    return max((pair for pair in labels if 2 <= pair[0] <= MOST_GROUPS), default=(0, "-"))[1]


def _moment(
    sim: WorldView, look: Look, table: NodeTable, cycle: SchedulingCycleView | None, refused: Refusals
) -> Moment:
    step = present_step(sim)
    now = -1
    if step is not None and step[0].point is Point.FILTER and cycle is not None:
        now = len(cycle.steps) - 1
    score = points(sim, table)
    touched = find_touched_nodes(sim)
    return Moment(
        refusals=refused,
        score=score,
        best=int(score.max()) if score is not None and len(score) else -1,
        chosen_node=look.node,
        chosen_pod=subject(sim, look.pod),
        placed_on=(cycle.chosen or "") if cycle is not None else "",
        touched=touched,
        assumed=frozenset(scheduler_of(sim).cache.assumed),
        now_step=now if now >= 0 else -9,
        preempting=preempting(sim, look.dry),
        stock=stock(sim),
        over=cycle is not None and is_filter_over(cycle),
    )


def find_touched_nodes(sim: WorldView) -> frozenset[str]:
    """The nodes that the last transition changed: where a pod was assumed, forgotten or deleted, or the object itself."""
    out = set()
    for record in sim.last[:TOUCHED]:
        placed, changed = record.of(PodAssumed) or record.of(BindingEnded), record.of(ObjectChanged)
        if placed is not None:
            out.add(placed.node)
        elif changed is not None and changed.kind == "Node":
            out.add(changed.name)
    return frozenset(out - {""})


def _rows(table: NodeTable, look: Look, refused: Refusals, moment: Moment, mask: Mask | None) -> tuple[list[int], int]:
    """The rows to show as cards: all of few; of many a window of those that the search means, and how many it means."""
    rows = np.arange(len(table), dtype=np.intp)
    if len(table) <= SMALL:
        return rows.tolist(), len(rows)
    if mask is not None:
        rows = rows[mask]
    order = np.argsort(_rank(table, refused, moment)[rows], kind="stable")
    start = min(look.page, max(len(rows) - 1, 0) // WINDOW) * WINDOW
    return rows[order][start : start + WINDOW].tolist(), len(rows)


def _rank(table: NodeTable, refused: Refusals, moment: Moment) -> NDArray[np.int64]:
    """Smaller comes first: the placed node, the best scores, the feasible, candidates, what was not looked at, the refused."""
    rank = np.where(refused.group == FEASIBLE, 0, np.where(refused.group >= 0, 2, 1)).astype(np.int64) * 1_000_000
    for name in moment.preempting.candidates:
        row = table.row(name)
        if row is not None:
            rank[row] = 0 if name == moment.preempting.nominated else 1
    if moment.score is not None:
        rank -= np.where(moment.score >= 0, moment.score, 0)
    return rank


class Zone(TypedDict):
    name: str
    unlabelled: bool
    cards: list[str]


def _zones(table: NodeTable, rows: list[int], key: str) -> list[Zone]:
    zones: dict[str, list[str]] = {}
    for row in rows:
        value = table.nodes[row].labels.get(key, "") if key else ""
        zones.setdefault(value, []).append(card_id(table.names[row]))
    ordered = sorted(zones, key=lambda value: (value == "", value))
    return [{"name": value, "unlabelled": bool(key) and not value, "cards": zones[value]} for value in ordered]


class SummaryCard(TypedDict, total=False):
    """The verdicts as chips; before any cycle how many pods there are."""

    id: Required[str]
    kind: Required[Literal["summary"]]
    pods: Required[int]
    matching: int
    over: bool
    chips: list[VerdictChip]
    others: int
    found: Counts | None
    q: str
    skipped: list[str]


def _summary(
    table: NodeTable, cycle: SchedulingCycleView | None, refused: Refusals, look: Look, mask: Mask | None
) -> SummaryCard:
    card: SummaryCard = {"id": "map-summary", "kind": "summary", "pods": int(table.pod_count.sum())}
    if mask is not None:
        card["matching"], card["q"] = int(mask.sum()), look.q
    if cycle is None or not len(table):
        return card
    return {**card, **chips(refused, look.q, is_filter_over(cycle), mask)}


class LatelyRow(PodRef):
    at: int
    t: str
    place: str
    cause: str


class LatelyCard(TypedDict):
    id: str
    kind: Literal["lately"]
    rows: list[LatelyRow]


def lately_card(sim: WorldView) -> LatelyCard:
    """Return the card of the latest pod moves, newest first, for the room under a small cluster."""
    rows: list[LatelyRow] = [
        {"at": move.position, "t": clock(move.t), **pod_ref(move.pod), "place": move.place, "cause": move.cause}
        for move in sim.journal.moves[: -LATELY - 1 : -1]
    ]
    return {"id": "map-lately", "kind": "lately", "rows": rows}


def _present_first(sim: WorldView) -> list[SchedulerView]:
    """The schedulers, that one first whose cycle began last."""
    present = scheduler_of(sim)
    return [present, *(other for other in sim.schedulers if other is not present)]


class LastAnswer(TypedDict):
    """The message and position of a pod's last attempt; `node`: the pod was given back after that node had been chosen."""

    message: str
    at: int
    node: NotRequired[str]


def _last_answer(sim: WorldView, key: str) -> LastAnswer:
    attempt = last_attempt(sim, key)
    if attempt is None:
        return {"message": "", "at": 0}
    if attempt.message or not attempt.node:
        return {"message": attempt.message, "at": attempt.last_position}
    failures = (move.position for move in reversed(sim.journal.lane(key)) if move.cause == ATTEMPT_FAILED)
    return {"message": "", "node": attempt.node, "at": next(failures, attempt.last_position)}


class PendingRow(PodRef, LastAnswer):
    pass


class PendingCard(TypedDict):
    id: str
    kind: Literal["pending"]
    rows: list[PendingRow]
    more: int


MapCard = NodeCard | SummaryCard | GroupsCard | HeatCard | LatelyCard | PendingCard


def pending_card(sim: WorldView, look: Look) -> PendingCard:
    """Pending pods that were refused, each with its last answer, so that Why? is one click away."""
    queues = [scheduler.queue for scheduler in _present_first(sim)]
    refused = [
        *(queued for queue in queues for queued in queue.unschedulable()),
        *(queued for queue in queues for queued in queue.backoff() if queued.attempts),
    ]
    rows: list[PendingRow] = [
        {**pod_ref(queued.pod.key), **_last_answer(sim, queued.pod.key)} for queued in refused[:PENDING]
    ]
    return {"id": "map-pending", "kind": "pending", "rows": rows, "more": len(refused) - len(rows)}
