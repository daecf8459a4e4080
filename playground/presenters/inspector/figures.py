"""The plugins' own figures for one node: their explanations, block by block and part by part, as the template reads them."""

from __future__ import annotations

from typing import Any

from playground.presenters.amounts import amount
from playground.presenters.scene import cycle_of, framework_of, short
from scheduler_core.analysis.inspection import (
    Amount,
    Aside,
    Bar,
    Below,
    Code,
    Key,
    Paragraph,
    Part,
    Parts,
    PodName,
    Row,
    Source,
    Table,
    Words,
    Written,
    device_step,
    figures,
)
from scheduler_core.world.readonly import SchedulingCycleView, WorldView


def sections(sim: WorldView, node: str, only: str = "") -> list[dict[str, Any]]:
    """Return each plugin's explanation of a node, for the plugins that ran in the present cycle; only one plugin's if `only` names it.

    `walk`: the pod, if devices were searched for on the node, so that the search can be walked.
    """
    cycle = cycle_of(sim)
    if cycle is None or not node:
        return []
    explained = figures(framework_of(sim), cycle, node, only)
    searcher = _searcher(cycle, node)
    return [
        {
            "plugin": plugin,
            "blocks": [_block(block) for block in blocks],
            **({"walk": cycle.pod.key, "node": node} if plugin == searcher else {}),
        }
        for plugin, blocks in explained.items()
        if blocks or plugin == searcher
    ]


def _searcher(cycle: SchedulingCycleView, node: str) -> str:
    """The plugin that searched for devices on a node; "" where none did."""
    step, row = device_step(cycle), cycle.nodes.row(node)
    if step is None or row is None or not cycle.node_to_status.is_evaluated(row):
        return ""
    status = cycle.status_of(row)
    return step.plugin if status is None or status.plugin == step.plugin else ""


def _block(block: Paragraph | Table) -> dict[str, Any]:
    if isinstance(block, Paragraph):
        return {"kind": "paragraph", "tone": block.tone, "parts": parts_of(block.parts)}
    rows = [_row(row) for row in block.rows]
    return {"kind": "table", "columns": list(block.columns), "rows": rows, "more": block.more}


def _row(row: Row) -> dict[str, Any]:
    name, *cells = row.cells
    tone = " ".join(word for word, holds in (("bad", row.bad), ("here", row.here)) if holds)
    return {"tone": tone, "name": parts_of(name), "cells": [parts_of(cell) for cell in cells]}


def parts_of(parts: Parts) -> list[dict[str, Any]]:
    return [_part(part) for part in parts]


def _part(part: Part) -> dict[str, Any]:
    match part:
        case str(text):
            return {"kind": "text", "text": text}
        case Words(text):
            return {"kind": "words", "text": text}
        case Key(text):
            return {"kind": "text", "text": short(text)}
        case Amount():
            return _amount(part)
        case Written(text, source):
            return _leading(text if isinstance(text, str) else short(text.text), source)
        case Code(inner):
            return {"kind": "code", "parts": [_part(inner)]}
        case PodName(key):
            return {"kind": "pod", "key": key, "name": short(key)}
        case Bar(percent):
            return {"kind": "bar", "percent": percent}
        case Aside(inner):
            return {"kind": "aside", "parts": parts_of(inner)}
        case Below(inner):
            return {"kind": "below", "parts": parts_of(inner)}


def _amount(part: Amount) -> dict[str, Any]:
    """Return an amount with the source that sets it, if that is known."""
    text, source = amount(part.resource, part.value), part.source
    if source is None:
        return {"kind": "text", "text": text}
    return _leading(text, source)


def _leading(text: str, source: Source) -> dict[str, Any]:
    return {"kind": "leading", "text": text, "object": source.kind, "key": source.key, "path": source.path}
