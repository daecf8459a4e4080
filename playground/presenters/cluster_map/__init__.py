"""The cluster map: a card for each node of a small cluster; for a large one, a heat map, counts of refusals, and a page of cards."""

from typing import Literal, NotRequired, Required, TypedDict

import numpy as np
from numpy.typing import NDArray

from playground.presenters import scene
from playground.presenters.cluster_map import heat
from playground.presenters.cluster_map.heat import Choices, GroupsCard, HeatCard, choices, compute_measure, points
from playground.presenters.cluster_map.node_cards import NONE, Moment, NodeCard, card_id, node_card, preempting
from playground.presenters.cluster_map.search import Counts, Mask, VerdictChip, chips, matching
from playground.presenters.devices.pools import stock
from playground.presenters.look import Look
from playground.presenters.panel import Panel
from scheduler_core.base.trace.kinds import BindingEnded, ObjectChanged, PodAssumed
from scheduler_core.world.readonly import NodeTable, Point, SchedulingCycleView, WorldView

SMALL = 59
WINDOW = 12
MOST_GROUPS = 24
TOUCHED = 64  # records of one transition whose nodes are marked; an import has thousands
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
    zones: "list[Zone]"
    window: NotRequired[MapWindow]
    choices: NotRequired[Choices]


def present(sim: WorldView, look: Look, *, plain: bool = False) -> "Panel[MapContext, MapCard]":
    """Return the map as the viewer groups and filters it. `plain`: without the verdicts of the last cycle."""
    scheduler = scene.scheduler_of(sim)
    table, cycle = scene.table_of(scheduler), None if plain else scene.cycle_of(sim)
    refused = scene.unasked(table.names) if plain else scene.refusals(sim, table.names)
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
    return Panel("map", context, cards)


def label_keys(table: NodeTable) -> list[str]:
    """Return the label keys that can group the nodes, the zone first. Leave out the hostname, which differs on each node."""
    known = table.memo.get(heat.LABEL_KEYS)
    if known is None:
        keys = dict.fromkeys(key for node in table.nodes for key in node.labels)
        useful = [key for key in keys if key != "kubernetes.io/hostname"]
        known = sorted(useful, key=lambda key: (key != ZONE, key))
        table.memo[heat.LABEL_KEYS] = known
    return list(known)


def _default_group(table: NodeTable, keys: list[str]) -> str:
    """Return the zone key; without zones, the key with the most values of those with 2 to MOST_GROUPS, or "-"."""
    if ZONE in keys:
        return ZONE
    labels = [(len(table.label(key).values), key) for key in keys]
    return max((pair for pair in labels if 2 <= pair[0] <= MOST_GROUPS), default=(0, "-"))[1]


def _moment(
    sim: WorldView, look: Look, table: NodeTable, cycle: SchedulingCycleView | None, refused: scene.Refusals
) -> Moment:
    step = scene.present_step(sim)
    now = -1
    if step is not None and step[0].point is Point.FILTER and cycle is not None:
        now = len(cycle.steps) - 1
    score = None if cycle is None else points(sim, table)
    out = set()
    for record in sim.last if len(sim.last) <= TOUCHED else ():
        placed, changed = record.of(PodAssumed) or record.of(BindingEnded), record.of(ObjectChanged)
        if placed is not None:
            out.add(placed.node)
        elif changed is not None and changed.kind == "Node":
            out.add(changed.name)
    return Moment(
        refusals=refused,
        score=score,
        best=int(score.max()) if score is not None and len(score) else -1,
        chosen_node=look.node,
        chosen_pod=scene.subject(sim, look.pod),
        placed_on=(cycle.chosen or "") if cycle is not None else "",
        touched=frozenset(out - {""}),
        assumed=frozenset(scene.scheduler_of(sim).cache.assumed),
        now_step=now if now >= 0 else -9,
        preempting=NONE if cycle is None else preempting(sim, look.dry),
        stock=stock(sim),
        over=cycle is not None and scene.is_filter_over(cycle),
    )


def _rows(
    table: NodeTable, look: Look, refused: scene.Refusals, moment: Moment, mask: Mask | None
) -> tuple[list[int], int]:
    """Return the rows to show as cards and the number of matches: all rows of a small cluster, else a page of the rows that match the
    search.
    """
    rows = np.arange(len(table), dtype=np.intp)
    if len(table) <= SMALL:
        return rows.tolist(), len(rows)
    if mask is not None:
        rows = rows[mask]
    order = np.argsort(_rank(table, refused, moment)[rows], kind="stable")
    start = min(look.page, max(len(rows) - 1, 0) // WINDOW) * WINDOW
    return rows[order][start : start + WINDOW].tolist(), len(rows)


def _rank(table: NodeTable, refused: scene.Refusals, moment: Moment) -> NDArray[np.int64]:
    """Return a rank for each node, lowest first: the placed node, best scores, feasible nodes, candidates, unevaluated, and refused
    nodes.
    """
    rank = np.where(refused.group == scene.FEASIBLE, 0, np.where(refused.group >= 0, 2, 1)).astype(np.int64) * 1_000_000
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
    """The verdicts as chips; before any cycle, the number of pods."""

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
    table: NodeTable, cycle: SchedulingCycleView | None, refused: scene.Refusals, look: Look, mask: Mask | None
) -> SummaryCard:
    card: SummaryCard = {"id": "map-summary", "kind": "summary", "pods": int(table.pod_count.sum())}
    if mask is not None:
        card["matching"], card["q"] = int(mask.sum()), look.q
    if cycle is None or not len(table):
        return card
    return {**card, **chips(refused, look.q, scene.is_filter_over(cycle), mask)}


MapCard = NodeCard | SummaryCard | GroupsCard | HeatCard
