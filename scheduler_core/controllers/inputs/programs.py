"""The simulated programs of containers: rules, of which the first that matches a pod's container counts.

A rule's `runs` list duration and exit code of each start (the last repeats; empty: runs forever); `ready` is when the container is ready;
`onTerm` its reaction to SIGTERM. A container without a matching rule runs forever, is ready at once, and ends on SIGTERM.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import msgspec

from scheduler_core.apimachinery.objects import SECOND, LabelSelector, parse_duration
from scheduler_core.apimachinery.objects.errors import FieldError, InvalidObject
from scheduler_core.apimachinery.objects.typed import FieldProblem, convert_data

MOST_RULES = 200
_MOST_STEPS = 200
TERM_LATENCY = SECOND // 2  # the default time from SIGTERM to the end of a program
TERM_EXIT, KILL_EXIT = 143, 137


@dataclass(frozen=True, slots=True)
class Program:
    """One rule; times in ns. `pods` None: all. `term_after` None: SIGTERM is ignored."""

    pods: LabelSelector | None = None
    container: str = ""
    created_after: int | None = None
    created_before: int | None = None
    runs: tuple[tuple[int | None, int], ...] = ()  # duration (None: forever), exit code
    ready_after: int | None = 0  # since the start; None: see ready_at
    ready_at: tuple[tuple[int, bool], ...] = ()
    term_after: int | None = TERM_LATENCY
    term_exit: int = TERM_EXIT

    def run(self, start: int) -> tuple[int | None, int]:
        """Return the duration and the exit code of the container's start number `start` (from 0)."""
        return self.runs[min(start, len(self.runs) - 1)] if self.runs else (None, 0)

    def ready(self, now: int, started: int) -> bool:
        """Return whether a running container is ready."""
        if self.ready_after is not None:
            return now >= started + self.ready_after
        return next((is_ready for at, is_ready in reversed(self.ready_at) if at <= now), False)

    def next_change(self, now: int, started: int) -> int | None:
        """Return the next time readiness may change."""
        if self.ready_after is not None:
            return started + self.ready_after if started + self.ready_after > now else None
        return next((at for at, _ in self.ready_at if at > now), None)


DEFAULT = Program()


def program_of(programs: Sequence[Program], labels: Mapping[str, str], created: int, container: str) -> Program:
    """Return the rule for a container of a pod with these labels, created at a virtual time (ns)."""
    for program in programs:
        if (
            (not program.container or program.container == container)
            and (program.pods is None or program.pods.matches(labels))
            and (program.created_after is None or created >= program.created_after)
            and (program.created_before is None or created < program.created_before)
        ):
            return program
    return DEFAULT


# as a user writes them

_Text = Annotated[str, msgspec.Meta(max_length=1000)]
_Exit = Annotated[int, msgspec.Meta(ge=0, le=255)]


class _Run(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    length: _Text | None = msgspec.field(default=None, name="for")
    exit: _Exit = 0

    def __post_init__(self) -> None:
        _duration("for", self.length)


class _Point(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A change of readiness: `after` a start, or `at` a time of the world."""

    after: _Text | None = None
    at: _Text | None = None
    becomes: bool | None = msgspec.field(default=None, name="is")

    def __post_init__(self) -> None:
        _duration("after", self.after)
        _duration("at", self.at)


class _OnTerm(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    after: _Text = "0s"
    exit: _Exit = 0

    def __post_init__(self) -> None:
        _duration("after", self.after)


class _Rule(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    pods: _Text | Mapping[str, Any] | None = None
    container: _Text = ""
    created_after: _Text | None = msgspec.field(default=None, name="createdAfter")
    created_before: _Text | None = msgspec.field(default=None, name="createdBefore")
    runs: Annotated[tuple[_Run, ...], msgspec.Meta(max_length=_MOST_STEPS)] = ()
    ready: bool | _Point | Annotated[tuple[_Point, ...], msgspec.Meta(max_length=_MOST_STEPS)] = True
    on_term: Literal["ignore"] | _OnTerm | None = msgspec.field(default=None, name="onTerm")

    def __post_init__(self) -> None:
        _duration("createdAfter", self.created_after)
        _duration("createdBefore", self.created_before)
        if isinstance(self.ready, _Point) and self.ready.after is None:
            raise FieldProblem("ready.after", None, "a duration such as 5s")
        for i, point in enumerate(self.ready if isinstance(self.ready, tuple) else ()):
            if point.at is None or point.becomes is None:
                raise FieldProblem(f"ready[{i}]", "no time, or no value", '{"at": a duration, "is": true or false}')


def read_programs(rules: Sequence[Any]) -> tuple[Program, ...]:
    """Read rules as a user writes them. Raise InvalidObject."""
    if len(rules) > MOST_RULES:
        raise InvalidObject((FieldError("rules", f"{len(rules)} rules", f"at most {MOST_RULES}"),))
    return tuple(_program(convert_data(rule, _Rule, f"rules[{i}]"), f"rules[{i}].pods") for i, rule in enumerate(rules))


def read_selector(given: Any, path: str) -> LabelSelector | None:
    """Read a selector written as "a=b,c=d" or as an object; None if empty. Raise InvalidObject."""
    if given is None or given == "":
        return None
    if isinstance(given, str):
        pairs = [part.partition("=") for part in given.split(",")]
        if not all(separator and key for key, separator, _ in pairs):
            raise InvalidObject((FieldError(path, repr(given), "labels such as app=web,tier=db"),))
        given = {"matchLabels": {key: value for key, _, value in pairs}}
    elif not {"matchLabels", "matchExpressions"} & set(given):
        given = {"matchLabels": given}
    try:
        selector = LabelSelector.of(given)
    except (TypeError, AttributeError, KeyError):
        raise InvalidObject((FieldError(path, repr(given), "a label selector"),)) from None
    if selector.errors:
        raise InvalidObject(selector.errors)
    return selector


def _program(rule: _Rule, path: str) -> Program:
    ready_after: int | None = 0
    ready_at: tuple[tuple[int, bool], ...] = ()
    if rule.ready is False:
        ready_after = None
    elif isinstance(rule.ready, _Point):
        ready_after = parse_duration(rule.ready.after or "0s")
    elif isinstance(rule.ready, tuple):
        ready_after = None
        ready_at = tuple(sorted((parse_duration(p.at or "0s"), bool(p.becomes)) for p in rule.ready))
    term_after: int | None = TERM_LATENCY
    term_exit = TERM_EXIT
    if rule.on_term == "ignore":
        term_after = None
    elif isinstance(rule.on_term, _OnTerm):
        term_after, term_exit = parse_duration(rule.on_term.after), rule.on_term.exit
    return Program(
        read_selector(rule.pods, path),
        rule.container,
        _optional(rule.created_after),
        _optional(rule.created_before),
        tuple((_optional(run.length), run.exit) for run in rule.runs),
        ready_after,
        ready_at,
        term_after,
        term_exit,
    )


def _optional(text: str | None) -> int | None:
    return None if text is None else parse_duration(text)


def _duration(field: str, text: str | None) -> None:
    try:
        if text is not None and parse_duration(text) < 0:
            raise ValueError
    except ValueError:
        raise FieldProblem(field, text, "a duration such as 30s or 1m30s") from None
