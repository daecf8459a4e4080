"""A history as spans: attempt > extension point > plugin, and below the attempt its binding cycle; for tools that draw such trees.

All times are virtual. What takes no virtual time is a span without length. Ids follow from the seed and the record that opened the span,
so that the same history has the same ids on any machine.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from scheduler_core import ENGINE_VERSION, KUBE_VERSION
from scheduler_core.export.traces import ReadLog, transitions
from scheduler_core.simulation import Simulation
from scheduler_core.trace.records import Record

OPENS = ("attempt_started", "binding_started", "point_started", "plugin_ran")
ENDS = ("attempt_ended", "binding_ended")
FAILED = ("unschedulable", "error")
CYCLES = {"attempt_started": "schedulingCycle", "binding_started": "bindingCycle"}
"""How KEP-5927 calls the spans of cycles; which pod's they are is an attribute."""

Attribute = str | int | float | list[str]
OK, ERROR, INTERNAL = 1, 2, 1  # OpenTelemetry's numbers: of a status, of a span's kind


@dataclass(slots=True)
class Span:
    """`root` is the record of the attempt; `end` grows with what happens in the span."""

    seq: int
    parent: int
    root: int
    name: str
    scheduler: str
    start: int
    end: int
    facts: dict[str, Any]
    kind: str
    failed: str = ""


class SpanTree:
    """Spans that grow with the records of a history."""

    def __init__(self) -> None:
        self._spans: dict[int, Span] = {}

    @property
    def spans(self) -> list[Span]:
        """In the order in which they were opened."""
        return list(self._spans.values())

    def add(self, records: Iterable[Record]) -> None:
        """The records of the next transition."""
        spans = self._spans
        for record in records:
            if record.kind in OPENS:
                spans[record.seq] = _opened(record, spans.get(record.parent))
            elif record.kind in ENDS and record.parent in spans:
                _ended(spans[record.parent], record)
            for span in _upwards(spans, record):
                span.end = max(span.end, record.t)


def spans_of(history: ReadLog) -> list[Span]:
    """The spans of a history, in the order in which they were opened."""
    tree = SpanTree()
    for records in transitions(
        Simulation(seed=history.seed, edition=history.edition), history.log, history.head
    ):
        tree.add(records)
    return tree.spans


def _opened(record: Record, above: Span | None) -> Span:
    data = dict(record.data)
    name = data.get("plugin") or data.get("point") or _title(record)
    root = above.root if above else record.seq
    failed = ""
    if record.kind == "plugin_ran" and data["status"]["code"] not in ("Success", "Skip", "Wait"):
        failed = "; ".join(data["status"]["reasons"]) or data["status"]["code"]
    return Span(
        record.seq,
        above.seq if above else 0,
        root,
        name,
        record.scheduler,
        record.t,
        record.t,
        data,
        record.kind,
        failed,
    )


def _title(record: Record) -> str:
    what = "Scheduling" if record.kind == "attempt_started" else "Binding"
    return f"{what} {record.data['pod']}"


def _ended(span: Span, record: Record) -> None:
    """The end of a cycle. A binding that ends names its own span as its parent."""
    span.facts |= {"outcome": record.data["outcome"], "node": record.data["node"]}
    if record.data["outcome"] in FAILED:
        span.failed = record.data["message"]


def _upwards(spans: dict[int, Span], record: Record) -> Iterator[Span]:
    at = spans.get(record.seq if record.kind in OPENS else record.parent)
    while at is not None:
        yield at
        at = spans.get(at.parent)


def chrome_events(spans: Iterable[Span]) -> dict[str, Any]:
    """Chrome's trace events, as Perfetto reads them: a process for each scheduler, a track for each pod. Times are microseconds."""
    processes: dict[str, int] = {}
    tracks: dict[tuple[str, str], int] = {}
    events: list[dict[str, Any]] = []
    for span in spans:
        pid = processes.setdefault(span.scheduler, len(processes) + 1)
        tid = tracks.setdefault((span.scheduler, span.facts["pod"]), len(tracks) + 1)
        events.append(
            {
                "name": span.name,
                "cat": "scheduling",
                "ph": "X",
                "ts": span.start / 1000,
                "dur": (span.end - span.start) / 1000,
                "pid": pid,
                "tid": tid,
                "args": span.facts | ({"failed": span.failed} if span.failed else {}),
            }
        )
    named = [_named("process_name", pid, 0, name) for name, pid in processes.items()]
    named += [
        _named("thread_name", processes[scheduler], tid, pod) for (scheduler, pod), tid in tracks.items()
    ]
    return {"traceEvents": [*named, *events], "displayTimeUnit": "ns"}


def _named(what: str, pid: int, tid: int, name: str) -> dict[str, Any]:
    return {"name": what, "ph": "M", "pid": pid, "tid": tid, "args": {"name": name}}


def otlp(spans: Iterable[Span], seed: int) -> dict[str, Any]:
    """OTLP/JSON: a resource for each scheduler, a trace for each attempt. Times are nanoseconds since the world began."""
    by_scheduler: dict[str, list[dict[str, Any]]] = {}
    for span in spans:
        by_scheduler.setdefault(span.scheduler, []).append(_otlp_span(span, seed))
    scope = {"name": "scheduler-playground", "version": str(ENGINE_VERSION)}
    return {
        "resourceSpans": [
            {
                "resource": {
                    "attributes": [
                        _attribute("service.name", scheduler),
                        _attribute("service.version", KUBE_VERSION),
                    ]
                },
                "scopeSpans": [{"scope": scope, "spans": made}],
            }
            for scheduler, made in by_scheduler.items()
        ]
    }


def _otlp_span(span: Span, seed: int) -> dict[str, Any]:
    made = {
        "traceId": _id(16, seed, span.root),
        "spanId": _id(8, seed, span.seq),
        "name": CYCLES.get(span.kind, span.name),
        "kind": INTERNAL,
        "startTimeUnixNano": str(span.start),
        "endTimeUnixNano": str(span.end),
        "attributes": [
            _attribute(f"scheduler.{name}", value)
            for name, value in _flat(span.facts)
            if isinstance(value, str | int | float | list) and value not in ("", [])
        ],
        "status": {"code": ERROR, "message": span.failed} if span.failed else {"code": OK},
    }
    return made | ({"parentSpanId": _id(8, seed, span.parent)} if span.parent else {})


def _flat(facts: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Facts with a plugin's answer taken apart: status.code, status.plugin, status.reasons."""
    for name, value in facts.items():
        if name == "status":
            yield from ((f"status.{part}", said) for part, said in value.items())
        else:
            yield name, value


def _attribute(name: str, value: Attribute) -> dict[str, Any]:
    return {"key": name, "value": _typed(value)}


def _typed(value: Attribute) -> dict[str, Any]:
    """OTLP's AnyValue: in JSON its 64-bit numbers are texts."""
    if isinstance(value, list):
        return {"arrayValue": {"values": [_typed(each) for each in value]}}
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    return {"doubleValue": value} if isinstance(value, float) else {"stringValue": value}


def _id(size: int, seed: int, seq: int) -> str:
    return hashlib.blake2b(f"{seed}/{seq}".encode(), digest_size=size).hexdigest()
