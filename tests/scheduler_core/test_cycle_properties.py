"""What holds of every cycle, on clusters that hypothesis makes."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.scheduler.cache.cache import Cache
from scheduler_core.scheduler.cache.table import NodeTable
from scheduler_core.scheduler.config import load_configuration
from scheduler_core.scheduler.core.algorithm.algorithm_state import AlgorithmState
from scheduler_core.scheduler.core.algorithm.schedule_pod import IN_ALGORITHM, advance, begin
from scheduler_core.scheduler.core.cycles.phases import Phase
from scheduler_core.scheduler.core.cycles.scheduling_cycle import SchedulingCycle
from scheduler_core.scheduler.framework.cycle_state import CycleState
from scheduler_core.scheduler.framework.plugin import Plugin, Scores
from scheduler_core.scheduler.framework.runtime.framework import Framework
from scheduler_core.scheduler.plugins.registry import registry
from scheduler_core.scheduler.queue.types import QueuedPod
from scheduler_core.testing.builders import make_cache, make_node, make_pod
from scheduler_core.world.commands import ApplyObjects
from scheduler_core.world.simulation import Simulation
from tests.scheduler_core.worlds import configuration, node, nodes_of, pod, scheduler_of
from tests.support.drive import NoObjects

NODES = st.lists(
    st.tuples(st.sampled_from(["1", "2", "4"]), st.sampled_from(["1Gi", "8Gi"]), st.booleans(), st.booleans()),
    min_size=1,
    max_size=8,
)
PODS = st.lists(st.tuples(st.sampled_from(["100m", "1", "2"]), st.integers(0, 7)), max_size=10)
FILTERS = ["NodeUnschedulable", "NodeName", "TaintToleration", "NodeAffinity", "NodePorts", "NodeResourcesFit"]


def clusters(nodes: list[Any], pods: list[Any]) -> Cache:
    """A cache of some nodes (cpu, memory, cordoned, tainted) and pods (cpu, which node)."""
    made = []
    for i, (cpu, memory, cordoned, tainted) in enumerate(nodes):
        one = make_node(f"n{i}").capacity(cpu=cpu, memory=memory)
        one = one.cordoned() if cordoned else one
        made.append(one.taint("t", "NoSchedule") if tainted else one)
    running = [make_pod(f"p{i}").requests(cpu=cpu).on(f"n{at % len(nodes)}") for i, (cpu, at) in enumerate(pods)]
    return make_cache(made, running)


def columns(table: NodeTable) -> list[Any]:
    return [
        table.names,
        table.requested.tolist(),
        table.nonzero.tolist(),
        table.pod_count.tolist(),
        [[p.key for p in pods] for pods in table.pods],
        [sorted(port.port for port in used) for used in table.ports],
    ]


@settings(max_examples=200)
@given(NODES, PODS, st.integers(0, 7), st.sampled_from(["100m", "3"]), st.booleans())
def test_assume_then_forget_is_the_identity(nodes: list[Any], pods: list[Any], at: int, cpu: str, port: bool) -> None:
    cache = clusters(nodes, pods)
    snapshot = cache.update_snapshot(NodeTable())
    before = columns(snapshot)
    builder = make_pod("new").requests(cpu=cpu)
    new = (builder.host_port(80) if port else builder).pod().bound_to(f"n{at % len(nodes)}")
    cache.assume(new)
    snapshot = cache.update_snapshot(snapshot)
    cache.forget(new)
    assert columns(cache.update_snapshot(snapshot)) == before
    assert columns(cache.table()) == before


def cycle_with(
    cache: Cache, pod: Pod, plugins: dict[str, Any], added: dict[str, type[Plugin]] | None = None
) -> SchedulingCycle:
    """A cycle run to its decision under a profile with these plugin sets."""
    profile = load_configuration(configuration(percentageOfNodesToScore=100, profiles=[{"plugins": plugins}])).profiles[
        0
    ]
    framework = Framework(profile, {**registry(), **(added or {})}, NoObjects())
    cycle = SchedulingCycle(1, "s", framework.name, QueuedPod(pod, 0, 0), cache.table(), 0)
    around = AlgorithmState(100)
    begin(cycle, framework, around)
    while cycle.phase in IN_ALGORITHM:
        advance(cycle, framework, around)
    return cycle


@settings(max_examples=150)
@given(NODES, PODS, st.permutations(FILTERS), st.sampled_from(["100m", "1", "3"]))
def test_without_sampling_the_order_of_filters_does_not_change_the_feasible_nodes(
    nodes: list[Any], pods: list[Any], order: list[str], cpu: str
) -> None:
    cache = clusters(nodes, pods)
    new = make_pod("new").requests(cpu=cpu).pod()
    usual = cycle_with(cache, new, {})
    reordered = cycle_with(
        cache, new, {"filter": {"enabled": [{"name": n} for n in order], "disabled": [{"name": "*"}]}}
    )
    assert feasible(usual) == feasible(reordered)


def feasible(cycle: SchedulingCycle) -> list[int]:
    return [] if cycle.feasible is None else sorted(cycle.feasible.tolist())


class Odd(Plugin):
    """Scores each row by its number, times a factor that may leave 0..100."""

    name = "ImageLocality"  # in the place of one that the default profile names
    factor = 1

    def score(self, state: CycleState, pod: Pod, nodes: NodeTable, rows: Any) -> Scores:
        return np.asarray(rows, np.int64) * self.factor


@settings(max_examples=60)
@given(st.integers(2, 6), st.integers(-3, 60))
def test_a_score_is_within_0_to_100_or_the_cycle_ends_with_kubes_error(size: int, factor: int) -> None:
    class Scaled(Odd):
        pass

    Scaled.factor = factor
    cache = clusters([("4", "8Gi", False, False)] * size, [])
    cycle = cycle_with(cache, make_pod("new").requests(cpu="100m").pod(), {}, {"ImageLocality": Scaled})
    highest, lowest = max(0, (size - 1) * factor), min(0, (size - 1) * factor)
    if lowest >= 0 and highest <= 100:
        assert cycle.phase is Phase.RESERVE
        assert cycle.scores is not None
        for scores in cycle.scores.normalized:
            assert 0 <= int(scores.min()) <= int(scores.max()) <= 100
    else:
        assert cycle.outcome == "error"
        assert 'plugin "ImageLocality" returns an invalid score' in cycle.message
        assert "it should in the range of [0, 100] after normalizing" in cycle.message


def priority_class(name: str, value: int) -> dict[str, Any]:
    return {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": name}, "value": value}


@settings(max_examples=40)
@given(st.integers(1, 3), st.sampled_from(["2", "3", "4"]), st.lists(st.sampled_from(["1", "2"]), max_size=4))
def test_while_its_nomination_stands_a_pods_space_is_not_given_to_a_lower_priority(
    count: int, cpu: str, late: list[str]
) -> None:
    sim = Simulation(seed=4)
    small = [pod(f"small-{i}") for i in range(count * 4)]
    sim.apply(ApplyObjects((priority_class("high", 10), *(node(f"n{i}") for i in range(count)), *small)))
    sim.run()
    sim.apply(ApplyObjects((pod("big", cpu=cpu, priorityClassName="high"),)))
    sim.run(until=lambda world: bool(scheduler_of(world).queue.nominator.nodes()))
    sim.apply(ApplyObjects(tuple(pod(f"late-{i}", cpu=c) for i, c in enumerate(late))))
    nominated = scheduler_of(sim).queue.nominator.nodes()
    sim.run()
    assert [nodes_of(sim)["default/big"]] == nominated
    table = scheduler_of(sim).cache.table()
    assert (table.requested <= table.allocatable).all()
