"""What is looked for in a history: breakpoints, their marks, records."""

from __future__ import annotations

from msgspec import Struct

from playground.sessions.protocol.base import Data, Query, Request
from playground.sessions.protocol.breakpoints import Breakpoint, ExpressionProblem, Hit


class CheckExpression(Request[list[ExpressionProblem]], frozen=True, kw_only=True):
    """A query for the errors in a breakpoint's expression."""

    point: Breakpoint


class SearchProgress(Struct, frozen=True):
    """`scanned` of `of` positions were looked at; `spent`: as many as may be. `failures` are what went wrong in expressions."""

    done: bool
    hit: Hit | None
    scanned: int
    of: int
    spent: bool
    failures: list[str]


class Search(Query[SearchProgress], frozen=True, kw_only=True):
    """Search for where one of some breakpoints holds, back or forward, for some seconds; `token` names the search that goes on."""

    token: str
    points: list[Breakpoint]
    back: bool
    head: int
    most: int
    seconds: float
    begin: bool


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


class StepRecords(Struct, frozen=True):
    """Records of one step, as rows (presenters/sentences/kinds), and how many more there are."""

    position: int
    t: str
    rows: list[Data]
    more: int


class RecordsFound(Struct, frozen=True):
    """Steps, the newest first, and where to go on (0: that was all)."""

    steps: list[StepRecords]
    before: int


class Records(Query[RecordsFound], frozen=True, kw_only=True):
    """Records up to a position, the newest first, of whole steps; with `point` those that match. At most so many seconds are spent."""

    point: Breakpoint | None
    most: int
    seconds: float
