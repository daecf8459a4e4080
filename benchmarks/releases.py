"""Does a newer release cost more? `python -m benchmarks.releases [--name WORKLOAD ...] [--size N] [--rounds R] [--of RELEASE ...]`.

One process has a cluster of each release and gives each 25 pods in turn, so that what else the machine does hits all alike. Told are
microseconds of the processor for one SchedulePod with AssumePod: the best round of each release, and the ratios to the first release,
of the best rounds and the median of all rounds'.
"""

from __future__ import annotations

import argparse
import gc
import json
import lzma
import statistics
import time
from pathlib import Path

from benchmarks.probe import probe
from scheduler_core.base.releases import NEWEST, OLDEST
from scheduler_core.testing.bench import Bench, Workload

WORKLOADS = Path(__file__).parent / "workloads.json.xz"
PODS = 25  # a round


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--name", nargs="*", help="only these workloads")
    parser.add_argument("--size", type=int, default=1_000)
    parser.add_argument("--rounds", type=int, default=36)
    parser.add_argument("--of", nargs="+", default=[OLDEST, NEWEST], metavar="RELEASE")
    options = parser.parse_args()
    rows = json.loads(lzma.decompress(WORKLOADS.read_bytes()))
    gc.freeze()
    gc.set_threshold(100_000, 20, 20)
    print(f"{options.size:,} nodes; probe {probe()}; us by the processor: {', '.join(options.of)}; ratios to the first")
    for workload in map(Workload.of, rows):
        if workload.size == options.size and (not options.name or workload.name in options.name):
            print(f"{workload.name:28} {_line(measure(workload, options.of, options.rounds))}", flush=True)


def measure(workload: Workload, releases: list[str], rounds: int) -> list[list[float]]:
    """Return the microseconds a pod of each round, by release."""
    preempts = workload.kind == "preemption"
    benches = [Bench(workload, 0, post_filter=preempts, traced=False, release=release) for release in releases]
    for bench in benches:
        bench.attempt(bench.pods[0])  # builds the first snapshot; its result is not used
        bench.restart()
    gc.collect()
    times: list[list[float]] = [[] for _ in benches]
    for start in range(0, min(rounds * PODS, len(benches[0].pods)), PODS):
        for bench, mine in zip(benches, times, strict=True):
            spent = 0.0
            pods = bench.pods[start : start + PODS]
            for pod in pods:
                started = time.process_time()
                cycle = bench.attempt(pod)
                if not preempts:
                    bench.settle(cycle)
                spent += time.process_time() - started
                if preempts:
                    bench.settle(cycle)
            mine.append(spent / len(pods) * 1e6)
    return times


def _line(times: list[list[float]]) -> str:
    first, best = times[0], [min(mine) for mine in times]
    told = [f"{each:7.1f}" for each in best]
    for mine, low in zip(times[1:], best[1:], strict=True):
        told.append(
            f"  best {low / best[0]:.3f}  median {statistics.median(b / a for a, b in zip(first, mine, strict=True)):.3f}"
        )
    return " ".join(told)


if __name__ == "__main__":
    main()
