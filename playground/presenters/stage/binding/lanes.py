"""Lanes of pods that are on their way now: the scheduling cycle's own, from assume on, and every binding cycle."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple, NotRequired, TypedDict

from playground.presenters.scene import short
from playground.presenters.stage.binding import cells
from playground.presenters.stage.binding.cells import POINTS, Cell, of_steps, refusal
from scheduler_core.world.readonly import (
    BIND_CALL,
    AdvanceBinding,
    AnswerCall,
    BindingCycleView,
    Code,
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


def of_cycle(scheduler: SchedulerView, cycle: SchedulingCycleView) -> Lane | None:
    """The lane of the scheduling cycle's pod once it has a node, or once it was given back; None where there is no such lane."""
    if cycle.chosen is None or cycle.number in scheduler.bindings or cycle.outcome == "scheduled":
        return None
    reserve, permit = of_steps(cycle.steps, Point.RESERVE), of_steps(cycle.steps, Point.PERMIT)
    failed = cycle.ended is not None
    if not failed and cycle.pod.key not in scheduler.cache.assumed:
        return None
    found = [
        _plugins(scheduler, cycle.profile, Point.RESERVE, reserve, str(cycle.phase)),
        _permit(scheduler, cycle, permit),
        *(cells.none() if failed else cells.ahead(point) for point in POINTS[2:]),
    ]
    first = cells.build_assumed_cell(cycle.pod)
    if failed:
        first, found = _roll_back_cells(cycle.pod, found, len(reserve), 0 if refusal(reserve) else 1)
    return lane(cycle.pod, cycle.chosen, cycle.number, [first, *found], "back" if failed else "cycle")


def _roll_back_cells(pod: Pod, found: list[Cell], reserved: int, at: int) -> tuple[Cell, list[Cell]]:
    """Runs back from the refusal at a place: Unreserve, forget. What comes behind it was never reached."""
    found = [*found[: at + 1], *(cells.none() for _ in found[at + 1 :])]
    if at > 0 and reserved:
        found[0] = cells.build_unreserve_cell()
    return cells.forgotten(pod), found


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


def _plugins(scheduler: SchedulerView, profile: str, point: Point, steps: list[PluginStep], phase: str) -> Cell:
    """A point whose plugins answer at once."""
    count, no = len(scheduler.profiles[profile].at(point)), refusal(steps)
    at = steps[-1].position if steps else None
    if no is not None:
        return cells.build_refused_cell(no.status.message, at)
    if phase == str(point):
        return cells.running(len(steps), count, at)
    return cells.build_passed_cell(count, at=at) if steps or not count else cells.ahead(point)


def _permit(scheduler: SchedulerView, cycle: SchedulingCycleView, steps: list[PluginStep]) -> Cell:
    if waits := [step for step in steps if step.status.code is Code.WAIT]:
        return cells.waiting([step.plugin for step in waits], max(step.timeout for step in waits))
    if cycle.phase is Phase.PERMIT or refusal(steps):
        return _plugins(scheduler, cycle.profile, Point.PERMIT, steps, str(cycle.phase))
    return cells.build_allowed_cell(steps[-1].position) if steps else cells.ahead(Point.PERMIT)


def of_binding(sim: WorldView, scheduler: SchedulerView, binding: BindingCycleView, due: Due) -> Lane:
    """The lane of a binding cycle that runs."""
    cycle = scheduler.cycle
    before = cycle.steps if cycle is not None and cycle.number == binding.number else ()
    stands = _ORDER.get(str(binding.phase), len(POINTS))
    row = [
        cells.build_assumed_cell(binding.pod),
        _build_reserve_cell(scheduler, binding, of_steps(before, Point.RESERVE)),
        _build_permit_cell(binding, of_steps(before, Point.PERMIT)),
        _waits(sim, binding, stands),
        *(_binding_point(sim, scheduler, binding, point, due, stands - i) for i, point in enumerate(POINTS[3:], 3)),
    ]
    return {**lane(binding.pod, binding.node, binding.number, row, "binding"), "decide": bool(binding.waiting)}


def _build_reserve_cell(scheduler: SchedulerView, binding: BindingCycleView, steps: list[PluginStep]) -> Cell:
    count = len(scheduler.profiles[binding.profile].at(Point.RESERVE))
    return cells.build_passed_cell(count, at=steps[-1].position if steps else None)


def _build_permit_cell(binding: BindingCycleView, steps: list[PluginStep]) -> Cell:
    if binding.waiting:
        whole = max(binding.waiting.values()) - binding.started
        return cells.waiting(sorted(binding.waiting), whole)
    return cells.build_allowed_cell(steps[-1].position if steps else None)


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
    if beyond > 0:
        end = binding.entered if beyond == 1 else steps[-1].t if steps else 0
        took = end - steps[0].t if steps else 0
        return (
            cells.build_bound_cell(binding.node)
            if point is Point.BIND
            else cells.build_passed_cell(len(plugins), took, at)
        )
    over = due.calls.get(binding.pod.key) if point is Point.BIND else due.plugins.get(binding.number)
    if over is None or over <= sim.now or (point is not Point.BIND and not steps):
        return cells.running(len(steps), len(plugins), at)
    name = steps[-1].plugin if steps else str(plugins[0].name)
    return cells.under_way(name, sim.now - binding.entered, over - binding.entered)
