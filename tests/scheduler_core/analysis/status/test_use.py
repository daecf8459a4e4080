"""What of each resource is asked for, and how much of the rest no average pod can use."""

from __future__ import annotations

from scheduler_core.world.commands import DeleteObjects, Ref
from scheduler_core.world.scrapes import ResourceTotals, read_use
from scheduler_core.world.simulation import Simulation
from tests.scheduler_core.worlds import node, pod, settle, world

GI = 1024**3


def use(sim: Simulation) -> dict[str, ResourceTotals]:
    return {each.resource: each for each in read_use(sim.schedulers[0].cache)}


def test_amounts_are_summed_up_over_nodes_and_pods() -> None:
    sim = world(node("a", cpu="4"), node("b", cpu="4"), pod("p", cpu="1500m"))
    settle(sim)
    cpu = use(sim)["cpu"]
    assert (cpu.allocatable, cpu.requested, cpu.free) == (8000, 1500, 6500)
    assert use(sim)["pods"].requested == 1


def test_extended_resources_count_and_what_nobody_has_does_not() -> None:
    gpus = node("a")
    gpus["status"]["allocatable"]["nvidia.com/gpu"] = "4"
    found = use(world(gpus, node("b")))
    assert found["nvidia.com/gpu"].allocatable == 4
    assert "ephemeral-storage" not in found


def test_a_resource_is_stranded_where_the_average_pod_lacks_another_one() -> None:
    sim = world(node("a", cpu="2"), node("b", cpu="8"), pod("p", cpu="2", nodeName="a"))
    found = use(sim)
    assert found["memory"].free == 16 * GI
    assert found["memory"].stranded == 8 * GI  # a has no cpu left for another pod of 2
    assert found["cpu"].stranded == 0


def test_an_empty_cluster_is_measured_by_a_pod_that_asks_for_nothing() -> None:
    found = use(world(node("a", cpu="50m"), node("b", cpu="1")))
    assert found["cpu"].stranded == 50


def test_a_node_that_is_gone_counts_no_more() -> None:
    sim = world(node("a", cpu="4"), node("b", cpu="4"))
    sim.apply(DeleteObjects((Ref("Node", "", "a"),)))
    assert use(sim)["cpu"].allocatable == 4000


def test_a_world_without_nodes_has_no_use() -> None:
    assert use(world(pod("p"))) == {}
