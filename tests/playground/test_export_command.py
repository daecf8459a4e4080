"""`manage.py export`: a trace in another form, without a database."""

from __future__ import annotations

import csv
import json
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from jsonschema import Draft202012Validator

from scheduler_core.commands import ApplyObjects
from scheduler_core.export import export_lines
from scheduler_core.simulation import Simulation
from tests.scheduler_core.worlds import node, pod


@pytest.fixture
def trace(tmp_path: Path) -> str:
    """The file of a trace."""
    objects = [node("a"), pod("web")]
    sim = Simulation()
    sim.apply(ApplyObjects(tuple(objects)))
    sim.run(steps=30)
    lines = export_lines(0, {0: {"kind": "ApplyObjects", "objects": objects}}, sim.position)
    file = tmp_path / "trace.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return str(file)


def printed(*arguments: str) -> str:
    out = StringIO()
    call_command("export", *arguments, stdout=out)
    return out.getvalue()


def test_a_trace_becomes_a_replay(trace: str) -> None:
    page = printed(trace)
    assert page.startswith("<!DOCTYPE html>") and 'id="film"' in page


@pytest.mark.parametrize(("form", "key"), [("chrome", "traceEvents"), ("otlp", "resourceSpans")])
def test_a_trace_becomes_spans(trace: str, form: str, key: str) -> None:
    assert json.loads(printed(trace, "--format", form))[key]


@pytest.mark.parametrize(
    ("table", "row"),
    [
        ("attempts", {"number": "1", "pod": "default/web", "node": "a"}),
        ("moves", {"pod": "default/web", "place": "active"}),
        ("pods", {"name": "web", "node": "a"}),
        ("nodes", {"name": "a", "pods": "1"}),
        ("node_selected", {"pod": "default/web", "node": "a", "tied": '["a"]'}),
    ],
)
def test_every_table_can_be_had_as_csv(trace: str, table: str, row: dict[str, str]) -> None:
    first = next(csv.DictReader(StringIO(printed(trace, "--format", "csv", "--table", table))))
    assert row.items() <= first.items()


def test_the_schema_needs_no_trace() -> None:
    assert json.loads(printed("--schema"))["$id"].endswith(":1")


def test_the_schema_of_trace_events_fits_what_is_written(trace: str) -> None:
    schema = json.loads(printed("--schema", "chrome"))
    assert schema["$id"].startswith("urn:scheduler-playground-chrome:")
    assert Draft202012Validator(schema).is_valid(json.loads(printed(trace, "--format", "chrome")))


@pytest.mark.parametrize("text", ["", "no JSON", '{"type": "header"}'])
def test_what_is_no_trace_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "trace.jsonl"
    file.write_text(text)
    with pytest.raises(CommandError):
        printed(str(file))
