"""Lanes of pods that are on their way now: the scheduling cycle's own, from assume on, and every binding cycle."""

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple, NotRequired, TypedDict

from playground.presenters.scene import short
from playground.presenters.stage.binding import cells
from playground.presenters.stage.binding.cells import POINTS, Cell, WayBack, of_steps, refusal
from scheduler_core.world.readonly import (
    BIND_CALL,
    AdvanceBinding,
    AnswerCall,
    BindingCycleView,
    Code,
    CycleView,
    Phase,
    PluginStep,
    Pod,
    Point,
    SchedulerView,
    SchedulingCycleView,
    WorldView,
)

_ORDER = {str(point): i for i, point in enumerate(POINTS)} | {str(Phase.EXTENDER_BIND): 4}


class Due(NamedTuple):
    """The end times (ns) of running work: plugins of binding cycles by attempt number, and bind calls by pod."""

    plugins: Mapping[int, int]
    calls: Mapping[str, int]


def due_of(sim: WorldView, scheduler: SchedulerView) -> Due:
    """Read off the agenda."""
    plugins: dict[int, int] = {}
    calls: dict[str, int] = {}
    running = scheduler.calls.running
    for entry in sim.agenda.entries():
        action = entry.action
        if isinstance(action, AdvanceBinding) and action.scheduler == scheduler.name:
            plugins[action.number] = entry.time
        elif isinstance(action, AnswerCall) and action.scheduler == scheduler.name:
            call = running.get(action.number)
            if call is not None and call.verb == BIND_CALL:
                calls[call.key] = entry.time
    return Due(plugins, calls)


def of_cycle(scheduler: SchedulerView, cycle: SchedulingCycleView) -> "Lane | None":
    """The lane of the scheduling cycle's pod once it has a node, or once it was given back; None where there is no such lane."""
    if cycle.chosen is None or cycle.number in scheduler.bindings or cycle.outcome == "scheduled":
        return None
    refusing = next((point for point in POINTS[:2] if refusal(of_steps(cycle.steps, point))), None)
    if refusing is None and cycle.pod.key not in scheduler.cache.assumed:
        return None
    row = [cells.build_assumed_cell(cycle.pod), *(_plugins(scheduler, cycle, point) for point in POINTS[:2])]
    row += [cells.none(point) if refusing else cells.ahead(point) for point in POINTS[2:]]
    if refusing is Point.RESERVE:
        row[2] = cells.none(Point.PERMIT)
    found = lane(cycle.pod, cycle.chosen, cycle.number, row, "back" if refusing else "cycle")
    if refusing is not None:
        plugins = [step.plugin for step in of_steps(cycle.steps, Point.UNRESERVE)]
        found["back"] = cells.build_way_back(cycle.pod, refusing, plugins)
    return found


class Lane(TypedDict):
    """A pod on its way; `state`: cycle, binding, bound or back. `decide`: a user may end its wait on Permit."""

    id: str
    kind: Literal["bind/lane"]
    key: str
    name: str
    node: str
    number: int
    state: str
    cells: list[Cell]
    back: NotRequired[WayBack]
    chosen: NotRequired[bool]
    faults: NotRequired[list[str]]
    decide: NotRequired[bool]


def lane(pod: Pod, node: str, number: int, row: list[Cell], state: str) -> Lane:
    return {
        "id": f"lane-{number}",
        "kind": "bind/lane",
        "key": pod.key,
        "name": short(pod.key),
        "node": node,
        "number": number,
        "state": state,
        "cells": row,
    }


def _plugins(scheduler: SchedulerView, cycle: SchedulingCycleView, point: Point) -> Cell:
    """Reserve or Permit, whose plugins answer at once."""
    steps, count = of_steps(cycle.steps, point), len(scheduler.profiles[cycle.profile].at(point))
    no, at = refusal(steps), steps[-1].position if steps else None
    if no is not None:
        return cells.build_refused_cell(no.status.message, at)
    if waits := [step for step in steps if step.status.code is Code.WAIT]:
        return cells.waiting([step.plugin for step in waits], max(step.timeout for step in waits))
    if str(cycle.phase) == point:
        return cells.running(len(steps), count, at)
    return _build_passed(scheduler, cycle, point, at) if steps else cells.ahead(point)


def _build_passed(
    scheduler: SchedulerView, cycle: CycleView, point: Point, at: int | None = None, took: int = 0
) -> Cell:
    """A point whose plugins have all said yes; many have nothing to do for the pod."""
    plugins = scheduler.profiles[cycle.profile].at(point)
    working = [plugin for plugin in plugins if not plugin.is_idle(point, cycle.state, cycle.pod)]
    if not working:
        return cells.build_idle_cell(point, at)
    return cells.build_allowed_cell(at) if point is Point.PERMIT else cells.build_passed_cell(len(working), took, at)


def of_binding(sim: WorldView, scheduler: SchedulerView, binding: BindingCycleView, due: Due) -> Lane:
    """The lane of a binding cycle that runs."""
    cycle = scheduler.cycle
    before = cycle.steps if cycle is not None and cycle.number == binding.number else ()
    stands = _ORDER.get(str(binding.phase), len(POINTS))
    row = [
        cells.build_assumed_cell(binding.pod),
        _build_passed(scheduler, binding, Point.RESERVE, _find_position(before, Point.RESERVE)),
        _build_permit_cell(scheduler, binding, _find_position(before, Point.PERMIT)),
        _waits(sim, binding, stands),
        *(_binding_point(sim, scheduler, binding, point, due, stands - i) for i, point in enumerate(POINTS[3:], 3)),
    ]
    return {**lane(binding.pod, binding.node, binding.number, row, "binding"), "decide": bool(binding.waiting)}


def _find_position(steps: Sequence[PluginStep], point: Point) -> int | None:
    return next((step.position for step in reversed(steps) if step.point is point), None)


def _build_permit_cell(scheduler: SchedulerView, binding: BindingCycleView, at: int | None) -> Cell:
    if binding.waiting:
        whole = max(binding.waiting.values()) - binding.started
        return cells.waiting(sorted(binding.waiting), whole)
    return _build_passed(scheduler, binding, Point.PERMIT, at)


def _waits(sim: WorldView, binding: BindingCycleView, stands: int) -> Cell:
    if binding.waiting:
        deadline = min(binding.waiting.values())
        return cells.build_countdown_cell(max(deadline - sim.now, 0), deadline - binding.started)
    ended = of_steps(binding.steps, Point.WAIT_ON_PERMIT)
    if ended:
        return cells.build_waited_cell(ended[-1].t - binding.started)
    return cells.no_wait() if stands > 2 else cells.running(0, 1)


def _binding_point(
    sim: WorldView, scheduler: SchedulerView, binding: BindingCycleView, point: Point, due: Due, beyond: int
) -> Cell:
    """`beyond`: how many points the cycle is further than this one; 0: it stands here."""
    if beyond < 0:
        return cells.ahead(point)
    steps = of_steps(binding.steps, point)
    at = steps[-1].position if steps else None
    plugins = scheduler.profiles[binding.profile].at(point)
    if point is Point.PRE_BIND and all(each.is_idle(point, binding.state, binding.pod) for each in plugins):
        return cells.build_idle_cell(point, at)
    if beyond > 0:
        end = binding.entered if beyond == 1 else steps[-1].t if steps else 0
        took = end - steps[0].t if steps else 0
        if point is Point.BIND:
            return cells.build_bound_cell(binding.node)
        return _build_passed(scheduler, binding, point, at, took)
    over = due.calls.get(binding.pod.key) if point is Point.BIND else due.plugins.get(binding.number)
    if over is None or over <= sim.now or (point is not Point.BIND and not steps):
        return cells.running(len(steps), len(plugins), at)
    name = steps[-1].plugin if steps else str(plugins[0].name)
    return cells.under_way(name, sim.now - binding.entered, over - binding.entered)
