"""The messages of the stream, both ways; docs/stream.md describes them. A page's messages are validated here, field by field."""

import re
from collections.abc import Sequence
from typing import Annotated, Any, Literal

from django.utils.translation import gettext, override
from django.utils.translation import gettext as _
from msgspec import DecodeError, Meta, Struct, ValidationError, convert, field
from msgspec.json import Decoder, Encoder
from msgspec.structs import replace

from playground.presenters.look import MAX_NUMBER
from playground.presenters.words import Message, format_message
from playground.sessions.protocol.breakpoints import Breakpoint, Hit
from playground.sessions.protocol.errors import EngineFailed, FieldProblem, SessionError
from playground.sessions.protocol.moving import Movement, Reason
from playground.sessions.protocol.until import BreakpointHolds, CardReached, SearchProgress, StepReached, Until
from playground.templatetags.playground_words import error_words
from scheduler_core.world.simulation import Grain


def describe_hit(hit: Hit) -> str:
    """Return the text for a hit of a breakpoint: the position, and the value."""
    values = {"title": hit.title, "position": f"{hit.position:,}", "record": hit.record}
    if hit.value is not None and hit.value is not True:
        return _("“%(title)s” became %(value)s at step %(position)s: %(record)s") % {
            **values,
            "value": str(hit.value)[:80],
        }
    return _("“%(title)s” was hit at step %(position)s: %(record)s") % values


def never_held(points: Sequence[Breakpoint], progress: SearchProgress, spent: bool, back: bool) -> str:
    """Return the text for a search without a hit: how far it went, and other possible causes."""
    if spent:
        text = _("The search reached its limit. Not found in %(scanned)s steps: %(waited)s.")
    elif back:
        text = _("Not found in the %(scanned)s steps before this one: %(waited)s.")
    else:
        text = _("Not found in the %(scanned)s steps up to the newest one: %(waited)s.")
    said = text % {
        "scanned": f"{progress.scanned:,}",
        "waited": format_message(BreakpointHolds(tuple(points)).said(), _),
    }
    return " ".join([said, *progress.failures[:2]])


def why_ended(moved: Movement, until: Until | None, steps: int) -> str:
    """Return the text why a run ended after `steps` steps; "" if it ended as requested."""
    doing = format_message(moved.doing, _) if moved.doing else ""
    if moved.reason == "runaway":
        return doing
    waited = format_message(until.said(), _) if until else ""
    if moved.reason == "budget":
        text = _("The run stopped after %(steps)s steps, the limit of one run on this server. Run again to continue.")
        unmet = _("The condition of the run was never met: %(until)s.") % {"until": waited} if until else ""
        return " ".join(filter(None, [text % {"steps": f"{steps:,}"}, unmet, doing]))
    if until is None:
        return ""
    if moved.reason == "idle" and isinstance(until, CardReached):
        return _("Nothing more happens until you do the task on the card.")
    if moved.reason == "idle":
        text = _("The simulation has nothing more to do, and the condition of the run was never met: %(until)s.")
        return text % {"until": waited}
    if moved.hit is not None:
        return describe_hit(moved.hit)
    if isinstance(until, StepReached | CardReached):  # the bar shows the step's number, the panel the card
        return ""
    return _("The run stopped: %(until)s.") % {"until": waited}


MIN_RATE, MAX_RATE = 0.05, 200.0

Position = Annotated[int, Meta(ge=0, le=MAX_NUMBER)]
Rate = Annotated[float, Meta(ge=MIN_RATE, le=MAX_RATE)]


class BadMessage(SessionError):
    """The server does not understand the message; the connection stays open."""

    kind = "bad-message"


# Messages from a page.


class FromPage(Struct, frozen=True, tag_field="type", tag=str.lower):
    """The base of messages from a page."""


class Look(FromPage, frozen=True):
    """The viewer's look, and in `seen` the position that the page already shows."""

    look: dict[str, Any] = {}
    seen: Position | None = None


class Step(FromPage, frozen=True):
    """Make one engine step at the head; in the past move the cursor forward by one step of a grain."""

    grain: Grain = Grain.PLUGIN


class Back(FromPage, frozen=True):
    """Move the cursor one step back; the head is unchanged."""

    grain: Grain = Grain.PLUGIN


class Goto(FromPage, frozen=True):
    """Move the cursor to a position, or follow the head."""

    at: Position | None = None


class Play(FromPage, frozen=True):
    """Step at `rate` steps a second."""

    grain: Grain = Grain.PLUGIN
    rate: Rate = 5.0


class Run(FromPage, frozen=True):
    """Run to the end, or to a condition, whose fields have the values of a form (protocol/until.py)."""

    until: str | None = None
    pod: Any = None
    seconds: Any = None
    number: Any = None
    lesson: Any = None


class Search(FromPage, frozen=True):
    """Search for a position where a breakpoint holds: `only` a stored one, a given `point`, or all that are enabled.

    `wait`: answer when the search is over.
    """

    back: bool = False
    only: Position | None = None
    point: dict[str, Any] | None = None
    wait: bool = False


class Pause(FromPage, frozen=True):
    """Drop this viewer's own search; if there is none, stop what drives the session."""


class Ping(FromPage, frozen=True):
    """A request for Pong."""


PageMessage = Look | Step | Back | Goto | Play | Run | Search | Pause | Ping

_decoder = Decoder(PageMessage)
_KINDS = {kind.__struct_config__.tag: kind for kind in PageMessage.__args__}
_FIELD = re.compile(r"\$\.(\w+)")
_EXPECTED = {
    "grain": f"one of {', '.join(Grain)}",
    "rate": f"a number of steps a second from {MIN_RATE} to {MAX_RATE:g}",
    "at": "null or a whole number from 0 on",
    "seen": "null or a whole number from 0 on",
    "only": "null or a whole number from 0 on",
    "look": "an object",
    "point": "null or an object",
    "back": "true or false",
    "wait": "true or false",
    "until": "a text",
    "type": f"one of {', '.join(map(str, _KINDS))}",
}


def read(text: str | bytes) -> PageMessage:
    """Return a page's message. Raise BadMessage with the invalid field."""
    try:
        message: PageMessage = _decoder.decode(text)
    except ValidationError as error:
        raise _bad(error) from None
    except (DecodeError, RecursionError) as error:
        raise BadMessage(f"The message is not JSON: {error}.") from None
    return message


def from_form(kind: str, **fields: str) -> PageMessage:
    """Return the message of a form, whose fields are texts. Raise BadMessage with the invalid field."""
    try:
        message: PageMessage = convert({"type": kind, **fields}, PageMessage, strict=False)
    except ValidationError as error:
        raise _bad(error) from None
    return message


def _bad(error: ValidationError) -> BadMessage:
    match = _FIELD.search(str(error))
    if match is None or match[1] not in _EXPECTED:
        return BadMessage('A message must be a JSON object with a "type".')
    return BadMessage(f'"{match[1]}" must be {_EXPECTED[match[1]]}.')


# Messages to a page.


class ToPage(Struct, frozen=True, tag_field="type", tag=str.lower):
    """The base of messages to a page."""


class Running(Struct, frozen=True):
    """The drive of a session: pods decided since it began, of how many, and the seconds left.

    `rate`: of a play steps, of a run pods a second.
    """

    kind: Literal["play", "run"]
    grain: str
    rate: float
    done: int
    total: int
    left: float | None
    until: str | Message

    def in_words(self, language: str) -> "Running":
        """Return a copy with the condition as a text in a language."""
        if isinstance(self.until, str):
            return self
        with override(language):
            return replace(self, until=format_message(self.until, gettext))


class Delta(ToPage, frozen=True):
    """The changes of a page from what it shows (None: nothing) to position `seq`."""

    seq: int
    since: int | None = field(name="from")
    head: int
    following: bool
    running: Running | None
    html: str
    moved: list[str]


class Idle(ToPage, frozen=True):
    """The answer to a step with nothing left to do."""

    message: str


class Ended(ToPage, frozen=True):
    """The reason why a run ended."""

    reason: Reason
    message: str


class Notice(ToPage, frozen=True):
    """Other news for the viewers."""

    message: str


class Searching(ToPage, frozen=True):
    """The progress of a search."""

    back: bool
    scanned: int
    of: int


class Searched(ToPage, frozen=True):
    """The position where a breakpoint held, or the message that it did not hold."""

    hit: Hit | None
    message: str


class MarkersChanged(ToPage, frozen=True, tag="pins"):
    """Breakpoints or bookmarks changed: pages fetch their marks again."""


class Error(ToPage, frozen=True):
    """An error, with a text for users."""

    kind: str
    message: str
    errors: list[FieldProblem] = []

    @classmethod
    def of(cls, error: BaseException) -> "Error":
        """Return the message for an error, without internal details."""
        if isinstance(error, EngineFailed):
            return cls(error.kind, f"{error_words(error)} {gettext('Nothing was changed.')}", error.errors)
        if isinstance(error, SessionError):
            return cls(error.kind, error_words(error), error.errors)
        return cls("error", gettext("The server had an error. Nothing was changed."))


class Gone(ToPage, frozen=True):
    """The session was deleted, or no session has this key."""


class Pong(ToPage, frozen=True):
    """The answer to Ping."""


ENCODER = Encoder()
