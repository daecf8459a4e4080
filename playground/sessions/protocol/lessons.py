"""Questions of a session's lesson; and lessons that people make and variants that are drawn, each played in a process of its own."""

from msgspec import Struct

from playground.lessons.authoring import Checked, LessonFiles
from playground.presenters.words import Message
from playground.sessions.protocol.base import Query, Request


class CheckLesson(Request[Checked], frozen=True, kw_only=True):
    """Play what somebody wrote; its world may have so many objects. `move`: cards that wait for a position are moved to moments.

    The process has no session.
    """

    files: LessonFiles
    max_objects: int
    move: bool = False


class Variant(Struct, frozen=True):
    """A variant as it is handed on (playground/lessons/own.py); empty, with the reason, where none that was drawn can be shown."""

    slug: str = ""
    document: bytes = b""
    why: str = ""


class DrawVariant(Request[Variant], frozen=True, kw_only=True):
    """Draw a variant of the lesson of that name and prove it; `lesson` is the lesson where it is one that was handed on itself.

    The process has no session.
    """

    slug: str
    seed: str
    max_objects: int
    lesson: bytes = b""


class AnswerEvidence(Struct, frozen=True):
    """The record that answers a question: the end of a pod's attempt; `there`: this world has reached it, maybe at another step."""

    pod: str
    name: str
    attempt: int
    at: int
    there: bool
    stage: str


class Judged(Struct, frozen=True):
    """The verdict on an answer, None where nothing was judged; its words by language; for the nodes that were named, what refused them.

    With `hints` the learner tries again, and nothing else is told.
    """

    right: bool | None
    words: dict[str, str]
    said: list[tuple[str, str]] = []
    evidence: AnswerEvidence | None = None
    hints: list[Message] = []


class JudgeAnswer(Query[Judged], frozen=True, kw_only=True):
    """Judge an answer to the question of a card (from 1) that the world has come to; `given` None asks for the answer itself.

    `again`: a wrong answer gets hints and another try, and keeps the right one hidden.
    """

    card: int
    given: list[str] | None
    again: bool = False


class LessonQuestion(Struct, frozen=True):
    """A question with its key; `words` are its card's, by language."""

    kind: str
    words: dict[str, dict[str, str]]
    options: list[str]
    key: str | list[str]
    tolerance: float
    position: int


class OpenQuestion(Query[LessonQuestion | None], frozen=True, kw_only=True):
    """The question of the last card that the world has come to, for a teacher who puts it to a class; None where it asks nothing."""
