"""The pipeline as a metro line: extension points, their plugins as stations, the binding cycle as a branch of its own.

Point states: todo, now, done, refused, unused. Station states: todo, now, done, skip, part (refused some nodes), no (refused
the pod, or every node it saw).
"""

from __future__ import annotations

from typing import Any

from playground.presenters.amounts import duration, thousands
from playground.presenters.look import Look
from playground.presenters.panel import Panel
from playground.presenters.scene import (
    BINDING_POINTS,
    FORWARD_POINTS,
    cycle_of,
    framework_of,
    present_step,
    scheduler_of,
    short,
)
from playground.presenters.words import Message, exactly, gettext_noop, message
from scheduler_core.view import (
    BindingCycleView,
    Code,
    CycleView,
    Phase,
    PluginStep,
    Point,
    ProfileView,
    SchedulingCycleView,
    WorldView,
)

_WAY = [Point(phase.value) for phase in Phase if phase.value in {point.value for point in Point}]
_SHORT_NAMES = {Point.NORMALIZE_SCORE: "Normalize"}


def present(sim: WorldView, look: Look) -> Panel:
    """All extension points with what the present cycle did there."""
    framework, cycle = framework_of(sim), cycle_of(sim)
    now = present_step(sim)
    binding = _binding(sim, look, now[1] if now else None)
    cards: dict[str, dict[str, Any]] = {}
    for point in FORWARD_POINTS:
        cards[f"point-{point}"] = _point(point, framework, cycle, now[0] if now else None)
    for point in BINDING_POINTS:
        cards[f"point-{point}"] = _point(point, framework, binding, now[0] if now else None, branch=True)
    _note_forward(cards, cycle)
    _note_branch(cards, sim, binding)
    return Panel("pipeline", {"profile": framework.name, "scheduler": scheduler_of(sim).name}, cards)


def _binding(sim: WorldView, look: Look, present: CycleView | None) -> BindingCycleView | None:
    """The binding cycle to show: the present one, else the inspected pod's, else the newest."""
    bindings = list(scheduler_of(sim).bindings.values())
    running = [binding for binding in bindings if binding is present]
    chosen = [binding for binding in bindings if look.pod and binding.pod.key == look.pod]
    return next(reversed(running or chosen or bindings), None)


def _point(
    point: Point,
    framework: ProfileView,
    cycle: CycleView | None,
    now: PluginStep | None,
    branch: bool = False,
) -> dict[str, Any]:
    steps = [step for step in cycle.steps if step.point is point] if cycle is not None else []
    stations = [_station(plugin.name, steps, cycle, point, now) for plugin in framework.at(point)]
    return {
        "id": f"point-{point}",
        "name": str(point),
        "short": _SHORT_NAMES.get(point, str(point)),
        "branch": branch,
        "state": _state(point, stations, steps, cycle, now),
        "stations": stations,
        "note": None,
    }


def _station(
    name: str, steps: list[PluginStep], cycle: CycleView | None, point: Point, now: PluginStep | None
) -> dict[str, Any]:
    ran = [step for step in steps if step.plugin == name]
    state, note = "todo", None
    if ran:
        state, note = _ran(ran, point)
        if now is not None and ran[-1] is now:
            return {"name": name, "state": state, "now": True, "note": note}
    elif cycle is not None and point in (Point.PRE_ENQUEUE, Point.QUEUE_SORT):
        state = "done"
    elif cycle is not None and _is_skipped(name, point, cycle):
        state, note = "skip", message(gettext_noop("skipped: it has nothing to do for this pod"))
    return {"name": name, "state": state, "now": False, "note": note}


def _is_skipped(name: str, point: Point, cycle: CycleView) -> bool:
    if point is Point.FILTER:
        return name in cycle.state.skip_filter
    return point in (Point.SCORE, Point.NORMALIZE_SCORE) and name in cycle.state.skip_score


def _ran(ran: list[PluginStep], point: Point) -> tuple[str, Message | None]:
    """A station's state and a few words, from what the plugin did (more than once where nodes are searched in blocks)."""
    last = ran[-1]
    if last.skipped:
        return "skip", message(gettext_noop("skipped: it has nothing to do for this pod"))
    if point is Point.FILTER:
        evaluated, refused = sum(s.evaluated for s in ran), sum(s.refused for s in ran)
        if not refused:
            return "done", message(gettext_noop("passes all %(n)s nodes it saw"), n=thousands(evaluated))
        note = message(
            gettext_noop("refuses %(k)s of the %(n)s nodes it saw"),
            k=thousands(refused),
            n=thousands(evaluated),
        )
        return ("no" if refused == evaluated else "part"), note
    if last.status.code is Code.WAIT:
        return "part", message(gettext_noop("waits, at most %(time)s"), time=duration(last.timeout))
    if last.status.ok:
        return "done", None
    return "no", exactly(last.status.message)


def _state(
    point: Point,
    stations: list[dict[str, Any]],
    steps: list[PluginStep],
    cycle: CycleView | None,
    now: PluginStep | None,
) -> str:
    if cycle is None:
        return "todo"
    if now is not None and any(station["now"] for station in stations):
        return "now"
    if point in (Point.PRE_ENQUEUE, Point.QUEUE_SORT):
        return "done"
    if any(not s.status.ok and not s.skipped and s.status.code is not Code.WAIT for s in steps):
        return "refused"
    if str(cycle.phase) == str(point):
        return "next" if not steps else "half"
    if steps:
        return "done"
    return "unused" if _passed_by(point, cycle) else "todo"


def _passed_by(point: Point, cycle: CycleView) -> bool:
    """Whether the cycle has gone past a point without stopping there."""
    if cycle.phase in (Phase.DONE, Phase.FAILED):
        return True
    names = [str(p) for p in _WAY]
    phase = "Reserve" if cycle.phase is Phase.SELECT else str(cycle.phase)
    return str(point) in names and names.index(str(point)) < names.index(phase)


def _feasible(cycle: SchedulingCycleView) -> int:
    return 0 if cycle.feasible is None else len(cycle.feasible)


def _note_forward(cards: dict[str, dict[str, Any]], cycle: SchedulingCycleView | None) -> None:
    if cycle is None:
        return
    searched = any(step.point is Point.FILTER for step in cycle.steps)
    if (
        searched
        and cycle.ended is not None
        and not _feasible(cycle)
        and cards["point-Filter"]["state"] != "now"
    ):
        cards["point-Filter"]["state"] = "refused"
    if cycle.feasible is not None and len(cycle.nodes):
        cards["point-Filter"]["note"] = message(
            gettext_noop("%(k)s of %(n)s"),
            k=thousands(_feasible(cycle)),
            n=thousands(len(cycle.nodes)),
        )
    if cards["point-PostFilter"]["state"] == "unused":
        cards["point-PostFilter"]["note"] = message(gettext_noop("not needed"))
    if cycle.feasible is not None and len(cycle.feasible) == 1 and cards["point-Score"]["state"] == "unused":
        cards["point-Score"]["note"] = message(gettext_noop("one node: no scores"))
    if cycle.chosen is not None:
        cards["point-Reserve"]["note"] = exactly(cycle.chosen)


def _note_branch(cards: dict[str, dict[str, Any]], sim: WorldView, binding: BindingCycleView | None) -> None:
    if binding is None:
        return
    card, others = cards["point-WaitOnPermit"], len(scheduler_of(sim).bindings) - 1
    if binding.waiting:
        card["state"] = "now"
    pod = short(binding.pod.key)
    card["note"] = (
        message(gettext_noop("%(pod)s and %(n)s more"), pod=pod, n=others) if others > 0 else exactly(pod)
    )
