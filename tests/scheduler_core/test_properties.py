"""What holds in every world, whatever is done to it (hypothesis makes the worlds)."""

from __future__ import annotations

import contextlib
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.apiserver.status import Refused
from scheduler_core.world.commands import ApplyObjects, Command, DeleteObjects, PatchObject, Redo, Ref, Undo
from scheduler_core.world.simulation import Simulation
from tests.scheduler_core.worlds import node, pod, scheduler_of

NODES = st.sampled_from(["a", "b", "c"])
PODS = st.sampled_from(["p", "q", "r", "s"])
CPU = st.sampled_from(["100m", "1", "3", "9"])


def _commands() -> st.SearchStrategy[Command]:
    made = st.one_of(
        st.builds(lambda name, cpu: ApplyObjects((node(name, cpu=cpu),)), NODES, CPU),
        st.builds(lambda name, cpu: ApplyObjects((pod(name, cpu=cpu),)), PODS, CPU),
        st.builds(lambda name: DeleteObjects((Ref("Node", "", name),)), NODES),
        st.builds(lambda name: DeleteObjects((Ref("Pod", "default", name),)), PODS),
        st.builds(
            lambda name, on: PatchObject(Ref("Node", "", name), {"spec": {"unschedulable": on}}), NODES, st.booleans()
        ),
        st.just(Undo()),
        st.just(Redo()),
    )
    return made


SCRIPT = st.lists(st.tuples(_commands(), st.integers(0, 30)), max_size=14)


def play(script: list[tuple[Command, int]]) -> Simulation:
    sim = Simulation(seed=2)
    for command, steps in script:
        with contextlib.suppress(Refused):
            sim.apply(command)
        sim.run(steps=steps)
    return sim


def places(sim: Simulation, found: Pod) -> list[str]:
    """Every place of the scheduler in which a pod is; another pod of its name may still be on its way."""
    key = found.key
    scheduler = scheduler_of(sim)
    queue = scheduler.queue
    there = {
        "active": key in queue.active_pods,
        "backoff": key in queue.backoff_pods,
        "error backoff": key in queue.error_backoff_pods,
        "unschedulable": key in queue.unschedulable_pods,
        "gated": key in queue.gated_pods,
        "assumed": scheduler.is_assumed(found),
        "in a cycle": scheduler.cycle is not None
        and scheduler.cycle.ended is None
        and scheduler.cycle.pod.uid == found.uid
        and not scheduler.is_assumed(found),
    }
    return [place for place, is_there in there.items() if is_there]


@settings(max_examples=150)
@given(SCRIPT)
def test_a_waiting_pod_is_in_exactly_one_place_and_none_is_lost(script: list[tuple[Command, int]]) -> None:
    """In the end a pod comes that fits nowhere, so that one waits whatever the script says of the others."""
    sim = play(script)
    sim.apply(ApplyObjects((pod("waits", cpu="64"),)))
    sim.run(steps=len(script))
    waiting = {found.key: places(sim, found) for found in sim.store.pods() if not found.node_name}
    assert "default/waits" in waiting
    assert {key: there for key, there in waiting.items() if len(there) != 1} == {}


@settings(max_examples=150)
@given(SCRIPT)
def test_the_caches_sums_are_those_of_its_pods(script: list[tuple[Command, int]]) -> None:
    sim = play(script)
    table = scheduler_of(sim).cache.table()
    for row, _ in enumerate(table.names):
        pods = table.pods[row]
        assert int(table.pod_count[row]) == len(pods)
        assert int(table.requested[row, 0]) == sum(p.requests.milli_cpu for p in pods)
        assert int(table.requested[row, 1]) == sum(p.requests.memory for p in pods)


@settings(max_examples=100)
@given(SCRIPT)
def test_the_snapshot_that_a_cycle_copies_equals_a_new_one(script: list[tuple[Command, int]]) -> None:
    sim = play(script)
    scheduler = scheduler_of(sim)
    copied = scheduler.cache.update_snapshot(scheduler.snapshot)
    fresh = scheduler.cache.table()
    assert copied.names == fresh.names
    assert copied.requested.tolist() == fresh.requested.tolist()
    assert copied.pod_count.tolist() == fresh.pod_count.tolist()
    assert [[p.key for p in pods] for pods in copied.pods] == [[p.key for p in pods] for pods in fresh.pods]


@settings(max_examples=100)
@given(SCRIPT)
def test_a_fork_at_any_moment_goes_on_as_the_origin_does(script: list[tuple[Command, int]]) -> None:
    sim = play(script)
    fork = sim.fork()
    one = [record.to_json() for record in sim.run(steps=60).records]
    other = [record.to_json() for record in fork.run(steps=60).records]
    assert one == other


@settings(max_examples=100)
@given(SCRIPT)
def test_no_node_is_given_more_than_it_has(script: list[tuple[Command, int]]) -> None:
    """Pods are made once here: one that runs and is applied again with more cpu is resized in place, fits or not."""
    sim = Simulation(seed=2)
    made: set[str] = set()
    largest: dict[str, int] = {}
    for command, steps in script:
        if isinstance(command, ApplyObjects) and command.objects[0]["kind"] == "Pod":
            name = command.objects[0]["metadata"]["name"]
            if name in made:
                continue
            made.add(name)
        try:
            sim.apply(command)
        except Refused:
            continue
        for found in sim.store.nodes():
            largest[found.name] = max(largest.get(found.name, 0), found.allocatable.milli_cpu)
        sim.run(steps=steps)
    table = scheduler_of(sim).cache.table()
    for row, name in enumerate(table.names):
        assert int(table.requested[row, 0]) <= largest[name]


@settings(max_examples=60)
@given(st.lists(st.tuples(PODS, CPU), min_size=1, max_size=6))
def test_undoing_everything_leaves_an_empty_cluster(made: list[tuple[str, Any]]) -> None:
    sim = Simulation()
    for name, cpu in made:
        sim.apply(ApplyObjects((pod(name, cpu=cpu),), force=True))
    while sim.edits.undo:
        sim.apply(Undo())
    assert sim.store.pods() == []
    assert len(scheduler_of(sim).queue) == 0
