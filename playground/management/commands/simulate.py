"""`python manage.py simulate FILE...`: runs a cluster and prints where its pods go."""

from __future__ import annotations

import csv
import gc
import io
import json
import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from playground.management.explaining.text import left_out
from playground.management.terminal.command import TerminalCommand
from playground.management.terminal.files import BadInput, read_file
from playground.management.terminal.pipes import may_close
from playground.management.terminal.progress import Progress
from playground.management.terminal.tables import table
from playground.management.terminal.world import make_world
from scheduler_core.simulation import Simulation
from scheduler_core.whatif import settle, waiting

PENDING, BAD_INPUT = 1, 2
FIELDS = ("namespace", "pod", "node", "attempts", "message")


class Command(TerminalCommand):
    """Makes a world of files, runs it until nothing is left to do, and prints each pod with its node."""

    help = (
        "Run a cluster and print where its pods go. Reads what kubectl prints or what kubectl apply takes; - is standard input. "
        "Controllers act: workloads get their pods, and pods that end are replaced. The seed decides among equally good nodes. "
        "No database is needed. Exit status: 0 every pod has a node, 1 something is Pending, 2 the input, or a pod in it, can't be used."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """What to read, and how to print."""
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
            raise CommandError(str(bad), returncode=BAD_INPUT) from None
        for note in made.notes:
            self.stderr.write(note)
        with Progress(sys.stderr) as progress:
            at_rest = settle(made.world, progress=progress.steps)
        if not at_rest:
            self.stderr.write("It did not come to rest: what follows is how far it came.")
        rows = placements(made.world)
        self.stdout.write(printed(rows, made.world, output), ending="")
        if any(not row["node"] for row in rows):
            sys.exit(PENDING)
        if made.refused:
            self.stderr.write(left_out(made.refused))
            sys.exit(BAD_INPUT)


def placements(world: Simulation) -> list[dict[str, Any]]:
    """Each pod that has not ended, by namespace and name: its node ("": Pending), its attempts, and how the last one ended."""
    tries: dict[str, int] = {}
    for attempt in world.journal.attempts:
        tries[attempt.pod] = tries.get(attempt.pod, 0) + 1
    rows = []
    for pod in sorted(world.store.pods(), key=lambda pod: (pod.namespace, pod.name)):
        if pod.terminal or pod.deleting:
            continue
        last = world.journal.last_attempt.get(pod.key)
        message = "" if pod.node_name or last is None else world.journal.attempts[last].message
        rows.append(
            {
                "namespace": pod.namespace,
                "pod": pod.name,
                "node": pod.node_name,
                "attempts": tries.get(pod.key, 0),
                "message": message,
            }
        )
    return rows


def printed(rows: list[dict[str, Any]], world: Simulation, output: str) -> str:
    """The placements as a table for people, JSON or CSV."""
    if output == "json":
        data = {
            "placements": rows,
            "scheduled": sum(bool(row["node"]) for row in rows),
            "pending": len(waiting(world)),
            "seconds": world.now / 1e9,
        }
        return json.dumps(data, ensure_ascii=False, indent=2) + "\n"
    if output == "csv":
        stream = io.StringIO()
        writer = csv.DictWriter(stream, FIELDS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        return stream.getvalue()
    if not rows:
        return "There is no pod.\n"
    shown = [
        (r["namespace"], r["pod"], r["node"] or "<none>", str(r["attempts"]), r["message"]) for r in rows
    ]
    pending = sum(not row["node"] for row in rows)
    lines = table(("NAMESPACE", "NAME", "NODE", "ATTEMPTS", "WHY PENDING"), shown)
    return "\n".join([*lines, "", f"{len(rows) - pending} of {len(rows)} pods have a node.", ""])
