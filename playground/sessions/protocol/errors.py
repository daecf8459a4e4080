"""Errors of sessions, each with a text for the user, and the form in which a worker reports an error."""

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
    """The base of all errors. `errors` are the invalid fields of a command or a text; `answer` is the API server's, if it refused.

    `said` is the message, if the code that raises the error does not know the reader's language; users read the text that
    templatetags/playground_words.py makes of it, and `message` is for programs and logs.
    """

    kind: ClassVar[str] = "error"
    status: ClassVar[int] = 400
    retry_after: int | None = None  # seconds after which a retry may succeed
    unchanged: ClassVar[bool] = True  # whether nothing was changed for certain, and the message should add this

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
    """The view link of a session has ended."""

    kind = "ended"
    status = 410


class NotAllowed(SessionError):
    """A view key was used to edit."""

    kind = "not-allowed"
    status = 403


def require_edit(may_edit: bool) -> None:
    """Raise NotAllowed if the key only shows the session."""
    if not may_edit:
        text = gettext_noop(
            "This link only shows the session. To make changes, ask the person who shared it for the edit link."
        )
        raise NotAllowed(message(text))


class CommandRefused(SessionError):
    """The command is not valid here; the world is unchanged."""

    kind = "refused"
    status = 422


class LimitReached(SessionError):
    """A limit of this installation (docs/settings.md) would be exceeded; the world is unchanged."""

    kind = "limit"
    status = 422


class TooOften(LimitReached):
    """A client exceeded a rate limit per minute."""

    status = 429
    retry_after = 60


class Conflict(SessionError):
    """Another change was written first; a retry is safe."""

    kind = "conflict"
    status = 409


class PastPosition(SessionError):
    """A command for a past position does not tell yet whether to apply it in a fork or at the newest step."""

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
    """The engine failed or took too long. The log is intact, the session will be replayed from it."""

    kind = "engine"
    status = 500


class OutOfMemory(EngineFailed):
    """There is not enough memory for the request; the world is unchanged."""

    kind = "memory"
    status = 507


class AnswerExpired(SessionError):
    """The rest of a long answer is no longer stored."""

    kind = "expired"
    status = 410


class Unavailable(SessionError):
    """An outage of a dependency of the server, such as its database. It ends without a restart of the server."""

    kind = "unavailable"
    status = 503
    retry_after = 5  # seconds


class StorageFull(Unavailable):
    """The database accepts no writes; reads still work."""

    kind = "full"
    status = 507
    retry_after = 60


class Failure(Struct, frozen=True, omit_defaults=True):
    """A SessionError, as a worker reports it."""

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


# The core's refusals as errors for users.

MOST_ERRORS = 200
_FIELDS = "Invalid"  # kube's reason for invalid fields of an object


def problem(error: FieldError) -> FieldProblem:
    """Return a field's error in the form in which a worker reports it."""
    return FieldProblem(**to_builtins(error), text=str(error))


def parse_command(data: object) -> Command:
    """Return the command in some JSON data. Raise CommandRefused with the invalid field."""
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
    """Return the error that reports field errors; its message is the first one."""
    listed = list(errors)
    return CommandRefused(summarize_errors(listed), [problem(error) for error in listed[:MOST_ERRORS]])


def summarize_errors(errors: Sequence[FieldError]) -> Message:
    """Return the first error, with its place, and the number of further ones."""
    said, first = in_words(problem(errors[0])), errors[0]
    for where in filter(None, (first.object, first.file)):
        said = message("%(where)s: %(said)s", where=where, said=said)
    if len(errors) > 1:
        said = message("%(said)s (and %(n)s more)", said=said, n=len(errors) - 1)
    return said
