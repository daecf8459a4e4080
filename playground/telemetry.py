"""The server's own metrics, for its operator's Prometheus; what kube-scheduler's metrics of a session are is in exposition.py."""

from __future__ import annotations

from prometheus_client import Counter, Gauge


class Count:
    """How many there are now; `name` is its metric's."""

    def __init__(self, name: str, meaning: str) -> None:
        self.count = 0
        Gauge(name, meaning).set_function(lambda: self.count)

    def inc(self) -> None:
        self.count += 1

    def dec(self) -> None:
        self.count -= 1


CONNECTIONS = Count("playground_connections", "Connections that are open, WebSockets among them.")
SOCKETS = Count("playground_sockets", "WebSockets that are open: one for each page of a studio.")
REFUSED = Counter(
    "playground_refused", "Connections and sockets that were not taken, by the reason.", ["reason"]
)
