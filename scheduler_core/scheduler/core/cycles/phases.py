"""The phases of scheduling and binding cycles, and what a row of their tables says.

The tables are in algorithm/schedule_pod.py, steps/scheduling.py and steps/binding.py, beside what carries the phases out;
docs/architecture.md shows them.

```
scheduling cycle                                                    binding cycle (overlaps with later scheduling cycles)
PreFilter -> Filter -> PreScore -> Score -> NormalizeScore -> Select -> Reserve -> Permit -> WaitOnPermit -> PreBind -> Bind -> PostBind
    |           |          |         |            |                       |          |            |            |         |
    +-----------+--> PostFilter      +------------+--> Failed <-----------+----------+            +-- rollback +---------+
                         +-> Failed
```

Extenders, where there are any, are asked behind Filter, behind a PostFilter plugin that found victims, behind NormalizeScore, before Bind.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from scheduler_core.scheduler.framework.cycle_state import CycleState
from scheduler_core.scheduler.framework.plugin import Point


class Phase(enum.StrEnum):
    """The phase of a scheduling or binding cycle: the point whose plugin runs next."""

    PRE_FILTER = "PreFilter"
    FILTER = "Filter"
    EXTENDER_FILTER = "ExtenderFilter"
    POST_FILTER = "PostFilter"
    EXTENDER_PREEMPT = "ExtenderPreempt"
    PRE_SCORE = "PreScore"
    SCORE = "Score"
    NORMALIZE_SCORE = "NormalizeScore"
    EXTENDER_PRIORITIZE = "ExtenderPrioritize"
    SELECT = "Select"
    RESERVE = "Reserve"
    PERMIT = "Permit"
    WAIT_ON_PERMIT = "WaitOnPermit"
    PRE_BIND = "PreBind"
    EXTENDER_BIND = "ExtenderBind"
    BIND = "Bind"
    POST_BIND = "PostBind"
    FAILED = "Failed"
    DONE = "Done"


class PhaseResult(enum.StrEnum):
    """The result of a phase."""

    SUCCESS = "success"
    ONE_FEASIBLE = "one feasible node"
    NOT_SCORED = "no Score plugin"
    REFUSED = "refused"
    EXTENDED = "extenders are asked"
    ALL_NODES = "nominated node lost"
    RESUMED = "extenders have answered"
    ERROR = "error"


Skips = Callable[[CycleState], tuple[str, ...]]
"""Names of the plugins of a point that don't run in a phase; its docstring says which do."""


def every_plugin(state: CycleState) -> tuple[str, ...]:
    """all"""
    return ()


def not_skipped_at_pre_filter(state: CycleState) -> tuple[str, ...]:
    """all but those whose PreFilter said Skip"""
    return state.skip_filter


def not_skipped_at_pre_score(state: CycleState) -> tuple[str, ...]:
    """all but those whose PreScore said Skip"""
    return state.skip_score


@dataclass(frozen=True, slots=True, kw_only=True)
class PhaseRow:
    """The fixed facts of a phase: extension point (None: no plugin runs), plugins to run, and next phase by result."""

    phase: Phase
    point: Point | None = None
    skips: Skips = every_plugin
    then: Mapping[PhaseResult, Phase]
