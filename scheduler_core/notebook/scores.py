"""ScoreTable: the scores of the feasible nodes in one attempt."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from scheduler_core.notebook.markup import Html, card, element, join_html, number, table
from scheduler_core.world.readonly import ScoreBoard

MOST_SHOWN = 12  # nodes

Points = Mapping[str, Mapping[str, int]]
"""Plugin -> node -> points."""


@dataclass(frozen=True)
class ScoreTable:
    """Points by plugin and node: `raw` from Score, `normalized` to 0 to 100, `weighted` by the plugin's weight; `total` by node.

    `nodes` are in the scheduler's order; `chosen` is the selected node ("": none yet).

    kube: pkg/scheduler/framework/runtime/framework.go RunScorePlugins @ v1.34.1
    """

    pod: str
    nodes: tuple[str, ...]
    weights: Mapping[str, int]
    raw: Points
    normalized: Points
    weighted: Points
    total: Mapping[str, int]
    chosen: str

    @property
    def plugins(self) -> tuple[str, ...]:
        return tuple(self.weights)

    @property
    def best(self) -> tuple[str, ...]:
        """The nodes with the highest total. The scheduler draws one of them."""
        most = max(self.total.values(), default=0)
        return tuple(node for node in self.nodes if self.total[node] == most)

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield one plain row for each plugin and node, for a data frame."""
        for plugin, weight in self.weights.items():
            for node in self.nodes:
                yield {
                    "plugin": plugin,
                    "node": node,
                    "raw": self.raw[plugin][node],
                    "normalized": self.normalized[plugin][node],
                    "weight": weight,
                    "weighted": self.weighted[plugin][node],
                }

    def __repr__(self) -> str:
        totals = ", ".join(f"{node} {self.total[node]}" for node in self._rank())
        more = self._more()
        return f"<ScoreTable {self.pod}: {totals}{', ' + more if more else ''}>"

    def _repr_html_(self) -> str:
        shown = self._rank()
        headings = ["Plugin", "Weight", *(self._heading(node) for node in shown)]
        rows = [
            [plugin, number(weight), *(self._points(plugin, node) for node in shown)]
            for plugin, weight in self.weights.items()
        ]
        totals = [number(element("b", self.total[node]), "good" if node == self.chosen else "") for node in shown]
        legend = "Points: raw → normalized × weight = weighted. The best nodes come first."
        more = self._more()
        return card(
            f"Scores of {self.pod}",
            table(headings, [*rows, ["Total", "", *totals]]),
            element("p", f"{legend} {more} are not shown." if more else legend),
        )

    def _rank(self) -> list[str]:
        """Return the best nodes first."""
        order = sorted(self.nodes, key=lambda node: (node != self.chosen, -self.total[node]))
        return sorted(order, key=lambda node: -self.total[node])[:MOST_SHOWN]

    def _more(self) -> str:
        left = len(self.nodes) - MOST_SHOWN
        return f"{left:,} more nodes" if left > 0 else ""

    def _heading(self, node: str) -> Html:
        return join_html((node, " ✓ chosen" if node == self.chosen else ""))

    def _points(self, plugin: str, node: str) -> Html:
        raw, normalized = self.raw[plugin][node], self.normalized[plugin][node]
        before = f"{raw:,} → " if raw != normalized else ""
        return number(join_html((f"{before}{normalized} × {self.weights[plugin]} = ", self.weighted[plugin][node])))


def score_table(pod: str, names: list[str], board: ScoreBoard, chosen: str) -> ScoreTable:
    """Create the table of one cycle's scores."""
    nodes = tuple(names[row] for row in board.rows.tolist())

    def by_plugin(vectors: list[Any]) -> dict[str, dict[str, int]]:
        return {
            plugin: dict(zip(nodes, scores.tolist(), strict=True))
            for plugin, scores in zip(board.plugins, vectors, strict=True)
        }

    weighted = by_plugin(board.weighted)
    totals = board.total.tolist() if board.total is not None else [0] * len(nodes)
    return ScoreTable(
        pod,
        nodes,
        dict(zip(board.plugins, board.weights, strict=True)),
        by_plugin(board.raw),
        by_plugin(board.normalized),
        weighted,
        dict(zip(nodes, totals, strict=True)),
        chosen,
    )
