"""`python manage.py simulate FILE...`: runs a cluster and prints where its pods go."""

from __future__ import annotations

import csv
import gc
import io
import json
import sys
from argparse import ArgumentParser
from collections.abc import Iterator
from typing import Any

from django.core.management.base import CommandError

from playground.management.explaining import format_refused_error, plain
from playground.management.terminal.command import TerminalCommand
from playground.management.terminal.exits import HELP, Exit, leave
from playground.management.terminal.files import BadInput, read_file
from playground.management.terminal.pipes import may_close
from playground.management.terminal.placements import FIELDS, idle, missing, placements, waits
from playground.management.terminal.progress import Progress
from playground.management.terminal.tables import table
from playground.management.terminal.world import Made, make_world
from playground.presenters.why.loops import describe_rest
from scheduler_core.analysis.whatif import FAILED, Rest, settle, waiting

Row = dict[str, Any]
# Columns of the tables, by their heads.
WAITING = {
    "NAMESPACE": "namespace",
    "NAME": "pod",
    "NODE": "node",
    "ATTEMPTS": "attempts",
    "WHY PENDING": "message",
}
ENDED = {
    "NAMESPACE": "namespace",
    "NAME": "pod",
    "NODE": "node",
    "PHASE": "phase",
    "REASON": "reason",
    "MESSAGE": "message",
}
EMPTY = {"node": "<none>"}


class Command(TerminalCommand):
    """Makes a world of files, runs it until nothing is left to do, and prints each pod with its node."""

    help = (
        "Run a cluster and print where its pods go. Reads what kubectl prints or what kubectl apply takes; - is standard input. "
        "Controllers act: workloads get their pods, and pods that end are replaced. The seed decides among equally good nodes. "
        f"What goes on for ever is named, and left aside. No database is needed. {HELP}"
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add the arguments for the input and the output."""
        parser.add_argument(
            "files",
            nargs="+",
            metavar="FILE",
            help="YAML, JSON, an archive or a folder of them; - reads standard input",
        )
        parser.add_argument("-o", "--output", choices=("table", "json", "csv"), default="table")
        parser.add_argument("--config", default="", metavar="FILE", help="a KubeSchedulerConfiguration")
        parser.add_argument("--seed", type=int, default=0, help="the seed of the draws among equals (0)")

    @may_close()
    def handle(
        self, *args: Any, files: list[str], output: str, config: str, seed: int, **options: Any
    ) -> None:
        """Read, run, print, and leave with the exit status."""
        gc.set_threshold(100_000, 20, 20)  # a large cluster is many objects that stay
        try:
            texts = [(file, read_file(file)) for file in files]
            made = make_world(texts, read_file(config) if config else b"", seed=seed, acting=True)
        except BadInput as bad:
            raise CommandError(str(bad), returncode=Exit.UNUSABLE) from None
        for note in made.notes:
            self.stderr.write(note)
        with Progress(sys.stderr) as progress:
            rest = settle(made.world, progress=progress.steps)
        rows, absent = placements(made.world, rest.gone), missing(made.world)
        self.stdout.write(format_placements(made, rows, absent, rest, output), ending="")
        if output != "table":
            for said in describe_rest(rest):
                self.stderr.write(plain(said))
        if made.refused:
            self.stderr.write(format_refused_error(made.refused))
        leave(list_exits(made, rows, absent, rest))


def list_exits(made: Made, rows: list[Row], absent: list[Row], rest: Rest) -> Iterator[Exit]:
    """Yield the exit statuses of all problems found."""
    if not rest or any(row["phase"] == FAILED for row in rows):
        yield Exit.FAILED
    if made.refused:
        yield Exit.UNUSABLE
    if absent or any(map(waits, rows)) or any(not end.failed for end in rest.gone):
        yield Exit.WAITS


def format_placements(made: Made, rows: list[Row], absent: list[Row], rest: Rest, output: str) -> str:
    """The placements as tables for people, JSON or CSV."""
    if output == "json":
        data = {
            "placements": rows,
            "scheduled": sum(bool(row["node"]) and row["phase"] != FAILED for row in rows),
            "pending": len(waiting(made.world)),
            "failed": sum(row["phase"] == FAILED for row in rows),
            "missing": absent,
            "gone": [end.to_json() for end in rest.gone],
            "stuck": [loop.to_json() for loop in rest.loops],
            "atRest": rest.at_rest,
            "seconds": made.world.now / 1e9,
        }
        return json.dumps(data, ensure_ascii=False, indent=2) + "\n"
    if output == "csv":
        stream = io.StringIO()
        writer = csv.DictWriter(stream, FIELDS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        return stream.getvalue()
    return "".join(f"{line}\n" for line in _lines(made, rows, absent, rest))


def _lines(made: Made, rows: list[Row], absent: list[Row], rest: Rest) -> Iterator[str]:
    failed = [row for row in rows if row["phase"] == FAILED]
    there = [row for row in rows if row["phase"] != FAILED]
    if not rows:
        yield "There is no pod."
        yield from idle(made.world)
    for some, heads in ((there, WAITING), (failed, ENDED)):
        if some:
            cells = [[str(row[name]) or EMPTY.get(name, "") for name in heads.values()] for row in some]
            yield from table(tuple(heads), cells)
            yield ""
    yield from (row["sentence"] for row in absent)
    for end in rest.gone:
        yield f"{end.pod} was deleted, and nobody makes it anew: {end.reason}: {end.message}".rstrip(": ")
    yield from map(plain, describe_rest(rest))
    if failed:
        yield f"{len(failed)} {'pod has' if len(failed) == 1 else 'pods have'} failed."
    if there:
        yield f"{sum(bool(row['node']) for row in there)} of {len(there)} pods have a node."
