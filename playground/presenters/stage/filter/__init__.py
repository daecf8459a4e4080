"""Filter: which nodes can run the pod. Each node has a track through the plugins, in their order, up to the one that refuses it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NotRequired, TypedDict

import numpy as np

from playground.presenters import scene
from playground.presenters.cluster_map.search import Mask, VerdictChips, chips, matching_of
from playground.presenters.inspector.node import FigurePart, Section, sections
from playground.presenters.inspector.yaml import Excerpt, cut_out
from playground.presenters.look import AIM, Look
from playground.presenters.panel import Stage
from playground.presenters.problems import in_plain_words
from playground.presenters.stage.filter.columns import (
    Columns,
    Head,
    asks,
    columns,
    heads,
    is_sampled,
    just_refused,
    notes,
)
from playground.presenters.stage.group import ExchangeRow, exchanges
from playground.presenters.words import Message, gettext_noop, message
from scheduler_core.world.readonly import Code, Pod, SchedulingCycleView, WorldView

# A letter per column for each node's track (p pass, r refuse, u unresolvable, t to run, n never run), up to its refusal.

FEW = 9  # nodes; up to this number, there is room for the evidence of one
SHORT = 9  # characters of a name in the narrow column
WINDOW = 20
ALL = 40
_LETTERS = {"ran": "p", "todo": "t", "never": "n"}


def track_id(name: str) -> str:
    return f"track-{name}"


def window(cycle: SchedulingCycleView, look: Look, refused: scene.Refusals, mask: Mask | None) -> tuple[list[int], int]:
    """Return the rows to show and their number: all rows of a small cluster, in order; else a page of the matching ones.

    The chosen node comes first; in a small cluster, only if the stage is aimed at it.
    """
    rows = np.arange(len(refused.group), dtype=np.intp)
    chosen = cycle.nodes.row(look.node) if look.node else None
    if len(rows) <= ALL:
        aimed = look.stage == AIM and look.about == "node"
        return sorted(rows.tolist(), key=lambda row: aimed and row != chosen), len(rows)
    if mask is not None:
        rows = rows[mask]
    order = np.where(refused.group == scene.FEASIBLE, 0, np.where(refused.group == scene.UNSEEN, 2, 1))[rows]
    rows = rows[np.argsort(order, kind="stable")]
    start = min(look.page, max(len(rows) - 1, 0) // WINDOW) * WINDOW
    shown = rows[start : start + WINDOW].tolist()
    if chosen is None or chosen >= len(refused.group):
        return shown, len(rows)
    return [chosen, *(row for row in shown if row != chosen)], len(rows)


class TrackCard(TypedDict):
    """One node's track. `verdict`: ok, passes (so far), no, unseen, waits (Filter has not evaluated it yet)."""

    id: str
    kind: Literal["track"]
    node: str
    verdict: str
    cells: str
    text: str
    by: str
    chosen: bool
    placed: bool
    dim: bool
    just: bool


class VerdictCard(VerdictChips):
    id: str
    kind: Literal["verdict_chips"]


class NotesCard(TypedDict):
    id: str
    kind: Literal["filter_notes"]
    message: str
    notes: list[Message]
    unresolvable: bool


class MapBody(TypedDict):
    kind: Literal["map"]


class UntriedBody(TypedDict):
    kind: Literal["none"]
    pod: str
    gates: list[str]


class RefusalGroup(TypedDict):
    text: str
    count: int
    plain: list[Message]


class PastBody(TypedDict):
    kind: Literal["past"]
    number: int
    node: str
    message: str
    feasible: int
    evaluated: int
    groups: list[RefusalGroup]
    goto: int


class TracksBody(TypedDict):
    kind: Literal["tracks"]
    sampled: bool
    tracks: list[str]
    page: int
    pages: int
    found: int
    columns: int
    long: bool
    exchanges: list[ExchangeRow]


FilterBody = MapBody | UntriedBody | PastBody | TracksBody


def track(
    cycle: SchedulingCycleView, row: int, refused: scene.Refusals, columns: Columns, look: Look, dim: bool, just: bool
) -> TrackCard:
    group, name = int(refused.group[row]), cycle.nodes.names[row]
    return {
        "id": track_id(name),
        "kind": "track",
        "node": name,
        "verdict": _verdict(group, scene.is_filter_over(cycle)),
        "cells": _cells(refused, group, columns),
        "text": refused.text(row),
        "by": refused.statuses[group].plugin if group >= 0 else "",
        "chosen": name == look.node,
        "placed": name == cycle.chosen,
        "dim": dim,
        "just": just,
    }


def _verdict(group: int, over: bool) -> str:
    if group >= 0:
        return "no"
    if group == scene.FEASIBLE:
        return "ok" if over else "passes"
    return "unseen" if over else "waits"


def _cells(refused: scene.Refusals, group: int, columns: Columns) -> str:
    if group == scene.UNSEEN:
        return ""
    ends = columns.of(refused.statuses[group].plugin) if group >= 0 else None
    cells = ""
    for name in columns.names:
        if name == ends:
            return cells + ("u" if refused.statuses[group].code is Code.UNRESOLVABLE else "r")
        cells += _LETTERS[columns.states[name]]
    return cells


LARGE = 60  # nodes; from this number, the map is the first form


def present(sim: WorldView, look: Look, key: str) -> Stage[FilterBody, FilterCard]:
    """Return the tracks of the nodes through the plugins, with the map below them if the cluster is small."""
    cycle, pod = scene.cycle_of(sim), scene.find_pod(sim, key) if key else None
    question = message("Which nodes can run %(pod)s?", pod=scene.short(key) or "…")
    plugins, nodes = {"plugins": gettext_noop("Plugins")}, {"nodes": gettext_noop("Nodes")}
    mine = cycle is not None and cycle.pod.key == key
    large = mine and cycle is not None and len(cycle.nodes) >= LARGE
    forms = nodes | plugins if large else plugins | nodes
    facts = asks(pod) if pod is not None else []
    mapped = (look.form if look.form in forms else next(iter(forms))) == "nodes"
    if cycle is None or cycle.pod.key != key:
        body: FilterBody = {"kind": "map"} if mapped else _without_cycle(sim, key)
        return Stage(question, body, forms=plugins | nodes, facts=facts, map=True)
    body, cards = _above(sim, look, cycle) if mapped else _tracks(sim, look, cycle)
    return Stage(question, body, forms=forms, facts=facts, cards=cards, map=not large)


def _without_cycle(sim: WorldView, key: str) -> UntriedBody | PastBody:
    """Return the last attempt in summary, with a link to its steps; or the reason why there is none."""
    attempt = scene.last_attempt(sim, key) if key else None
    if attempt is None:
        pod = sim.store.pod_at(key) if key else None
        gates = list(pod.spec.scheduling_gates) if pod is not None else []
        return {"kind": "none", "pod": scene.short(key), "gates": gates}
    return {
        "kind": "past",
        "number": attempt.number,
        "node": attempt.node,
        "message": attempt.message,
        "feasible": attempt.feasible,
        "evaluated": scene.count_evaluated_nodes(attempt),
        "groups": [{"text": text, "count": count, "plain": _plain([text])} for text, count in attempt.refusals],
        "goto": attempt.last_position,
    }


def _plain(reasons: Sequence[str]) -> list[Message]:
    return [words for reason in reasons if (words := in_plain_words(reason))]


def _above(sim: WorldView, look: Look, cycle: SchedulingCycleView) -> tuple[FilterBody, dict[str, FilterCard]]:
    """Return the head of the map: verdicts, and notes about the search."""
    names = cycle.nodes.snapshot_names
    refused, mask = scene.refusals(sim, names), matching_of(sim, names, look.q)
    return {"kind": "map"}, _present_chips_and_notes(sim, look, cycle, refused, columns(sim, cycle), mask)


def _present_chips_and_notes(
    sim: WorldView,
    look: Look,
    cycle: SchedulingCycleView,
    refused: scene.Refusals,
    stations: Columns,
    mask: Mask | None,
) -> dict[str, FilterCard]:
    return {
        "filter-chips": _chips(cycle, look, refused, stations, mask),
        "filter-notes": {
            "id": "filter-notes",
            "kind": "filter_notes",
            "message": cycle.message if cycle.chosen is None else "",
            "notes": notes(sim, cycle, refused.unseen),
            "unresolvable": any(status.code is Code.UNRESOLVABLE for status in refused.statuses),
        },
    }


def _tracks(sim: WorldView, look: Look, cycle: SchedulingCycleView) -> tuple[FilterBody, dict[str, FilterCard]]:
    refused = scene.refusals(sim, cycle.nodes.snapshot_names)
    stations, mask = columns(sim, cycle), matching_of(sim, cycle.nodes.snapshot_names, look.q)
    rows, found = window(cycle, look, refused, mask)
    just = just_refused(sim, cycle, refused)
    few = len(refused.group) <= ALL
    cards = _present_chips_and_notes(sim, look, cycle, refused, stations, mask)
    cards["filter-heads"] = {
        "id": "filter-heads",
        "kind": "filter_heads",
        "heads": heads(sim, cycle, stations, refused),
        "nodes": len(refused.group),
    }
    for row in rows:
        dim = mask is not None and few and not mask[row]
        cards[track_id(cycle.nodes.names[row])] = track(cycle, row, refused, stations, look, dim, row in just)
    cards["filter-why"] = _why(sim, cycle, look.node or _find_telling(cycle, refused), bool(look.node), refused)
    body: TracksBody = {
        "kind": "tracks",
        "sampled": is_sampled(cycle),
        "tracks": [track_id(cycle.nodes.names[row]) for row in rows],
        "page": look.page,
        "pages": 1 if few else -(-found // WINDOW),
        "found": found,
        "columns": len(stations.names),
        "long": any(len(cycle.nodes.names[row]) > SHORT for row in rows),
        "exchanges": exchanges(sim, cycle),
    }
    return body, cards


def _chips(
    cycle: SchedulingCycleView, look: Look, refused: scene.Refusals, stations: Columns, mask: Mask | None
) -> VerdictCard:
    found = chips(refused, look.q, scene.is_filter_over(cycle), mask, stations.skipped)
    return {**found, "id": "filter-chips", "kind": "verdict_chips"}


class HeadsCard(TypedDict):
    id: str
    kind: Literal["filter_heads"]
    heads: list[Head]
    nodes: int


class WhyCard(TypedDict):
    id: str
    kind: Literal["filter_why"]
    node: str
    chosen: NotRequired[bool]
    verdict: NotRequired[str]
    over: NotRequired[bool]
    text: NotRequired[str]
    plugin: NotRequired[str]
    plain: NotRequired[list[Message]]
    unresolvable: NotRequired[bool]
    figures: NotRequired[list[Section]]
    evidence: NotRequired[list[WrittenRule]]


class WrittenRule(TypedDict):
    """The relevant part of the manifest of the pod or the node, with its lines marked."""

    object: Literal["Pod", "Node"]
    name: str
    excerpt: Excerpt


FilterCard = VerdictCard | NotesCard | HeadsCard | TrackCard | WhyCard


def _find_telling(cycle: SchedulingCycleView, refused: scene.Refusals) -> str:
    """Return the node to explain if none is chosen: in a small cluster, the one that was refused last."""
    rows = np.flatnonzero(refused.group >= 0)
    few = len(rows) and len(refused.group) <= FEW
    return cycle.nodes.names[rows[np.argmax(refused.step[rows])]] if few else ""


def _why(sim: WorldView, cycle: SchedulingCycleView, node: str, chosen: bool, refused: scene.Refusals) -> WhyCard:
    """Return a node's verdict and the figures of the plugin that refused it, or of all plugins if none did."""
    card: WhyCard = {"id": "filter-why", "kind": "filter_why", "node": ""}
    row = cycle.nodes.row(node) if node else None
    if row is None or row >= len(refused.group):
        return card
    group = int(refused.group[row])
    card["node"], card["chosen"], card["over"] = node, chosen, scene.is_filter_over(cycle)
    if group == scene.UNSEEN:
        return {**card, "verdict": "unseen"}
    if group == scene.FEASIBLE:
        return {**card, "verdict": "ok", "figures": sections(sim, node)}
    status = refused.statuses[group]
    found = sections(sim, node, status.plugin)
    return {
        **card,
        "verdict": "no",
        "text": status.message,
        "plugin": status.plugin,
        "plain": _plain(status.reasons),
        "unresolvable": status.code is Code.UNRESOLVABLE,
        "figures": found,
        "evidence": _quote_manifests(cycle, row, found),
    }


# The pod's field that a node's rule is compared with, if the pod sets no field that the plugin can name.
_COUNTERPARTS = {"spec.taints": "spec.tolerations", "metadata.labels": "spec.nodeSelector"}


def _quote_manifests(cycle: SchedulingCycleView, row: int, found: list[Section]) -> list[WrittenRule]:
    """Return the parts of both manifests that the refusing plugin compared."""
    places: dict[str, str] = {}
    for part in _list_sources(found):
        places.setdefault(part["object"], part["path"])
    for rule, answer in _COUNTERPARTS.items():
        if places.get("Node", "").startswith(rule):
            places.setdefault("Pod", answer)
    return quote_manifests(cycle.pod, cycle.nodes.names[row], cycle.nodes.nodes[row].manifest, places)


def quote_manifests(pod: Pod, name: str, node: Mapping[str, Any], places: Mapping[str, str]) -> list[WrittenRule]:
    """Return the parts of a pod's and a node's manifests at these places, as far as they exist."""
    written: tuple[tuple[Literal["Pod", "Node"], str, Mapping[str, Any]], ...] = (
        ("Pod", scene.short(pod.key), pod.manifest),
        ("Node", name, node),
    )
    return [
        {"object": kind, "name": name, "excerpt": excerpt}
        for kind, name, manifest in written
        if kind in places and (excerpt := cut_out(manifest, places[kind])) is not None
    ]


def _list_sources(found: list[Section]) -> list[FigurePart]:
    """Return the parts of the figures that have a source, those of refusing rows first."""
    rows = [
        row for section in found for block in section["blocks"] if block["kind"] == "table" for row in block["rows"]
    ]
    rows.sort(key=lambda row: "bad" not in row["tone"])
    parts = [part for row in rows for cell in (row["name"], *row["cells"]) for part in cell]
    return [part for part in parts if part["kind"] == "leading" and part["path"]]
