"""Runaways: a run that repeats itself is stopped, with a summary of its actions.

Repeated moves, and workloads whose pods all end alike, are detected as by the command line (scheduler_core.analysis.whatif). The actions
are counted on a replay of the last steps, so that a run with progress pays only for the check of its pods.
"""

from collections import Counter
from typing import NamedTuple

from playground.presenters.why.reasons import describe_loop
from playground.presenters.words import Message, clock, gettext_noop, message
from playground.sessions.worker.conditions.matching import describe, pod_of
from playground.sessions.worker.past import History
from playground.sessions.worker.time_sharing import Steps
from scheduler_core.analysis.whatif import Circles, Loop, Loops, Watchdog
from scheduler_core.base.trace import kinds
from scheduler_core.world.readonly import Record
from scheduler_core.world.simulation import Simulation

ENDS = 100  # pods of a workload that end alike: more than on the command line, as here other work may progress
LAST = 2_000  # steps in the summary
MOST = 6  # lines of the summary
MESSAGE = 90
ALIKE = 0.8  # actions with at least this share of the maximum count rank as equally frequent; the more informative ones come first
# Records that follow from other records, or only lead to them.
_LEFT_OUT = frozenset(
    facts.KIND
    for facts in (
        kinds.PluginRan,
        kinds.PointStarted,
        kinds.AttemptStarted,
        kinds.CommandApplied,
        kinds.SchedulerStarted,
        kinds.ExtenderAsked,
        kinds.PodAssumed,
        kinds.PodForgotten,
        kinds.PodWaits,
        kinds.NodeSelected,
        kinds.BindingStarted,
        kinds.TimerFired,
    )
)


class Watch:
    """A detector of runaways: call `hear` after each transition, `circles` after each slice. `loop` is the workload found."""

    def __init__(self, world: Simulation) -> None:
        self._moves, self._loops = Watchdog(world), Loops(world.store, ENDS)
        self.loop: Loop | None = None

    @property
    def position(self) -> int:
        return self._moves.position

    def hear(self, world: Simulation) -> bool:
        """Return whether a workload that creates pods in vain was found in this transition."""
        self.loop = self._loops.hear(world.store, world.changes)
        return self.loop is not None

    def circles(self, world: Simulation) -> Circles | None:
        """Return the repetition if no pod has reached a new state for too long; otherwise None."""
        return self._moves.circles(world)


class LastSteps(NamedTuple):
    """The actions of the last `steps` steps, the most frequent first, with their counts."""

    steps: int
    lines: list[tuple[int, str]]


def tally(history: History, end: int) -> Steps[LastSteps]:
    """Count the actions of the last steps before a position."""
    first = max(0, end - LAST)
    world = history.nearest(first)
    counts: Counter[tuple[int, str]] = Counter()
    while world.position < end:
        history.replay(world)
        if world.position > first:
            counts.update(said for record in world.last if (said := phrase(record)) is not None)
        if history.slice.over():
            yield
    often = max(counts.values(), default=0)
    ranked = sorted(counts.items(), key=lambda item: (item[1] < often * ALIKE, item[0][0], -item[1], item[0][1]))
    return LastSteps(end - first, [(count, what) for (_rank, what), count in ranked[:MOST] if count > 1])


def phrase(record: Record) -> tuple[int, str] | None:
    """Return the record's rank (0: most informative) and its text without what differs between rounds; None for a redundant record."""
    if record.kind in _LEFT_OUT:
        return None
    match record.facts:
        case kinds.QueueMoved() as moved:
            by, plugin = moved.event or moved.cause, f", {moved.plugin}" if moved.plugin else ""
            how = f"{moved.pod} moved {moved.came_from} → {moved.to} ({by}{plugin})"
            return 2 if moved.event else 5, how
        case kinds.AttemptEnded() as ended:
            why = f": {ended.message[:MESSAGE]}" if ended.message else f" to {ended.node}"
            return 3, f"attempt of {ended.pod} {ended.outcome}{why}"
        case kinds.WaitEnded() as ended:
            return 1, f"wait of {ended.pod} on Permit ended: {', '.join(ended.status['reasons'])[:MESSAGE]}"
        case kinds.EventRecorded() as event:
            return 4, f"Event {event.reason} about {pod_of(record) or event.name}"
        case kinds.ObjectChanged() as changed:
            if changed.type == "MODIFIED":
                return None
            name = f"{changed.namespace}/{changed.name}" if changed.namespace else changed.name
            return 0, f"{changed.kind} {name} {changed.type.lower()}"
    return 4, describe(record)


_STOOD = gettext_noop(
    "The run was stopped because it repeats itself: for %(steps)s steps no pod reached a new state, and "
    "virtual time stayed at %(time)s. The last %(last)s steps:\n%(lines)s\nChange something, or run again "
    "to continue anyway."
)
_WENT = gettext_noop(
    "The run was stopped because it repeats itself: for %(steps)s steps no pod reached a new state, "
    "while virtual time went from %(since)s to %(time)s. The last %(last)s steps:\n%(lines)s\nChange "
    "something, or run again to continue anyway."
)


def words(circles: Circles | None, now: int, last: LastSteps) -> Message | None:
    """Return the text of a stopped run's actions, one a line. `circles` is None if only its budget was spent."""
    lines = "\n".join(f"{count:,}× {what}" for count, what in last.lines)
    if not lines:
        return None
    seen = {"last": f"{last.steps:,}", "lines": lines}
    if circles is None:
        return message("The last %(last)s steps:\n%(lines)s", **seen)
    circled = {"steps": f"{circles.steps:,}", "time": clock(now), **seen}
    if circles.since == now:
        return message(_STOOD, **circled)
    return message(_WENT, since=clock(circles.since), **circled)


def loop_words(loop: Loop) -> Message:
    """Return the text about a workload that creates pods in vain."""
    return message(
        "The run was stopped: %(loop)s\nChange something, or run again to continue anyway.", loop=describe_loop(loop)
    )
