"""What does size cost? `python -m benchmarks.growth` fills 5,000 nodes with 50,000 pods as the product does, and tells time and memory.

Then it schedules the same pods on clusters of several sizes, every node scored: the cost of one may not grow faster than the cluster.
"""

from __future__ import annotations

import resource
import time
from typing import Any

from benchmarks.probe import probe
from playground.sessions.worker.engine import count_objects
from playground.sessions.worker.past import History
from playground.sessions.worker.process import tune_garbage_collection
from playground.sessions.worker.time_sharing import TimeSlice
from scheduler_core.testing.bench import Bench, Workload
from scheduler_core.world.commands import ApplyObjects
from scheduler_core.world.simulation import Simulation

NODES, PODS = 5_000, 50_000
LEG = 5_000  # attempts between two lines
SIZES = (625, 1250, 2500, 5000, 10000)
MEASURED = 300
MOST_MIB = 2048


def node(number: int) -> dict[str, Any]:
    name = f"node-{number}"
    amounts = {"cpu": "16", "memory": "64Gi", "pods": "110"}
    labels = {"kubernetes.io/hostname": name, "topology.kubernetes.io/zone": f"zone{number % 3}"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "status": {"capacity": amounts, "allocatable": amounts},
    }


def pod(number: int | str) -> dict[str, Any]:
    requests = {"cpu": "100m", "memory": "200Mi"}
    container = {"name": "c", "image": "registry.k8s.io/pause:3.5", "resources": {"requests": requests}}
    metadata = {"name": f"pod-{number}", "namespace": "default", "labels": {"app": "web"}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"containers": [container]}}


def fill() -> None:
    """Runs a world with its journal and checkpoints to the end; a line for every so many attempts."""
    world = Simulation()
    history = History(world, lambda other: None, TimeSlice(), count_objects)
    started = time.process_time()
    world.apply(ApplyObjects(tuple(node(i) for i in range(NODES)) + tuple(pod(i) for i in range(PODS))))
    print(f"{NODES:,} nodes and {PODS:,} pods applied in {time.process_time() - started:.1f} s of CPU time\n")
    print("| attempts | us CPU an attempt, all its steps | peak memory, MiB |\n|---|---|---|")
    attempts = world.journal.attempts
    while not world.idle:
        before, started = len(attempts), time.process_time()
        while len(attempts) < before + LEG and not world.idle:
            since = time.perf_counter()
            world.run(steps=500)
            history.worked(world, time.perf_counter() - since)
        if len(attempts) == before:
            break
        spent = (time.process_time() - started) / (len(attempts) - before)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"| {len(attempts):,} | {spent * 1e6:,.0f} | {peak:,.0f} |", flush=True)
    print(f"\nAt most {MOST_MIB:,} MiB.\n")


def scale() -> None:
    """CPU time of one SchedulePod and AssumePod by the number of nodes."""
    print("| nodes, all scored | us CPU a pod |\n|---|---|")
    for size in SIZES:
        bench = Bench(_workload(size), 100, post_filter=False, traced=False)
        bench.attempt(bench.pods[0])
        started = time.process_time()
        for each in bench.pods:
            bench.settle(bench.attempt(each))
        print(f"| {size:,} | {(time.process_time() - started) / len(bench.pods) * 1e6:,.0f} |", flush=True)


def _workload(size: int) -> Workload:
    nodes = {"count": size, "zones": [f"zone{i}" for i in range(3)], "template": node(0)}
    nodes["template"]["metadata"] = {
        "name": "node-{i}",
        "labels": {"kubernetes.io/hostname": "node-{i}", "topology.kubernetes.io/zone": "{zone}"},
    }
    pods = {"count": MEASURED, "templates": [pod("{i}")]}
    data = {"namespaces": ["default"], "nodes": nodes, "initPods": [], "measuredPods": pods}
    return Workload("growth", size, "schedule", data)


def main() -> None:
    """Print both tables."""
    tune_garbage_collection()
    print(f"Machine: {probe()}\n")
    scale()
    print()
    fill()


if __name__ == "__main__":
    main()
