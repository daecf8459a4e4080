"""What can go wrong with a session, each with words for the person who asked, and how an error travels from a worker."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from msgspec import Struct


class Sentence(Struct, frozen=True, omit_defaults=True):
    """Words for people, to be translated, and the values that are put into them by name."""

    text: str
    values: dict[str, str | int] = {}


class FieldProblem(Struct, frozen=True, omit_defaults=True):
    """What is wrong with one field: of which object, where, what was received and what was expected. `text` says it all.

    `source` is its line as it was written, where the page can show it.
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
    """What the simulated API server answered to a request that it refused, in kube's words."""

    code: int
    reason: str
    message: str
    causes: list[str] = []


class SessionError(Exception):
    """Base. `errors` are the fields at fault, where a command or a text was; `answer` is the API server's, where it refused.

    `said`: the message as words that can be translated, where it comes from a worker.
    """

    kind: ClassVar[str] = "error"
    status: ClassVar[int] = 400
    retry_after: int | None = None  # seconds after which the same may go well
    unchanged: ClassVar[bool] = True  # whether it is sure, and worth saying, that nothing was changed

    def __init__(
        self,
        message: str,
        errors: Sequence[FieldProblem] = (),
        answer: ServerAnswer | None = None,
        said: Sentence | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.errors = list(errors)
        self.answer = answer
        self.said = said


class SessionGone(SessionError):
    """No session has this key (any more)."""

    kind = "gone"
    status = 404
    unchanged = False


class NotAllowed(SessionError):
    """A view key was used to edit."""

    kind = "not-allowed"
    status = 403


class CommandRefused(SessionError):
    """The command is not valid here; the world is as it was."""

    kind = "refused"
    status = 422


class LimitReached(SessionError):
    """A limit of this installation (docs/settings.md) would be exceeded; the world is as it was."""

    kind = "limit"
    status = 422


class Conflict(SessionError):
    """Somebody else's change came first; asking again is safe."""

    kind = "conflict"
    status = 409


class InThePast(SessionError):
    """A command came for a position that is past, and nobody has said yet whether it is meant for a fork or for the newest step."""

    kind = "past"
    status = 409

    def __init__(self, at: int, head: int) -> None:
        super().__init__(
            f"You stand at step {at:,} of {head:,}, in the past. Apply this in a fork from here, "
            "or go to the newest step and apply it there?"
        )
        self.at = at
        self.head = head


class Opening(SessionError):
    """The session is being replayed from its log; `done` and `total` are positions."""

    kind = "opening"
    status = 503
    retry_after = 2

    def __init__(self, message: str, done: int = 0, total: int = 0) -> None:
        super().__init__(message)
        self.done = done
        self.total = total


class EngineFailed(SessionError):
    """The engine broke or took too long. The log is whole, the session will be replayed from it."""

    kind = "engine"
    status = 500


class Unavailable(SessionError):
    """What the server needs, such as its database, does not answer. It comes back by itself."""

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
    said: Sentence | None = None

    @classmethod
    def of(cls, error: SessionError) -> Failure:
        return cls(error.kind, error.message, error.errors, error.answer, error.said)

    def error(self) -> SessionError:
        """The same as an exception."""
        return _BY_KIND.get(self.kind, SessionError)(self.message, self.errors, self.answer, self.said)


_BY_KIND: dict[str, type[SessionError]] = {
    error.kind: error
    for error in (SessionGone, NotAllowed, CommandRefused, LimitReached, Conflict, EngineFailed)
}
