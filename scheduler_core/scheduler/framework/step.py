"""A step: one plugin run once at one extension point, and what its record says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from scheduler_core.base.state import SharedState
from scheduler_core.scheduler.framework.plugin import Point, Rows, Scores, Verdicts
from scheduler_core.scheduler.framework.status import SUCCESS, Status


@dataclass(slots=True, eq=False)
class PluginStep(SharedState):
    """The run of one plugin at one extension point. `rows`, `verdicts` and `scores` are node-wise detail, read on demand.

    Never changed once made; it is not `frozen` because that makes it five times as slow to make, and an attempt makes about thirty.
    """

    point: Point
    plugin: str
    status: Status = SUCCESS
    t: int = 0
    position: int = 0
    evaluated: int = 0
    refused: int = 0
    rows: Rows | None = None
    verdicts: Verdicts | None = None
    scores: Scores | None = None
    node_names: frozenset[str] | None = None
    timeout: int = 0
    stage: str = ""  # of Filter: which pass
    evidence: Any = None  # of PostFilter: what the plugin looked at

    @property
    def skipped(self) -> bool:
        return self.status.skipped

    def refusals(self) -> list[tuple[int, Status]]:
        """The rows that Filter refused, each with its status as the plugin gave it."""
        if self.rows is None or self.verdicts is None:
            return []
        return self.verdicts.refusals(self.rows)
