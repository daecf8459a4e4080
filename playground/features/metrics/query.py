"""The requests of the metrics page and of the statistics page."""

from playground.sessions.protocol.base import Data, Query


class Metrics(Query[Data], frozen=True, kw_only=True):
    """kube-scheduler's metrics of one scheduler, or of all."""

    scheduler: str


class Statistics(Query[Data], frozen=True, kw_only=True):
    """One scheduler's statistics up to a step: its metrics, their curves, use of the nodes, refusals by plugin."""

    scheduler: str
