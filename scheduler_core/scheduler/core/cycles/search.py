"""Where Filter's search stands."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from scheduler_core.base.state import Shared, State
from scheduler_core.scheduler.cache.table import NodeTable
from scheduler_core.scheduler.framework.cycle_state import CycleState
from scheduler_core.scheduler.framework.plugin import Rows


class Stage(enum.StrEnum):
    """The filter pass that a step belongs to."""

    MAIN = "main"
    NOMINATED = "nominated pass 1"


@dataclass(slots=True)
class Search(State):
    """The state of the search. `rows` are the rows of the current block that still pass in the current stage."""

    order: Shared[Rows]
    wanted: int
    own_nomination: bool = False  # only the node that the pod itself is nominated to
    nominated: bool = False  # other pods are nominated to some node that was looked at
    start: int = 0  # first of `order` in the current block
    stop: int = 0  # first behind the current block
    rows: Shared[Rows | None] = None
    stage: Stage = Stage.MAIN
    rest: Shared[Rows | None] = None  # rows of the block that the stage leaves out
    view: Shared[NodeTable | None] = None  # of the stage, where it is a what-if
    state: Shared[CycleState | None] = None
    found: int = 0
    seen: int = 0  # rows that the filters looked at
    processed: int = 0  # by how much the start index moves
    beyond: int | None = None  # the feasible row that ended the search
