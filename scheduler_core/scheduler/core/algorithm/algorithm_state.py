"""The input of a cycle's algorithm besides the cycle and its framework."""

import enum
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from scheduler_core.apimachinery.objects.times import NEVER
from scheduler_core.base.state import Copied, Derived, State
from scheduler_core.scheduler.core.algorithm.batching import Batch
from scheduler_core.scheduler.core.cycles.phases import PhaseResult
from scheduler_core.scheduler.core.cycles.scheduling_cycle import SchedulingCycle
from scheduler_core.scheduler.extenders.extender import Extender
from scheduler_core.scheduler.framework import PluginStep, error
from scheduler_core.scheduler.queue.nominator import Nominator

# The result of a step: another plugin's turn, or the end of the phase.


class Turn(enum.Enum):
    """The plugin that runs next in the phase."""

    FIRST = enum.auto()  # the phase begins again with its first plugin
    NEXT = enum.auto()
    NOBODY = enum.auto()  # the other plugins do not run
    SAME = enum.auto()  # an answer from outside is pending


# Bound once: Python code looks up a member of an enum (3.11), for twenty times the price of a name, and each step needs some.
FIRST, NEXT, NOBODY, SAME = Turn.FIRST, Turn.NEXT, Turn.NOBODY, Turn.SAME

StepResult = tuple[PluginStep | None, Turn | PhaseResult]
"""The plugin's step, and the next turn or the phase's result."""


def internal_error(cycle: SchedulingCycle, message: str) -> PhaseResult:
    """Fail the attempt with a plugin's error."""
    cycle.failure = error(message)
    cycle.nomination = ""
    cycle.outcome, cycle.message = "error", message
    return PhaseResult.ERROR


def first(n: int, names: Sequence[str] = ()) -> int:
    """Return 0: of tied nodes, the first is chosen."""
    return 0


@dataclass(slots=True)
class AlgorithmState(State):
    """The state of a scheduler between cycles, and its sources of random draws.

    `percentage` is the global percentageOfNodesToScore (0: adaptive), `next_start` kube's nextStartNodeIndex. `draw` returns an index
    among n tied nodes, `draw_preemption` one for preemption's offset and its last tie. `epoch` is the wall time (ns since 1970) at
    virtual time 0; without a clock it is later than all times. The scheduler calls `extenders` in this order.
    """

    percentage: int = 0
    next_start: int = 0
    draw: Derived[Callable[[int], int]] = first
    draw_preemption: Derived[Callable[..., int]] = first
    epoch: int = NEVER
    extenders: tuple[Extender, ...] = ()
    nominator: Derived[Nominator] = field(default_factory=Nominator)
    batches: Copied[dict[str, Batch] | None] = None  # by profile; None: kube's gate OpportunisticBatching is off
    grouped: bool = False  # kube's gate GenericWorkload
    in_order: bool = False  # nodes that tie are not drawn

    def disconnect(self) -> None:
        """Detach the random draws from the world's streams."""
        self.draw = self.draw_preemption = first
