"""Nodes: conditions, taints and kubelets; one node with its conditions over virtual time."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from playground.presenters.amounts import clock

MOST_CHANGES = 40


def nodes(rows: list[dict[str, Any]], now: int) -> list[dict[str, Any]]:
    return [
        {**row, "conditions": _notable(row["conditions"]), "ready": _ready(row["conditions"])} for row in rows
    ]


def _ready(conditions: list[dict[str, Any]]) -> str:
    return next((str(c["status"]) for c in conditions if c["type"] == "Ready"), "")


def _notable(conditions: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Those that are not as they should be."""
    return [c for c in conditions if c["status"] != ("True" if c["type"] == "Ready" else "False")]


def node(row: Mapping[str, Any], now: int) -> dict[str, Any]:
    """`changes`: which condition changed when, newest first."""
    return {**row, "ready": _ready(row["conditions"]), "changes": _changes(row["levels"])}


def _changes(levels: list[dict[str, Any]]) -> list[dict[str, str]]:
    changes = []
    for before, after in pairwise(levels):
        for name, value in after.items():
            if name != "t" and before.get(name) != value:
                was = str(before.get(name, ""))
                changes.append({"t": clock(after["t"]), "type": name, "was": was, "is": str(value)})
    return changes[::-1][:MOST_CHANGES]
