"""What is looked for in a history: breakpoints, their marks, records."""

from __future__ import annotations

from msgspec import Struct

from playground.sessions.protocol.base import Query, Request
from playground.sessions.protocol.breakpoints import Breakpoint, ExpressionProblem, Hit


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


class CheckExpression(Request[list[ExpressionProblem]], frozen=True, kw_only=True):
    """A query for the errors in a breakpoint's expression."""

    point: Breakpoint
