"""The messages of a classroom's socket (docs/classroom.md has a table), checked field by field."""

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct
from msgspec.json import Decoder

Text = Annotated[str, Meta(max_length=300)]
Number = Annotated[int, Meta(ge=0, le=2**53)]


class FromPage(Struct, frozen=True, tag_field="type", tag=str.lower):
    """Base class of messages from a page."""


class Ping(FromPage, frozen=True):
    """A check of the connection."""


class Answer(FromPage, frozen=True):
    """A student's answer to the question of that number."""

    poll: Number
    given: Annotated[list[Text], Meta(max_length=100)]


class Hand(FromPage, frozen=True):
    """A student raises or lowers a hand."""

    up: bool


class Fork(FromPage, frozen=True):
    """A student requests a session of their own from the current position; null is the newest step."""

    at: Number | None = None


class Stand(FromPage, frozen=True):
    """The teacher's current view."""

    look: dict[str, Any]


class Ask(FromPage, frozen=True):
    """The teacher asks the question of the lesson's card, a prediction that the engine can compute, or a free choice (questions.py)."""

    kind: Literal["card", "node", "scheduled", "next", "feasible", "free"]
    at: Number | None = None
    pod: Annotated[str, Meta(max_length=520)] = ""
    ask: Text = ""
    options: Annotated[list[Text], Meta(max_length=12)] = []
    right: Text = ""


class Close(FromPage, frozen=True):
    """The teacher stops accepting answers."""


class Reveal(FromPage, frozen=True):
    """The teacher reveals the answers and the solution."""


class Clear(FromPage, frozen=True):
    """The teacher removes the question from the screens."""


class Lower(FromPage, frozen=True):
    """The teacher lowers a student's hand; null: all."""

    student: Number | None = None


class Show(FromPage, frozen=True):
    """A student's fork on everybody's screen; null: the teacher's session."""

    student: Number | None = None


class Remove(FromPage, frozen=True):
    """A student leaves the room, with all answers; null: all students."""

    student: Number | None = None


class Joining(FromPage, frozen=True):
    """The teacher allows or stops joining."""

    open: bool


class End(FromPage, frozen=True):
    """The room is over."""


FromStudent = Ping | Answer | Hand | Fork
FromTeacher = Ping | Stand | Ask | Close | Reveal | Clear | Lower | Show | Remove | Joining | End
STUDENTS = Decoder(FromStudent)
TEACHERS = Decoder(FromTeacher)
