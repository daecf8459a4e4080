"""`python manage.py simulate`: runs a cluster and prints the nodes of its pods."""

import sys
from argparse import ArgumentParser
from collections.abc import Iterator
from typing import Any

from playground.management.explaining import find_pods, format_refused_error, plain
from playground.management.terminal import printing
from playground.management.terminal.command import HELP, INPUT, SEED, Exit, TerminalCommand, add_options, leave
from playground.management.terminal.world import FileWorld
from playground.presenters.why.reasons import describe_rest
from scheduler_core.analysis.whatif import FAILED, RestResult, settle, waiting

Row = dict[str, Any]
# Columns of the tables, by their heads.
WAITING = {"NAMESPACE": "namespace", "NAME": "pod", "NODE": "node", "ATTEMPTS": "attempts", "WHY PENDING": "message"}
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
    """A command that builds a world from files, runs it until it is at rest, and prints each pod with its node."""

    help = (
        f"Run a cluster and print where its pods go, or those that are named. {INPUT}Controllers act: workloads get their pods, and pods "
        "that end are replaced. The seed decides among equally good nodes. What goes on for ever is named, and left aside. "
        f"{HELP}"
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("-o", "--output", choices=("table", *printing.FORMS), default="table")
        add_options(parser, SEED)

    def handle(self, *args: Any, output: str, seed: int, **options: Any) -> None:
        inputs, question = self.read(options)
        made = self.make(inputs, options["config"], options["release"], seed=seed, acting=True)
        with printing.Progress(sys.stderr) as progress:
            rest = settle(made.world, progress=progress.steps)
        named = find_pods(made.world, question.find_objects(made.world)) if question.names else None
        rows = [
            row
            for row in printing.placements(made.world, rest.gone)
            if (key := f"{row['namespace']}/{row['pod']}") in (named or (key,)) and question.covers(key)
        ]
        absent = [row for row in printing.missing(made.world) if question.covers(f"{row['namespace']}/{row['name']}")]
        held = [row for row in printing.blocked(made.world) if question.covers(row["subject"].partition("/")[2])]
        self.stdout.write(format_placements(made, rows, absent, held, rest, output), ending="")
        if output != "table":
            for said in describe_rest(rest):
                self.stderr.write(plain(said))
        if made.refused:
            self.stderr.write(format_refused_error(made.refused))
        leave(list_exits(made, rows, absent, held, rest))


def list_exits(
    made: FileWorld, rows: list[Row], absent: list[Row], held: list[Row], rest: RestResult
) -> Iterator[Exit]:
    """Yield the exit statuses of all problems found."""
    if held or not rest or any(row["phase"] == FAILED for row in rows):
        yield Exit.FAILED
    if made.refused:
        yield Exit.UNUSABLE
    if absent or any(map(printing.waits, rows)) or any(not end.failed for end in rest.gone):
        yield Exit.WAITS


def format_placements(
    made: FileWorld, rows: list[Row], absent: list[Row], held: list[Row], rest: RestResult, output: str
) -> str:
    """Return the placements as tables for users, or as data."""
    if output != "table":
        data = {
            "schema": "simulate/v1",
            "release": made.release,
            "placements": rows,
            "scheduled": sum(bool(row["node"]) and row["phase"] != FAILED for row in rows),
            "pending": len(waiting(made.world)),
            "failed": sum(row["phase"] == FAILED for row in rows),
            "missing": absent,
            "blocked": held,
            "gone": [end.to_json() for end in rest.gone],
            "stuck": [loop.to_json() for loop in rest.loops],
            "atRest": rest.at_rest,
            "seconds": made.world.now / 1e9,
        }
        return printing.format_data(data, printing.FIELDS, rows, output)
    width = printing.get_width()
    return "".join(f"{line}\n" for line in _lines(made, rows, absent, held, rest, width))


def _lines(
    made: FileWorld, rows: list[Row], absent: list[Row], held: list[Row], rest: RestResult, width: int | None
) -> Iterator[str]:
    failed = [row for row in rows if row["phase"] == FAILED]
    there = [row for row in rows if row["phase"] != FAILED]
    if not rows:
        yield "There is no pod."
        yield from printing.idle(made.world)
    for some, heads in ((there, WAITING), (failed, ENDED)):
        if some:
            cells = [[str(row[name]) or EMPTY.get(name, "") for name in heads.values()] for row in some]
            yield from printing.table(tuple(heads), cells, width)
            yield ""
    said = [row["sentence"] for row in (*absent, *held)]
    said += [
        f"{end.pod} was deleted, and nobody makes it anew: {end.reason}: {end.message}".rstrip(": ")
        for end in rest.gone
    ]
    said += map(plain, describe_rest(rest))
    if failed:
        said.append(f"{len(failed)} {'pod has' if len(failed) == 1 else 'pods have'} failed.")
    if there:
        said.append(f"{sum(bool(row['node']) for row in there)} of {len(there)} pods have a node.")
    for line in said:
        yield from printing.wrap(line, width)
