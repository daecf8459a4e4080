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
from playground.presenters.words import Told, gettext_noop, told
from scheduler_core.framework.plugin import Point
from scheduler_core.framework.status import Code
from scheduler_core.framework.step import PluginStep
from scheduler_core.scheduler.cycles.binding_cycle import BindingCycle
from scheduler_core.scheduler.cycles.phases import Phase
from scheduler_core.scheduler.cycles.scheduling_cycle import SchedulingCycle

_WAY = [Point(phase) for phase in Phase if phase in set(Point)]
_SHORT_NAMES = {Point.NORMALIZE_SCORE: "Normalize"}


def present(sim: Any, look: Look) -> Panel:
    """All extension points with what the present cycle did there."""
    framework, cycle = framework_of(sim), cycle_of(sim)
    now = present_step(sim)
    binding = _binding(sim, look, now[1] if now else None)
    cards: dict[str, dict[str, Any]] = {}
    for point in FORWARD_POINTS:
        cards[f"point-{point}"] = _point(point, framework, cycle, now[0] if now else None)
    for point in BINDING_POINTS:
        cards[f"point-{point}"] = _point(point, framework, binding, now[0] if now else None, branch=True)
    _tell_forward(cards, cycle)
    _tell_branch(cards, sim, binding)
    return Panel("pipeline", {"profile": framework.name, "scheduler": scheduler_of(sim).name}, cards)


def _binding(sim: Any, look: Look, present: SchedulingCycle | BindingCycle | None) -> BindingCycle | None:
    if isinstance(present, BindingCycle):
        return present
    bindings = list(scheduler_of(sim).bindings.values())
    chosen = [binding for binding in bindings if look.pod and binding.pod.key == look.pod]
    return (chosen or bindings or [None])[-1]


def _point(
    point: Point,
    framework: Any,
    cycle: SchedulingCycle | BindingCycle | None,
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
    name: str, steps: list[PluginStep], cycle: Any, point: Point, now: PluginStep | None
) -> dict[str, Any]:
    ran = [step for step in steps if step.plugin == name]
    state, note = "todo", None
    if ran:
        state, note = _ran(ran, point)
        if now is not None and ran[-1] is now:
            return {"name": name, "state": state, "now": True, "note": note}
    elif cycle is not None and point in (Point.PRE_ENQUEUE, Point.QUEUE_SORT):
        state = "done"
    elif cycle is not None and _told_to_skip(name, point, cycle):
        state, note = "skip", told(gettext_noop("skipped: it has nothing to do for this pod"))
    return {"name": name, "state": state, "now": False, "note": note}


def _told_to_skip(name: str, point: Point, cycle: Any) -> bool:
    if point is Point.FILTER:
        return name in cycle.state.skip_filter
    return point in (Point.SCORE, Point.NORMALIZE_SCORE) and name in cycle.state.skip_score


def _ran(ran: list[PluginStep], point: Point) -> tuple[str, Told | None]:
    """A station's state and a few words, from what the plugin did (more than once where nodes are searched in blocks)."""
    last = ran[-1]
    if last.skipped:
        return "skip", told(gettext_noop("skipped: it has nothing to do for this pod"))
    if point is Point.FILTER:
        evaluated, refused = sum(s.evaluated for s in ran), sum(s.refused for s in ran)
        if not refused:
            return "done", told(gettext_noop("passes all %(n)s nodes it saw"), n=thousands(evaluated))
        note = told(
            gettext_noop("refuses %(k)s of the %(n)s nodes it saw"),
            k=thousands(refused),
            n=thousands(evaluated),
        )
        return ("no" if refused == evaluated else "part"), note
    if last.status.code is Code.WAIT:
        return "part", told(gettext_noop("waits, at most %(time)s"), time=duration(last.timeout))
    if last.status.ok:
        return "done", None
    return "no", {"text": "", "exact": last.status.message}


def _state(
    point: Point, stations: list[dict[str, Any]], steps: list[PluginStep], cycle: Any, now: Any
) -> str:
    if cycle is None:
        return "todo"
    if now is not None and any(station["now"] for station in stations):
        return "now"
    if point in (Point.PRE_ENQUEUE, Point.QUEUE_SORT):
        return "done"
    if any(not s.status.ok and not s.skipped and s.status.code is not Code.WAIT for s in steps):
        return "refused"
    if point is Point.FILTER and steps and cycle.ended is not None and not _feasible(cycle):
        return "refused"
    if str(cycle.phase) == str(point):
        return "next" if not steps else "half"
    if steps:
        return "done"
    return "unused" if _passed_by(point, cycle) else "todo"


def _passed_by(point: Point, cycle: Any) -> bool:
    """Whether the cycle has gone past a point without stopping there."""
    if cycle.phase in (Phase.DONE, Phase.FAILED):
        return True
    names = [str(p) for p in _WAY]
    phase = "Reserve" if cycle.phase is Phase.SELECT else str(cycle.phase)
    return str(point) in names and names.index(str(point)) < names.index(phase)


def _feasible(cycle: SchedulingCycle) -> int:
    return 0 if cycle.feasible is None else len(cycle.feasible)


def _tell_forward(cards: dict[str, dict[str, Any]], cycle: SchedulingCycle | None) -> None:
    if cycle is None:
        return
    if cycle.feasible is not None and len(cycle.nodes):
        cards["point-Filter"]["note"] = told(
            gettext_noop("%(k)s of %(n)s"),
            k=thousands(_feasible(cycle)),
            n=thousands(len(cycle.nodes)),
        )
    if cards["point-PostFilter"]["state"] == "unused":
        cards["point-PostFilter"]["note"] = told(gettext_noop("not needed"))
    if cycle.feasible is not None and len(cycle.feasible) == 1 and cards["point-Score"]["state"] == "unused":
        cards["point-Score"]["note"] = told(gettext_noop("one node: no scores"))
    if cycle.chosen is not None:
        cards["point-Reserve"]["note"] = {"text": "", "exact": cycle.chosen}


def _tell_branch(cards: dict[str, dict[str, Any]], sim: Any, binding: BindingCycle | None) -> None:
    if binding is None:
        return
    card, others = cards["point-WaitOnPermit"], len(scheduler_of(sim).bindings) - 1
    if binding.waiting:
        card["state"] = "now"
    pod = short(binding.pod.key)
    card["note"] = (
        told(gettext_noop("%(pod)s and %(n)s more"), pod=pod, n=others)
        if others > 0
        else {"text": "", "exact": pod}
    )
