"""A history as spans for tools that draw trees: attempt > extension point > plugin, with the binding cycle below the attempt.

A gate that keeps a pod from any attempt has no span. All times are virtual. An action without virtual duration is a span of length zero.
Time between a call and its answer (of a plugin, an extender, or the API server at binding) belongs to the span of the step. Ids depend on
the seed and on the record that opened the span, so the same history has the same ids on any machine.
"""

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from scheduler_core import ENGINE_VERSION, KUBE_VERSION
from scheduler_core.base.trace.records import Record
from scheduler_core.formats.export.traces import ReadLog, transitions
from scheduler_core.scheduler.framework.plugin import Point
from scheduler_core.scheduler.framework.runtime.framework import StepFacts
from scheduler_core.world.simulation import Simulation

OPENS = ("attempt_started", "binding_started", "point_started", "plugin_ran")
ENDS = ("attempt_ended", "binding_ended")
FAILED = ("unschedulable", "error")
CYCLES = {"attempt_started": "schedulingCycle", "binding_started": "bindingCycle"}
"""How KEP-5927 calls the spans of cycles; which pod's they are is an attribute."""
ANSWERED_LATER = (Point.PRE_BIND, Point.BIND)  # recorded when a plugin is called, which may take its time
RECORDED_LATER = (
    Point.EXTENDER_FILTER,
    Point.EXTENDER_PRIORITIZE,
    Point.EXTENDER_PREEMPT,
    Point.EXTENDER_BIND,
    Point.WAIT_ON_PERMIT,
    Point.BIND,
)
"""Recorded when it is over what was asked, or waited for; of Bind that is the call to the API server."""

Attribute = str | int | float | list[str]
OK, ERROR, INTERNAL = 1, 2, 1  # OpenTelemetry's numbers: of a status, of a span's kind


@dataclass(slots=True)
class Span:
    """A span. `root` is the record of its attempt. `end` grows with the span's contents."""

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


@dataclass(slots=True)
class Clock:
    """The clock of a cycle. `at` is the end of its last step; the answer of `running` arrives at `until`."""

    at: int
    running: Span | None = None
    until: int = 0


class SpanTree:
    """Spans that grow with the records of a history."""

    def __init__(self) -> None:
        self._spans: dict[int, Span] = {}
        self._clocks: dict[int, Clock] = {}

    @property
    def spans(self) -> list[Span]:
        """The spans in the order in which they were opened."""
        return list(self._spans.values())

    def add(self, records: Iterable[Record]) -> None:
        """The records of the next transition."""
        spans = self._spans
        for record in records:
            takes = _takes(record)
            above = spans.get(record.parent)
            if record.kind == "attempt_started" or (record.kind in OPENS and above):
                data = dict(record.data)
                name = data.get("plugin") or data.get("point") or _title(record)
                root = above.root if above else record.seq
                failed = ""
                if record.kind == "plugin_ran" and data["status"]["code"] not in ("Success", "Skip", "Wait"):
                    failed = "; ".join(data["status"]["reasons"]) or data["status"]["code"]
                spans[record.seq] = Span(
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
            elif record.kind in ENDS and record.parent in spans:
                _end_span(spans[record.parent], record)
            for span in _upwards(spans, record):
                span.end = max(span.end, record.t)
            self._pass_time(record, takes)

    def _pass_time(self, record: Record, takes: int) -> None:
        """Attribute the time since the last record of a cycle to the step that took it."""
        cycle = next((span for span in _upwards(self._spans, record) if span.kind in CYCLES), None)
        if cycle is None:
            return
        clock = self._clocks.setdefault(cycle.seq, Clock(record.t))
        if clock.running is not None:
            clock.at = min(clock.until, record.t)
            self._lengthen(clock.running, clock.at)
            clock.running = None
        if record.kind != "plugin_ran":
            return
        span = self._spans[record.seq]
        if span.facts["point"] in RECORDED_LATER:
            start = clock.at
            point = self._spans[span.parent]
            if point.start == span.start:
                point.start = start
            span.start = start
        clock.at = record.t
        if takes:
            clock.running, clock.until = span, record.t + takes

    def _lengthen(self, span: Span, end: int) -> None:
        for each in (span, self._spans[span.parent]):
            each.end = max(each.end, end)


def spans_of(history: ReadLog) -> list[Span]:
    """The spans of a history, in the order in which they were opened."""
    tree = SpanTree()
    for records in transitions(Simulation(seed=history.seed), history.log, history.head):
        tree.add(records)
    return tree.spans


def _title(record: Record) -> str:
    what = "Scheduling" if record.kind == "attempt_started" else "Binding"
    return f"{what} {record.data['pod']}"


def _end_span(span: Span, record: Record) -> None:
    """The end of a cycle. A binding that ends names its own span as its parent."""
    span.facts |= {"outcome": record.data["outcome"], "node": record.data["node"]}
    if record.data["outcome"] in FAILED:
        span.failed = record.data["message"]


def _takes(record: Record) -> int:
    """Return the answer time (ns) of a plugin that was called. Read it before the record's facts are evaluated."""
    source = record.source
    return source.step.timeout if isinstance(source, StepFacts) and source.step.point in ANSWERED_LATER else 0


def _upwards(spans: dict[int, Span], record: Record) -> Iterator[Span]:
    at = spans.get(record.seq if record.kind in OPENS else record.parent)
    while at is not None:
        yield at
        at = spans.get(at.parent)


def otlp(spans: Iterable[Span], seed: int, kube: str = KUBE_VERSION, own: Mapping[str, str] = {}) -> dict[str, Any]:
    """OTLP/JSON: a resource for each scheduler (`own`: versions other than `kube`), a trace for each attempt; virtual nanoseconds."""
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
                        _attribute("service.version", own.get(scheduler, kube)),
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
    """Yield facts with a plugin's status split: status.code, status.plugin, status.reasons."""
    for name, value in facts.items():
        if name == "status":
            yield from ((f"status.{part}", said) for part, said in value.items())
        else:
            yield name, value


def _attribute(name: str, value: Attribute) -> dict[str, Any]:
    return {"key": name, "value": _encode_value(value)}


def _encode_value(value: Attribute) -> dict[str, Any]:
    """OTLP's AnyValue: in JSON its 64-bit numbers are texts."""
    if isinstance(value, list):
        return {"arrayValue": {"values": [_encode_value(each) for each in value]}}
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    return {"doubleValue": value} if isinstance(value, float) else {"stringValue": value}


def _id(size: int, seed: int, seq: int) -> str:
    return hashlib.blake2b(f"{seed}/{seq}".encode(), digest_size=size).hexdigest()


# Spans as Chrome's trace events, for Perfetto; and the JSON Schema (draft 2020-12) of what of that format is used.
#
# Each span is a pair of events, its begin (ph B) and its end (ph E); `ts` is in microseconds of virtual time, with nanoseconds behind
# the point. Pairs say what lies within what also where nothing takes time: of complete events (ph X) that all begin and end at one
# moment Perfetto takes each for the child of the one before. Metadata events (ph M) come first and name the tracks; the events of a
# track (pid, tid) stand together, in order.

Event = dict[str, Any]
Schema = dict[str, Any]
DIALECT = "https://json-schema.org/draft/2020-12/schema"
NUMBER = 3
"""Grows when a reader of the old schema would misread the new one."""

_ID: Schema = {"type": "integer", "minimum": 1}
_TIME: Schema = {"type": "number", "minimum": 0}
_TEXT: Schema = {"type": "string", "minLength": 1}


def chrome_events(spans: Iterable[Span], kube: str = KUBE_VERSION, own: Mapping[str, str] = {}) -> dict[str, Any]:
    """Chrome's trace events, in microseconds: a process for each scheduler (`own`: versions other than `kube`), a track for each pod."""
    processes: dict[str, int] = {}
    tracks: dict[tuple[str, str], int] = {}
    roots: dict[int, list[Span]] = defaultdict(list)
    below: dict[int, list[Span]] = defaultdict(list)
    for span in spans:
        processes.setdefault(span.scheduler, len(processes) + 1)
        track = tracks.setdefault((span.scheduler, span.facts["pod"]), len(tracks) + 1)
        (below[span.parent] if span.parent else roots[track]).append(span)
    named = [_name_of("process_name", pid, 0, name) for name, pid in processes.items()]
    events: list[Event] = []
    for (scheduler, pod), tid in tracks.items():
        place = {"pid": processes[scheduler], "tid": tid}
        named.append(_name_of("thread_name", place["pid"], tid, pod))
        for root in roots[tid]:
            events += _pairs(root, below, place)
    releases = {"kube": kube} | ({"scheduler_releases": dict(own)} if own else {})
    return {"traceEvents": [*named, *events], "displayTimeUnit": "ns", "otherData": releases}


def _pairs(span: Span, below: dict[int, list[Span]], place: dict[str, int]) -> Iterator[Event]:
    """Yield a span's begin event, its contents, and its end event."""
    yield {
        "name": span.name,
        "cat": "scheduling",
        "ph": "B",
        "ts": span.start / 1000,
        **place,
        "args": span.facts | ({"failed": span.failed} if span.failed else {}),
    }
    for child in below.get(span.seq, ()):
        yield from _pairs(child, below, place)
    yield {"ph": "E", "ts": span.end / 1000, **place}


def _name_of(what: str, pid: int, tid: int, name: str) -> Event:
    return {"name": what, "ph": "M", "pid": pid, "tid": tid, "args": {"name": name}}


def chrome_schema() -> Schema:
    """Return the schema of a whole file. `args` of a span's begin has its record's facts; a scheduler's own track is 0."""
    place = {"pid": _ID, "tid": _ID}
    facts: Schema = {
        "type": "object",
        "required": ["pod"],
        "properties": {"pod": _TEXT, "point": {"enum": [point.value for point in Point]}, "failed": _TEXT},
    }
    begin = {"name": _TEXT, "cat": {"const": "scheduling"}, "ph": {"const": "B"}, "ts": _TIME, **place, "args": facts}
    names = [
        _object(
            {"name": {"const": what}, "ph": {"const": "M"}, "pid": _ID, "tid": track, "args": _object({"name": _TEXT})}
        )
        for what, track in (("process_name", {"const": 0}), ("thread_name", _ID))
    ]
    events = [*names, _object(begin), _object({"ph": {"const": "E"}, "ts": _TIME, **place})]
    return {
        "$schema": DIALECT,
        "$id": f"urn:scheduler-playground-chrome:{NUMBER}",
        "title": f"Trace events of scheduling attempts, schema {NUMBER}",
        **_object(
            {
                "traceEvents": {"type": "array", "items": {"oneOf": events}},
                "displayTimeUnit": {"const": "ns"},
                "otherData": {**_object({"kube": _TEXT}), "additionalProperties": {"type": "object"}},
            }
        ),
    }


def _object(properties: dict[str, Schema]) -> Schema:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}
