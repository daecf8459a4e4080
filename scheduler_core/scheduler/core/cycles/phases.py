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


# What the extenders have been asked in a cycle, and what their answers have come to so far.


@dataclass(frozen=True, slots=True, eq=False)
class FeasibleNode:
    """A node that is still feasible. `row`: of the snapshot, or -1 where an extender described it anew."""

    node: Node
    row: int


@dataclass(slots=True)
class Extension(State):
    """`exchanges` are all calls of the cycle; those of `open` are what it is at: asked, and not yet taken in.

    `statuses`: what extenders said of nodes, by name. `kept`: the nodes left while the filters are asked, of `filtered` before.
    `nominated`: it is about the node that the pod is nominated to alone; `lost`: that one was not kept.
    """

    exchanges: Copied[list[Exchange]] = field(default_factory=list)
    open: tuple[int, ...] = ()
    statuses: Copied[dict[str, Status]] = field(default_factory=dict)
    kept: tuple[FeasibleNode, ...] = ()
    filtered: int = 0
    nominated: bool = False
    lost: bool = False
    asking: int = 0  # the PostFilter plugin (its place in the phase) whose victims the extenders are asked about
    resumed: bool = False  # that plugin has its answer
    victims: tuple[NodeVictims, ...] = ()
    evidence: Shared[Any] = None  # of that plugin
    numbers_from: int = 0  # exchanges of the same attempt before these

    @property
    def awaited(self) -> tuple[Exchange, ...]:
        """The calls that are to be answered yet."""
        return tuple(self.exchanges[i] for i in self.open if self.exchanges[i].answer is None)

    def add(self, exchange: Exchange) -> None:
        """A call that is made now."""
        self.open = (*self.open, len(self.exchanges))
        self.exchanges.append(exchange)

    def answer(self, number: int, answer: Answer, at: int) -> None:
        """The answer to one of the calls that are waited for."""
        for i in self.open:
            exchange = self.exchanges[i]
            if exchange.number == number and exchange.answer is None:
                self.exchanges[i] = replace(exchange, answer=answer, answered=at)
                return
        raise KeyError(number)

    def current(self) -> Exchange:
        """The first call that is still to be taken in."""
        return self.exchanges[self.open[0]]

    def take(self, taken: Exchange) -> Exchange:
        """Its answer is taken in: the call with what it came to."""
        self.exchanges[self.open[0]] = taken
        self.open = self.open[1:]
        return taken
