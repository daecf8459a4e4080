"""`manage.py export`: a trace in another form, without a database."""

from __future__ import annotations

import csv
import json
from io import StringIO
from pathlib import Path

import msgspec
import pytest
from django.core.management import CommandError, call_command
from django.db import OperationalError
from jsonschema import Draft202012Validator

from playground.sessions.database import log
from playground.sessions.database.log import pack
from playground.sessions.protocol.comparing import TraceChecked, TracedCommand, TraceMaker
from scheduler_core.formats.export import export_lines
from scheduler_core.world.commands import ApplyObjects, SetSettings
from scheduler_core.world.simulation import Simulation
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


def test_each_row_names_the_release_of_its_step(tmp_path: Path) -> None:
    commands = [ApplyObjects((node("a"), pod("old"))), SetSettings({"release": "1.37.2"}), ApplyObjects((pod("new"),))]
    sim, log = Simulation(), {}
    for command in commands:
        log[sim.position] = msgspec.to_builtins(command)
        sim.apply(command)
        sim.run(steps=40)
    lines = export_lines(0, log, sim.position)
    file = tmp_path / "trace.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))

    def releases(table: str, column: str) -> dict[str, str]:
        text = printed(str(file), "--format", "csv", "--table", table)
        return {row[column]: row["release"] for row in csv.DictReader(StringIO(text))}

    expected = {"default/old": "1.34.1", "default/new": "1.37.2"}
    assert releases("attempts", "pod") == releases("moves", "pod") == releases("node_selected", "pod") == expected
    assert releases("pods", "name") == {"old": "1.37.2", "new": "1.37.2"}


@pytest.mark.django_db
def test_a_session_of_the_server_is_named_by_its_link_its_key_or_its_number(trace: str) -> None:
    lines = [json.loads(line) for line in Path(trace).read_text().splitlines()]
    payload = pack({"command": lines[1]["command"]})
    found = TraceChecked(
        seed=0,
        head=lines[0]["head"],
        commands=[TracedCommand(0, payload)],
        attempts=1,
        position=0,
        difference=None,
        maker=TraceMaker("", "", ""),
        records=0,
        passed_over=[],
    )
    session = log.restore("Mine", "", found)
    named = [str(session.pk), session.edit_key, session.view_key, f"http://here/s/{session.view_key}/?at=3"]
    made = {printed(name, "--format", "jsonl") for name in named}
    assert [json.loads(line) for line in made.pop().splitlines()] == lines and not made
    assert printed(named[0], "--format", "csv") == printed(trace, "--format", "csv")
    assert "<h1" in printed(named[0]) and "Mine" in printed(named[0])


@pytest.mark.django_db
@pytest.mark.parametrize("name", ["nobody", "999999", "9" * 40, "http://here/s/nobody/"])
def test_what_is_neither_a_file_nor_a_session_is_said_to_be_so(name: str) -> None:
    with pytest.raises(CommandError, match="no such file, and no session"):
        printed(name)


def test_a_database_without_tables_is_no_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    def find(_named: str) -> None:
        raise OperationalError("no such table: playground_session")

    monkeypatch.setattr(log, "find", find)
    with pytest.raises(CommandError, match="cannot be read: no such table"):
        printed("nobody")


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
