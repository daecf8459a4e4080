"""The moments of a lesson's world for which a card can wait, each with a condition that holds from that step on."""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from playground.lessons.named import short
from scheduler_core.world.readonly import Place, WorldView

SECOND = 1_000_000_000
MOST = 240
STARTED = "PreFilter"
POINTS = (STARTED, "Filter", "PostFilter", "Score", "Permit")
PLACES = (
    Place.GATED, Place.ACTIVE, Place.BACKOFF, Place.UNSCHEDULABLE, Place.WAITING, Place.BOUND, Place.RUNNING, Place.DELETED,
)  # fmt: skip
OUTCOME, PLACE, POINT, EVENT = "outcome", "place", "point", "event"
FIRST = (OUTCOME, PLACE, POINT, EVENT)
SAID_OTHERWISE = frozenset({"Scheduled", "FailedScheduling"})


class Moment(msgspec.Struct, frozen=True):
    """At a step something happened to a pod: `kind` is one of FIRST, `detail` the outcome, the place, the extension point or the Event."""

    position: int
    seconds: float
    kind: str
    pod: str
    detail: str
    number: int
    when: Mapping[str, Any]
    node: str = ""


class Watch:
    """Records the most significant moment of each step in `moments`."""

    def __init__(self, world: WorldView) -> None:
        self.moments: list[Moment] = []
        self._attempts = self._moves = self._events = 0
        self._count: dict[tuple[str, ...], int] = {}
        self.look(world)
        self.moments.clear()  # what is there from the beginning needs no card of its own

    def look(self, world: WorldView) -> None:
        """Record the moment of the last step."""
        found = sorted(self._found(world), key=lambda moment: FIRST.index(moment.kind))
        if found:
            self.moments.append(found[0])

    def _found(self, world: WorldView) -> Iterator[Moment]:
        journal, started = world.journal, self._attempts
        for attempt in journal.attempts[started:]:
            pod, outcome = short(attempt.pod), attempt.outcome
            if self._nth(OUTCOME, pod, outcome) == 1:
                number = self._nth("attempt", pod)
                yield _moment(world, OUTCOME, pod, outcome, number, {"outcome": outcome}, attempt.node)
            else:
                self._nth("attempt", pod)
        self._attempts = len(journal.attempts)
        for move in journal.moves[self._moves :]:
            number = self._nth(PLACE, move.pod, move.place)
            if move.place in PLACES:
                times = {"times": number} if number > 1 else {}
                yield _moment(world, PLACE, short(move.pod), move.place, number, {"place": move.place, **times})
        self._moves = len(journal.moves)
        yield from self._of_cycles(world)
        for event in world.store.events[self._events :]:
            pod = short(f"{event.namespace}/{event.name}")
            if event.namespace and event.reason not in SAID_OTHERWISE and self._nth(EVENT, pod, event.reason) == 1:
                yield _moment(world, EVENT, pod, event.reason, 1, {"event": event.reason})
        self._events = len(world.store.events)

    def _of_cycles(self, world: WorldView) -> Iterator[Moment]:
        for scheduler in world.schedulers:
            cycle = scheduler.cycle
            if cycle is None or cycle.ended is not None or not cycle.steps:
                continue
            pod, point = short(cycle.pod.key), cycle.steps[-1].point.value
            number = self._count.get(("attempt", pod), 0) + 1
            if point in POINTS and self._nth(POINT, pod, point, str(number)) == 1:
                attempt = {"attempt": number} if number > 1 else {}
                yield _moment(world, POINT, pod, point, number, {**attempt, "point": point})

    def _nth(self, *what: str) -> int:
        self._count[what] = self._count.get(what, 0) + 1
        return self._count[what]


def _moment(
    world: WorldView, kind: str, pod: str, detail: str, number: int, when: Mapping[str, Any], node: str = ""
) -> Moment:
    return Moment(world.position, world.now / SECOND, kind, pod, detail, number, {"pod": pod, **when}, node)


def limit_moments(moments: list[Moment]) -> tuple[Moment, ...]:
    """Limit the moments to the number that a page can show: drop the extension points first, then the last ones."""
    kept = moments
    if len(kept) > MOST:
        kept = [moment for moment in moments if moment.kind != POINT]
    return tuple(kept[:MOST])
