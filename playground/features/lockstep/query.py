"""What stepping through two sessions side by side asks of each one's engine.

An attempt's stretch of a history are the steps after the end of the attempt before it, up to its own end. The steps after the last
attempt's end are a stretch, too.
"""

from msgspec import Struct

from playground.sessions.protocol.base import Query
from playground.sessions.protocol.comparing import CountedRefusal, ScoreBoard


class StretchOf(Query[int], frozen=True, kw_only=True):
    """The index of the attempt whose stretch a position is in."""

    where: int


class TakenStep(Struct, frozen=True):
    """A step: the position after it, the extension point and the plugin that ran ("" where none did), and what it is aligned by."""

    position: int
    point: str
    plugin: str
    print: str


class StretchSteps(Struct, frozen=True):
    """The steps of a stretch and the position before the first of them."""

    start: int
    steps: list[TakenStep]


class Stretch(Query[StretchSteps], frozen=True, kw_only=True):
    """The stretch of the attempt with an index; an empty one at the head for an attempt that was not made."""

    index: int


class HeldMoment(Struct, frozen=True):
    """A world at a position, as far as two are compared: where the present cycle stands and what it has found so far.

    `evaluated` and `feasible` are None until Filter is over; `node` is the one that was chosen.
    """

    position: int
    now: int
    pod: str
    point: str
    plugin: str
    evaluated: int | None
    feasible: int | None
    node: str
    outcome: str
    board: ScoreBoard | None
    refusals: list[CountedRefusal]


class Moment(Query[HeldMoment], frozen=True):
    """The world at a position."""
