"""Sequence diagrams of what happened to a pod, or in a scheduler's start: the run's own records as arrows between lifelines."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from playground.features.sequence.arrows import fold_passing_plugins
from playground.features.sequence.drawing import diagram
from playground.presenters.amounts import clock
from playground.presenters.sequence.lifelines import TITLES
from playground.presenters.words import Message

__all__ = ["present"]


def present(found: Mapping[str, Any], every: bool, say: Callable[[Message], str]) -> dict[str, Any]:
    """Draw the findings of sessions/worker/answers/sequences.py, also as rows of a table; `every` shows each plugin alone."""
    rows = found["rows"] if every else fold_passing_plugins(found["rows"])
    return {
        **found,
        "every": every,
        "clock": clock(found["now"]),
        "diagram": diagram(rows, bool(found["scheduler"]), say) if rows else None,
        "rows": [
            {
                **row,
                "clock": clock(row["t"]),
                "source": TITLES[row["from"]][0],
                "target": TITLES[row["to"]][0] if row["to"] != row["from"] else "",
            }
            for row in rows
        ],
    }
