"""`python manage.py benchmark`: pods scheduled per second, compared with the real scheduler on the same workloads."""

import gc
import json
import lzma
import os
import sys
import time
from argparse import ArgumentParser
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from django.conf import settings
from django.core.management.base import CommandError

from benchmarks.probe import probe
from playground.management.errors import PlainCommand
from playground.sessions.worker.past import History
from playground.sessions.worker.process import tune_garbage_collection
from playground.sessions.worker.time_sharing import TimeSlice
from playground.sessions.worker.world import count_objects
from scheduler_core.testing.bench import Bench, Workload, variants

SIZES = (100, 1000, 5000)
PERCENTAGES = (0, 100)
BENCHMARKS = Path(settings.BASE_DIR) / "benchmarks"
POST_FILTER = " +PostFilter"


@dataclass(frozen=True)
class Result:
    """One run of one workload. Latencies are per SchedulePod (plus PostFilter, if it is part of the workload)."""

    name: str
    size: int
    pct: int
    trace: str
    pods: int
    wall_s: float
    cpu_s: float
    pods_per_s: float
    p50_ms: float
    p95_ms: float
    p99_ms: float
    rss_mib: float


class Command(PlainCommand):
    """A command that runs workloads of the benchmark and reports their speed."""

    help = (
        "Schedule the workloads of a file (plain or .xz), algorithm only (level A of benchmarks/README.md), and compare "
        "with the real scheduler's figures."
    )
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--workloads", type=Path, default=BENCHMARKS / "workloads.json.xz", metavar="FILE")
        parser.add_argument("--name", help="only this workload")
        parser.add_argument("--size", type=int, choices=SIZES, help="only this number of nodes")
        parser.add_argument("--pct", type=int, choices=PERCENTAGES, help="percentageOfNodesToScore")
        parser.add_argument("--trace", choices=("on", "off"), default="off", help="keep records, journal, checkpoints")
        parser.add_argument("--repeat", type=int, default=1, help="runs of each workload; the median one is told")
        parser.add_argument("--json", action="store_true", dest="as_json", help="print one JSON object")

    def handle(self, *args: Any, workloads: Path, as_json: bool, trace: str, repeat: int, **options: Any) -> None:
        runs = list(_chosen(_read(workloads), options["name"], options["size"], options["pct"]))
        if not runs:
            raise CommandError("No workload of this name and size in the file.")
        tune_garbage_collection()
        speed = probe()
        real = _real_figures()
        if not as_json:
            self.stdout.write(
                f"This machine: plain Python {speed['python_ms']} ms, numpy {speed['numpy_ms']} ms "
                f"(benchmarks/probe.py; the figures of docs/performance.md stand beside theirs)"
            )
            self.stdout.write(HEADER)
        results = []
        for done, (workload, percentage, post_filter) in enumerate(runs):
            tries = []
            for again in range(max(repeat, 1)):
                self._progress(as_json, (done + again / max(repeat, 1)) / len(runs), workload)
                tries.append(measure(workload, percentage, post_filter=post_filter, trace=trace))
            result = sorted(tries, key=lambda result: result.wall_s)[len(tries) // 2]
            results.append(result)
            if not as_json:
                self._progress(as_json, None, workload)
                self.stdout.write(_row(result, real))
        if as_json:
            self.stdout.write(json.dumps({"results": [asdict(result) for result in results], "probe": speed}))

    def _progress(self, as_json: bool, share: float | None, workload: Workload) -> None:
        if as_json or not sys.stderr.isatty():
            return
        width = 40
        text = "" if share is None else f"[{'#' * int(share * width):<{width}}] {workload.name}, {workload.size} nodes"
        sys.stderr.write(f"\r\x1b[2K{text}")
        sys.stderr.flush()


def measure(workload: Workload, percentage: int, *, post_filter: bool, trace: str) -> Result:
    """Build the workload's cluster, warm up with one attempt, and time the rest."""
    traced = trace == "on"
    bench = Bench(workload, percentage, post_filter=post_filter, traced=traced)
    world = bench.simulation
    history = History(world, lambda other: None, TimeSlice(), count_objects) if traced else None
    bench.attempt(bench.pods[0])  # builds the first snapshot; its result is not used
    bench.restart()
    gc.collect()
    latencies = []
    preempts = workload.kind == "preemption"
    wall = cpu = 0.0
    for pod in bench.pods:
        cpu_before, started = time.process_time(), time.perf_counter()
        cycle = bench.attempt(pod)
        decided = time.perf_counter()
        if history is not None:
            history.worked(world, decided - started)
        if not preempts:
            bench.settle(cycle)
        ended = time.perf_counter()
        cpu += time.process_time() - cpu_before
        if preempts:
            bench.settle(cycle)
        wall += ended - started
        latencies.append(decided - started)
        if not bench.is_as_expected(cycle):
            raise CommandError(f"{workload.name}: {pod.key} came to another end: {cycle.message or cycle.chosen}")
    p50, p95, p99 = np.percentile(np.array(latencies) * 1e3, [50, 95, 99]).tolist()
    pods = len(latencies)
    return Result(
        workload.name + (POST_FILTER if post_filter and workload.kind == "unschedulable" else ""),
        workload.size,
        percentage,
        trace,
        pods,
        round(wall, 6),
        round(cpu, 6),
        round(pods / wall, 1),
        round(p50, 4),
        round(p95, 4),
        round(p99, 4),
        round(_resident_mib(), 1),
    )


def _read(path: Path) -> list[Workload]:
    try:
        data = path.read_bytes()
        if path.suffix == ".xz":
            data = lzma.decompress(data)
        return [Workload.of(row) for row in json.loads(data)]
    except (OSError, ValueError, KeyError, TypeError, lzma.LZMAError) as problem:
        raise CommandError(f"{path} is not a file of workloads: {problem!r}") from problem


def _chosen(
    workloads: list[Workload], name: str | None, size: int | None, percentage: int | None
) -> Iterator[tuple[Workload, int, bool]]:
    for workload in workloads:
        if name is not None and name.removesuffix(POST_FILTER) != workload.name:
            continue
        if size is not None and size != workload.size:
            continue
        for pct in PERCENTAGES if percentage is None else (percentage,):
            for post_filter in variants(workload.kind):
                if name is None or post_filter or not name.endswith(POST_FILTER):
                    yield workload, pct, post_filter


def _resident_mib() -> float:
    """Return the resident memory of the process in MiB."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except OSError:
        return 0.0
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


# The table


HEADER = (
    f"{'workload':<27} {'nodes':>5} {'pct':>4} {'trace':>5} {'pods':>5} {'pods/s':>8} {'real':>6} {'ratio':>6} {'by cpu':>6} {'goal':>5}"
    f" {'us cpu/pod':>10} {'p50 ms':>8} {'p95 ms':>8} {'p99 ms':>8} {'MiB':>6}"
)
GOALS = {(100, 0): 0.5, (100, 100): 0.5, (1000, 0): 1.0, (1000, 100): 2.0, (5000, 0): 2.0, (5000, 100): 5.0}


def _real_figures() -> dict[tuple[str, int, int, bool], float]:
    """Return the real scheduler's pods per wall second: level A, parallelism 16 on two cores, median of three runs."""
    data = json.loads(lzma.decompress((BENCHMARKS / "results.json.xz").read_bytes()))
    return {
        (row["workload"], row["nodes"], row["percentageOfNodesToScore"], row["variant"].endswith("PostFilter")): row[
            "podsPerWallSecond"
        ]["median"]
        for row in data["results"]
        if row["level"] == "A" and row["parallelism"] == 16 and row["gomaxprocs"] == 2
    }


def _row(result: Result, real: dict[tuple[str, int, int, bool], float]) -> str:
    post_filter = result.name.endswith(POST_FILTER) or result.name == "PreemptionBasic"
    theirs = real.get((result.name.removesuffix(POST_FILTER), result.size, result.pct, post_filter))
    goal = GOALS.get((result.size, result.pct))
    ratio = f"{'-':>6} {'-':>6} {'-':>6} {'-':>5}"
    if theirs is not None and goal is not None:
        by_cpu = result.pods / result.cpu_s / theirs
        ratio = f"{theirs:>6.0f} {result.pods_per_s / theirs:>5.2f}x {by_cpu:>5.2f}x {goal:>4.1f}x"
    return (
        f"{result.name:<27} {result.size:>5} {result.pct or 'def':>4} {result.trace:>5} {result.pods:>5}"
        f" {result.pods_per_s:>8.0f} {ratio} {result.cpu_s / result.pods * 1e6:>10.0f}"
        f" {result.p50_ms:>8.3f} {result.p95_ms:>8.3f} {result.p99_ms:>8.3f} {result.rss_mib:>6.0f}"
    )
