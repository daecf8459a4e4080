"""What the algorithm of a cycle needs besides the cycle and its framework."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from scheduler_core.apimachinery.objects.times import NEVER
from scheduler_core.base.state import Derived, State
from scheduler_core.scheduler.extenders.extender import Extender
from scheduler_core.scheduler.queue.nominator import Nominator


def first(n: int) -> int:
    """Draws the first of those that are tied."""
    return 0


@dataclass(slots=True)
class AlgorithmState(State):
    """The state of a scheduler between cycles, and its sources of random draws.

    `percentage` is the global percentageOfNodesToScore (0: adaptive), `next_start` kube's nextStartNodeIndex. `draw` gives an index among n
    tied nodes, `draw_preemption` one for preemption's offset and its last tie. `epoch` is the wall time (ns since 1970) at virtual time 0;
    without a clock it is later than all. The scheduler calls `extenders` in this order.
    """

    percentage: int = 0
    next_start: int = 0
    draw: Derived[Callable[[int], int]] = first
    draw_preemption: Derived[Callable[[int], int]] = first
    epoch: int = NEVER
    extenders: tuple[Extender, ...] = ()
    nominator: Derived[Nominator] = field(default_factory=Nominator)

    def disconnect(self) -> None:
        """Draws from nobody's stream any more."""
        self.draw = self.draw_preemption = first
