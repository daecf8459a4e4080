"""Node: capacity, labels, taints, pods, the verdicts of the present cycle, and figures from plugins."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Literal, NotRequired, TypedDict

from playground.presenters import scene
from playground.presenters.acting import DrainState, PlannedEviction, draining, list_actions, list_planned_evictions
from playground.presenters.devices.pools import NodePool, node_devices
from playground.presenters.look import Look
from playground.presenters.problems import in_plain_words
from playground.presenters.words import Message, amount, beside, exact
from playground.workbench.actions import Offer
from scheduler_core.analysis import inspection
from scheduler_core.world.readonly import NodeTable, SchedulingCycleView, WorldView


class FigurePart(TypedDict):
    """`kind` determines which other fields are set (templatetags/explanation.py)."""

    kind: str
    text: NotRequired[str]
    object: NotRequired[str]
    key: NotRequired[str]
    path: NotRequired[str]
    name: NotRequired[str]
    percent: NotRequired[int]
    parts: "NotRequired[list[FigurePart]]"


class FigureParagraph(TypedDict):
    kind: Literal["paragraph"]
    tone: str
    parts: list[FigurePart]


class FigureTable(TypedDict):
    kind: Literal["table"]
    columns: list[str]
    rows: "list[FigureRow]"
    more: int


class Section(TypedDict):
    """One plugin's explanation of a node. `walk`: the pod of a device search on `node` that the viewer can step through."""

    plugin: str
    blocks: list[FigureParagraph | FigureTable]
    walk: NotRequired[str]
    node: NotRequired[str]


def sections(sim: WorldView, node: str, only: str = "") -> list[Section]:
    """Return each plugin's explanation of a node, for the plugins that ran in the present cycle; only one plugin's if `only` names it."""
    cycle = scene.cycle_of(sim)
    if cycle is None or not node:
        return []
    explained = inspection.figures(scene.framework_of(sim), cycle, node, only)
    searcher = _searcher(cycle, node)
    found: list[Section] = []
    for plugin, blocks in explained.items():
        if blocks or plugin == searcher:
            found.append({"plugin": plugin, "blocks": blocks_of(blocks)})
        if plugin == searcher:
            found[-1]["walk"], found[-1]["node"] = cycle.pod.key, node
    return found


def _searcher(cycle: SchedulingCycleView, node: str) -> str:
    """Return the plugin that searched for devices on a node, or ""."""
    step, row = inspection.device_step(cycle), cycle.nodes.row(node)
    if step is None or row is None or not cycle.node_to_status.is_evaluated(row):
        return ""
    status = cycle.status_of(row)
    return step.plugin if status is None or status.plugin == step.plugin else ""


def blocks_of(explanation: Sequence[inspection.Paragraph | inspection.Table]) -> list[FigureParagraph | FigureTable]:
    return [_block(block) for block in explanation]


def _block(block: inspection.Paragraph | inspection.Table) -> FigureParagraph | FigureTable:
    if isinstance(block, inspection.Paragraph):
        return {"kind": "paragraph", "tone": block.tone, "parts": parts_of(block.parts)}
    values: dict[str, list[int]] = {}
    for part in (part for row in block.rows for cell in row.cells for part in cell):
        if isinstance(part, inspection.Amount):
            values.setdefault(part.resource, []).append(part.value)
    texts = {name: dict(zip(each, beside(name, *each), strict=True)) for name, each in values.items()}
    rows = [_row(row, texts) for row in block.rows]
    return {"kind": "table", "columns": list(block.columns), "rows": rows, "more": block.more}


class FigureRow(TypedDict):
    tone: str
    name: list[FigurePart]
    cells: list[list[FigurePart]]


Texts = Mapping[str, Mapping[int, str]]  # formatted amounts of each resource


def _row(row: inspection.Row, texts: Texts) -> FigureRow:
    name, *cells = row.cells
    tone = " ".join(word for word, holds in (("bad", row.bad), ("here", row.here)) if holds)
    return {"tone": tone, "name": parts_of(name), "cells": [parts_of(cell, texts) for cell in cells]}


def parts_of(parts: inspection.Parts, texts: Texts = MappingProxyType({})) -> list[FigurePart]:
    return [_part(part, texts) for part in parts]


def _part(part: inspection.Part, texts: Texts) -> FigurePart:
    match part:
        case str(text):
            return {"kind": "text", "text": text}
        case inspection.Words(text):
            return {"kind": "words", "text": text}
        case inspection.Key(text):
            return {"kind": "text", "text": scene.short(text)}
        case inspection.Amount():
            text = texts[part.resource][part.value] if part.resource in texts else amount(part.resource, part.value)
            return _leading(text, part.source)
        case inspection.WrittenValue(text, source):
            return _leading(text if isinstance(text, str) else scene.short(text.text), source)
        case inspection.Code(inner):
            return {"kind": "code", "parts": [_part(inner, texts)]}
        case inspection.PodName(key):
            return {"kind": "pod", "key": key, "name": scene.short(key)}
        case inspection.Bar(percent):
            return {"kind": "bar", "percent": percent}
        case inspection.Aside(inner):
            return {"kind": "aside", "parts": parts_of(inner)}
        case inspection.Below(inner):
            return {"kind": "below", "parts": parts_of(inner)}


def _leading(text: str, source: inspection.Source | None) -> FigurePart:
    """Return a text with the source that sets it, if known."""
    if source is None:
        return {"kind": "text", "text": text}
    return {"kind": "leading", "text": text, "object": source.kind, "key": source.key, "path": source.path}


PODS = 30


class NoNode(TypedDict):
    about: Literal["node"]
    kind: Literal["gone", "none"]
    name: str


class NodeBody(TypedDict):
    about: Literal["node"]
    kind: Literal["node"]
    name: str
    offers: list[Offer]
    drain: DrainState | None
    planned: list[PlannedEviction]
    pod: str
    verdict: str
    why: str
    plugin: str
    plain: list[Message]
    resources: "list[ResourceRow]"
    figures: list[Section]
    devices: list[NodePool]
    taints: list[str]
    labels: list[str]
    count: int
    pods: list[scene.PodRef]
    more: int


def present(sim: WorldView, look: Look, key: str) -> NodeBody | NoNode:
    """Return the chosen node, else the node that the present cycle chose."""
    cycle, table = scene.cycle_of(sim), scene.table_of(scene.scheduler_of(sim))
    name = chosen(sim, look)
    row = table.row(name) if name else None
    if row is None:
        return {"about": "node", "kind": "gone" if name else "none", "name": name}
    node, pods = table.nodes[row], table.pods[row]
    refused = scene.refusals(sim, table.names)
    status = refused.statuses[int(refused.group[row])] if refused.group[row] >= 0 else None
    return {
        "about": "node",
        "kind": "node",
        "name": name,
        "offers": list_actions(sim, "Node", "", name),
        "drain": draining(sim, name),
        "planned": list_planned_evictions(sim, (p.key for p in pods)),
        "pod": scene.short(key if cycle is None else cycle.pod.key),  # the verdict and the figures are the cycle's
        "verdict": "ok" if refused.group[row] == scene.FEASIBLE else "no" if status else "",
        "why": status.message if status else "",
        "plugin": status.plugin if status else "",
        "plain": [p for reason in (status.reasons if status else ()) if (p := in_plain_words(reason))],
        "resources": _resources(sim, table, row),
        "figures": sections(sim, name),
        "devices": node_devices(sim, name),
        "taints": [str(taint) for taint in node.taints],
        "labels": [f"{k}={v}" for k, v in sorted(node.labels.items())],
        "count": len(pods),
        "pods": [scene.pod_ref(p.key) for p in pods[:PODS]],
        "more": max(len(pods) - PODS, 0),
    }


def chosen(sim: WorldView, look: Look) -> str:
    """Return the name of the inspected node, or ""."""
    cycle = scene.cycle_of(sim)
    return look.node or (cycle.chosen or "" if cycle is not None else "")


def _resources(sim: WorldView, table: NodeTable, row: int) -> "list[ResourceRow]":
    """Return the requested amount of each resource, and the assumed part: the part of pods that are not bound yet."""
    assumed = scene.scheduler_of(sim).cache.assumed
    assumed_pods = [pod.requests for pod in table.pods[row] if pod.key in assumed]
    out: list[ResourceRow] = []
    for column, resource in enumerate(table.resources.names[: table.allocatable.shape[1]]):
        has, used = int(table.allocatable[row][column]), int(table.requested[row][column])
        if has or used:
            held = sum(int(requests.get(resource)) for requests in assumed_pods)
            out.append(_line(resource, used, has, held))
    out.append(_line("pods", int(table.pod_count[row]), int(table.allowed_pods[row]), len(assumed_pods)))
    return out


class ResourceRow(TypedDict):
    name: str
    used: str
    held: str
    free: str
    has: str
    percent: int
    bar: int
    hold: int


def _line(resource: str, used: int, has: int, held: int) -> ResourceRow:
    percent = round(100 * used / has) if has else 0
    bound = min(round(100 * (used - held) / has), 100) if has else 0
    return {
        "name": resource,
        "used": exact(resource, used),
        "held": exact(resource, held) if held else "",
        "free": exact(resource, max(has - used, 0)),
        "has": exact(resource, has),
        "percent": percent,
        "bar": bound,
        "hold": min(percent, 100) - bound,
    }
