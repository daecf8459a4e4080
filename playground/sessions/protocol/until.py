"""The conditions at which a run stops: validated, in words, and in the form of the log."""

from collections.abc import Mapping
from typing import Any, ClassVar

from msgspec import Struct, to_builtins

from playground.presenters.words import Message, gettext_noop, message
from playground.sessions.protocol.base import Query, Request
from playground.sessions.protocol.breakpoints import Breakpoint, ExpressionProblem, Hit
from playground.sessions.protocol.errors import SessionError

# Searches in a history: breakpoints, their marks, records.


class SearchProgress(Struct, frozen=True):
    """The progress of a search: `scanned` of `of` positions; `spent`: the limit is reached. `failures` are errors of expressions."""

    done: bool
    hit: Hit | None
    scanned: int
    of: int
    spent: bool
    failures: list[str]


class Search(Query[SearchProgress], frozen=True, kw_only=True):
    """Begin or continue a search for a position where a breakpoint holds, back or forward, for some `seconds`; `token` identifies it."""

    token: str
    points: list[Breakpoint]
    back: bool
    head: int
    most: int
    seconds: float
    begin: bool


class CheckExpression(Request[list[ExpressionProblem]], frozen=True, kw_only=True):
    """Return the errors in a breakpoint's expression."""

    point: Breakpoint


MOST_SECONDS = 10**9
MOST_ATTEMPTS = 10**12
MOST_CARDS = 1000
SECONDS = gettext_noop("The virtual time must be a number of seconds from 0 to %(most)s.")
NUMBER = gettext_noop("The attempt must be a number from 0 to %(most)s.")
CARD = gettext_noop("The card must be a number from 0 to %(most)s.")
STEP = gettext_noop("The step must be a number from 0 to %(most)s.")


# The placeholder and the format of each of a condition's fields in its words.
_SHOWN = {"pod": ("pod", ""), "seconds": ("time", "g"), "number": ("n", ",")}


class Condition(Struct, frozen=True, tag_field="kind"):
    """The base of all conditions. `SAYS` is the condition in words, as part of a sentence."""

    SAYS: ClassVar[str] = ""

    def said(self) -> Message:
        """Return the condition in words, with its values."""
        shown = [(*_SHOWN[name], getattr(self, name)) for name in self.__struct_fields__ if name in _SHOWN]
        return message(self.SAYS, **{name: format(value, form) for name, form, value in shown})


class NextUnschedulable(Condition, frozen=True, tag="unschedulable"):
    """The next attempt that ends with an unschedulable pod."""

    SAYS = gettext_noop("the next pod is unschedulable")


class PodAttempted(Condition, frozen=True, tag="pod"):
    """The next attempt of a pod (namespace/name) ends."""

    SAYS = gettext_noop("an attempt of %(pod)s ends")
    pod: str


class TimeReached(Condition, frozen=True, tag="time"):
    """The virtual time reaches a number of seconds."""

    SAYS = gettext_noop("the virtual time reaches %(time)s s")
    seconds: float


class AttemptEnded(Condition, frozen=True, tag="attempt"):
    """The attempt with this number ends."""

    SAYS = gettext_noop("attempt %(n)s ends")
    number: int


class StepReached(Condition, frozen=True, tag="step"):
    """The step with this number is made."""

    SAYS = gettext_noop("step %(n)s is reached")
    number: int


class CardReached(Condition, frozen=True, tag="card"):
    """The lesson reaches this card, from 1."""

    SAYS = gettext_noop("the lesson reaches card %(n)s")
    lesson: str
    number: int


class BreakpointHolds(Condition, frozen=True, tag="break"):
    """One of some breakpoints holds; only the list of breakpoints uses this condition."""

    points: tuple[Breakpoint, ...]

    def said(self) -> Message:
        if len(self.points) == 1:
            return message("breakpoint “%(title)s” is hit", title=self.points[0].title)
        return message("one of %(n)s breakpoints is hit", n=len(self.points))


Until = NextUnschedulable | PodAttempted | TimeReached | AttemptEnded | StepReached | CardReached | BreakpointHolds
KINDS = ("unschedulable", "pod", "time", "attempt", "step", "card")


def from_form(kind: str, data: Mapping[str, Any]) -> Until | None:
    """Return the condition of a kind, with the `pod`, `seconds`, `number` or `lesson` of a form or a message; None for kind "".

    Raise SessionError for invalid values.
    """
    if kind == "":
        return None
    if kind == "unschedulable":
        return NextUnschedulable()
    if kind == "pod":
        pod = str(data.get("pod") or "").strip()
        if not pod:
            raise SessionError(message("Name the pod whose attempt ends the run."))
        return PodAttempted(pod if "/" in pod else f"default/{pod}")
    if kind == "time":
        return TimeReached(_number(data.get("seconds"), SECONDS, MOST_SECONDS))
    if kind == "attempt":
        return AttemptEnded(int(_number(data.get("number"), NUMBER, MOST_ATTEMPTS)))
    if kind == "step":
        return StepReached(int(_number(data.get("number"), STEP, MOST_ATTEMPTS)))
    if kind == "card":
        return CardReached(str(data.get("lesson") or ""), int(_number(data.get("number"), CARD, MOST_CARDS)))
    raise SessionError(message("A run stops at one of %(kinds)s, or at the end.", kinds=", ".join(KINDS)))


def _number(value: Any, text: str, most: int) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = -1.0
    if isinstance(value, bool) or not 0 <= number <= most:
        raise SessionError(message(text, most=f"{most:,}"))
    return number


def to_log(until: Until) -> dict[str, Any]:
    """Return the condition in the form of the log: the titles of breakpoints suffice, because their criteria can change later."""
    if isinstance(until, BreakpointHolds):
        return {"kind": "break", "titles": [point.title for point in until.points]}
    return dict(to_builtins(until))
