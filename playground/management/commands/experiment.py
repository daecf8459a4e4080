"""`python manage.py experiment`: runs worlds under variants of the scheduler with several seeds, in processes or on a Dask cluster."""

import gc
import json
import os
import sys
import time
from argparse import ArgumentParser
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from html import escape
from pathlib import Path
from typing import Any

import msgspec
from django.core.management.base import CommandError
from plotly.graph_objects import Figure

from playground.management.terminal.cluster import STDIN, BadInput, list_inputs
from playground.management.terminal.command import Exit, TerminalCommand
from playground.management.terminal.printing import Progress, table
from scheduler_core.analysis import experiments
from scheduler_core.analysis.experiments import summarize as summarize_rows
from scheduler_core.formats.export import write_csv
from scheduler_core.world.commands import Refused

STYLE = (
    "body{font:15px/1.5 system-ui;max-width:1100px;margin:2em auto;padding:0 1em}h1{font-size:1.4em}h2{font-size:1.1em}"
)


def build_report(name: str, rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the page: the figures of each world."""
    parts = [
        f"<!doctype html><meta charset=utf-8><title>{escape(name)}</title><style>{STYLE}</style><h1>{escape(name)}</h1>"
    ]
    script: bool = True  # include Plotly itself; only the first chart does
    for world in dict.fromkeys(row["world"] for row in rows):
        parts.append(f"<h2>{escape(world)}</h2>")
        for drawn in experiments.list_figures([row for row in rows if row["world"] == world]):
            figure = Figure(
                {**drawn.as_plotly(), "layout": {**drawn.as_plotly()["layout"], "template": "plotly_white"}}
            )
            parts.append(figure.to_html(full_html=False, include_plotlyjs=script, config={"displaylogo": False}))
            script = False
    return "\n".join(parts)


Row = dict[str, Any]
EXTRA = "pip install 'scheduler-playground[experiments]'"
RETRIES = 3  # retries of a run whose worker was lost
INTERRUPTED = 130  # a shell's exit status after Ctrl-C


class Command(TerminalCommand):
    """A command that makes the missing runs of a file, and writes the tables of all runs."""

    help = (
        "Run an experiment: every world of a file under every variant with every seed, and write results.csv (and .parquet with "
        f"the extra: {EXTRA}). Runs that have a result are not made again."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "action", choices=("run", "schema"), help="run FILE, or print the JSON Schema of such files"
        )
        parser.add_argument(
            "file",
            nargs="?",
            default="",
            metavar="FILE",
            help="the experiment, as YAML (-, or none with a pipe: standard input)",
        )
        parser.add_argument("--out", default="", metavar="FOLDER", help="where results go (FILE without its ending)")
        parser.add_argument(
            "--workers", type=int, default=os.cpu_count() or 1, metavar="N", help="processes (as many as cores)"
        )
        parser.add_argument("--dask", default="", metavar="ADDRESS", help=f"a Dask cluster to run on ({EXTRA})")
        parser.add_argument("-o", "--output", choices=("text", "json"), default="text")

    def handle(
        self, *args: Any, action: str, file: str, out: str, workers: int, dask: str, output: str, **_: Any
    ) -> None:
        if action == "schema":
            self.stdout.write(json.dumps(msgspec.json.schema(experiments.Experiment), indent=2))
            return
        experiment, path = read_file(file), Path("experiment" if file in ("", STDIN) else file)
        folder = Path(out or path.with_suffix(""))
        runs = experiments.list_runs(experiment, str(path.parent.resolve()))
        try:
            names = [run.digest() for run in runs]
        except OSError as error:
            raise CommandError(f"{file}: worlds: {error}", returncode=Exit.UNUSABLE) from None
        (folder / "runs").mkdir(parents=True, exist_ok=True)
        places = [folder / "runs" / f"{name}.json" for name in names]
        missing = [(run, place) for run, place in zip(runs, places, strict=True) if not place.exists()]
        began, done = time.monotonic(), 0
        try:
            with Progress(sys.stderr) as progress:
                for place, row in on_dask(missing, dask) if dask else in_processes(missing, workers):
                    keep(place, row)
                    done += 1
                    left = (time.monotonic() - began) / done * (len(missing) - done)
                    progress.say(f"{done} of {len(missing)} runs, {left / 60:.1f} minutes left")
        except (ValueError, Refused) as error:
            raise CommandError(f"{file}: {error}", returncode=Exit.UNUSABLE) from None
        except KeyboardInterrupt:
            said = f"stopped: {done} of {len(missing)} runs are kept in {folder}; the same command goes on"
            raise CommandError(said, returncode=INTERRUPTED) from None
        rows = [json.loads(place.read_bytes()) for place in places]
        write_tables(folder, rows, self.stderr.write)
        (folder / "report.html").write_text(build_report(path.stem, rows))
        data = {"schema": "experiment/v1", "rows": rows}
        self.stdout.write(json.dumps(data) if output == "json" else "\n".join(summarize(rows)))


def read_file(file: str) -> experiments.Experiment:
    """Return the experiment of a file, or of standard input for "-" or a pipe. Raise CommandError with the error and its place."""
    try:
        inputs = list_inputs([file] if file else [], elsewhere=False)
        if not inputs:
            raise BadInput("received no FILE; expected the experiment as YAML, or - for standard input")
        return experiments.read_experiment(inputs[0][1].decode())
    except ValueError as error:
        raise CommandError(f"{file or STDIN}: {error}", returncode=Exit.UNUSABLE) from None


def make_in_process(run: experiments.Run) -> Row:
    """Make a run, and free its world, which has cyclic references: automatic collections are too rare for many large worlds."""
    try:
        return experiments.make_run(run)
    finally:
        gc.collect()


def in_processes(runs: Sequence[tuple[experiments.Run, Path]], workers: int) -> Iterator[tuple[Path, Row]]:
    """Yield the rows as they are completed; lost processes' runs are repeated. The processes end with the caller."""
    left = {place: run for run, place in runs}
    for _ in range(RETRIES + 1):
        pool = ProcessPoolExecutor(max_workers=max(1, workers), initializer=gc.freeze)
        try:
            places = {pool.submit(make_in_process, run): place for place, run in left.items()}
            for future in as_completed(places):
                row = future.result()
                del left[places[future]]
                yield places[future], row
            return
        except BrokenProcessPool:
            continue
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
    raise CommandError(f"a process was lost {RETRIES + 1} times, with {len(left)} runs left", returncode=Exit.FAILED)


def on_dask(runs: Sequence[tuple[experiments.Run, Path]], address: str) -> Iterator[tuple[Path, Row]]:
    """Yield the rows as a Dask cluster completes them; lost workers' runs are repeated by others."""
    try:
        import distributed
    except ImportError:
        raise CommandError(f"--dask needs the extra: {EXTRA}", returncode=Exit.UNUSABLE) from None
    with distributed.Client(address) as client:
        places = {client.submit(experiments.make_run, run, pure=False, retries=RETRIES): place for run, place in runs}
        for future, row in distributed.as_completed(list(places), with_results=True):
            yield places[future], row


def keep(place: Path, row: Row) -> None:
    """Write a result atomically."""
    part = place.with_suffix(".part")
    part.write_text(json.dumps(row))
    part.replace(place)


def write_tables(folder: Path, rows: Sequence[Row], say: Callable[[str], object]) -> None:
    """Write all rows as CSV, and as Parquet if pyarrow is installed."""
    (folder / "results.csv").write_text(write_csv(rows))
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        say(f"{folder}/results.csv is written; Parquet needs the extra: {EXTRA}")
        return
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(list(rows)), folder / "results.parquet")


def summarize(rows: Sequence[Row]) -> Iterator[str]:
    """Yield a table of means by world and variant."""
    worlds = dict.fromkeys(row["world"] for row in rows)
    means = {
        (world, variant): found
        for world in worlds
        for variant, found in summarize_rows([row for row in rows if row["world"] == world]).items()
    }
    lines = [[*key, *(f"{mean:.4g}" for mean in found.values())] for key, found in means.items()]
    yield from table(("WORLD", "VARIANT", *map(str.upper, next(iter(means.values())))), lines)
