"""What can go wrong with a session, each with words for the person who asked."""

from typing import Any


class SessionError(Exception):
    """Base. `errors` is a list of {object, path, received, expected, line} where a command was at fault."""

    kind = "error"
    status = 400

    def __init__(self, message: str, errors: list[dict[str, Any]] | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.errors = errors or []

    def to_json(self) -> dict[str, Any]:
        return {"kind": self.kind, "message": self.message, "errors": self.errors}


class SessionGone(SessionError):
    """No session has this key (any more)."""

    kind = "gone"
    status = 404


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

    def to_json(self) -> dict[str, Any]:
        return {**super().to_json(), "at": self.at, "head": self.head, "choices": ["fork", "head"]}


class Opening(SessionError):
    """The session is being replayed from its log; `done` and `total` are positions."""

    kind = "opening"
    status = 503

    def __init__(self, message: str, done: int = 0, total: int = 0) -> None:
        super().__init__(message)
        self.done = done
        self.total = total


class EngineFailed(SessionError):
    """The engine broke or took too long. The log is whole, the session will be replayed from it."""

    kind = "engine"
    status = 500
    fatal = False


_BY_KIND = {
    one.kind: one
    for one in (SessionError, SessionGone, NotAllowed, CommandRefused, LimitReached, Conflict, EngineFailed)
}


def from_json(data: dict[str, Any]) -> SessionError:
    """The error that a worker reported."""
    return _BY_KIND.get(data.get("kind", ""), SessionError)(data.get("message", ""), data.get("errors"))
