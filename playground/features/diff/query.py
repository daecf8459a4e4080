"""The request of the page of differences."""

from __future__ import annotations

from playground.sessions.protocol.base import Data, Query


class Changes(Query[Data], frozen=True, kw_only=True):
    """The differences between two positions (presenter.py), some rows; `kind` and `q` (a part of the name) choose rows."""

    since: int
    kind: str
    q: str
    first: int
    most: int
