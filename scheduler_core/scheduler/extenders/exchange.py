"""One extender call as data: its request and its answer."""

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from scheduler_core.scheduler.extenders.extender import Extender, Request, Verb
from scheduler_core.scheduler.extenders.wire import request_json


@dataclass(frozen=True, slots=True)
class Answer:
    """An extender's answer: an HTTP status with a body, or the text of the `error` that prevented it (without method and URL).

    It arrives `latency` ns of virtual time after the call. `in_body`: the error occurred while reading the body.
    """

    status: int = 200
    body: str = ""
    error: str = ""
    latency: int = 0
    in_body: bool = False
    notes: tuple[str, ...] = ()  # further remarks about its origin, for display


@dataclass(frozen=True, slots=True)
class Effect:
    """The effect of an answer, as plain data for display: see docs/extenders.md."""

    kept: tuple[str, ...] | None = None
    removed: tuple[str, ...] = ()
    statuses: tuple[tuple[str, str, str], ...] = ()  # node, code, message
    scores: tuple[tuple[str, int], ...] | None = None
    candidates: tuple[tuple[str, tuple[str, ...], int], ...] | None = None  # node, victims, violations
    bound: bool | None = None
    ignored: bool = False  # the error was ignored

    def to_json(self) -> dict[str, Any]:
        out: dict[str, Any] = {}
        if self.kept is not None:
            statuses = {node: {"code": code, "message": text} for node, code, text in self.statuses}
            out["filter"] = {"kept": list(self.kept), "removed": list(self.removed), "statuses": statuses}
        if self.scores is not None:
            out["scores"] = dict(self.scores)
        if self.candidates is not None:
            out["candidates"] = [
                {"node": node, "victims": list(victims), "numPDBViolations": violations}
                for node, victims, violations in self.candidates
            ]
        if self.bound is not None:
            out["bound"] = self.bound
        if self.ignored:
            out["ignored"] = True
        return out


@dataclass(frozen=True, slots=True, eq=False)
class Exchange:
    """An extender call. `number` counts a scheduler's calls. `nominated`: the call is about the pod's nominated node only.

    `asked` and `answered` are virtual times (ns); without an `answer` the call is pending.
    """

    number: int
    extender: Extender
    verb: Verb
    request: Request
    asked: int = 0
    nominated: bool = False
    answer: Answer | None = None
    answered: int = 0
    error: str = ""  # the scheduler's error with kube's message; empty: the answer is valid
    effect: Effect = Effect()

    @property
    def url(self) -> str:
        return self.extender.url(self.verb)

    @property
    def request_json(self) -> dict[str, Any]:
        """The body of the request."""
        return request_json(self.verb.value, self.request)

    def to_json(self) -> dict[str, Any]:
        answer = self.answer or Answer(0)
        return {
            "extender": self.extender.index,
            "verb": self.verb.value,
            "url": self.url,
            "nominated": self.nominated,
            "request": self.request_json,
            "status": answer.status,
            "answer": answer.body,
            "latency": answer.latency,
            "error": self.error,
            "effect": self.effect.to_json(),
        }


# The errors of Go's net/http without an answer.
#
# go: src/net/http/client.go, src/net/{net,dial}.go @ 1.24

AWAITING_HEADERS = "context deadline exceeded (Client.Timeout exceeded while awaiting headers)"
READING_BODY = "context deadline exceeded (Client.Timeout or context cancellation while reading body)"
_PORTS = {"http": 80, "https": 443}


def within(answer: Answer, timeout: int) -> Answer:
    """Return the answer that a client with a timeout (ns) gets: a late answer becomes an error."""
    if answer.latency < timeout:
        return answer
    error = READING_BODY if answer.in_body else AWAITING_HEADERS
    return Answer(answer.status, "", error, timeout, answer.in_body, answer.notes)


def refuse_connection(url: str) -> Answer:
    """Return the answer of a closed port: connection refused."""
    return Answer(0, "", f"dial tcp {address(url)}: connect: connection refused")


def address(url: str) -> str:
    """Return the host and port of a URL."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return url
    host = parts.hostname or ""
    shown = f"[{host}]" if ":" in host else host
    return f"{shown}:{port if port is not None else _PORTS.get(parts.scheme, 80)}"
