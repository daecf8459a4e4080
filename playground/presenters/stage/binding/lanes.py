"""Lanes of pods in progress: the scheduling cycle from assume on, and each binding cycle."""

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple, NotRequired, TypedDict

from playground.presenters.scene import short
from playground.presenters.words import Message, amount, cpu, duration, exactly, gettext_noop, message
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


class Cell(TypedDict):
    """`state`: held, ok, skip, now, wait, no, ahead, or none. `at` is the position of the last step, `span` the number of points."""

    state: str
    glyph: str
    head: Message | None
    sub: Message | None
    at: int | None
    ring: int | None
    full: str
    span: int


HEADS = {
    "assume": gettext_noop("assume"),
    Point.RESERVE: "Reserve",
    Point.PERMIT: "Permit",
    Point.WAIT_ON_PERMIT: "WaitOnPermit",
    Point.PRE_BIND: "PreBind",
    Point.BIND: "Bind",
    Point.POST_BIND: "PostBind",
}
POINTS = tuple(Point(point) for point in list(HEADS)[1:])
_GLYPHS = {"held": "◆", "ok": "✓", "skip": "–", "now": "▸", "wait": "◔", "no": "✕", "ahead": "", "none": ""}
_HELD = gettext_noop("%(amount)s reserved")
_PLUGINS = gettext_noop("%(n)s plugins")


def cell(
    state: str,
    head: Message | None = None,
    sub: Message | None = None,
    at: int | None = None,
    ring: int | None = None,
    full: str = "",
) -> Cell:
    glyph = _GLYPHS[state]
    return {"state": state, "glyph": glyph, "head": head, "sub": sub, "at": at, "ring": ring, "full": full, "span": 1}


def merge(row: Sequence[Cell]) -> list[Cell]:
    """Merge neighboring cells with equal results: points with nothing to do, and points that passed."""
    merged: list[Cell] = []
    for name, each in zip(HEADS.values(), row, strict=True):
        last = merged[-1] if merged else None
        if last is None or each["head"] is None or not _are_alike(last, each):
            merged.append({**each, "full": each["full"] or name})
            continue
        last["span"] += 1
        last["full"] = f"{last['full']}, {name}"
        last["sub"] = exactly(last["full"])
        if each["state"] == "skip":
            last["head"] = message("%(n)s points have nothing to do", n=last["span"])
    return merged


def _are_alike(one: Cell, other: Cell) -> bool:
    return one["state"] == other["state"] and (one["state"] == "skip" or one["head"] == other["head"] == PASSED)


def build_assumed_cell(pod: Pod) -> Cell:
    """Return the cell for the node's capacity that the cache holds for the pod."""
    return cell("held", message("assumed"), message(_HELD, amount=holds(pod)))


class WayBack(TypedDict):
    """The rollback of a lane: from the cell `span` points on, through Unreserve of `plugins`, to `free` in the cache."""

    span: int
    plugins: list[str]
    free: Message


def build_way_back(pod: Pod, point: Point, plugins: Sequence[str]) -> WayBack:
    free = message("%(amount)s free again", amount=holds(pod))
    return {"span": POINTS.index(point) + 1, "plugins": list(plugins), "free": free}


def ahead(point: Point) -> Cell:
    """Return the cell of a point that is not reached yet."""
    return cell("ahead", exactly(HEADS[point]))


PASSED = message("passed")
_IDLE = {
    Point.RESERVE: gettext_noop("nothing to reserve"),
    Point.PERMIT: gettext_noop("nothing to wait for"),
    Point.PRE_BIND: gettext_noop("nothing to prepare"),
}


def build_idle_cell(point: Point, at: int | None = None) -> Cell:
    """Return the cell of a point whose plugins have nothing to do for the pod."""
    return cell("skip", message(_IDLE.get(point, gettext_noop("no plugin"))), at=at)


def within(took: int) -> Message | None:
    """Return the time taken, or None if no time passed."""
    return message("in %(time)s", time=duration(took)) if took > 0 else None


def build_waited_cell(took: int) -> Cell:
    """Return the cell of a wait that ended with success."""
    return cell("ok", message("allowed"), within(took) or message("immediately"))


def waiting(plugins: Sequence[str], timeout: int) -> Cell:
    """Return the cell of a wait that a Permit plugin requested."""
    return cell("wait", message("Wait %(time)s", time=duration(timeout)), exactly(", ".join(plugins)))


def running(done: int, count: int, at: int | None = None) -> Cell:
    """Return the cell of a point between two of its plugins."""
    sub = message(gettext_noop("%(k)s of %(n)s plugins") if count > 1 else _PLUGINS, k=done, n=count)
    return cell("now", message("running"), sub, at=at)


def build_refused_cell(sub: str, at: int | None = None) -> Cell:
    """Return the cell of a step that refused the pod, with the reason."""
    return cell("no", message("refused"), exactly(sub) if sub else None, at=at, full=sub)


def build_bound_cell(node: str, took: int = 0) -> Cell:
    """Return the cell of a pod that the API server has bound."""
    return cell("ok", message("bound"), within(took) or exactly(node))


def none(point: Point) -> Cell:
    return cell("none", exactly(HEADS[point]), message("not reached"))


def holds(pod: Pod) -> str:
    """Return the amount that the cache reserves for the pod: its cpu, else its memory, else one pod."""
    if pod.requests.milli_cpu:
        return f"{cpu(pod.requests.milli_cpu)} cpu"
    if pod.requests.memory:
        return amount("memory", pod.requests.memory)
    return "1 pod"


def of_steps(steps: Sequence[PluginStep], point: Point) -> list[PluginStep]:
    return [step for step in steps if step.point is point]


def refusal(steps: Sequence[PluginStep]) -> PluginStep | None:
    """Return the first step without success, wait, or skip, or None."""
    fine = (Code.SUCCESS, Code.WAIT, Code.SKIP)
    return next((step for step in steps if step.status.code not in fine), None)


_ORDER = {str(point): i for i, point in enumerate(POINTS)} | {str(Phase.EXTENDER_BIND): 4}


class EndTimes(NamedTuple):
    """The end times (ns) of running work: plugins of binding cycles by attempt number, and bind calls by pod."""

    plugins: Mapping[int, int]
    calls: Mapping[str, int]


def due_of(sim: WorldView, scheduler: SchedulerView) -> EndTimes:
    """Return the end times of running work, from the agenda."""
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
    return EndTimes(plugins, calls)


def of_cycle(scheduler: SchedulerView, cycle: SchedulingCycleView) -> "Lane | None":
    """Return the lane of the scheduling cycle's pod if it has a node or was rolled back, else None."""
    if cycle.chosen is None or cycle.number in scheduler.bindings or cycle.outcome == "scheduled":
        return None
    refusing = next((point for point in POINTS[:2] if refusal(of_steps(cycle.steps, point))), None)
    if refusing is None and cycle.pod.key not in scheduler.cache.assumed:
        return None
    row = [build_assumed_cell(cycle.pod), *(_plugins(scheduler, cycle, point) for point in POINTS[:2])]
    row += [none(point) if refusing else ahead(point) for point in POINTS[2:]]
    if refusing is Point.RESERVE:
        row[2] = none(Point.PERMIT)
    found = lane(cycle.pod, cycle.chosen, cycle.number, row, "back" if refusing else "cycle")
    if refusing is not None:
        plugins = [step.plugin for step in of_steps(cycle.steps, Point.UNRESERVE)]
        found["back"] = build_way_back(cycle.pod, refusing, plugins)
    return found


class Lane(TypedDict):
    """A pod in progress. `state`: cycle, binding, bound, or back. `decide`: a user may end its wait on Permit."""

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
    """Return the cell of Reserve or Permit, whose plugins return at once."""
    steps, count = of_steps(cycle.steps, point), len(scheduler.profiles[cycle.profile].at(point))
    no, at = refusal(steps), steps[-1].position if steps else None
    if no is not None:
        return build_refused_cell(no.status.message, at)
    if waits := [step for step in steps if step.status.code is Code.WAIT]:
        return waiting([step.plugin for step in waits], max(step.timeout for step in waits))
    if str(cycle.phase) == point:
        return running(len(steps), count, at)
    return _build_passed(scheduler, cycle, point, at) if steps else ahead(point)


def _build_passed(
    scheduler: SchedulerView, cycle: CycleView, point: Point, at: int | None = None, took: int = 0
) -> Cell:
    """Return the cell of a point whose plugins all succeeded. Many have nothing to do for the pod."""
    plugins = scheduler.profiles[cycle.profile].at(point)
    working = [plugin for plugin in plugins if not plugin.is_idle(point, cycle.state, cycle.pod)]
    if not working:
        return build_idle_cell(point, at)
    if point is Point.PERMIT:
        return cell("ok", message("allowed"), at=at)
    return cell("ok", message(_PLUGINS, n=len(working)), within(took), at=at)


def of_binding(sim: WorldView, scheduler: SchedulerView, binding: BindingCycleView, due: EndTimes) -> Lane:
    """Return the lane of a running binding cycle."""
    cycle = scheduler.cycle
    before = cycle.steps if cycle is not None and cycle.number == binding.number else ()
    stands = _ORDER.get(str(binding.phase), len(POINTS))
    row = [
        build_assumed_cell(binding.pod),
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
        return waiting(sorted(binding.waiting), max(binding.waiting.values()) - binding.started)
    return _build_passed(scheduler, binding, Point.PERMIT, at)


def _waits(sim: WorldView, binding: BindingCycleView, stands: int) -> Cell:
    if binding.waiting:
        deadline = min(binding.waiting.values())
        time = max(deadline - sim.now, 0)
        whole = deadline - binding.started
        head = message("%(time)s left", time=duration(time))
        ring = round(100 * min(time / max(whole, 1), 1))
        return cell("wait", head, message("of %(time)s", time=duration(whole)), ring=ring)
    ended = of_steps(binding.steps, Point.WAIT_ON_PERMIT)
    if ended:
        return build_waited_cell(ended[-1].t - binding.started)
    return cell("skip", message("no wait")) if stands > 2 else running(0, 1)


def _binding_point(
    sim: WorldView, scheduler: SchedulerView, binding: BindingCycleView, point: Point, due: EndTimes, beyond: int
) -> Cell:
    """Return the cell of a point. `beyond`: how many points ahead of it the cycle is; 0: the cycle is at this point."""
    if beyond < 0:
        return ahead(point)
    steps = of_steps(binding.steps, point)
    at = steps[-1].position if steps else None
    plugins = scheduler.profiles[binding.profile].at(point)
    if point is Point.PRE_BIND and all(each.is_idle(point, binding.state, binding.pod) for each in plugins):
        return build_idle_cell(point, at)
    if beyond > 0:
        end = binding.entered if beyond == 1 else steps[-1].t if steps else 0
        took = end - steps[0].t if steps else 0
        if point is Point.BIND:
            return build_bound_cell(binding.node)
        return _build_passed(scheduler, binding, point, at, took)
    over = due.calls.get(binding.pod.key) if point is Point.BIND else due.plugins.get(binding.number)
    if over is None or over <= sim.now or (point is not Point.BIND and not steps):
        return running(len(steps), len(plugins), at)
    name = steps[-1].plugin if steps else str(plugins[0].name)
    taken = sim.now - binding.entered
    whole = over - binding.entered
    if whole is not None and whole > 0:
        sub = message("%(taken)s of %(whole)s", taken=duration(taken), whole=duration(whole))
    else:
        sub = message("for %(taken)s", taken=duration(taken))
    return cell("now", message("running"), sub, full=name)
