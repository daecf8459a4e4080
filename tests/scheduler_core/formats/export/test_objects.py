"""A world whose objects are exported and imported again goes on as it would have: the same decisions in the same order."""

from __future__ import annotations

import contextlib
import json
import lzma
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler_core.apimachinery.objects.loading import load_manifests
from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apiserver.status import Refused
from scheduler_core.base.trace.records import Record
from scheduler_core.formats.export import as_it_is, continuation_of, heading, objects_of
from scheduler_core.world.commands import ApplyObjects, Command, DeleteObjects, Ref
from scheduler_core.world.simulation import Simulation, in_creation_order, plan_import, take_in
from tests.scheduler_core.machine import objects
from tests.scheduler_core.worlds import nodes_of, pod

DECISIONS = ("attempt_started", "node_selected", "attempt_ended", "binding_ended", "pod_assumed")
MOST = 3_000
EXAMPLES = settings().max_examples
OPENB = Path(__file__).parents[4] / "examples" / "openb"
MACHINES, TASKS, STEPS = 150, 400, 100_000  # of openb: enough that some find no room, and that ties are drawn


def begun(seed: int = 0) -> Simulation:
    return Simulation(seed=seed)


def exported(sim: Simulation) -> str:
    """What is downloaded; JSON is YAML too."""
    documents = "".join(f"---\n{json.dumps(as_it_is(each))}\n" for each in objects_of(sim.store))
    return heading(sim.continuation) + documents


def imported(text: str) -> Simulation:
    """As the page does it: read, taken in, planned, applied."""
    sim = begun()
    read = [each.manifest for each in load_manifests(text)]
    plan = plan_import(sim.api, take_in(sim.store, sim.now, read).objects)
    assert [item for item in plan.items if item.errors] == []
    continuation = continuation_of(text)
    assert continuation is not None
    sim.apply(ApplyObjects(tuple(in_creation_order(plan.accepted)), continues=continuation))
    return sim


def decisions(sim: Simulation, steps: int = MOST) -> str:
    """What is decided from here on, as text: who is tried when, and what comes of it."""
    start = sim.now
    records = sim.run(steps=steps).records
    return "\n".join(
        json.dumps([record.t - start, record.kind, _plain(record)], sort_keys=True)
        for record in records
        if record.kind in DECISIONS
    )


def _plain(record: Record) -> dict[str, Any]:
    """Without what numbers the attempts of a world: those of another begin anew."""
    data = record.to_json()["data"]
    return {name: value for name, value in data.items() if name not in ("attempt", "cycle", "number")}


def do(sim: Simulation, command: Command) -> None:
    with contextlib.suppress(Refused):
        sim.apply(command)


@settings(max_examples=max(EXAMPLES // 5, 1))
@given(
    nodes=objects.several(objects.nodes(), 1, 3),
    pods=objects.several(objects.pods(), 3, 6),
    others=st.lists(objects.storage(), max_size=3, unique_by=lambda m: m["metadata"]["name"]),
)
def test_any_world_that_is_exported_before_its_run_decides_the_same(
    nodes: Sequence[Manifest], pods: Sequence[Manifest], others: Sequence[Manifest]
) -> None:
    sim = begun()
    for part in (objects.fixtures(), (*nodes, *others), pods):
        do(sim, ApplyObjects(tuple(part)))
    twin = imported(exported(sim))
    assert decisions(twin) == decisions(sim)
    assert nodes_of(twin) == nodes_of(sim)


@settings(max_examples=max(EXAMPLES // 5, 1))
@given(
    nodes=objects.several(objects.nodes(), 1, 3),
    pods=objects.several(objects.pods(), 1, 4),
    more=st.integers(1, 6),
    gone=st.lists(objects.PODS, max_size=2, unique=True),
)
def test_any_world_that_is_exported_after_its_run_decides_the_same(
    nodes: Sequence[Manifest], pods: Sequence[Manifest], more: int, gone: list[str]
) -> None:
    sim = begun()
    for part in (objects.fixtures(), nodes, pods):
        do(sim, ApplyObjects(tuple(part)))
    sim.run(steps=MOST)
    for name in gone:
        do(sim, DeleteObjects((Ref("Pod", "default", name),)))
    sim.run(steps=MOST)
    pending = [each for each in sim.store.pods() if not each.node_name]
    do(sim, DeleteObjects(tuple(Ref("Pod", each.namespace, each.name) for each in pending)))
    sim.run(steps=MOST)
    new = ApplyObjects(tuple(pod(f"q{number}", cpu="100m") for number in range(more)))
    twin = imported(exported(sim))
    for each in (sim, twin):
        each.apply(new)
    assert decisions(twin) == decisions(sim)
    assert nodes_of(twin) == nodes_of(sim)


def openb(kind: str) -> list[Manifest]:
    """Objects of one kind of a real cluster."""
    found = []
    for file in ("openb-nodes.json.xz", "openb-pods.json.xz"):
        data = json.loads(lzma.decompress((OPENB / file).read_bytes()))
        found += [each for each in data["items"] if each["kind"] == kind]
    return found


def test_a_real_cluster_that_is_exported_and_imported_decides_the_same_before_and_after_its_run() -> None:
    machines, tasks = openb("Node"), openb("Pod")
    sim = begun()
    sim.apply(ApplyObjects((*openb("PriorityClass"), *machines[:: len(machines) // MACHINES][:MACHINES])))
    sim.apply(ApplyObjects(tuple(tasks[:TASKS])))
    twin = imported(exported(sim))
    assert decisions(twin, STEPS) == decisions(sim, STEPS)
    assert nodes_of(twin) == nodes_of(sim)
    waiting = [each for each in sim.store.pods() if not each.node_name]
    ended = [each for each in sim.store.pods() if each.node_name][::3]
    do(sim, DeleteObjects(tuple(Ref("Pod", each.namespace, each.name) for each in (*waiting, *ended))))
    sim.run(steps=STEPS)
    twin = imported(exported(sim))
    for each in (sim, twin):
        each.apply(ApplyObjects(tuple(tasks[TASKS : TASKS + TASKS // 2])))
    said = decisions(sim, STEPS)
    assert decisions(twin, STEPS) == said
    assert nodes_of(twin) == nodes_of(sim)
    assert said.count('"node_selected"') > TASKS // 4
