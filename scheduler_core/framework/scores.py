"""The scores of one cycle, plugin by plugin."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from scheduler_core.framework.plugin import Rows, Scores


@dataclass(slots=True)
class ScoreBoard:
    """Scores of the feasible rows: one vector per plugin, from raw over normalised to weighted, and their sum."""

    rows: Rows
    plugins: list[str] = field(default_factory=list)
    weights: list[int] = field(default_factory=list)
    raw: list[Scores] = field(default_factory=list)
    normalized: list[Scores] = field(default_factory=list)
    total: Scores | None = None

    @property
    def weighted(self) -> list[Scores]:
        return [scores * weight for scores, weight in zip(self.normalized, self.weights, strict=True)]

    def copy(self) -> ScoreBoard:
        return replace(
            self,
            plugins=list(self.plugins),
            weights=list(self.weights),
            raw=list(self.raw),
            normalized=list(self.normalized),
        )
