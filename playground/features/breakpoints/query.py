"""The requests of the breakpoints page."""

from msgspec import Struct

from playground.sessions.protocol.base import Query
from playground.sessions.protocol.breakpoints import Breakpoint, Hit


class HitsFound(Struct, frozen=True):
    """The hits up to a position, which is earlier than requested if the time ran out."""

    hits: list[Hit]
    upto: int


class Hits(Query[HitsFound], frozen=True, kw_only=True):
    """The hits of breakpoints and watches after position `first`, oldest first, at most `most` of the newest, found within `seconds`."""

    points: list[Breakpoint]
    first: int
    most: int
    seconds: float
