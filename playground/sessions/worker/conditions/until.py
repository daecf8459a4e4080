"""Where a run is to stop: what people may ask for, checked, and as a condition on the world."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from playground.sessions.protocol.errors import CommandRefused, SessionError
from playground.sessions.worker.conditions.breakpoints import Breakpoint, Condition
from playground.sessions.worker.conditions.breakpoints import parse as parse_breakpoint

KINDS = (
    "unschedulable",
    "pod",
    "time",
    "attempt",
)  # besides "break", which only the list of breakpoints makes
SECOND = 1_000_000_000
MOST_SECONDS = 10**9
MOST_ATTEMPTS = 10**12

Until = dict[str, Any]


def parse(data: Mapping[str, Any]) -> Until | None:
    """What a form or a message asks for with `until` and `pod`, `seconds` or `number`; None: run to the end."""
    kind = data.get("until") or ""
    if kind == "":
        return None
    if kind == "unschedulable":
        return {"kind": kind}
    if kind == "pod":
        pod = str(data.get("pod") or "").strip()
        if not pod:
            raise SessionError("Name the pod whose attempt the run is to wait for.")
        return {"kind": kind, "pod": pod if "/" in pod else f"default/{pod}"}
    if kind == "time":
        return {
            "kind": kind,
            "seconds": _number(data.get("seconds"), "seconds of virtual time", MOST_SECONDS),
        }
    if kind == "attempt":
        return {"kind": kind, "number": int(_number(data.get("number"), "attempt's number", MOST_ATTEMPTS))}
    raise SessionError(f"A run stops at one of {', '.join(KINDS)}, or at the end.")


def _number(value: Any, name: str, most: int) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = -1.0
    if isinstance(value, bool) or not 0 <= number <= most:
        raise SessionError(f"The {name} must be a number from 0 to {most:,}.")
    return number


def to_breakpoints(points: Sequence[Breakpoint]) -> Until:
    """The condition that one of these breakpoints holds."""
    return {
        "kind": "break",
        "points": [point.to_json() for point in points],
        "titles": [point.title for point in points],
    }


def told(until: Until) -> Until:
    """The condition as the log keeps it: what breakpoints look for can change later, their names say enough."""
    return {name: value for name, value in until.items() if name != "points"}


def words(until: Until | None) -> str:
    """The condition in words that follow "until"."""
    if until is None:
        return ""
    if until["kind"] == "break":
        titles = [str(title) for title in until.get("titles", [])]
        return (
            f"breakpoint “{titles[0]}” holds"
            if len(titles) == 1
            else f"one of {len(titles)} breakpoints holds"
        )
    return {
        "unschedulable": "the next pod is unschedulable",
        "pod": f"an attempt of {until.get('pod')} ends",
        "time": f"the virtual time is {until.get('seconds', 0):g} s",
        "attempt": f"attempt {until.get('number', 0):,} ends",
    }[until["kind"]]


def require_future(world: Any, until: Until | None) -> None:
    """Refuses what lies behind already, and the attempt of a pod that is not there."""
    kind = until["kind"] if until else ""
    if until is None or kind in ("unschedulable", "break"):
        return
    if kind == "pod":
        namespace, _, name = until["pod"].partition("/")
        if world.store.get("Pod", namespace, name) is None:
            raise CommandRefused(f"There is no pod {until['pod']}: the run would wait for nothing.")
    elif (holds := condition(world, until)) is not None and holds(world):
        raise CommandRefused(f"It is past that already: {words(until)}.")


def condition(world: Any, until: Until | None) -> Callable[[Any], bool] | None:
    """Whether to stop, asked after each transition that follows on `world` as it is now."""
    if until is None:
        return None
    kind = until["kind"]
    if kind == "break":
        return Condition(map(parse_breakpoint, until["points"]))
    if kind == "time":
        end = round(until["seconds"] * SECOND)
        return lambda world: world.now >= end
    if kind == "attempt":
        number = until["number"]
        return lambda world: bool(world.journal.attempts) and world.journal.attempts[-1].number >= number
    seen = len(world.journal.attempts)

    def ended(world: Any) -> bool:
        nonlocal seen
        fresh, seen = world.journal.attempts[seen:], len(world.journal.attempts)
        if kind == "pod":
            return any(attempt.pod == until["pod"] for attempt in fresh)
        return any(attempt.outcome == "unschedulable" for attempt in fresh)

    return ended


def hit_of(holds: Callable[[Any], bool] | None, reason: str) -> dict[str, Any] | None:
    """Which breakpoint ended a run (Hit as JSON); None where none did."""
    if reason != "until" or not isinstance(holds, Condition) or holds.hit is None:
        return None
    return holds.hit.to_json()
