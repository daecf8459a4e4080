"""What does a very large import cost the engine? `python -m benchmarks.large_import` previews and applies 5,000 nodes and 50,000 pods, over
150 MB of JSON, as a worker process does, and tells its processor time and memory. Upload, pipe and database are not in it.
"""

from __future__ import annotations

import argparse
import resource
import time

from benchmarks.large_import.cluster import text
from benchmarks.probe import probe
from playground.sessions.worker import imports
from playground.sessions.worker.engine import Engine
from playground.sessions.worker.process import tune_garbage_collection
from playground.sessions.worker.time_sharing import TimeSlice
from scheduler_core import LATEST_EDITION
from scheduler_core.view import LoadLimits

NODES, PODS = 5_000, 50_000


def main() -> None:
    """Measure, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--share", type=float, default=1.0, help="so much of the cluster (default: %(default)s)"
    )
    share = parser.parse_args().share
    print(f"Machine: {probe()}\n")
    nodes, pods = round(NODES * share), round(PODS * share)
    data = text(nodes, pods).encode()
    print(f"{nodes:,} nodes and {pods:,} pods: {len(data) / 1e6:,.0f} MB of JSON\n")
    tune_garbage_collection()
    engine = Engine(1, TimeSlice(), edition=LATEST_EDITION)
    limits = LoadLimits(max_bytes=len(data))
    print("| what | s of CPU | peak memory, MiB |\n|---|---|---|")
    started = time.process_time()
    plan = imports.preview(engine.world, data, limits=limits)
    tell("preview", started)
    assert plan.accepted == nodes + pods
    command, started = plan.command, time.process_time()
    del plan, data
    engine.apply(command, nodes + pods)
    tell("apply", started)


def tell(what: str, started: float) -> None:
    """One line of the table."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"| {what} | {time.process_time() - started:.1f} | {peak:,.0f} |", flush=True)


if __name__ == "__main__":
    main()
