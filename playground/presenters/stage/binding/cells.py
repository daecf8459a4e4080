"""Cells of a lane: what became of a pod at one point on its way from assume to PostBind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

from playground.presenters.amounts import amount, cpu, duration
from playground.presenters.words import Message, exactly, gettext_noop, message
from scheduler_core.world.readonly import Code, PluginStep, Pod, Point


class Cell(TypedDict):
    """`state`: held, ok, skip, now, wait, no, back, ahead or none; `at` is the position of its last step."""

    state: str
    glyph: str
    head: Message | None
    sub: Message | None
    at: int | None
    ring: int | None
    full: str


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
_GLYPHS = {
    "held": "◆",
    "ok": "✓",
    "skip": "–",
    "now": "▸",
    "wait": "◔",
    "no": "✕",
    "back": "↶",
    "ahead": "",
    "none": "",
}
_HELD = gettext_noop("%(amount)s held")
_FREE = gettext_noop("%(amount)s free")
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
    return {"state": state, "glyph": glyph, "head": head, "sub": sub, "at": at, "ring": ring, "full": full}


def build_assumed_cell(pod: Pod) -> Cell:
    """The cache holds the node's capacity for the pod."""
    return cell("held", message(gettext_noop("assumed")), message(_HELD, amount=holds(pod)))


def forgotten(pod: Pod) -> Cell:
    """The cache has given it back."""
    return cell("back", message(gettext_noop("forgotten")), message(_FREE, amount=holds(pod)))


def build_unreserve_cell() -> Cell:
    """Return the cell for an Unreserve."""
    return cell("back", exactly("Unreserve"), message(gettext_noop("last plugin first")))


def ahead(point: Point) -> Cell:
    """Not there yet."""
    return cell("ahead", exactly(HEADS[point]))


def build_passed_cell(count: int, took: int = 0, at: int | None = None) -> Cell:
    """Every plugin of the point has said yes, or there is none."""
    if not count:
        return cell("skip", message(gettext_noop("no plugin")))
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


def none() -> Cell:
    """Never reached."""
    return cell("none")


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
