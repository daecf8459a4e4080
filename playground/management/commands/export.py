"""`python manage.py export TRACE`: a trace, or a session of this server's database, in formats for other tools."""

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

import orjson
from django.core.management.base import CommandError
from django.db import OperationalError

from playground.features.exports.offline import LOOK, MOST_STEPS, PANELS, Recording
from playground.management.errors import PlainCommand
from playground.management.terminal.cluster import STDIN, BadInput, read_file
from playground.models import Session
from playground.presenters import aim_look, present
from playground.sessions.database import lessons, log
from playground.sessions.protocol.comparing import TracedLesson
from playground.sessions.protocol.errors import SessionGone
from playground.sessions.protocol.opening import LogRow
from playground.sessions.worker.traces import OPTIONS, commands_of, lesson_in, with_lesson
from scheduler_core.formats import export as formats
from scheduler_core.world.commands import Refused
from scheduler_core.world.simulation import Simulation

BAD_INPUT = 2
SCHEMAS = {"trace": formats.json_schema, "chrome": formats.chrome_schema}
DIGITS = 18  # of a session's number
TABLE_HELP = "of csv: attempts, moves (in the queue), pods, nodes, or a kind of record (attempts)"


class Command(PlainCommand):
    """A command that recomputes the trace and prints it in another format."""

    help = (
        "Print a trace (export.jsonl of a session), or a session of this server, in a form: jsonl, the trace itself; html, "
        "a file that replays its newest 1,000 steps offline; chrome, "
        "trace events for Perfetto; otlp, OpenTelemetry's spans as JSON; csv, a table. --schema prints "
        "the JSON Schema of a trace's lines instead. "
        "For a trace no database is needed. Exit status: 0 done, 2 the input can't be used."
    )
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "trace",
            nargs="?",
            metavar="TRACE",
            help="a file of JSON Lines, - for standard input; or a session's link, key or number",
        )
        parser.add_argument("--format", choices=("jsonl", "html", "chrome", "otlp", "csv"), default="html")
        parser.add_argument(
            "--table", choices=formats.table_names(), default="attempts", metavar="TABLE", help=TABLE_HELP
        )
        parser.add_argument(
            "--schema",
            nargs="?",
            const="trace",
            choices=SCHEMAS,
            help="print the JSON Schema of a trace's lines alone, or that of chrome",
        )

    def handle(
        self, *args: Any, trace: str | None, format: str, table: str, schema: str | None, **options: Any
    ) -> None:
        if schema is not None:
            self.stdout.write(json.dumps(SCHEMAS[schema](), indent=2))
            return
        if trace is None:
            raise CommandError("Which trace? Name a file, - for standard input, or a session.", returncode=BAD_INPUT)
        try:
            history, name, lesson = _history(trace)
            self.stdout.write(export_trace(history, format, table, name, lesson), ending="")
        except (BadInput, formats.TraceError, Refused, orjson.JSONDecodeError) as bad:
            raise CommandError(str(bad), returncode=BAD_INPUT) from None


def _history(named: str) -> tuple[formats.ReadLog, str, TracedLesson]:
    """Return the history of a file, or else of a stored session; with the name for its replay, and the lesson."""
    if named == STDIN or Path(named).exists():
        lines = [orjson.loads(line) for line in read_file(named).splitlines() if line.strip()]
        return formats.read_log(lines), named, lesson_in(lines[0])
    try:
        session, rows = load_session(named)
    except SessionGone:
        raise BadInput(
            f"{named}: there is no such file, and no session of this server with this link, key or number"
        ) from None
    except OperationalError as error:
        raise BadInput(f"{named}: there is no such file, and the server's database cannot be read: {error}") from None
    history = formats.ReadLog(session.seed, commands_of(rows), session.head)
    return history, session.name, lessons.in_trace(session.story)


def load_session(named: str) -> tuple[Session, list[LogRow]]:
    """Return the session of a link, a key or a number, with its log. Raise SessionGone."""
    if named.isascii() and named.isdecimal():
        if len(named) > DIGITS:
            raise SessionGone(f"There is no session {named[:DIGITS]}…")
        return log.read(int(named))
    _, slash, rest = named.partition("/s/")
    return log.read(log.find(rest.partition("/")[0] if slash else named).pk)


def export_trace(history: formats.ReadLog, form: str, table: str, name: str, lesson: TracedLesson) -> str:
    if form == "jsonl":
        lines = formats.export_lines(history.seed, history.log, history.head)
        return "".join(orjson.dumps(line, option=OPTIONS).decode() for line in with_lesson(lines, lesson))
    if form == "html":
        return replay(history, name)
    if form == "csv":
        return formats.table_csv(history, table)
    spans = formats.spans_of(history)
    releases = formats.version_of(history.log), formats.versions_of(history.log)
    chrome = form == "chrome"
    made = formats.chrome_events(spans, *releases) if chrome else formats.otlp(spans, history.seed, *releases)
    return orjson.dumps(made).decode()


def replay(history: formats.ReadLog, name: str) -> str:
    """Return the newest steps as a file that replays them."""
    recording = Recording(name, history.head)
    sim = Simulation(seed=history.seed)
    while True:
        if sim.position > history.head - MOST_STEPS:
            look = aim_look(sim, LOOK)
            recording.add(sim.position, {panel: present(panel, sim, look) for panel in PANELS})
        if sim.position >= history.head or not formats.replay_one(sim, history.log):
            return "<!DOCTYPE html>\n" + recording.page()
