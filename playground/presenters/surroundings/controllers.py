"""Controllers: what each watches, its work queue, and what it did last and why."""

from __future__ import annotations

from typing import Any

from playground.presenters.amounts import clock, duration


def controllers(rows: list[dict[str, Any]], now: int) -> list[dict[str, Any]]:
    """Return the controllers, the latest active first, then by name; disabled ones come last."""
    ordered = sorted(rows, key=lambda row: (not row["runs"], -_latest(row), row["name"]))
    return [_controller(row, now) for row in ordered]


def _latest(row: dict[str, Any]) -> int:
    return int(row["done"][0]["t"]) + 1 if row["done"] else 0


def _controller(row: dict[str, Any], now: int) -> dict[str, Any]:
    return {
        **row,
        "waiting": [{**entry, "due": duration(max(entry["due"] - now, 0))} for entry in row["waiting"]],
        "more": row["length"] - len(row["waiting"]),
        "done": [{**done, "t": clock(done["t"])} for done in row["done"]],
    }
