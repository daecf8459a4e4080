"""The condition of a run on the world that it runs in."""

from collections.abc import Callable
from typing import Any

import orjson

from playground.lessons import lesson_of, list_reached_cards
from playground.presenters.words import gettext_noop, message
from playground.sessions.protocol.breakpoints import Hit
from playground.sessions.protocol.errors import CommandRefused
from playground.sessions.protocol.moving import OutsideCall
from playground.sessions.protocol.until import (
    AttemptEnded,
    BreakpointHolds,
    CardReached,
    NextUnschedulable,
    PodAttempted,
    StepReached,
    TimeReached,
    Until,
)
from playground.sessions.worker.conditions.matching import Condition
from playground.sessions.worker.world import Simulation

# What a world that stands still wants to know from outside.


def calls_of(world: Simulation) -> list[OutsideCall]:
    """The calls of extenders that are to be made before it goes on."""
    if not world.outside:
        return []
    found = []
    for name, attempt, exchange in world.awaited():
        configured = world.scheduler(name).configuration.manifest["extenders"][exchange.extender.index]
        found.append(
            OutsideCall(
                name,
                attempt,
                exchange.number,
                exchange.url,
                orjson.dumps(exchange.request_json),
                exchange.extender.timeout,
                dict(configured.get("tlsConfig") or {}),
                bool(configured.get("enableHTTPS")),
            )
        )
    return found


SECOND = 1_000_000_000


def require_future(world: Any, until: Until) -> None:
    """Refuses what lies behind already, and what would be waited for in vain: a pod or a card that is not there."""
    if isinstance(until, CardReached):
        lesson = lesson_of(until.lesson)
        if lesson is None or not until.number <= len(lesson.plan.cards):
            raise CommandRefused(message(gettext_noop("This card does not exist, so the run would wait in vain.")))
    if isinstance(until, PodAttempted):
        namespace, _, name = until.pod.partition("/")
        if world.store.get("Pod", namespace, name) is None:
            raise CommandRefused(
                message(gettext_noop("No pod %(pod)s exists, so the run would wait in vain."), pod=until.pod)
            )
    elif isinstance(until, TimeReached | AttemptEnded | StepReached | CardReached):
        holds = condition(world, until)
        if holds is not None and holds(world):
            raise CommandRefused(message(gettext_noop("This is already in the past: %(until)s."), until=until.said()))


def condition(world: Any, until: Until | None) -> Callable[[Any], bool] | None:
    """Return a condition for a run to stop, checked after each transition that follows on `world`; None without `until`."""
    match until:
        case None:
            return None
        case BreakpointHolds(points):
            return Condition(points)
        case TimeReached(seconds):
            end = round(seconds * SECOND)
            return lambda world: world.now >= end
        case AttemptEnded(number):
            return lambda world: bool(world.journal.attempts) and world.journal.attempts[-1].number >= number
        case StepReached(number):
            return lambda world: world.position >= number
        case CardReached(slug, number):
            lesson = lesson_of(slug)
            return lambda world: lesson is not None and len(list_reached_cards(lesson, world)) >= number
        case PodAttempted(pod):
            return _watch_attempt_end(world, lambda attempt: attempt.pod == pod)
        case NextUnschedulable():
            return _watch_attempt_end(world, lambda attempt: attempt.outcome == "unschedulable")


def _watch_attempt_end(world: Any, wanted: Callable[[Any], bool]) -> Callable[[Any], bool]:
    """Return a check whether a wanted attempt has ended since the last check."""
    seen = len(world.journal.attempts)

    def holds(world: Any) -> bool:
        nonlocal seen
        fresh, seen = world.journal.attempts[seen:], len(world.journal.attempts)
        return any(map(wanted, fresh))

    return holds


def hit_of(holds: Callable[[Any], bool] | None, reason: str) -> Hit | None:
    """Return the breakpoint hit that ended a run; None if there is none."""
    return holds.hit if reason == "until" and isinstance(holds, Condition) else None
