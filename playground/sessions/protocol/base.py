"""What a request is: a frozen struct that says which answer it gets.

`await worker.call(session, Step(grain=Grain.POD))` is a `Stepped`, for the reader and for mypy, because `Step` is a `Request[Stepped]`.
"""

from functools import cache
from typing import Any, ClassVar, Generic, TypeVar, get_args

from msgspec import Struct

A = TypeVar("A")

# Data that a presenter made, or that is an object of the cluster: plain dicts, lists, texts and numbers.
Data = dict[str, Any]


class Message(Struct, frozen=True, kw_only=True, tag=True, forbid_unknown_fields=True, omit_defaults=True):
    """Something that the web process says to a worker and that has no answer. `kinds` lists all classes of messages, requests included."""

    kinds: "ClassVar[list[type[Message]]]" = []

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        Message.kinds.append(cls)


class Request(Message, Generic[A], frozen=True):
    """Something that a worker is asked for; `A` is what it answers."""


class Query(Request[A], frozen=True):
    """Asks about a world at a position and changes nothing. None is the newest step that is shown: whoever sends it puts that in."""

    at: int | None = None

    @property
    def position(self) -> int:
        """The position, once it was put in."""
        assert self.at is not None
        return self.at


@cache
def answer_of(request: type[Request[Any]]) -> Any:
    """The type of a request's answer."""
    (base,) = (one for one in request.__orig_bases__ if get_args(one))  # type: ignore[attr-defined]  # typing gives it to every generic class
    (answer,) = get_args(base)
    return answer
