"""Rollouts: a Deployment's ReplicaSets, old and new, over virtual time."""

from __future__ import annotations

from typing import Any

from playground.presenters.charts.metrics import curves
from playground.presenters.surroundings.series import series


def rollouts(rows: list[dict[str, Any]], now: int) -> list[dict[str, Any]]:
    return [_rollout(row, now) for row in rows]


def _rollout(row: dict[str, Any], now: int) -> dict[str, Any]:
    sets = row["sets"]
    levels = {entry["name"]: entry["levels"] for entry in reversed(sets)}
    times, unit, lines = series(levels, ("ready",), now)
    shown = [entry for i, entry in enumerate(sets) if i == 0 or entry["desired"] or entry["pods"]]
    most = max([row["desired"], *(entry["pods"] for entry in sets), 1])
    return {
        **row,
        "id": f"rollout-{row['namespace']}-{row['name']}",
        "sets": [
            {
                **entry,
                "ready_share": round(100 * int(entry["ready"]) / most),
                "pods_share": round(100 * int(entry["pods"]) / most),
                "newest": i == 0,
            }
            for i, entry in enumerate(shown)
        ],
        "older": len(sets) - len(shown),
        "figure": curves(times, unit, lines, True) if len(times) > 2 else None,
        "conditions": [c for c in row["conditions"] if c["message"]],
    }
