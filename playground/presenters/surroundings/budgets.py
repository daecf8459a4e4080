"""PodDisruptionBudgets as bars: healthy pods against those that are needed."""

from __future__ import annotations

from typing import Any

from playground.presenters.charts.metrics import curves
from playground.presenters.surroundings.series import series


def budgets(rows: list[dict[str, Any]], now: int) -> list[dict[str, Any]]:
    return [_budget(row, now) for row in rows]


def _budget(row: dict[str, Any], now: int) -> dict[str, Any]:
    """`bar`: percents of the widest of expected, healthy and needed."""
    most = max(row["expected"], row["healthy"], row["needed"], 1)
    times, unit, lines = series({"": row["levels"]}, ("healthy", "needed", "allowed"), now)
    return {
        **row,
        "id": f"budget-{row['namespace']}-{row['name']}",
        "healthy_share": round(100 * row["healthy"] / most),
        "needed_share": round(100 * row["needed"] / most),
        "figure": curves(times, unit, lines, False) if len(times) > 2 else None,
    }
