"""The request of a sequence diagram."""

from __future__ import annotations

from playground.sessions.protocol.base import Data, Query


class Sequence(Query[Data], frozen=True, kw_only=True):
    """The records of a pod, or of a scheduler's process, as arrows (presenter.py), from step `first` on; what is asked for is named.

    At most so many seconds are spent.
    """

    pod: str
    scheduler: str
    first: int
    seconds: float
