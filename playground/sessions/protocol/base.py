"""The base classes of requests: frozen structs that name the type of their answer.

`await worker.call(session, Step(grain=Grain.POD))` is a `Movement`, for the reader and for mypy, because `Step` is a `Request[Movement]`.
"""

from functools import cache
from typing import Any, ClassVar, Generic, TypeVar, get_args

from msgspec import Struct

A = TypeVar("A")

# JSON data of a presenter, or a cluster's object: plain dicts, lists, strings, and numbers.
Data = dict[str, Any]


class Message(Struct, frozen=True, kw_only=True, tag=True, forbid_unknown_fields=True, omit_defaults=True):
    """A message from the web process to a worker, without an answer. `kinds` lists all classes of messages, requests included."""

    kinds: "ClassVar[list[type[Message]]]" = []

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        Message.kinds.append(cls)


class Request(Message, Generic[A], frozen=True):
    """A request to a worker; `A` is the type of the answer."""


class Query(Request[A], frozen=True):
    """A request about the world at a position that changes nothing. None is the newest shown position; the sender fills it in."""

    at: int | None = None

    @property
    def position(self) -> int:
        """The position, after the sender has filled it in."""
        assert self.at is not None
        return self.at


@cache
def answer_of(request: type[Request[Any]]) -> Any:
    """Return the type of a request's answer."""
    (base,) = (one for one in request.__orig_bases__ if get_args(one))  # type: ignore[attr-defined]  # typing gives it to every generic class
    (answer,) = get_args(base)
    return answer
