"""The pipeline as a metro line: extension points with their plugins as stations, and the binding cycle as a branch.

Point states: todo, now, done, refused, unused. Station states: todo, now, done, skip, part (refused some nodes), no (refused the pod, or
every node that it evaluated).
"""

from collections.abc import Iterable, Sequence
from typing import TypedDict

from playground.presenters import scene
from playground.presenters.look import AIM, Look
from playground.presenters.panel import Panel
from playground.presenters.scene import short
from playground.presenters.stage.binding import of_attempt
from playground.presenters.stage.binding.lanes import POINTS
from playground.presenters.words import Message, duration, exactly, message, ordinal, thousands
from scheduler_core.world.readonly import (
    Attempt,
    Code,
    CycleView,
    Extender,
    Phase,
    PluginStep,
    Point,
    ProfileView,
    SchedulingCycleView,
    WorldView,
)

_WAY = [Point(phase.value) for phase in Phase if phase.value in {point.value for point in Point}]
_IN_QUEUE = (Point.PRE_ENQUEUE, Point.QUEUE_SORT)  # passed before a cycle begins
_MAY_SKIP = (Point.FILTER, Point.SCORE, Point.NORMALIZE_SCORE)  # PreFilter and PreScore may return Skip for them
_ENDED = {"ok": ("done", "done"), "skip": ("done", "done"), "no": ("refused", "no")}  # of a point and its stations
_SHORT_NAMES = {
    Point.EXTENDER_FILTER: "Extenders",
    Point.EXTENDER_PREEMPT: "Extenders",
    Point.EXTENDER_PRIORITIZE: "Extenders",
    Point.EXTENDER_BIND: "Extenders",
    Point.NORMALIZE_SCORE: "Normalize",
}
_TAILS = {Point.NORMALIZE_SCORE: "Score"}  # of a name that gives way on short lines


class PipelineContext(TypedDict):
    pod: str
    name: str
    attempt: Message | None
    number: int


def present(sim: WorldView, look: Look) -> "Panel[PipelineContext, PointCard]":
    """Return all extension points with the results of one pod's cycles: the pod of the last transition.

    While no cycle runs, it is the chosen pod.
    """
    chosen = look.pod if sim.idle and look.stage in (AIM, "pending", "placed") and look.about == "pod" else ""
    scheduler, key, now = scene.scheduler_of(sim), chosen or scene.present_pod(sim), scene.present_step(sim)
    running, extenders = scene.cycle_of(sim), scheduler.extenders
    cycle = running if running is not None and running.pod.key == key else None
    binding = next((each for each in scheduler.bindings.values() if each.pod.key == key), None)
    profile = cycle or binding
    framework = scheduler.profiles.get(profile.profile if profile else "") or scene.framework_of(sim)
    step = now[0] if now else None
    cards = _points(scene.with_extenders(scene.FORWARD_POINTS, extenders), framework, extenders, cycle, step) | _points(
        scene.with_extenders(scene.BINDING_POINTS, extenders), framework, extenders, binding, step, branch=True
    )
    attempt = scene.last_attempt(sim, key)
    if cycle is not None:
        _note_forward(cards, cycle)
    elif attempt is not None:
        passed = attempt.outcome == "scheduled"
        unused = {Point.POST_FILTER} if passed else {*_SCORING, Point.RESERVE, Point.PERMIT}
        if passed and attempt.feasible == 1:
            unused |= _SCORING
        for point in scene.FORWARD_POINTS:
            cards[f"point-{point}"]["state"] = "unused" if point in unused else "done"
        card = cards["point-Filter"]
        card["state"] = "done" if passed else "refused"
        card["note"] = message(
            "%(k)s of %(n)s", k=thousands(attempt.feasible), n=thousands(scene.count_evaluated_nodes(attempt))
        )
    if binding is not None and binding.waiting:
        cards["point-WaitOnPermit"]["state"] = "now"
    if binding is None and attempt is not None and (cycle is None or cycle.number <= attempt.number):
        _note_ended(cards, sim, attempt)
    count = scene.count_attempts(sim, key)
    said = ordinal(count) if count else None
    number = scene.find_latest_number(sim, key)
    return Panel("pipeline", {"pod": key, "name": short(key), "attempt": said, "number": number}, cards)


def _points(
    points: Iterable[Point],
    framework: ProfileView,
    extenders: Sequence[Extender],
    cycle: CycleView | None,
    now: PluginStep | None,
    branch: bool = False,
) -> "dict[str, PointCard]":
    steps: dict[Point, list[PluginStep]] = {point: [] for point in points}
    for step in cycle.steps if cycle is not None else ():
        if step.point in steps:
            steps[step.point].append(step)
    return {
        f"point-{point}": _point(point, _names(point, framework, extenders), cycle, mine, now, branch)
        for point, mine in steps.items()
    }


def _names(point: Point, framework: ProfileView, extenders: Sequence[Extender]) -> list[str]:
    """Return the stations of a point: its plugins, or the extenders that it calls."""
    if point in scene.EXTENDER_VERBS:
        verb = scene.EXTENDER_VERBS[point]
        return list(dict.fromkeys(extender.url_prefix for extender in extenders if extender.has(verb)))
    return [plugin.name for plugin in framework.at(point)]


class PointCard(TypedDict):
    id: str
    name: str
    short: str
    tail: str
    branch: bool
    at: int | None
    state: str
    stations: "list[Station]"
    note: Message | None


def _point(
    point: Point,
    names: list[str],
    cycle: CycleView | None,
    steps: list[PluginStep],
    now: PluginStep | None,
    branch: bool,
) -> PointCard:
    if steps or point in _MAY_SKIP:
        stations = [_station(name, steps, cycle, point, now) for name in names]
    else:
        state = "done" if cycle is not None and point in _IN_QUEUE else "todo"
        stations = [{"name": name, "state": state, "now": False, "note": None} for name in names]
    asks = point in scene.EXTENDER_VERBS and cycle is not None and str(cycle.phase) == str(point)
    awaited = asks and cycle is not None and cycle.extension is not None and cycle.extension.awaited
    return {
        "id": f"point-{point}",
        "name": str(point),
        "short": _SHORT_NAMES.get(point, str(point)),
        "tail": _TAILS.get(point, ""),
        "branch": branch,
        "at": steps[-1].position if steps else None,
        "state": _state(point, stations, steps, cycle, now),
        "stations": stations,
        "note": message("waiting for the response") if awaited else None,
    }


class Station(TypedDict):
    name: str
    state: str
    now: bool
    note: Message | None


def _station(
    name: str, steps: list[PluginStep], cycle: CycleView | None, point: Point, now: PluginStep | None
) -> Station:
    ran = [step for step in steps if step.plugin == name]
    state, note = "todo", None
    if ran:
        state, note = _ran(ran, point)
        if now is not None and ran[-1] is now:
            return {"name": name, "state": state, "now": True, "note": note}
    elif cycle is not None and _is_skipped(name, point, cycle):
        state, note = "skip", message("skipped: nothing to do for this pod")
    return {"name": name, "state": state, "now": False, "note": note}


def _is_skipped(name: str, point: Point, cycle: CycleView) -> bool:
    if point is Point.FILTER:
        return name in cycle.state.skip_filter
    return point in (Point.SCORE, Point.NORMALIZE_SCORE) and name in cycle.state.skip_score


def _ran(ran: list[PluginStep], point: Point) -> tuple[str, Message | None]:
    """Return a station's state and a note. A plugin may run several times, if nodes are searched in blocks."""
    last = ran[-1]
    if last.skipped:
        return "skip", message("skipped: nothing to do for this pod")
    if point is Point.FILTER or (point is Point.EXTENDER_FILTER and last.status.ok):
        evaluated, refused = sum(s.evaluated for s in ran), sum(s.refused for s in ran)
        if not refused:
            return "done", message("passes all %(n)s nodes it checked", n=thousands(evaluated))
        note = message("refuses %(k)s of the %(n)s nodes it checked", k=thousands(refused), n=thousands(evaluated))
        return ("no" if refused == evaluated else "part"), note
    if last.status.code is Code.WAIT:
        return "part", message("waits, at most %(time)s", time=duration(last.timeout))
    if last.status.ok:
        return "done", None
    return "no", exactly(last.status.message)


def _state(
    point: Point, stations: list[Station], steps: list[PluginStep], cycle: CycleView | None, now: PluginStep | None
) -> str:
    if cycle is None:
        return "todo"
    if now is not None and any(station["now"] for station in stations):
        return "now"
    if point in _IN_QUEUE:
        return "done"
    if any(not s.status.ok and not s.skipped and s.status.code is not Code.WAIT for s in steps):
        return "refused"
    if str(cycle.phase) == str(point):
        return "next" if not steps else "half"
    if steps:
        return "done"
    return "unused" if _has_passed(point, cycle) else "todo"


def _has_passed(point: Point, cycle: CycleView) -> bool:
    """Return whether the cycle has passed a point."""
    if cycle.phase in (Phase.DONE, Phase.FAILED):
        return True
    phase = Point.RESERVE if cycle.phase is Phase.SELECT else Point(cycle.phase.value)
    return point in _WAY and _WAY.index(point) < _WAY.index(phase)


def _feasible(cycle: SchedulingCycleView) -> int:
    return 0 if cycle.feasible is None else len(cycle.feasible)


_SCORING = {Point.PRE_SCORE, Point.SCORE, Point.NORMALIZE_SCORE}


def _note_forward(cards: dict[str, PointCard], cycle: SchedulingCycleView) -> None:
    searched = any(step.point is Point.FILTER for step in cycle.steps)
    if searched and cycle.ended is not None and not _feasible(cycle) and cards["point-Filter"]["state"] != "now":
        cards["point-Filter"]["state"] = "refused"
    if cycle.feasible is not None and len(cycle.nodes):
        cards["point-Filter"]["note"] = message(
            "%(k)s of %(n)s", k=thousands(_feasible(cycle)), n=thousands(cycle.nodes.snapshot_rows)
        )
    _note_extenders(cards, cycle)
    if cards["point-PostFilter"]["state"] == "unused":
        cards["point-PostFilter"]["note"] = message("not needed")
    if cycle.feasible is not None and len(cycle.feasible) == 1 and cards["point-Score"]["state"] == "unused":
        cards["point-Score"]["note"] = message("one node: no scores")


def _note_extenders(cards: dict[str, PointCard], cycle: SchedulingCycleView) -> None:
    """Note the count after the extenders on the extenders' card, and the count that the plugins left on Filter's card."""
    extension, card = cycle.extension, cards.get("point-ExtenderFilter")
    if card is None or extension is None or not extension.filtered:
        return
    card["note"] = card["note"] or cards["point-Filter"]["note"]
    cards["point-Filter"]["note"] = message(
        "%(k)s of %(n)s", k=thousands(extension.filtered), n=thousands(cycle.nodes.snapshot_rows)
    )


def _note_ended(cards: dict[str, PointCard], sim: WorldView, attempt: Attempt) -> None:
    """Show the result of the binding cycle of a finished attempt."""
    lane = of_attempt(sim, attempt) if attempt.outcome == "scheduled" else None
    for point, cell in zip(POINTS, lane["cells"][1:] if lane else (), strict=False):
        card = cards[f"point-{point}"]
        if card["branch"] and cell["state"] in _ENDED:
            card["state"], station = _ENDED[cell["state"]]
            card["stations"] = [each | {"state": station} for each in card["stations"]]
