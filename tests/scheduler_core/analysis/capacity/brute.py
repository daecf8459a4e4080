"""Small worlds, their optima by brute force, and the gaps of the searches: `python -m tests.scheduler_core.analysis.capacity.brute`."""

from __future__ import annotations

import math
import random
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations, combinations_with_replacement
from typing import Any

from scheduler_core.analysis.capacity import find_going, find_help
from scheduler_core.analysis.status import read_drains
from scheduler_core.analysis.whatif import NodeType, drain, finish, make_nodes, read_types, remove, settle, waiting
from scheduler_core.world.commands import ApplyObjects
from scheduler_core.world.simulation import Simulation
from tests.scheduler_core.worlds import node, pod

MOST_NODES = 8  # of a set that brute force tries
Row = tuple[str, float, float, float, bool]


def make_workload(name: str, replicas: int, cpu: str, memory: str, **spec: Any) -> dict[str, Any]:
    inner = {**pod("p", cpu)["spec"], **spec}
    inner["containers"][0]["resources"]["requests"]["memory"] = memory
    labels = {"app": name}
    return {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": inner},
        },
    }


def make_types(draw: random.Random) -> list[NodeType]:
    entries = []
    for name, cpu, memory in (("small", 2, 4), ("medium", 4, 16), ("large", 8, 16)):
        price = round(cpu * 0.03 + memory * 0.004 + draw.uniform(0, 0.05), 3)
        entries.append(f"- {{name: {name}, capacity: {{cpu: {cpu}, memory: {memory}Gi}}, price: {price}}}")
    return read_types("nodeTypes:\n" + "\n".join(entries))[0]


def apart(name: str) -> dict[str, Any]:
    term = {"labelSelector": {"matchLabels": {"app": name}}, "topologyKey": "kubernetes.io/hostname"}
    return {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}


def make_world(draw: random.Random, nodes: int, workloads: int, most: int) -> Simulation:
    sim = Simulation(draw.randrange(1000))
    objects: list[dict[str, Any]] = [node(f"n{i}", str(draw.choice((2, 4)))) for i in range(nodes)]
    for i in range(workloads):
        cpu, memory = draw.choice(("250m", "500m", "1", "1500m", "2")), draw.choice(("512Mi", "1Gi", "2Gi", "3Gi"))
        spec = {"affinity": apart(f"w{i}")} if draw.random() < 0.2 else {}
        objects.append(make_workload(f"w{i}", draw.randint(1, most), cpu, memory, **spec))
    sim.apply(ApplyObjects(tuple(objects)))
    settle(sim)
    return sim


def helps(sim: Simulation, types: Sequence[NodeType], chosen: Sequence[int]) -> bool:
    world = sim.fork()
    world.apply(ApplyObjects(make_nodes(world.store, [(types[i], chosen.count(i)) for i in sorted(set(chosen))])))
    settle(world)
    return not waiting(world)


def cheapest(sim: Simulation, types: Sequence[NodeType], ceiling: float) -> float:
    """Return the cost of the cheapest set that helps, by trying all in the order of their costs."""
    sets = [
        (math.fsum(types[i].cost for i in chosen), chosen)
        for size in range(MOST_NODES + 1)
        for chosen in combinations_with_replacement(range(len(types)), size)
    ]
    return next((cost for cost, chosen in sorted(sets) if cost >= ceiling or helps(sim, types, chosen)), math.inf)


def leaves(sim: Simulation, names: Sequence[str]) -> bool:
    world, before = sim.fork(), set(waiting(sim))
    for name in names:
        for command in (drain(world, name), remove(world, name)):
            world.apply(command)
            settle(world)
            if set(waiting(world)) - before or any(row["stuck"] for row in read_drains(world)):
                return False
    return True


def largest(sim: Simulation) -> int:
    """Return the size of the largest set of nodes that can go, by trying all."""
    names = sorted(node.name for node in sim.store.nodes())
    return next(n for n in range(len(names), -1, -1) if not n or any(leaves(sim, c) for c in combinations(names, n)))


def compare_small(seeds: Iterable[int]) -> Iterator[tuple[Row, Row]]:
    """Yield for each world what the searches found, the bounds, and the optima."""
    for seed in seeds:
        draw = random.Random(seed)
        types, sim = make_types(draw), make_world(draw, 2, 4, 4)
        found = finish(find_help(sim, None, types))
        going = make_world(random.Random(seed), 5, 3, 3)
        gone = finish(find_going(going))
        yield (
            (f"help {seed}", found.cost, found.bound, cheapest(sim, types, found.cost), found.optimal),
            (f"go {seed}", len(gone.order), gone.bound, largest(going), gone.optimal),
        )


def compare_large(seeds: range) -> Iterator[tuple[Row, Row]]:
    for seed in seeds:
        draw = random.Random(seed)
        types, sim = make_types(draw), make_world(draw, 20, 25, 12)
        found = finish(find_help(sim, None, types))
        going = make_world(random.Random(seed), 60, 15, 6)
        gone = finish(find_going(going))
        yield (
            (f"help {seed}", found.cost, found.bound, math.nan, found.optimal),
            (f"go {seed}", len(gone.order), gone.bound, math.nan, gone.optimal),
        )


def main() -> None:
    """Print a row for each world."""
    large = "--large" in sys.argv
    began = time.perf_counter()
    for rows in compare_large(range(10)) if large else compare_small(range(50)):
        for name, found, bound, optimum, optimal in rows:
            print(
                f"{name:<8} found {found:<7.4g} bound {bound:<7.4g} optimum {optimum:<7.4g} proven {optimal}",
                flush=True,
            )
    print(f"{time.perf_counter() - began:.0f} s")


if __name__ == "__main__":
    main()
