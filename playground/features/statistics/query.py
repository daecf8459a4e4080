"""The request of the statistics page."""

from __future__ import annotations

from playground.sessions.protocol.base import Data, Query


class Statistics(Query[Data], frozen=True, kw_only=True):
    """One scheduler's statistics up to a step: its metrics, their curves, use of the nodes, refusals by plugin."""

    scheduler: str
