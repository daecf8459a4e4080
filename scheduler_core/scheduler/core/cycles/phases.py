"""The phases of scheduling and binding cycles, and the rows of their tables.

The tables are in algorithm/schedule_pod.py, steps/scheduling.py and steps/binding.py, beside the functions that run the phases;
docs/architecture.md shows them.

```
scheduling cycle                                                    binding cycle (overlaps with later scheduling cycles)
PreFilter -> Filter -> PreScore -> Score -> NormalizeScore -> Select -> Reserve -> Permit -> WaitOnPermit -> PreBind -> Bind -> PostBind
    |           |          |         |            |                       |          |            |            |         |
    +-----------+--> PostFilter      +------------+--> Failed <-----------+----------+            +-- rollback +---------+
                         +-> Failed
```

Extenders are called after Filter, after a PostFilter plugin that found victims, after NormalizeScore, and before Bind.
"""

import enum
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from scheduler_core.apimachinery.objects.node import Node
from scheduler_core.base.state import Copied, Shared, State
from scheduler_core.scheduler.extenders.exchange import Answer, Exchange
from scheduler_core.scheduler.extenders.extender import NodeVictims
from scheduler_core.scheduler.framework import CycleState, Point, Status


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


# The extender calls of a cycle, and the results so far.


@dataclass(frozen=True, slots=True, eq=False)
class FeasibleNode:
    """A node that is still feasible. `row`: its row in the snapshot, or -1 if an extender returned a modified node."""

    node: Node
    row: int


@dataclass(slots=True)
class Extension(State):
    """The extender calls of a cycle. `exchanges` are all calls; `open` are the current calls, whose answers are not yet processed.

    `statuses`: the extenders' statuses by node name. `kept`: the remaining nodes during the filters, of `filtered` before. `nominated`:
    only the pod's nominated node is evaluated; `lost`: the extenders dropped that node.
    """

    exchanges: Copied[list[Exchange]] = field(default_factory=list)
    open: tuple[int, ...] = ()
    statuses: Copied[dict[str, Status]] = field(default_factory=dict)
    kept: tuple[FeasibleNode, ...] = ()
    filtered: int = 0
    nominated: bool = False
    lost: bool = False
    asking: int = 0  # the PostFilter plugin (its index in the phase) whose victims the extenders receive
    resumed: bool = False  # that plugin has the extenders' answers
    victims: tuple[NodeVictims, ...] = ()
    evidence: Shared[Any] = None  # of that plugin
    numbers_from: int = 0  # exchanges of the same attempt before these

    @property
    def awaited(self) -> tuple[Exchange, ...]:
        """The calls without an answer."""
        return tuple(self.exchanges[i] for i in self.open if self.exchanges[i].answer is None)

    def add(self, exchange: Exchange) -> None:
        """Add a new call."""
        self.open = (*self.open, len(self.exchanges))
        self.exchanges.append(exchange)

    def answer(self, number: int, answer: Answer, at: int) -> None:
        """Set the answer of an open call. Raise KeyError if no such call waits."""
        for i in self.open:
            exchange = self.exchanges[i]
            if exchange.number == number and exchange.answer is None:
                self.exchanges[i] = replace(exchange, answer=answer, answered=at)
                return
        raise KeyError(number)

    def current(self) -> Exchange:
        """Return the first open call."""
        return self.exchanges[self.open[0]]

    def take(self, taken: Exchange) -> Exchange:
        """Replace the first open call with the processed call, and close and return it."""
        self.exchanges[self.open[0]] = taken
        self.open = self.open[1:]
        return taken
