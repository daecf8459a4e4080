"""Spans as other tools read them: Chrome's trace events by their schema and their nesting, OTLP by OpenTelemetry's own classes."""

from __future__ import annotations

import json
from base64 import b64encode
from typing import Any

import pytest
from google.protobuf.json_format import ParseDict
from jsonschema import Draft202012Validator
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span as OtlpSpan
from opentelemetry.proto.trace.v1.trace_pb2 import Status

from scheduler_core.formats.export import (
    ReadLog,
    chrome_events,
    chrome_schema,
    export_lines,
    otlp,
    spans_of,
    versions_of,
)
from scheduler_core.formats.export.spans import Span, _attribute
from scheduler_core.world.commands import ApplyObjects
from scheduler_core.world.simulation import Simulation
from tests.scheduler_core.formats.export.pairs import slices
from tests.scheduler_core.worlds import node, pod

IDS = ("traceId", "spanId", "parentSpanId")
OBJECTS = (
    node("a", cpu="2"),
    node("b", cpu="2"),
    pod("low", cpu="2", priority=0, nodeName="a"),
    pod("other", cpu="2", nodeName="b"),
    pod("web", cpu="1"),
    pod("high", cpu="2", priority=100),
    pod("huge", cpu="999"),
)


@pytest.fixture(scope="module")
def spans() -> list[Span]:
    """Of a history with a preemption, a pod that is tried again and again, and one that is bound after a while."""
    sim = Simulation(seed=7)
    sim.apply(ApplyObjects(OBJECTS))
    sim.run(steps=400)
    log = {0: {"kind": "ApplyObjects", "objects": list(OBJECTS)}}
    return spans_of(ReadLog(7, log, sim.position))


@pytest.fixture(scope="module")
def chrome(spans: list[Span]) -> dict[str, Any]:
    return json.loads(json.dumps(chrome_events(spans)))


def test_trace_events_name_the_release(spans: list[Span]) -> None:
    assert chrome_events(spans, "v1.37.2")["otherData"] == {"kube": "v1.37.2"}


def test_exports_name_the_release_of_a_scheduler_that_has_its_own(spans: list[Span]) -> None:
    log = {
        0: {"kind": "SetSettings", "settings": {"release": "1.34.2", "scheduler_releases": {"gone": "1.36"}}},
        1: {"kind": "SetSettings", "settings": {"release": "1.37"}},
        2: {"kind": "SetSettings", "settings": {"scheduler_releases": {"kube-scheduler": "1.36"}}},
    }
    own = {"kube-scheduler": "v1.36.3"}
    assert versions_of(log) == own
    assert next(iter(export_lines(0, log, 0)))["scheduler_releases"] == own
    made = chrome_events(spans, "v1.37.2", own)
    assert made["otherData"] == {"kube": "v1.37.2", "scheduler_releases": own}
    assert [error.message for error in Draft202012Validator(chrome_schema()).iter_errors(made)] == []
    (resource,) = otlp(spans, 7, "v1.37.2", own)["resourceSpans"]
    assert {"key": "service.version", "value": {"stringValue": "v1.36.3"}} in resource["resource"]["attributes"]


def as_protobuf(made: Any) -> Any:
    """OTLP/JSON writes ids in hexadecimal, where protobuf's own JSON has base64."""
    if isinstance(made, list):
        return [as_protobuf(each) for each in made]
    if not isinstance(made, dict):
        return made
    return {
        name: b64encode(bytes.fromhex(value)).decode() if name in IDS else as_protobuf(value)
        for name, value in made.items()
    }


@pytest.fixture(scope="module")
def read(spans: list[Span]) -> list[OtlpSpan]:
    request = ParseDict(as_protobuf(otlp(spans, 7)), ExportTraceServiceRequest())
    return [span for resource in request.resource_spans for scope in resource.scope_spans for span in scope.spans]


def test_the_file_is_as_its_schema_says(chrome: dict[str, Any]) -> None:
    Draft202012Validator.check_schema(chrome_schema())
    assert [error.message for error in Draft202012Validator(chrome_schema()).iter_errors(chrome)] == []


@pytest.mark.parametrize(
    "wrong", [{"ph": "X"}, {"ts": -1}, {"ts": "0"}, {"dur": 1}, {"tid": 0}, {"args": {}}, {"id": 1}, {"cat": "x"}]
)
def test_the_schema_refuses_an_event_that_is_wrong(chrome: dict[str, Any], wrong: dict[str, Any]) -> None:
    event = next(event for event in chrome["traceEvents"] if event["ph"] == "B")
    validator = Draft202012Validator(chrome_schema())
    assert validator.is_valid({**chrome, "traceEvents": [event]})
    assert not validator.is_valid({**chrome, "traceEvents": [event | wrong]})


def test_every_track_is_named_before_its_first_event(chrome: dict[str, Any]) -> None:
    named: set[tuple[int, int]] = set()
    for event in chrome["traceEvents"]:
        if event["ph"] == "M":
            named.add((event["pid"], event["tid"]))
        else:
            assert {(event["pid"], 0), (event["pid"], event["tid"])} <= named


def test_slices_are_the_spans(chrome: dict[str, Any], spans: list[Span]) -> None:
    """Each with its times, and within the one that it is below: also where all begin and end at one moment."""
    by_seq = {span.seq: span for span in spans}

    def path(span: Span | None) -> list[str]:
        return [*path(by_seq.get(span.parent)), span.name] if span else []

    found = slices(chrome["traceEvents"])
    assert len({one.track for one in found}) == 3
    assert sorted((one.start, one.end, one.path) for one in found) == sorted(
        (span.start, span.end, path(span)) for span in spans
    )
    assert any(one.end > one.start for one in found)


def test_ids_are_unique_and_every_parent_is_there(read: list[OtlpSpan]) -> None:
    ids = [span.span_id for span in read]
    assert len({*ids}) == len(ids) and {len(i) for i in ids} == {8}
    assert {len(span.trace_id) for span in read} == {16}
    by_id = {span.span_id: span for span in read}
    for span in read:
        if span.parent_span_id:
            assert by_id[span.parent_span_id].trace_id == span.trace_id


def test_a_span_lies_within_its_parent(read: list[OtlpSpan]) -> None:
    by_id = {span.span_id: span for span in read}
    for span in read:
        assert span.start_time_unix_nano <= span.end_time_unix_nano
        if span.parent_span_id:
            above = by_id[span.parent_span_id]
            assert above.start_time_unix_nano <= span.start_time_unix_nano
            assert span.end_time_unix_nano <= above.end_time_unix_nano


def test_an_attempt_is_a_trace_of_cycles_extension_points_and_plugins(read: list[OtlpSpan]) -> None:
    by_id = {span.span_id: span for span in read}

    def path(span: OtlpSpan) -> tuple[str, ...]:
        above = path(by_id[span.parent_span_id]) if span.parent_span_id else ()
        return (*above, span.name)

    paths = {path(span) for span in read}
    assert {one[0] for one in paths} == {"schedulingCycle"}
    assert ("schedulingCycle", "Filter", "NodeResourcesFit") in paths
    assert ("schedulingCycle", "PostFilter", "DefaultPreemption") in paths
    assert ("schedulingCycle", "bindingCycle", "Bind", "DefaultBinder") in paths
    roots = [span for span in read if not span.parent_span_id]
    assert len({span.trace_id for span in roots}) == len(roots)


def test_attributes_have_types(read: list[OtlpSpan]) -> None:
    kinds: dict[str, set[str]] = {}
    for span in read:
        assert len({a.key for a in span.attributes}) == len(span.attributes)
        for attribute in span.attributes:
            kinds.setdefault(attribute.key, set()).add(attribute.value.WhichOneof("value"))
    assert kinds["scheduler.pod"] == {"string_value"}
    assert kinds["scheduler.attempt"] == kinds["scheduler.evaluated"] == {"int_value"}
    assert kinds["scheduler.status.code"] == {"string_value"}
    assert kinds["scheduler.status.reasons"] == {"array_value"}
    assert all(len(found) == 1 for found in kinds.values())


@pytest.mark.parametrize(
    ("value", "typed"),
    [
        ("a", {"stringValue": "a"}),
        (7, {"intValue": "7"}),
        (True, {"boolValue": True}),
        (0.5, {"doubleValue": 0.5}),
        (["a"], {"arrayValue": {"values": [{"stringValue": "a"}]}}),
    ],
)
def test_each_type_has_its_own_field(value: Any, typed: dict[str, Any]) -> None:
    assert _attribute("k", value) == {"key": "k", "value": typed}


def test_a_refusal_is_an_error_with_kubes_words(read: list[OtlpSpan]) -> None:
    failed = [span for span in read if span.status.code == Status.STATUS_CODE_ERROR]
    assert {"schedulingCycle", "NodeResourcesFit"} <= {span.name for span in failed}
    assert any("Insufficient cpu" in span.status.message for span in failed)
    assert {span.kind for span in read} == {OtlpSpan.SPAN_KIND_INTERNAL}
