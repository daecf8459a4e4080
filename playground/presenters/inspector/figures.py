"""The plugins' own figures for one node: their explanations, block by block and part by part, as the template reads them."""

from collections.abc import Sequence
from typing import Literal, NotRequired, TypedDict

from playground.presenters.amounts import amount
from playground.presenters.scene import cycle_of, framework_of, short
from scheduler_core.analysis import inspection
from scheduler_core.world.readonly import SchedulingCycleView, WorldView


class FigurePart(TypedDict):
    """`kind` says which of the others there are (templatetags/explanation.py)."""

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
    """One plugin's explanation of a node. `walk`: the pod, if devices were searched for on `node`, so that the search can be walked."""

    plugin: str
    blocks: list[FigureParagraph | FigureTable]
    walk: NotRequired[str]
    node: NotRequired[str]


def sections(sim: WorldView, node: str, only: str = "") -> list[Section]:
    """Return each plugin's explanation of a node, for the plugins that ran in the present cycle; only one plugin's if `only` names it."""
    cycle = cycle_of(sim)
    if cycle is None or not node:
        return []
    explained = inspection.figures(framework_of(sim), cycle, node, only)
    searcher = _searcher(cycle, node)
    found: list[Section] = []
    for plugin, blocks in explained.items():
        if blocks or plugin == searcher:
            found.append({"plugin": plugin, "blocks": blocks_of(blocks)})
        if plugin == searcher:
            found[-1]["walk"], found[-1]["node"] = cycle.pod.key, node
    return found


def _searcher(cycle: SchedulingCycleView, node: str) -> str:
    """The plugin that searched for devices on a node; "" where none did."""
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
    rows = [_row(row) for row in block.rows]
    return {"kind": "table", "columns": list(block.columns), "rows": rows, "more": block.more}


class FigureRow(TypedDict):
    tone: str
    name: list[FigurePart]
    cells: list[list[FigurePart]]


def _row(row: inspection.Row) -> FigureRow:
    name, *cells = row.cells
    tone = " ".join(word for word, holds in (("bad", row.bad), ("here", row.here)) if holds)
    return {"tone": tone, "name": parts_of(name), "cells": [parts_of(cell) for cell in cells]}


def parts_of(parts: inspection.Parts) -> list[FigurePart]:
    return [_part(part) for part in parts]


def _part(part: inspection.Part) -> FigurePart:
    match part:
        case str(text):
            return {"kind": "text", "text": text}
        case inspection.Words(text):
            return {"kind": "words", "text": text}
        case inspection.Key(text):
            return {"kind": "text", "text": short(text)}
        case inspection.Amount():
            return _amount(part)
        case inspection.Written(text, source):
            return _leading(text if isinstance(text, str) else short(text.text), source)
        case inspection.Code(inner):
            return {"kind": "code", "parts": [_part(inner)]}
        case inspection.PodName(key):
            return {"kind": "pod", "key": key, "name": short(key)}
        case inspection.Bar(percent):
            return {"kind": "bar", "percent": percent}
        case inspection.Aside(inner):
            return {"kind": "aside", "parts": parts_of(inner)}
        case inspection.Below(inner):
            return {"kind": "below", "parts": parts_of(inner)}


def _amount(part: inspection.Amount) -> FigurePart:
    """Return an amount with the source that sets it, if that is known."""
    text, source = amount(part.resource, part.value), part.source
    if source is None:
        return {"kind": "text", "text": text}
    return _leading(text, source)


def _leading(text: str, source: inspection.Source) -> FigurePart:
    return {"kind": "leading", "text": text, "object": source.kind, "key": source.key, "path": source.path}
