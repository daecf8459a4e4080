"""Lanes of pods whose binding cycle has ended lately, as the journal and the Events tell it: bound, or rolled back."""

from playground.presenters.scene import scheduler_of
from playground.presenters.stage.binding import lanes
from playground.presenters.stage.binding.lanes import POINTS, Lane, lane
from playground.presenters.words import gettext_noop, message
from scheduler_core.world.readonly import Attempt, Move, Place, Point, WorldView

ATTEMPTS = 24  # how many of the last ones are looked through
EVENTS = 200
_OVER = (Place.BOUND, Place.RUNNING)
_BACK = (Place.ACTIVE, Place.BACKOFF, Place.UNSCHEDULABLE)


def list_ended_cycles(sim: WorldView, most: int, chosen: str) -> list[Lane]:
    """The last ones, oldest first; the chosen pod's is among them whenever it was."""
    running = {number for scheduler in sim.schedulers for number in scheduler.bindings}
    last = sim.journal.attempts[-ATTEMPTS:]
    index = sim.journal.last_attempt.get(chosen)
    if index is not None and sim.journal.attempts[index] not in last:
        last = [sim.journal.attempts[index], *last]
    found = [
        each
        for attempt in reversed(last)
        if attempt.outcome == "scheduled" and attempt.number not in running
        if (each := of_attempt(sim, attempt)) is not None
    ]
    shown = [each for each in found if each["key"] == chosen][:1]
    shown += [each for each in found if each not in shown][: most - len(shown)]
    return sorted(shown, key=lambda each: int(each["number"]))


def of_attempt(sim: WorldView, attempt: Attempt) -> Lane | None:
    """The lane of an attempt's binding cycle; None where the pod is not known any more, or it has not ended."""
    pod = sim.store.pod_at(attempt.pod)
    moves = [move for move in sim.journal.lane(attempt.pod) if move.position >= attempt.last_position]
    end = next((move for move in moves if move.place in (*_OVER, *_BACK)), None)
    if pod is None or end is None:
        return None
    scheduler = next((s for s in sim.schedulers if s.name == attempt.scheduler), scheduler_of(sim))
    before = moves[: moves.index(end)]
    waited = next((move for move in before if move.place == Place.WAITING), None)
    started = next((move for move in before if move.place == Place.BINDING), None)
    bound = end.place in _OVER
    row = _row(attempt, waited, started, end)
    if not bound:
        # A refused binding ran back from the point that refused it.
        why = _why(sim, attempt.pod, end.t)
        point = _find_refusing_point(why, started)
        at = POINTS.index(point)
        row[at:] = [lanes.build_refused_cell(why), *(lanes.none(each) for each in POINTS[at + 1 :])]
        profile = scheduler.profiles.get(attempt.profile) or next(iter(scheduler.profiles.values()))
        found = lane(pod, attempt.node, attempt.number, [lanes.build_assumed_cell(pod), *row], "back")
        found["back"] = lanes.build_way_back(pod, point, [plugin.name for plugin in profile.at(Point.UNRESERVE)])
        return found
    first: lanes.Cell = {**lanes.build_assumed_cell(pod), "state": "ok", "glyph": "✓"}
    return lane(pod, attempt.node, attempt.number, [first, *row], "bound")


def _row(attempt: Attempt, waited: Move | None, started: Move | None, end: Move) -> list[lanes.Cell]:
    """The journal does not know what the plugins did at the points that the pod passed."""
    passed = lanes.cell("ok", lanes.PASSED)
    wait = (started.t if started is not None else end.t) - waited.t if waited is not None else 0
    return [
        passed,
        passed if waited is None else lanes.was_waiting(),
        passed if waited is None else lanes.build_waited_cell(wait),
        passed,
        lanes.build_bound_cell(attempt.node, end.t - started.t if started is not None else 0),
        lanes.cell("ok", message(gettext_noop("done"))),
    ]


def _why(sim: WorldView, key: str, t: int) -> str:
    """Return the message of the pod's FailedScheduling Event at that time."""
    namespace, _, name = key.partition("/")
    for event in reversed(sim.store.events[-EVENTS:]):
        if event.reason == "FailedScheduling" and (event.namespace, event.name) == (namespace, name) and event.t == t:
            return event.message
    return ""


def _find_refusing_point(why: str, started: Move | None) -> Point:
    """kube's text names the point where a plugin failed; who never began to bind was refused while waiting on Permit."""
    if started is None:
        return Point.WAIT_ON_PERMIT
    return Point.PRE_BIND if "PreBind plugin" in why else Point.BIND
