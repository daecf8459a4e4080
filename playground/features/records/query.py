"""The request of the records page."""

from __future__ import annotations

from msgspec import Struct

from playground.presenters.sentences.kinds import Row
from playground.sessions.protocol.base import Query
from playground.sessions.protocol.breakpoints import Breakpoint


class StepRecords(Struct, frozen=True):
    """Records of one step, as rows (presenters/sentences/records), and how many more there are."""

    position: int
    t: str
    rows: list[Row]
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
