"""The scores of one cycle, plugin by plugin."""

from __future__ import annotations

from dataclasses import dataclass, field

from scheduler_core.base.state import Copied, Shared, State
from scheduler_core.scheduler.framework.plugin import Rows, Scores


@dataclass(slots=True)
class ScoreBoard(State):
    """Scores of the feasible rows: one vector per plugin, from raw over normalised to weighted, and their sum."""

    rows: Shared[Rows]
    plugins: Copied[list[str]] = field(default_factory=list)
    weights: Copied[list[int]] = field(default_factory=list)
    raw: Copied[list[Shared[Scores]]] = field(default_factory=list)
    normalized: Copied[list[Shared[Scores]]] = field(default_factory=list)
    total: Shared[Scores | None] = None
    extenders: Copied[list[str]] = field(default_factory=list)
    extended: Copied[list[Shared[Scores]]] = field(default_factory=list)  # of each of these, with its weight

    @property
    def weighted(self) -> list[Scores]:
        return [scores * weight for scores, weight in zip(self.normalized, self.weights, strict=True)]
