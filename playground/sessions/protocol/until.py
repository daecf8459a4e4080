"""Where a run is to stop: what people may ask for, checked, in words, and as the log keeps it."""

from collections.abc import Mapping
from typing import Any, ClassVar

from msgspec import Struct, to_builtins

from playground.presenters.words import Message, gettext_noop, message
from playground.sessions.protocol.base import Query, Request
from playground.sessions.protocol.breakpoints import Breakpoint, ExpressionProblem, Hit
from playground.sessions.protocol.errors import SessionError

# What is looked for in a history: breakpoints, their marks, records.


class SearchProgress(Struct, frozen=True):
    """`scanned` of `of` positions were looked at; `spent`: as many as may be. `failures` are what went wrong in expressions."""

    done: bool
    hit: Hit | None
    scanned: int
    of: int
    spent: bool
    failures: list[str]


class Search(Query[SearchProgress], frozen=True, kw_only=True):
    """Search for where one of some breakpoints holds, back or forward, for some seconds; `token` names the search that goes on."""

    token: str
    points: list[Breakpoint]
    back: bool
    head: int
    most: int
    seconds: float
    begin: bool


class CheckExpression(Request[list[ExpressionProblem]], frozen=True, kw_only=True):
    """A query for the errors in a breakpoint's expression."""

    point: Breakpoint


MOST_SECONDS = 10**9
MOST_ATTEMPTS = 10**12
MOST_CARDS = 1000
SECONDS = gettext_noop("The virtual time must be a number of seconds from 0 to %(most)s.")
NUMBER = gettext_noop("The attempt must be a number from 0 to %(most)s.")
CARD = gettext_noop("The card must be a number from 0 to %(most)s.")
STEP = gettext_noop("The step must be a number from 0 to %(most)s.")


# How a condition's fields stand in its words: by which name, and in which form.
_SHOWN = {"pod": ("pod", ""), "seconds": ("time", "g"), "number": ("n", ",")}


class Condition(Struct, frozen=True, tag_field="kind"):
    """Base. `SAYS` is the condition in words, to stand in a sentence."""

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
    """So many seconds of virtual time."""

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
    """The lesson comes to this card, from 1."""

    SAYS = gettext_noop("the lesson reaches card %(n)s")
    lesson: str
    number: int


class BreakpointHolds(Condition, frozen=True, tag="break"):
    """One of some breakpoints holds; only the list of breakpoints asks for it."""

    points: tuple[Breakpoint, ...]

    def said(self) -> Message:
        if len(self.points) == 1:
            return message("breakpoint “%(title)s” is hit", title=self.points[0].title)
        return message("one of %(n)s breakpoints is hit", n=len(self.points))


Until = NextUnschedulable | PodAttempted | TimeReached | AttemptEnded | StepReached | CardReached | BreakpointHolds
KINDS = ("unschedulable", "pod", "time", "attempt", "step", "card")


def from_form(kind: str, data: Mapping[str, Any]) -> Until | None:
    """The condition of a kind, with `pod`, `seconds`, `number` or `lesson` as a form or a message gives them; "": run to the end."""
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
    """The condition as the log keeps it: what breakpoints look for can change later, their names say enough."""
    if isinstance(until, BreakpointHolds):
        return {"kind": "break", "titles": [point.title for point in until.points]}
    return dict(to_builtins(until))
