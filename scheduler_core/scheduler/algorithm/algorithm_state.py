"""What the algorithm of a cycle needs besides the cycle and its framework."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from scheduler_core.extenders.extender import Extender
from scheduler_core.objects.times import NEVER
from scheduler_core.queue.nominator import Nominator
from scheduler_core.state import Derived, State


@dataclass(slots=True)
class AlgorithmState(State):
    """What a scheduler remembers between cycles, and how it draws.

    `percentage` is the global percentageOfNodesToScore (0: adaptive), `next_start` kube's nextStartNodeIndex. `draw` gives an index among n
    tied nodes, `draw_preemption` one for preemption's offset and its last tie. `epoch` is the wall time (ns since 1970) at virtual time 0;
    without a clock it is later than all. `extenders` are asked in this order.
    """

    percentage: int = 0
    next_start: int = 0
    draw: Derived[Callable[[int], int]] = lambda n: 0
    draw_preemption: Derived[Callable[[int], int]] = lambda n: 0
    epoch: int = NEVER
    extenders: tuple[Extender, ...] = ()
    nominator: Derived[Nominator] = field(default_factory=Nominator)
