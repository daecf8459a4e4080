"""Matching of breakpoints and watches: a breakpoint as a condition on the records of a transition.

The fields of a form become simple comparisons, which are made first; an expression is evaluated only for records that pass them.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import orjson

from playground.lessons import lesson_of, list_reached_cards
from playground.presenters.words import message
from playground.sessions.protocol.breakpoints import Breakpoint, ExpressionProblem, Hit, kinds
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
from playground.sessions.worker.conditions import cel
from playground.sessions.worker.world import Simulation
from scheduler_core.world.readonly import Record, StepFacts

VALUE_LENGTH = 80

Test = Callable[[Record], bool]


def facts(record: Record) -> Mapping[str, Any]:
    """Return a record's data, without the details node by node."""
    source = record.source
    return source.brief() if isinstance(source, StepFacts) else record.data


def pod_of(record: Record) -> str:
    """Return the pod that a record is about, as namespace/name; "" if none."""
    data = facts(record)
    if "pod" in data:
        return str(data["pod"])
    return f"{data.get('namespace', '')}/{data.get('name', '')}" if data.get("kind") == "Pod" else ""


def _about_pod(pattern: str) -> Test:
    if pattern.endswith("*"):
        return lambda record: pod_of(record).startswith(pattern[:-1])
    return lambda record: pod_of(record) == pattern


def _about_node(node: str, status: str) -> Test:
    """Return a test for records about a node: a plugin refused or scored it, or returned the status."""

    def test(record: Record) -> bool:
        if record.kind == "plugin_ran":
            code = code_on(record, node)
            if code is None:
                return False
            return code == status if status else code != "Success" or has_scores(record)
        data = facts(record)
        if record.kind == "object":
            return data.get("kind") == "Node" and data.get("name") == node
        return data.get("node") == node

    return test


def has_scores(record: Record) -> bool:
    source = record.source
    return source.step.scores is not None if isinstance(source, StepFacts) else "scores" in record.data


def code_on(record: Record, node: str) -> str | None:
    """Return a plugin's status code for a node, Success also for a score; None if the plugin did not evaluate it."""
    source = record.source
    if isinstance(source, StepFacts):
        return source.code_of(node)
    data = record.data
    if node in data.get("refused", {}):
        return str(data["refused"][node]["code"])
    return "Success" if node in data.get("scores", {}) else None


def codes(record: Record) -> list[str]:
    """Return the codes that a plugin returned, for the pod or for at least one node."""
    source = record.source
    if isinstance(source, StepFacts):
        return source.codes()
    data = record.data
    refused = data.get("refused", {})
    return [data["status"]["code"], *(one["code"] for one in refused.values())]


def _equals(key: str, wanted: str) -> Test:
    return lambda record: facts(record).get(key) == wanted


def _tests(point: Breakpoint) -> list[Test]:
    """Return the comparisons, the cheapest first."""
    tests: list[Test] = []
    for field, key in (
        ("plugin", "plugin"),
        ("point", "point"),
        ("came_from", "from"),
        ("to", "to"),
        ("hint", "hint"),
        ("reason", "reason"),
    ):
        if wanted := getattr(point, field):
            tests.append(_equals(key, wanted))
    if event := point.event:
        tests.append(lambda record: event in (record.data.get("event"), record.data.get("cause")))
    if point.pod:
        tests.append(_about_pod(point.pod))
    if point.node:
        tests.append(_about_node(point.node, point.status))
    elif status := point.status:
        tests.append(lambda record: status in codes(record))
    return tests


def problems(point: Breakpoint) -> list[ExpressionProblem]:
    """Return the errors in a breakpoint's expression."""
    if not point.cel:
        return []
    return [problem.shown_in(point.cel) for problem in cel.check(point.cel, boolean=not point.watch)]


class Matcher:
    """One breakpoint, prepared for matching. `failed` is the expression's last error, `failures` the number of errors.

    `first` and `last` are the first and the last value of a watch; `begun` is the first value as a hit, None before it.
    """

    def __init__(self, point: Breakpoint) -> None:
        self.point = point
        self.kinds = kinds(point)
        self.failed = ""
        self.failures = 0
        self._tests = _tests(point)
        self._program: cel.Program | None = None
        self._refused = ""
        try:
            self._program = cel.compile_program(point.cel) if point.cel else None
        except cel.BadExpression as bad:  # stored by a version that accepted it
            self._refused = str(bad)
        self.begun: Hit | None = None
        self.first: Any = None
        self.last: Any = None

    def hit(self, record: Record, world: Any, allowance: cel.Allowance) -> Hit | None:
        """Return the hit if the breakpoint holds for a record, or None; a watch holds when its value differs from the previous one."""
        if not all(test(record) for test in self._tests):
            return None
        value = None
        if self.point.cel:
            try:
                if self._program is None:
                    raise cel.EvaluationError(self._refused)
                value = self._program.value(record, world, allowance)
            except cel.EvaluationError as why:
                self.failed, self.failures = str(why), self.failures + 1
                return None
            if not (self._changes(value, record, world) if self.point.watch else value is True):
                return None
        return self._hit(value, record, world)

    def _changes(self, value: Any, record: Record, world: Any) -> bool:
        """Return whether a watch's value has changed; the first value is no change."""
        if self.begun is None:
            self.begun, self.first, self.last = self._hit(value, record, world), value, value
        changed, self.last = value != self.last, value
        return bool(changed)

    def _hit(self, value: Any, record: Record, world: Any) -> Hit:
        return Hit(self.point.id, self.point.title, world.position, record.t, describe(record), _shorten_value(value))


def _shorten_value(value: Any) -> Any:
    """Return a value in the form of a hit: scalars unchanged, other values as text, cut to VALUE_LENGTH."""
    return value if value is None or isinstance(value, (bool, int, float)) else str(value)[:VALUE_LENGTH]


class Condition:
    """A condition that any of some breakpoints holds, checked after each transition. `hit` is the latest first hit."""

    def __init__(self, points: Iterable[Breakpoint]) -> None:
        self.matchers = [Matcher(point) for point in points]
        self.hit: Hit | None = None
        self._by_kind: dict[str, list[Matcher]] = {}
        for matcher in self.matchers:
            for kind in matcher.kinds:
                self._by_kind.setdefault(kind, []).append(matcher)

    def __call__(self, world: Any) -> bool:
        by_kind, first, allowance = self._by_kind, None, cel.Allowance()
        for record in world.last:
            for matcher in by_kind.get(record.kind, ()):
                if first is None or matcher.point.watch:  # a watch must see each value
                    found = matcher.hit(record, world, allowance)
                    first = first or found
        self.hit = first or self.hit
        return first is not None

    def hits(self, world: Any) -> list[Hit]:
        """Return all hits after a transition, one for each breakpoint."""
        found, allowance = dict[int, Hit](), cel.Allowance()
        for record in world.last:
            for matcher in self._by_kind.get(record.kind, ()):
                if (hit := matcher.hit(record, world, allowance)) is not None:
                    found[matcher.point.id] = hit
        return list(found.values())

    def failures(self) -> dict[str, int]:
        """Return the errors of expressions, with the number of records for each: a possible reason for no hit."""
        return {f"{one.point.title}: {one.failed}": one.failures for one in self.matchers if one.failures}


def describe(record: Record) -> str:
    """Return a record in a few words: the event, its pod, its node."""
    data = facts(record)
    status = data.get("status")
    code = status.get("code") if isinstance(status, Mapping) else ""
    kind = "" if record.kind in ("event", "object") else record.kind
    words = [kind, data.get("type"), data.get("reason"), data.get("verb"), data.get("point"), data.get("plugin")]
    if record.kind == "object":
        words.append(f"{data.get('kind')} {data.get('namespace') or ''}/{data.get('name')}".replace(" /", " "))
    else:
        words.append(pod_of(record))
    words += [data.get("from"), data.get("to") and f"→ {data['to']}", data.get("node"), data.get("outcome"), code]
    return " ".join(str(word) for word in words if word)[:200]


# Calls to real extenders that a world waits for.


def calls_of(world: Simulation) -> list[OutsideCall]:
    """Return the calls of real extenders that the world waits for."""
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
    """Raise CommandRefused if the condition has already passed, or requires a pod or a card that does not exist."""
    if isinstance(until, CardReached):
        lesson = lesson_of(until.lesson)
        if lesson is None or not until.number <= len(lesson.plan.cards):
            raise CommandRefused(message("This card does not exist, so the run would never end."))
    if isinstance(until, PodAttempted):
        namespace, _, name = until.pod.partition("/")
        if world.store.get("Pod", namespace, name) is None:
            raise CommandRefused(message("No pod %(pod)s exists, so the run would never end.", pod=until.pod))
    elif isinstance(until, TimeReached | AttemptEnded | StepReached | CardReached):
        holds = condition(world, until)
        if holds is not None and holds(world):
            raise CommandRefused(message("This has already passed: %(until)s.", until=until.said()))


def condition(world: Any, until: Until | None) -> Callable[[Any], bool] | None:
    """Return the condition at which a run stops, checked after each transition that follows `world`; None without `until`."""
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
    """Return the breakpoint hit that ended a run, or None."""
    return holds.hit if reason == "until" and isinstance(holds, Condition) else None
