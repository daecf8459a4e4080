"""`python manage.py export TRACE`: a trace in the forms that other tools read."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any

import orjson
from django.core.management.base import BaseCommand, CommandError

from playground.management.terminal.files import BadInput, read_file
from playground.presenters import aimed, present
from playground.views.offline.page import LOOK, MOST_STEPS, PANELS, Recording
from scheduler_core.commands import Refused
from scheduler_core.export import (
    ReadLog,
    TraceError,
    chrome_events,
    chrome_schema,
    json_schema,
    otlp,
    read_log,
    replay_one,
    spans_of,
    table_csv,
    table_names,
)
from scheduler_core.simulation import Simulation

BAD_INPUT = 2
SCHEMAS = {"trace": json_schema, "chrome": chrome_schema}
TABLE_HELP = "of csv: attempts, moves (in the queue), pods, nodes, or a kind of record (attempts)"


class Command(BaseCommand):
    """Computes the trace again and prints it as something else."""

    help = (
        "Print a trace (export.jsonl of a session) in another form: html, a file that replays its newest 1,000 steps offline; chrome, "
        "trace events for Perfetto; otlp, OpenTelemetry's spans as JSON; csv, a table. --schema prints "
        "the JSON Schema of a trace's lines instead. "
        "No database is needed. Exit status: 0 done, 2 the input can't be used."
    )
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        """What to read, and what to print."""
        parser.add_argument("trace", nargs="?", metavar="TRACE", help="JSON Lines; - reads standard input")
        parser.add_argument("--format", choices=("html", "chrome", "otlp", "csv"), default="html")
        parser.add_argument(
            "--table", choices=table_names(), default="attempts", metavar="TABLE", help=TABLE_HELP
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
        """Read, compute, print."""
        if schema is not None:
            self.stdout.write(json.dumps(SCHEMAS[schema](), indent=2))
            return
        if trace is None:
            raise CommandError("Which trace? Name a file, or - for standard input.", returncode=BAD_INPUT)
        try:
            history = read_log([orjson.loads(line) for line in read_file(trace).splitlines() if line.strip()])
            self.stdout.write(made(history, format, table, trace), ending="")
        except (BadInput, TraceError, Refused, orjson.JSONDecodeError) as bad:
            raise CommandError(str(bad), returncode=BAD_INPUT) from None


def made(history: ReadLog, form: str, table: str, name: str) -> str:
    """The trace in a form."""
    if form == "html":
        return replay(history, name)
    if form == "csv":
        return table_csv(history, table)
    spans = spans_of(history)
    return orjson.dumps(chrome_events(spans) if form == "chrome" else otlp(spans, history.seed)).decode()


def replay(history: ReadLog, name: str) -> str:
    """The newest steps as a file that replays them."""
    recording = Recording(name)
    sim = Simulation(seed=history.seed, edition=history.edition)
    while True:
        if sim.position > history.head - MOST_STEPS:
            look = aimed(sim, LOOK)
            recording.add(sim.position, {panel: present(panel, sim, look) for panel in PANELS})
        if sim.position >= history.head or not replay_one(sim, history.log):
            return "<!DOCTYPE html>\n" + recording.page()
