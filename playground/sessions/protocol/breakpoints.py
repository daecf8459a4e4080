"""Breakpoints and watches: validated search criteria. A worker finds out where they hold (conditions/matching.py).

All fields of a form must match the same record; the expression is evaluated last. A breakpoint holds at a position if one of the records
of the transition to that position matches.
"""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct, convert

from playground.presenters.problems import expectation, reception
from playground.presenters.words import Message, message
from playground.sessions.protocol.errors import FieldProblem, SessionError
from scheduler_core.base.trace.kinds import KINDS, CommandApplied, ObjectChanged, PluginRan
from scheduler_core.world.readonly import RECORD_FIELDS, Code, Place, Point

NAME_LENGTH = 80
TEXT = 507  # the maximum length of namespace/name
EXPRESSION_LENGTH = 500
STATUSES = tuple(code.kube_name for code in Code)
POINTS = tuple(point.value for point in Point)
PLACES = tuple(value for name, value in vars(Place).items() if not name.startswith("_") and isinstance(value, str))
MOVE_FIELDS = ("came_from", "to", "event", "hint")
_TYPES = {
    kind: {field.name: field.type for field in fields}
    for kind, fields in RECORD_FIELDS.items()
    if kind != CommandApplied.KIND  # its fields name a request, not a result
}


def _having(name: str, type_: str = "") -> tuple[str, ...]:
    """Return the kinds of records that have a field whose type starts with `type_`; plugin_ran comes first."""
    having = [kind for kind, types in _TYPES.items() if name in types and types[name].startswith(type_)]
    return tuple(sorted(having, key=lambda kind: kind != PluginRan.KIND))


KINDS_OF: dict[str, tuple[str, ...]] = {
    "plugin": _having("plugin"),
    "point": _having("point"),
    "status": _having("status", "{code: "),
    "node": (PluginRan.KIND, *_having("node"), ObjectChanged.KIND),
    "came_from": _having("from"),
    "to": _having("to"),
    "event": _having("event"),
    "hint": _having("hint"),
    "reason": _having("reason"),
    "pod": tuple(kind for kind, types in _TYPES.items() if {"pod", "namespace"} & types.keys()),
}
"""The kinds of records that can match a field."""
_CHOICES = {"kind": tuple(KINDS), "point": POINTS, "status": STATUSES, "came_from": (*PLACES, ""), "to": PLACES}


class BadBreakpoint(SessionError):
    """A breakpoint that is invalid: `errors` have the field as `path`, the received value, and the expected one."""

    kind = "refused"
    status = 422


class Breakpoint(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The search criteria of a breakpoint: every nonempty field must match. A watch does not stop, unless its value `changes`.

    `pod` is namespace/name, with a `*` at its end any pod with this prefix. `came_from`, `to`, `event` and `hint` are of a queue move;
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

    @property
    def stops(self) -> bool:
        """True if a match ends a run or a search."""
        return self.enabled and (not self.watch or self.changes)

    def words(self) -> str:
        """Return a short description of the match, such as `Filter NodeResourcesFit · node n1 · Unschedulable`."""
        parts = [
            self.kind and f"record {self.kind}",
            " ".join(part for part in (self.point, self.plugin) if part),
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


# The search criteria; the other fields are the breakpoint's name and use.
FIELDS = tuple(
    name for name in Breakpoint.__struct_fields__ if name not in ("id", "name", "enabled", "watch", "changes")
)


class Hit(Struct, frozen=True):
    """A match of a breakpoint: the position, the record, and the value of a watch (a number, or text)."""

    id: int
    title: str
    position: int
    t: int
    record: str
    value: bool | int | float | str | None = None


class ExpressionProblem(Struct, frozen=True):
    """An error in an expression: the place (both from 1), the line itself, and a caret under the character."""

    message: str
    line: int
    column: int
    shown: str
    caret: str


def from_form(data: Mapping[str, Any]) -> Breakpoint:
    """Return the breakpoint of a form or a message. Raise BadBreakpoint; the expression is checked where it will run."""
    fields = {name: _text(data.get(name)) for name in FIELDS}
    # The expression is not stripped, so that positions in errors match the user's text.
    value = data.get("cel")
    text = value.replace("\r\n", "\n") if isinstance(value, str) else ""
    fields["cel"] = text if text.strip() else ""
    name = _text(data.get("name"))
    problems = list(_problems(fields, name))
    if fields["pod"] and "/" not in fields["pod"]:
        fields["pod"] = f"default/{fields['pod']}"
    flags = {
        "enabled": _flag(data.get("enabled", True)),
        "watch": _flag(data.get("watch")),
        "changes": _flag(data.get("changes")),
    }
    point = convert({**fields, **flags, "name": name[:NAME_LENGTH]}, Breakpoint)
    if not problems and not kinds(point):
        problems.append(_build_mixed_problem(point))
    if point.changes and not point.cel:
        problems.append(_problem("cel", "nothing", "an expression whose value can change"))
    if problems:
        raise BadBreakpoint(_sentence(problems[0]), problems)
    return point


def _problems(fields: Mapping[str, str], name: str) -> list[FieldProblem]:
    """Return the errors of single fields."""
    # The error about a long expression is reported at its character.
    most = {**dict.fromkeys(fields, TEXT), "cel": 10 * EXPRESSION_LENGTH}
    problems = [_problem(field, text, "a shorter text") for field, text in fields.items() if len(text) > most[field]]
    for field, allowed in _CHOICES.items():
        if fields[field] and fields[field] not in allowed:
            problems.append(_problem(field, fields[field], "one of " + ", ".join(one for one in allowed if one)))
    problems += [
        _problem(field, repr(text), "a text without the character 0")
        for field, text in {**fields, "name": name}.items()
        if "\0" in text
    ]
    if "*" in fields["pod"][:-1]:
        problems.append(_problem("pod", fields["pod"], "namespace/name, optionally with a trailing *"))
    if not any(fields.values()):
        problems.append(_problem("", "nothing", "at least one field, or an expression"))
    return problems


def _text(value: Any) -> str:
    return value.strip() if isinstance(value, str) else ""


def _flag(value: Any) -> bool:
    return value is True or value in ("1", "on", "true")


def _problem(path: str, received: str, expected: str) -> FieldProblem:
    return FieldProblem(path=path, received=received[:80], expected=expected)


def _sentence(problem: FieldProblem) -> Message:
    values = {"received": reception(problem.received), "expected": expectation(problem.expected)}
    if not problem.path:
        return message("received %(received)s; expected %(expected)s", **values)
    return message("%(path)s: received %(received)s; expected %(expected)s", path=problem.path, **values)


def _build_mixed_problem(point: Breakpoint) -> FieldProblem:
    """Return the error for fields that no single record has together."""
    filled = [name for name in KINDS_OF if getattr(point, name)]
    having = "; ".join(f"{name}: {', '.join(KINDS_OF[name][:4])}" for name in filled)
    received = " and ".join([*([f"kind {point.kind}"] if point.kind else []), *filled])
    return _problem(filled[0] if filled else "kind", received, f"fields of a single kind of record ({having})")


def kinds(point: Breakpoint) -> tuple[str, ...]:
    """Return the kinds of records that can match. An extension point alone matches its start, once in each cycle."""
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
