"""The server's own metrics, for its operator's Prometheus; what kube-scheduler's metrics of a session are is in exposition.py."""

from __future__ import annotations

from prometheus_client import Counter, Gauge

CONNECTIONS = Gauge("playground_connections", "Connections that are open, WebSockets among them.")
SOCKETS = Gauge("playground_sockets", "WebSockets that are open: one for each page of a studio or a classroom.")
DOOR = Counter("playground_door_requests", "Requests to the API servers of sessions.", ["verb", "kind", "code"])
REFUSED = Counter("playground_refused", "Connections and sockets that were not taken, by the reason.", ["reason"])
