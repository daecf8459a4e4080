"""A trace in forms that other tools read: the schema of its lines, spans for Perfetto and for OpenTelemetry."""

from __future__ import annotations

import json
from typing import Any

import pytest
from google.protobuf.json_format import ParseDict
from jsonschema import Draft202012Validator
from opentelemetry.proto.trace.v1.trace_pb2 import TracesData

from scheduler_core.formats.export import chrome_events, export_lines, json_schema, otlp, read_log, spans_of
from scheduler_core.formats.export.spans import Span
from scheduler_core.formats.export.tables import write_csv
from scheduler_core.world.commands import ApplyObjects
from scheduler_core.world.simulation import Simulation
from tests.scheduler_core.formats.export.pairs import slices
from tests.scheduler_core.worlds import node, pod

OBJECTS = (node("a"), node("b"), pod("web"), pod("large", cpu="999"))


@pytest.fixture(scope="module")
def lines() -> list[dict[str, Any]]:
    """A trace in which a pod is bound and another one is refused, with its detail."""
    sim = Simulation()
    sim.apply(ApplyObjects(OBJECTS))
    sim.run(steps=150)
    log = {0: {"kind": "ApplyObjects", "objects": list(OBJECTS)}}
    made = export_lines(0, log, sim.position, range(1, 3))
    return [json.loads(json.dumps(line)) for line in made]


@pytest.fixture(scope="module")
def spans(lines: list[dict[str, Any]]) -> list[Span]:
    return spans_of(read_log(lines))


def test_every_line_of_a_trace_is_as_the_schema_says(lines: list[dict[str, Any]]) -> None:
    schema = json_schema()
    Draft202012Validator.check_schema(schema)
    validator = Draft202012Validator(schema)
    assert {line["type"] for line in lines} == {"header", "command", "record", "digest", "detail"}
    assert [error.message for line in lines for error in validator.iter_errors(line)] == []


@pytest.mark.parametrize("wrong", [{"seq": 0}, {"kind": "object"}, {"data": {}}, {"more": 1}])
def test_the_schema_refuses_a_record_that_is_wrong(lines: list[dict[str, Any]], wrong: dict[str, Any]) -> None:
    record = next(line for line in lines if line["type"] == "record")
    assert not Draft202012Validator(json_schema()).is_valid(record | wrong)


def test_plugins_are_in_extension_points_and_these_in_attempts(spans: list[Span]) -> None:
    by_seq = {span.seq: span for span in spans}

    def path(span: Span) -> list[str]:
        return [*(path(by_seq[span.parent]) if span.parent else []), span.name]

    paths = [path(span) for span in spans]
    assert ["Scheduling default/web", "Filter", "NodeResourcesFit"] in paths
    assert ["Scheduling default/web", "Binding default/web", "Bind", "DefaultBinder"] in paths
    assert all(by_seq[span.parent].end >= span.end for span in spans if span.parent)
    assert any(span.failed for span in spans if span.name == "Scheduling default/large")


def test_perfetto_gets_slices_on_named_tracks(spans: list[Span]) -> None:
    events = chrome_events(spans)["traceEvents"]
    tracks = {event["tid"]: event["args"]["name"] for event in events if event.get("name") == "thread_name"}
    assert set(tracks.values()) == {"default/web", "default/large"}
    assert {one.track[1] for one in slices(events)} == set(tracks)


def test_opentelemetry_reads_the_spans_and_their_ids_are_the_same_again(
    lines: list[dict[str, Any]], spans: list[Span]
) -> None:
    made = otlp(spans, 0)
    read = ParseDict(made, TracesData())
    found = [span for resource in read.resource_spans for span in resource.scope_spans[0].spans]
    written = [span for resource in made["resourceSpans"] for span in resource["scopeSpans"][0]["spans"]]
    assert {(len(span["traceId"]), len(span["spanId"])) for span in written} == {(32, 16)}
    assert len(found) == len(spans) == len({span.span_id for span in found})
    assert made == otlp(spans_of(read_log(lines)), 0)


def test_no_cell_of_a_table_is_a_formula() -> None:
    rows = [{"a": "=1+1", "b": -1, "c": ["=1"]}, {"a": "-x", "b": "＝1", "c": "plain"}]
    assert write_csv(rows).splitlines() == ["a,b,c", '\'=1+1,-1,"[""=1""]"', "'-x,'＝1,plain"]
