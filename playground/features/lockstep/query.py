"""The requests to each engine when two sessions are stepped side by side.

An attempt's stretch of a history consists of the steps after the end of the previous attempt, up to its own end. The steps after the last
attempt's end are a stretch, too.
"""

from msgspec import Struct

from playground.sessions.protocol.base import Query
from playground.sessions.protocol.comparing import CountedRefusal, ScoreBoard


class StretchOf(Query[int], frozen=True, kw_only=True):
    """The request for the index of the attempt whose stretch contains a position."""

    where: int


class TakenStep(Struct, frozen=True):
    """A step: the position after it, the extension point and plugin that ran ("" if none), and its print for alignment."""

    position: int
    point: str
    plugin: str
    print: str


class StretchSteps(Struct, frozen=True):
    """The steps of a stretch and the position before the first of them."""

    start: int
    steps: list[TakenStep]


class Stretch(Query[StretchSteps], frozen=True, kw_only=True):
    """The request for the stretch of an attempt by its index. An attempt that does not exist has an empty stretch at the head."""

    index: int


class HeldMoment(Struct, frozen=True):
    """The compared data of a world at a position: the state of the present cycle and its results so far.

    `evaluated` and `feasible` are None until Filter ends. `node` is the selected node.
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
    """The request for the compared data at a position."""
