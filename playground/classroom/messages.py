"""The messages of a classroom's socket; docs/classroom.md has a table of them. What a page sends is checked here, field by field."""

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct
from msgspec.json import Decoder

Text = Annotated[str, Meta(max_length=300)]
Number = Annotated[int, Meta(ge=0, le=2**53)]


class FromPage(Struct, frozen=True, tag_field="type", tag=str.lower):
    """Base."""


class Ping(FromPage, frozen=True):
    """Is anybody there?"""


class Answer(FromPage, frozen=True):
    """A student's answer to the question of that number."""

    poll: Number
    given: Annotated[list[Text], Meta(max_length=100)]


class Hand(FromPage, frozen=True):
    """A student raises a hand, or takes it down."""

    up: bool


class Fork(FromPage, frozen=True):
    """A student wants a session of their own from where they stand; null is the newest step."""

    at: Number | None = None


class Stand(FromPage, frozen=True):
    """The teacher's current view."""

    look: dict[str, Any]


class Ask(FromPage, frozen=True):
    """The teacher asks: what the lesson's card asks, what the engine can foresee, or a free choice (questions.py)."""

    kind: Literal["card", "node", "scheduled", "next", "feasible", "free"]
    at: Number | None = None
    pod: Annotated[str, Meta(max_length=520)] = ""
    ask: Text = ""
    options: Annotated[list[Text], Meta(max_length=12)] = []
    right: Text = ""


class Close(FromPage, frozen=True):
    """No more answers."""


class Reveal(FromPage, frozen=True):
    """Everybody sees the answers and what is right."""


class Clear(FromPage, frozen=True):
    """The question goes off the screens."""


class Lower(FromPage, frozen=True):
    """The teacher has seen a student's hand; null: all."""

    student: Number | None = None


class Show(FromPage, frozen=True):
    """A student's fork on everybody's screen; null: the teacher's session."""

    student: Number | None = None


class Remove(FromPage, frozen=True):
    """A student leaves the room, with all answers; null: all students."""

    student: Number | None = None


class Joining(FromPage, frozen=True):
    """Students may join, or nobody joins any more."""

    open: bool


class End(FromPage, frozen=True):
    """The room is over."""


FromStudent = Ping | Answer | Hand | Fork
FromTeacher = Ping | Stand | Ask | Close | Reveal | Clear | Lower | Show | Remove | Joining | End
STUDENTS = Decoder(FromStudent)
TEACHERS = Decoder(FromTeacher)
