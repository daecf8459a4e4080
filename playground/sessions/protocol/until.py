"""Where a run is to stop: what people may ask for, checked, in words, and as the log keeps it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct, to_builtins

from playground.sessions.protocol.breakpoints import Breakpoint
from playground.sessions.protocol.errors import SessionError

MOST_SECONDS = 10**9
MOST_ATTEMPTS = 10**12


class Condition(Struct, frozen=True, tag_field="kind"):
    """Base."""


class NextUnschedulable(Condition, frozen=True, tag="unschedulable"):
    """The next attempt that ends with an unschedulable pod."""

    def words(self) -> str:
        return "the next pod is unschedulable"


class PodAttempted(Condition, frozen=True, tag="pod"):
    """The next attempt of a pod (namespace/name) ends."""

    pod: str

    def words(self) -> str:
        return f"an attempt of {self.pod} ends"


class TimeReached(Condition, frozen=True, tag="time"):
    """So many seconds of virtual time."""

    seconds: float

    def words(self) -> str:
        return f"the virtual time is {self.seconds:g} s"


class AttemptEnded(Condition, frozen=True, tag="attempt"):
    """The attempt with this number ends."""

    number: int

    def words(self) -> str:
        return f"attempt {self.number:,} ends"


class BreakpointHolds(Condition, frozen=True, tag="break"):
    """One of some breakpoints holds; only the list of breakpoints asks for it."""

    points: tuple[Breakpoint, ...]

    def words(self) -> str:
        if len(self.points) == 1:
            return f"breakpoint “{self.points[0].title}” holds"
        return f"one of {len(self.points)} breakpoints holds"


Until = NextUnschedulable | PodAttempted | TimeReached | AttemptEnded | BreakpointHolds
KINDS = ("unschedulable", "pod", "time", "attempt")


def from_form(kind: str, data: Mapping[str, Any]) -> Until | None:
    """The condition of a kind, with `pod`, `seconds` or `number` as a form or a message gives them; "": run to the end."""
    if kind == "":
        return None
    if kind == "unschedulable":
        return NextUnschedulable()
    if kind == "pod":
        pod = str(data.get("pod") or "").strip()
        if not pod:
            raise SessionError("Name the pod whose attempt the run is to wait for.")
        return PodAttempted(pod if "/" in pod else f"default/{pod}")
    if kind == "time":
        return TimeReached(_number(data.get("seconds"), "seconds of virtual time", MOST_SECONDS))
    if kind == "attempt":
        return AttemptEnded(int(_number(data.get("number"), "attempt's number", MOST_ATTEMPTS)))
    raise SessionError(f"A run stops at one of {', '.join(KINDS)}, or at the end.")


def _number(value: Any, name: str, most: int) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = -1.0
    if isinstance(value, bool) or not 0 <= number <= most:
        raise SessionError(f"The {name} must be a number from 0 to {most:,}.")
    return number


def to_breakpoints(points: Sequence[Breakpoint]) -> BreakpointHolds:
    """The condition that one of these breakpoints holds."""
    return BreakpointHolds(tuple(points))


def to_log(until: Until) -> dict[str, Any]:
    """The condition as the log keeps it: what breakpoints look for can change later, their names say enough."""
    if isinstance(until, BreakpointHolds):
        return {"kind": "break", "titles": [point.title for point in until.points]}
    return dict(to_builtins(until))
