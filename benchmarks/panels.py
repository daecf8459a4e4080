"""What does it take to look? `python -m benchmarks.panels` times the presenting of every panel at one step, by the size of the cluster."""

from __future__ import annotations

import time
from typing import Any

from benchmarks.growth import node, pod
from benchmarks.probe import probe
from playground.presenters import PANELS, Look, present
from scheduler_core.commands import ApplyObjects
from scheduler_core.simulation import Grain, Simulation

SIZES = ((50, 100, 5.0), (1523, 4000, 25.0))  # nodes, pods, milliseconds at most
STEPS = 25
REPEATS = 15


def world(nodes: int, pods: int) -> Simulation:
    """Some steps into the first attempt."""
    objects: list[dict[str, Any]] = [*map(node, range(nodes)), *map(pod, range(pods))]
    sim = Simulation()
    sim.apply(ApplyObjects(tuple(objects)))
    for _ in range(STEPS):
        sim.step(Grain.PLUGIN)
    return sim


def panels(sim: Simulation) -> None:
    """Every panel as a viewer gets it."""
    for name in PANELS:
        present(name, sim, Look()).to_json()


def main() -> None:
    """Print the table; the least of several runs counts."""
    print(f"Machine: {probe()}\n")
    print("| nodes | pods | ms CPU for all panels | at most |\n|---|---|---|---|")
    for nodes, pods, most in SIZES:
        sim, spent = world(nodes, pods), []
        for _ in range(REPEATS):
            started = time.thread_time()
            panels(sim)
            spent.append(time.thread_time() - started)
        print(f"| {nodes:,} | {pods:,} | {min(spent) * 1e3:.1f} | {most:.0f} |", flush=True)


if __name__ == "__main__":
    main()
