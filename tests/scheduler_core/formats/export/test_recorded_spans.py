"""Spans of worlds that were recorded: a wait on Permit, bindings that were rolled back, preemption."""

from __future__ import annotations

import json

import pytest
from google.protobuf.json_format import ParseDict
from jsonschema import Draft202012Validator
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span as OtlpSpan
from opentelemetry.proto.trace.v1.trace_pb2 import Status

from scheduler_core.formats.export import ReadLog, chrome_events, chrome_schema, otlp, read_log, spans_of
from scheduler_core.formats.export.spans import Span
from tests.recorded import read_traces
from tests.scheduler_core.formats.export.pairs import slices
from tests.scheduler_core.formats.export.test_spans import as_protobuf

WORLDS = {"permit": 7, "rolled back": 2, "preemption": 3}
POINTS = {
    "PreEnqueue", "QueueSort", "PreFilter", "Filter", "PostFilter", "PreScore", "Score", "NormalizeScore", "Reserve",
    "Unreserve", "Permit", "WaitOnPermit", "PreBind", "Bind", "PostBind",
}  # fmt: skip


@pytest.fixture(scope="module", params=WORLDS)
def world(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def history(world: str) -> ReadLog:
    return read_log([json.loads(line) for line in read_traces()[WORLDS[world]].splitlines()])


@pytest.fixture(scope="module")
def spans(history: ReadLog) -> list[Span]:
    return spans_of(history)


@pytest.fixture(scope="module")
def read(history: ReadLog, spans: list[Span]) -> dict[bytes, OtlpSpan]:
    """By id, as OpenTelemetry's classes read them; the same after a way through their binary form."""
    request = ParseDict(as_protobuf(otlp(spans, history.seed)), ExportTraceServiceRequest())
    assert ExportTraceServiceRequest.FromString(request.SerializeToString()) == request
    found = [s for resource in request.resource_spans for scope in resource.scope_spans for s in scope.spans]
    assert len(found) == len({span.span_id for span in found}) == len(spans)
    return {span.span_id: span for span in found}


def test_the_world_has_what_it_is_named_after(world: str, read: dict[bytes, OtlpSpan]) -> None:
    names = {span.name for span in read.values()}
    failed = {span.name for span in read.values() if span.status.code == Status.STATUS_CODE_ERROR}
    codes = {
        (span.name, attribute.value.string_value)
        for span in read.values()
        for attribute in span.attributes
        if attribute.key == "scheduler.status.code"
    }
    if world == "permit":
        assert "WaitOnPermit" in names and ("Coscheduling", "Wait") in codes
        assert any(span.end_time_unix_nano > span.start_time_unix_nano for span in read.values())
    elif world == "preemption":
        assert "PostFilter" in names and ("DefaultPreemption", "Success") in codes
    else:
        assert {"bindingCycle", "schedulingCycle"} <= failed and "Unreserve" in names


def test_trace_events_are_as_their_schema_says(spans: list[Span]) -> None:
    made = json.loads(json.dumps(chrome_events(spans)))
    assert [error.message for error in Draft202012Validator(chrome_schema()).iter_errors(made)] == []


def test_a_slice_lies_within_the_one_of_its_parent(spans: list[Span]) -> None:
    names = {span.seq: span.name for span in spans}
    found = slices(chrome_events(spans)["traceEvents"])
    assert sorted((one.name, one.above.name if one.above else "") for one in found) == sorted(
        (span.name, names.get(span.parent, "")) for span in spans
    )
    for one in found:
        if one.above:
            assert one.above.start <= one.start <= one.end <= one.above.end


def test_ids_are_valid_and_each_attempt_is_a_trace_of_its_own(read: dict[bytes, OtlpSpan]) -> None:
    for span in read.values():
        assert len(span.span_id) == 8 and any(span.span_id)
        assert len(span.trace_id) == 16 and any(span.trace_id)
        if span.parent_span_id:
            assert read[span.parent_span_id].trace_id == span.trace_id
    roots = [span.trace_id for span in read.values() if not span.parent_span_id]
    assert sorted(roots) == sorted({span.trace_id for span in read.values()})


def test_a_plugin_is_in_its_extension_point_and_that_in_a_cycle(read: dict[bytes, OtlpSpan]) -> None:
    below: dict[str, set[str]] = {}
    for span in read.values():
        above = read[span.parent_span_id].name if span.parent_span_id else ""
        below.setdefault("point" if above in POINTS else above, set()).add(span.name)
    assert below[""] == {"schedulingCycle"}
    assert below["schedulingCycle"] <= {*POINTS, "bindingCycle"}
    assert below.get("bindingCycle", set()) <= POINTS
    assert "DefaultPreemption" in below["point"]
    assert below.keys() <= {"", "schedulingCycle", "bindingCycle", "point"}


def test_times_are_virtual_and_lie_within_those_of_the_parent(read: dict[bytes, OtlpSpan]) -> None:
    for span in read.values():
        assert 0 <= span.start_time_unix_nano <= span.end_time_unix_nano
        if span.parent_span_id:
            above = read[span.parent_span_id]
            assert above.start_time_unix_nano <= span.start_time_unix_nano
            assert span.end_time_unix_nano <= above.end_time_unix_nano
