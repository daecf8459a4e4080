"""The best nodes' scores as stacked horizontal bars, one colour for each plugin."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


def stacked(
    plugins: Sequence[str], weights: Sequence[int], rows: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """A figure: `rows` are the table's rows (node, cells with `weighted`), the best first."""
    nodes = [row["node"] for row in rows]
    return {
        "data": [
            {
                "type": "bar",
                "orientation": "h",
                "name": f"{plugin} × {weight}",
                "y": nodes,
                "x": [row["cells"][i]["weighted"] for row in rows],
            }
            for i, (plugin, weight) in enumerate(zip(plugins, weights, strict=True))
        ],
        "layout": {"barmode": "stack", "yaxis": {"autorange": "reversed", "type": "category"}},
    }
