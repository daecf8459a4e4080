"""The requests of the metrics page and of the statistics page."""

from playground.sessions.protocol.base import Data, Query


class Metrics(Query[Data], frozen=True, kw_only=True):
    """The request for kube-scheduler's metrics of one scheduler, or of all for ""."""

    scheduler: str


class Statistics(Query[Data], frozen=True, kw_only=True):
    """The request for one scheduler's statistics up to a step: metrics, curves, utilization of the nodes, and refusals by plugin."""

    scheduler: str
