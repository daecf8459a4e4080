"""Log lines of the server, with the ids of the request and the session. LOG_FORMAT=json writes each line as a JSON object.

A context variable follows a request through the loops and threads of the web process. Lines name sessions by their number, because
session keys are secrets.
"""

import logging
import re
from collections import deque
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any

import orjson
from prometheus_client import Counter, Gauge

# The server's own metrics, for its operator's Prometheus; what kube-scheduler's metrics of a session are is in exposition.py.

CONNECTIONS = Gauge("playground_connections", "Connections that are open, WebSockets among them.")
SOCKETS = Gauge("playground_sockets", "WebSockets that are open: one for each page of a studio or a classroom.")
DOOR = Counter("playground_door_requests", "Requests to the API servers of sessions.", ["verb", "kind", "code"])
REFUSED = Counter("playground_refused", "Connections and sockets that were not taken, by the reason.", ["reason"])


REQUEST: ContextVar[str] = ContextVar("request", default="")
"""The id of the request, or of the WebSocket, that is being answered."""

SESSION: ContextVar[int] = ContextVar("session", default=0)
"""The number of the session that it is about; 0: of none."""

MOST_KEPT = 50
MOST_ALIKE = 10
_KEY = re.compile(r"/s/[^/?\s]+")


def without_keys(text: str) -> str:
    """An address, or a text with addresses, without the keys of sessions."""
    return _KEY.sub("/s/-", text)


class WithIds(logging.Filter):
    """A filter that adds the ids of the request and the session to a line."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.request_id, record.session = REQUEST.get(), SESSION.get()
        return True


class PlainLines(logging.Formatter):
    """A log format for people: ids, if any, follow at the end of a line's first part."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s%(about)s: %(message)s")

    def format(self, record: logging.LogRecord) -> str:
        request, session = _ids(record)
        about = [f"request {request}"] * bool(request) + [f"session {session}"] * bool(session)
        record.about = f" [{', '.join(about)}]" if about else ""
        return without_keys(super().format(record))


class JsonLines(logging.Formatter):
    """A log format for programs: one object per line, with time (RFC 3339, UTC), level, logger, message, any ids and figures."""

    def format(self, record: logging.LogRecord) -> str:
        request, session = _ids(record)
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": without_keys(record.getMessage()),
        }
        line |= {"request": request} if request else {}
        line |= {"session": session} if session else {}
        line |= getattr(record, "figures", {})
        if record.exc_info:
            line["exception"] = without_keys(self.formatException(record.exc_info))
        return orjson.dumps(line, default=str).decode()


def _ids(record: logging.LogRecord) -> tuple[str, int]:
    return getattr(record, "request_id", ""), getattr(record, "session", 0)


class RecentTroubles(logging.Handler):
    """The last warnings and errors of this process, for the operator's page.

    Limits the entries of one kind, so that a client that repeats an error can't displace the others.
    """

    kept: deque[dict[str, Any]] = deque(maxlen=MOST_KEPT)

    def emit(self, record: logging.LogRecord) -> None:
        request, session = _ids(record)
        kind = (record.name, record.levelno, record.pathname, record.lineno, str(record.msg)[:80])
        alike = [each for each in self.kept if each["kind"] == kind]
        if len(alike) >= MOST_ALIKE:
            self.kept.remove(alike[0])
        self.kept.append(
            {
                "kind": kind,
                "time": datetime.fromtimestamp(record.created, UTC),
                "level": record.levelname.lower(),
                "logger": record.name,
                "message": without_keys(record.getMessage())[:500],
                "request": request,
                "session": session,
            }
        )
