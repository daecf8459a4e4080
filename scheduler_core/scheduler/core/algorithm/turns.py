"""What the step of a phase comes to: another plugin's turn, or the end of the phase."""

from __future__ import annotations

import enum

from scheduler_core.scheduler.core.cycles.phases import PhaseResult
from scheduler_core.scheduler.core.cycles.scheduling_cycle import SchedulingCycle
from scheduler_core.scheduler.framework.status import error
from scheduler_core.scheduler.framework.step import PluginStep


class Turn(enum.Enum):
    """The plugin that runs next in the phase."""

    FIRST = enum.auto()  # the phase begins again with its first plugin
    NEXT = enum.auto()
    NOBODY = enum.auto()  # the others have nothing left to be asked about
    SAME = enum.auto()  # an answer from outside is waited for


# Bound once: Python code looks up a member of an enum (3.11), for twenty times the price of a name, and each step needs some.
FIRST, NEXT, NOBODY, SAME = Turn.FIRST, Turn.NEXT, Turn.NOBODY, Turn.SAME

Ran = tuple[PluginStep | None, Turn | PhaseResult]
"""What a plugin did, and what that comes to."""


def internal_error(cycle: SchedulingCycle, message: str) -> PhaseResult:
    """A plugin failed; so does the attempt."""
    cycle.failure = error(message)
    cycle.nomination = ""
    cycle.outcome, cycle.message = "error", message
    return PhaseResult.ERROR
