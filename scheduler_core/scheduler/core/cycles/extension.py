"""What the extenders have been asked in a cycle, and what their answers have come to so far."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from scheduler_core.apimachinery.objects.node import Node
from scheduler_core.base.state import Copied, Shared, State
from scheduler_core.scheduler.extenders.exchange import Answer, Exchange
from scheduler_core.scheduler.extenders.request import NodeVictims
from scheduler_core.scheduler.framework.status import Status


@dataclass(frozen=True, slots=True, eq=False)
class Kept:
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
    kept: tuple[Kept, ...] = ()
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
