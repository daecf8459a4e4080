"""The request of the metrics page."""

from __future__ import annotations

from playground.sessions.protocol.base import Data, Query


class Metrics(Query[Data], frozen=True, kw_only=True):
    """kube-scheduler's metrics of one scheduler, or of all."""

    scheduler: str
