"""What can go wrong with a session, each with words for the person who asked, and how an error travels from a worker."""

from collections.abc import Iterable, Sequence
from typing import ClassVar

from msgspec import Struct, to_builtins

from playground.presenters.problems import problem as in_words
from playground.presenters.words import Message, gettext_noop, in_english, message
from scheduler_core.world.commands import Command, Refused, command_from_json
from scheduler_core.world.readonly import FieldError


class FieldProblem(Struct, frozen=True, omit_defaults=True):
    """An error in one field: the object, the place, the received and the expected value. `text` contains all of this.

    `source` is its original line, if the page can show it.
    """

    path: str = ""
    received: str = ""
    expected: str = ""
    object: str = ""
    line: int | None = None
    column: int | None = None
    kind: str = ""
    text: str = ""
    file: str = ""
    source: str = ""


class ServerAnswer(Struct, frozen=True, omit_defaults=True):
    """The simulated API server's answer to a request that it refused, in kube's words."""

    code: int
    reason: str
    message: str
    causes: list[str] = []


class SessionError(Exception):
    """Base. `errors` are the fields at fault, where a command or a text was; `answer` is the API server's, where it refused.

    `said` is what it says as a message, where whoever raised it does not know who will read it; people read what
    sessions/web/words.py makes of it, and `message` is for programs and logs.
    """

    kind: ClassVar[str] = "error"
    status: ClassVar[int] = 400
    retry_after: int | None = None  # seconds after which the same may go well
    unchanged: ClassVar[bool] = True  # whether it is sure, and worth saying, that nothing was changed

    def __init__(
        self, said: str | Message, errors: Sequence[FieldProblem] = (), answer: ServerAnswer | None = None
    ) -> None:
        self.said = None if isinstance(said, str) else said
        self.message = said if isinstance(said, str) else in_english(said)
        super().__init__(self.message)
        self.errors = list(errors)
        self.answer = answer


class SessionGone(SessionError):
    """No session has this key (any more)."""

    kind = "gone"
    status = 404
    unchanged = False


class LinkEnded(SessionGone):
    """A view link opened a session, and does so no longer."""

    kind = "ended"
    status = 410


class NotAllowed(SessionError):
    """A view key was used to edit."""

    kind = "not-allowed"
    status = 403


def require_edit(may_edit: bool) -> None:
    """Raises NotAllowed for somebody whose key only shows the session."""
    if not may_edit:
        text = gettext_noop(
            "This link only shows the session. To make changes, ask the person who shared it for the edit link."
        )
        raise NotAllowed(message(text))


class CommandRefused(SessionError):
    """The command is not valid here; the world is as it was."""

    kind = "refused"
    status = 422


class LimitReached(SessionError):
    """A limit of this installation (docs/settings.md) would be exceeded; the world is as it was."""

    kind = "limit"
    status = 422


class TooOften(LimitReached):
    """One client asks for something more often than a minute allows."""

    status = 429
    retry_after = 60


class Conflict(SessionError):
    """Somebody else's change came first; asking again is safe."""

    kind = "conflict"
    status = 409


class PastPosition(SessionError):
    """A command came for a position that is past, and nobody has said yet whether it is meant for a fork or for the newest step."""

    kind = "past"
    status = 409

    def __init__(self, at: int, head: int) -> None:
        text = gettext_noop(
            "Step %(at)s of %(head)s is not the newest one. Apply this in a fork from here, "
            "or go to the newest step and apply it there?"
        )
        super().__init__(message(text, at=f"{at:,}", head=f"{head:,}"))
        self.at, self.head = at, head


class Opening(SessionError):
    """The session is being replayed from its log; `done` and `total` are positions."""

    kind = "opening"
    status = 503
    retry_after = 2

    def __init__(self, said: str | Message, done: int = 0, total: int = 0) -> None:
        super().__init__(said)
        self.done, self.total = done, total


class EngineFailed(SessionError):
    """The engine broke or took too long. The log is whole, the session will be replayed from it."""

    kind = "engine"
    status = 500


class OutOfMemory(EngineFailed):
    """There is not enough memory for what was asked for; the world is as it was."""

    kind = "memory"
    status = 507


class AnswerExpired(SessionError):
    """The rest of a long answer is not kept any longer."""

    kind = "expired"
    status = 410


class Unavailable(SessionError):
    """An outage of a dependency of the server, such as its database. It ends by itself."""

    kind = "unavailable"
    status = 503
    retry_after = 5  # seconds


class StorageFull(Unavailable):
    """The database takes nothing more; what is in it can be read."""

    kind = "full"
    status = 507
    retry_after = 60


class Failure(Struct, frozen=True, omit_defaults=True):
    """A SessionError as a worker reports it."""

    kind: str
    message: str
    errors: list[FieldProblem] = []
    answer: ServerAnswer | None = None
    said: Message | None = None

    @classmethod
    def of(cls, error: SessionError) -> "Failure":
        return cls(error.kind, error.message, error.errors, error.answer, error.said)

    def error(self) -> SessionError:
        return _BY_KIND.get(self.kind, SessionError)(self.said or self.message, self.errors, self.answer)


_BY_KIND: dict[str, type[SessionError]] = {
    error.kind: error
    for error in (
        SessionGone,
        NotAllowed,
        CommandRefused,
        LimitReached,
        OutOfMemory,
        Conflict,
        EngineFailed,
        AnswerExpired,
    )
}


# The core's refusals as errors for people.

MOST_ERRORS = 200
_FIELDS = "Invalid"  # kube's reason where an object's fields are wrong


def problem(error: FieldError) -> FieldProblem:
    """A field's error as it travels."""
    return FieldProblem(**to_builtins(error), text=str(error))


def parse_command(data: object) -> Command:
    """The command that some JSON data is. Raises CommandRefused with the field at fault."""
    try:
        return command_from_json(data)
    except Refused as error:
        raise build_command_refusal(error) from None


def build_command_refusal(error: Refused) -> CommandRefused:
    """Return the refusal of a command, with the API server's answer if it says more than the fields' errors."""
    reported, answer = refusal(error.errors), error.answer
    if answer.reason != _FIELDS:
        reported.answer = ServerAnswer(answer.code, answer.reason, answer.message, list(answer.causes))
    return reported


def refusal(errors: Iterable[FieldError]) -> CommandRefused:
    """Field errors as they are reported; the message is the first one."""
    listed = list(errors)
    return CommandRefused(summarize_errors(listed), [problem(error) for error in listed[:MOST_ERRORS]])


def summarize_errors(errors: Sequence[FieldError]) -> Message:
    """The first of some errors, with where it is, and how many more there are."""
    said, first = in_words(problem(errors[0])), errors[0]
    for where in filter(None, (first.object, first.file)):
        said = message("%(where)s: %(said)s", where=where, said=said)
    if len(errors) > 1:
        said = message("%(said)s (and %(n)s more)", said=said, n=len(errors) - 1)
    return said
