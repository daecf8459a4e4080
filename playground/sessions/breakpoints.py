"""Breakpoints and watches: what they look for, checked, and as a condition on the records of a transition.

The fields that a form fills in become plain comparisons that are made first; an expression is evaluated only for records that pass them.
A breakpoint holds at a position when one of the records of the transition that led there matches.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, NamedTuple

from playground.sessions import cel
from playground.sessions.errors import SessionError
from scheduler_core.framework.plugin import Point
from scheduler_core.framework.status import Code
from scheduler_core.framework.step import StepFacts
from scheduler_core.trace.journal import Place
from scheduler_core.trace.kinds import KINDS
from scheduler_core.trace.records import Record

NAME_LENGTH = 80
VALUE_LENGTH = 80
TEXT = 507  # a namespaced name's longest
STATUSES = tuple(code.kube_name for code in Code)
POINTS = tuple(point.value for point in Point)
PLACES = tuple(
    value for name, value in vars(Place).items() if not name.startswith("_") and isinstance(value, str)
)
MOVE_FIELDS = ("came_from", "to", "event", "hint")
# Which kinds of records can match a field.
KINDS_OF: dict[str, tuple[str, ...]] = {
    "plugin": ("plugin_ran", "queue_moved"),
    "point": ("plugin_ran", "point_started"),
    "status": ("plugin_ran", "wait_ended"),
    "node": (
        "plugin_ran", "node_selected", "attempt_ended", "pod_assumed", "pod_waits", "binding_started", "binding_ended",
        "preemption_started", "api_call", "object",
    ),
    "came_from": ("queue_moved",),
    "to": ("queue_moved",),
    "event": ("queue_moved",),
    "hint": ("queue_moved",),
    "reason": ("event",),
    "pod": tuple(kind for kind in KINDS if kind not in ("command", "timer_fired", "scheduler_started")),
}  # fmt: skip


class BadBreakpoint(SessionError):
    """A breakpoint that can't be: `errors` have the field as `path`, what was received and expected, and for an expression its place."""

    kind = "refused"
    status = 422


@dataclass(frozen=True, slots=True)
class Breakpoint:
    """What to look for: every field that is not empty must match. A watch does not stop, unless its value `changes`.

    `pod` is namespace/name, with a `*` at its end any pod that begins so. `came_from`, `to`, `event` and `hint` are of a queue move;
    `event` is kube's label of the cluster event or of the cause. `reason` is a Kubernetes Event's.
    """

    id: int = 0
    name: str = ""
    enabled: bool = True
    watch: bool = False
    changes: bool = False
    kind: str = ""
    plugin: str = ""
    point: str = ""
    node: str = ""
    pod: str = ""
    status: str = ""
    came_from: str = ""
    to: str = ""
    event: str = ""
    hint: str = ""
    reason: str = ""
    cel: str = ""

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @property
    def stops(self) -> bool:
        """Whether a run or a search ends where it holds."""
        return self.enabled and (not self.watch or self.changes)

    def words(self) -> str:
        """What it looks for, in short, such as `Filter NodeResourcesFit · node n1 · Unschedulable`."""
        step = " ".join(part for part in (self.point, self.plugin) if part)
        parts = [
            self.kind and f"record {self.kind}",
            step,
            self.node and f"node {self.node}",
            self.pod and f"pod {self.pod}",
            self.status,
            self.came_from and f"from {self.came_from}",
            self.to and f"to {self.to}",
            self.event and f"event {self.event}",
            self.hint and f"hint {self.hint}",
            self.reason and f"Event {self.reason}",
            self.cel,
        ]
        return " · ".join(part for part in parts if part)

    @property
    def title(self) -> str:
        return self.name or self.words()


class Hit(NamedTuple):
    """A breakpoint held: at which position, for which record, and the value of a watch (a number, or text)."""

    id: int
    title: str
    position: int
    t: int
    record: str
    value: Any = None

    def to_json(self) -> dict[str, Any]:
        return self._asdict()


_TEXTS = tuple(
    f.name for f in fields(Breakpoint) if f.name not in ("id", "name", "enabled", "watch", "changes")
)
_CHOICES = {
    "kind": tuple(KINDS),
    "point": POINTS,
    "status": STATUSES,
    "came_from": (*PLACES, ""),
    "to": PLACES,
}


def parse(data: Mapping[str, Any]) -> Breakpoint:
    """A breakpoint from a form or from stored JSON. Raises BadBreakpoint; the expression is checked by `problems`."""
    given = {name: _text(data.get(name)) for name in _TEXTS}
    given["cel"] = _expression(data.get("cel"))
    errors = [
        _error(name, given[name], "a shorter text") for name in _TEXTS if len(given[name]) > _most(name)
    ]
    for name, allowed in _CHOICES.items():
        if given[name] and given[name] not in allowed:
            errors.append(_error(name, given[name], "one of " + ", ".join(one for one in allowed if one)))
    errors += [
        _error(name, repr(text), "a text without the character 0")
        for name, text in {**given, "name": _text(data.get("name"))}.items()
        if "\0" in text
    ]
    pod = given["pod"]
    if pod and "/" not in pod:
        given["pod"] = f"default/{pod}"
    if "*" in pod[:-1]:
        errors.append(_error("pod", pod, "namespace/name, with a * at its end at most"))
    if not any(given.values()):
        errors.append(_error("", "nothing", "at least one field, or an expression"))
    found = Breakpoint(
        id=data.get("id") or 0,
        name=_text(data.get("name"))[:NAME_LENGTH],
        enabled=_flag(data.get("enabled", True)),
        watch=_flag(data.get("watch")),
        changes=_flag(data.get("changes")),
        **given,
    )
    if not errors and not kinds(found):
        errors.append(_mixed(found))
    if found.changes and not found.cel:
        errors.append(_error("cel", "nothing", "an expression whose value can change"))
    if errors:
        raise BadBreakpoint(_first(errors[0]), errors)
    return found


def _text(value: Any) -> str:
    return value.strip() if isinstance(value, str) else ""


def _expression(value: Any) -> str:
    """An expression as it was written, so that places in it are those that people see."""
    text = value.replace("\r\n", "\n") if isinstance(value, str) else ""
    return text if text.strip() else ""


def _most(name: str) -> int:
    """How long a field may be; the expression's own limit is told at its character."""
    return 10 * cel.LENGTH if name == "cel" else TEXT


def _flag(value: Any) -> bool:
    return value is True or value in ("1", "on", "true")


def _error(path: str, received: str, expected: str) -> dict[str, Any]:
    return {"object": "", "path": path, "received": received[:80], "expected": expected}


def _first(error: Mapping[str, Any]) -> str:
    where = f"{error['path']}: " if error["path"] else ""
    return f"{where}received {error['received']}; expected {error['expected']}"


def _mixed(point: Breakpoint) -> dict[str, Any]:
    """Fields that no one record has together."""
    given = [name for name in KINDS_OF if getattr(point, name)]
    told = "; ".join(f"{name}: {', '.join(KINDS_OF[name][:4])}" for name in given)
    received = " and ".join([*([f"kind {point.kind}"] if point.kind else []), *given])
    return _error(
        given[0] if given else "kind", received, f"fields that one kind of record has together ({told})"
    )


def kinds(point: Breakpoint) -> tuple[str, ...]:
    """The kinds of records that can match; an extension point alone means its beginning, once for each cycle."""
    if point.kind:
        allowed: tuple[str, ...] = (point.kind,)
    elif any(getattr(point, name) for name in MOVE_FIELDS):
        allowed = ("queue_moved",)
    elif point.plugin or point.status:
        allowed = ("plugin_ran", "wait_ended") if point.status and not point.plugin else ("plugin_ran",)
    elif point.point:
        allowed = ("plugin_ran",) if point.node else ("point_started",)
    else:
        allowed = tuple(KINDS)
    for name, having in KINDS_OF.items():
        if getattr(point, name):
            allowed = tuple(kind for kind in allowed if kind in having)
    return allowed


def problems(point: Breakpoint) -> list[dict[str, Any]]:
    """What is wrong with its expression, each with line, column, the line itself and a caret."""
    if not point.cel:
        return []
    return [problem.to_json(point.cel) for problem in cel.check(point.cel, boolean=not point.watch)]


# Matching

Test = Callable[[Record], bool]


def facts(record: Record) -> Mapping[str, Any]:
    """A record's data, without what is told node by node."""
    source = record.source
    return source.brief() if isinstance(source, StepFacts) else record.data


def pod_of(record: Record) -> str:
    """The pod that a record is about, as namespace/name; "" for none."""
    data = facts(record)
    if "pod" in data:
        return str(data["pod"])
    return f"{data.get('namespace', '')}/{data.get('name', '')}" if data.get("kind") == "Pod" else ""


def _about_pod(pattern: str) -> Test:
    if pattern.endswith("*"):
        return lambda record: pod_of(record).startswith(pattern[:-1])
    return lambda record: pod_of(record) == pattern


def _about_node(node: str, status: str) -> Test:
    """For a plugin: it refused or scored the node, or answered with the status for it."""

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
    """What a plugin said of a node: a status code, Success also for a score; None where it was not asked."""
    source = record.source
    if isinstance(source, StepFacts):
        return source.code_of(node)
    data = record.data
    if node in data.get("refused", {}):
        return str(data["refused"][node]["code"])
    return "Success" if node in data.get("scores", {}) else None


def codes(record: Record) -> list[str]:
    """The codes that a plugin answered with, for the pod or for at least one node."""
    source = record.source
    if isinstance(source, StepFacts):
        return source.codes()
    data = record.data
    refused = data.get("refused", {})
    return [data["status"]["code"], *(one["code"] for one in refused.values())]


def _equals(key: str, wanted: str) -> Test:
    return lambda record: facts(record).get(key) == wanted


def _tests(point: Breakpoint) -> list[Test]:
    """The comparisons, the cheapest first."""
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


class Matcher:
    """One breakpoint, ready to be asked about records. `failed` is the expression's last error, `failures` how many there were.

    `first` and `last` are the first and the last value of a watch; `begun` is the first one told as a hit, None as long as there is none.
    """

    def __init__(self, point: Breakpoint) -> None:
        self.point = point
        self.kinds = kinds(point)
        self.failed = ""
        self.failures = 0
        self._tests = _tests(point)
        self._program = cel.compiled(point.cel).afresh() if point.cel else None
        self.begun: Hit | None = None
        self.first: Any = None
        self.last: Any = None

    def hit(self, record: Record, world: Any) -> Hit | None:
        """Whether it holds for a record; a watch for a changed value holds when the value differs from the one before."""
        if not all(test(record) for test in self._tests):
            return None
        value = None
        if self._program is not None:
            try:
                value = self._program.value(record, world)
            except cel.Failed as why:
                self.failed, self.failures = str(why), self.failures + 1
                return None
            if not (self._changed(value, record, world) if self.point.watch else value is True):
                return None
        return self._told(value, record, world)

    def _changed(self, value: Any, record: Record, world: Any) -> bool:
        """The first value is where a watch begins from, not a change."""
        if self.begun is None:
            self.begun, self.first, self.last = self._told(value, record, world), value, value
        changed, self.last = value != self.last, value
        return bool(changed)

    def _told(self, value: Any, record: Record, world: Any) -> Hit:
        return Hit(self.point.id, self.point.title, world.position, record.t, told(record), _shown(value))


def _shown(value: Any) -> Any:
    """A value as it goes along with a hit: text of any length is cut, and what has parts is told as text."""
    return value if value is None or isinstance(value, (bool, int, float)) else str(value)[:VALUE_LENGTH]


class Condition:
    """Whether one of some breakpoints holds, asked after each transition. `hit` is the first one that did at the last of these."""

    def __init__(self, points: Iterable[Breakpoint]) -> None:
        self.matchers = [Matcher(point) for point in points]
        self.hit: Hit | None = None
        self._by_kind: dict[str, list[Matcher]] = {}
        for matcher in self.matchers:
            for kind in matcher.kinds:
                self._by_kind.setdefault(kind, []).append(matcher)

    def __call__(self, world: Any) -> bool:
        by_kind, first = self._by_kind, None
        for record in world.last:
            for matcher in by_kind.get(record.kind, ()):
                if first is None or matcher.point.watch:  # a watch has to see every value
                    found = matcher.hit(record, world)
                    first = first or found
        self.hit = first or self.hit
        return first is not None

    def hits(self, world: Any) -> list[Hit]:
        """All that hold after a transition, one for each breakpoint."""
        found: dict[int, Hit] = {}
        for record in world.last:
            for matcher in self._by_kind.get(record.kind, ()):
                if (hit := matcher.hit(record, world)) is not None:
                    found[matcher.point.id] = hit
        return list(found.values())

    def failures(self) -> dict[str, int]:
        """What went wrong in expressions, and for how many records: for whom nothing was found, this may be why."""
        return {f"{one.point.title}: {one.failed}": one.failures for one in self.matchers if one.failures}


def told(record: Record) -> str:
    """A record in a few words: what happened, to which pod, on which node."""
    data = facts(record)
    status = data.get("status")
    code = status.get("code") if isinstance(status, Mapping) else ""
    kind = "" if record.kind in ("event", "object") else record.kind
    words = [
        kind,
        data.get("type"),
        data.get("reason"),
        data.get("verb"),
        data.get("point"),
        data.get("plugin"),
    ]
    if record.kind == "object":
        words.append(
            f"{data.get('kind')} {data.get('namespace') or ''}/{data.get('name')}".replace(" /", " ")
        )
    else:
        words.append(pod_of(record))
    words += [
        data.get("from"),
        data.get("to") and f"→ {data['to']}",
        data.get("node"),
        data.get("outcome"),
        code,
    ]
    return " ".join(str(word) for word in words if word)[:200]
