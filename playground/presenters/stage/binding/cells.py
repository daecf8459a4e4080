"""Cells of a lane: what became of a pod at one point on its way from assume to PostBind."""

from collections.abc import Sequence
from typing import TypedDict

from playground.presenters.amounts import amount, cpu, duration
from playground.presenters.words import Message, exactly, gettext_noop, message
from scheduler_core.world.readonly import Code, PluginStep, Pod, Point


class Cell(TypedDict):
    """`state`: held, ok, skip, now, wait, no, ahead or none; `at` is the position of its last step, `span` the number of its points."""

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
_HELD = gettext_noop("%(amount)s held")
_PLUGIN = gettext_noop("1 plugin")
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
    """Return a lane's cells with neighbors that say the same as one: points with nothing to do, and points that were passed."""
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
            last["head"] = message(gettext_noop("%(n)s points have nothing to do"), n=last["span"])
    return merged


def _are_alike(one: Cell, other: Cell) -> bool:
    return one["state"] == other["state"] and (one["state"] == "skip" or one["head"] == other["head"] == PASSED)


def build_assumed_cell(pod: Pod) -> Cell:
    """The cache holds the node's capacity for the pod."""
    return cell("held", message(gettext_noop("assumed")), message(_HELD, amount=holds(pod)))


class WayBack(TypedDict):
    """The way back of a lane: from the cell `span` points on, through Unreserve of `plugins`, to `free` in the cache."""

    span: int
    plugins: list[str]
    free: Message


def build_way_back(pod: Pod, point: Point, plugins: Sequence[str]) -> WayBack:
    free = message(gettext_noop("%(amount)s free again"), amount=holds(pod))
    return {"span": POINTS.index(point) + 1, "plugins": list(plugins), "free": free}


def ahead(point: Point) -> Cell:
    """Not there yet."""
    return cell("ahead", exactly(HEADS[point]))


PASSED = message(gettext_noop("passed"))
_IDLE = {
    Point.RESERVE: gettext_noop("nothing to reserve"),
    Point.PERMIT: gettext_noop("nothing to wait for"),
    Point.PRE_BIND: gettext_noop("nothing to prepare"),
}


def build_idle_cell(point: Point, at: int | None = None) -> Cell:
    """No plugin of the point has anything to do for the pod."""
    return cell("skip", message(_IDLE.get(point, gettext_noop("no plugin"))), at=at)


def build_passed_cell(count: int, took: int = 0, at: int | None = None) -> Cell:
    """Every plugin of the point has said yes."""
    head = message(_PLUGIN) if count == 1 else message(_PLUGINS, n=count)
    return cell("ok", head, within(took), at=at)


def within(took: int) -> Message | None:
    """Return the time taken, or None if no time passed."""
    return message(gettext_noop("in %(time)s"), time=duration(took)) if took > 0 else None


def build_allowed_cell(at: int | None = None) -> Cell:
    """Permit lets the pod go on at once."""
    return cell("ok", message(gettext_noop("allowed")), at=at)


def no_wait() -> Cell:
    """No Permit plugin wants to wait."""
    return cell("skip", message(gettext_noop("no wait")))


def build_waited_cell(took: int) -> Cell:
    """The wait has ended well."""
    return cell("ok", message(gettext_noop("allowed")), within(took) or message(gettext_noop("at once")))


def waiting(plugins: Sequence[str], timeout: int) -> Cell:
    """A Permit plugin makes the pod wait."""
    head = message(gettext_noop("Wait %(time)s"), time=duration(timeout))
    return cell("wait", head, exactly(", ".join(plugins)))


def was_waiting() -> Cell:
    """A Permit plugin made the pod wait, and that is over."""
    return cell("ok", message(gettext_noop("waited")))


def build_countdown_cell(time: int, whole: int) -> Cell:
    """Return a cell with the remaining virtual time."""
    head = message(gettext_noop("%(time)s left"), time=duration(time))
    ring = round(100 * min(time / max(whole, 1), 1))
    return cell("wait", head, message(gettext_noop("of %(time)s"), time=duration(whole)), ring=ring)


def running(done: int, count: int, at: int | None = None) -> Cell:
    """A point between two of its plugins."""
    sub = message(gettext_noop("%(k)s of %(n)s plugins") if count > 1 else _PLUGIN, k=done, n=count)
    return cell("now", message(gettext_noop("running")), sub, at=at)


def under_way(name: str, taken: int, whole: int | None) -> Cell:
    """A plugin or a call that takes its time: what is taken of how much."""
    if whole is not None and whole > 0:
        sub = message(gettext_noop("%(taken)s of %(whole)s"), taken=duration(taken), whole=duration(whole))
    else:
        sub = message(gettext_noop("since %(taken)s"), taken=duration(taken))
    return cell("now", message(gettext_noop("running")), sub, full=name)


def build_refused_cell(sub: str, at: int | None = None) -> Cell:
    """The step that said no, with why."""
    return cell("no", message(gettext_noop("refused")), exactly(sub) if sub else None, at=at, full=sub)


def build_bound_cell(node: str, took: int = 0) -> Cell:
    """The API server has bound the pod."""
    return cell("ok", message(gettext_noop("bound")), within(took) or exactly(node))


def none(point: Point) -> Cell:
    """Never reached."""
    return cell("none", exactly(HEADS[point]), message(gettext_noop("not reached")))


def holds(pod: Pod) -> str:
    """Return the amount that the cache counts for the pod: its cpu, else its memory, else one pod."""
    if pod.requests.milli_cpu:
        return f"{cpu(pod.requests.milli_cpu)} cpu"
    if pod.requests.memory:
        return amount("memory", pod.requests.memory)
    return "1 pod"


def of_steps(steps: Sequence[PluginStep], point: Point) -> list[PluginStep]:
    """The steps at a point."""
    return [step for step in steps if step.point is point]


def refusal(steps: Sequence[PluginStep]) -> PluginStep | None:
    """The first step that said neither yes nor wait nor skip."""
    fine = (Code.SUCCESS, Code.WAIT, Code.SKIP)
    return next((step for step in steps if step.status.code not in fine), None)
