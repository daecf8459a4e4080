"""What Go's net/http says where no answer comes.

go: src/net/http/client.go, src/net/{net,dial}.go @ 1.24
"""

from __future__ import annotations

from urllib.parse import urlsplit

from scheduler_core.scheduler.extenders.exchange import Answer

AWAITING_HEADERS = "context deadline exceeded (Client.Timeout exceeded while awaiting headers)"
READING_BODY = "context deadline exceeded (Client.Timeout or context cancellation while reading body)"
_PORTS = {"http": 80, "https": 443}


def within(answer: Answer, timeout: int) -> Answer:
    """An answer as a client with a time limit (ns) gets it: one that is too late is none."""
    if answer.latency < timeout:
        return answer
    error = READING_BODY if answer.in_body else AWAITING_HEADERS
    return Answer(answer.status, "", error, timeout, answer.in_body, answer.notes)


def refuse_connection(url: str, latency: int = 0) -> Answer:
    """Nobody listens there."""
    return Answer(0, "", f"dial tcp {address(url)}: connect: connection refused", latency)


def address(url: str) -> str:
    """Host and port that a URL means."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return url
    host = parts.hostname or ""
    shown = f"[{host}]" if ":" in host else host
    return f"{shown}:{port if port is not None else _PORTS.get(parts.scheme, 80)}"
