"""The nodes that would help and those that can go: found as brute force finds them, with what is in the way."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from scheduler_core.analysis.capacity import find_going, find_help, price_nodes
from scheduler_core.analysis.whatif import finish, read_types, waiting
from scheduler_core.world.commands import ApplyObjects, SetSettings
from tests.scheduler_core.analysis.capacity.brute import apart, compare_small, helps, make_workload
from tests.scheduler_core.analysis.whatif.test_node_types import read
from tests.scheduler_core.analysis.whatif.test_outcome import deployment, standing
from tests.scheduler_core.worlds import node, nodes_of, pod

TYPES = read_types(
    """
nodeTypes:
- {name: small, capacity: {cpu: 2, memory: 8Gi}, price: 0.1}
- {name: large, capacity: {cpu: 8, memory: 32Gi}, price: 0.35}
- {name: tainted, capacity: {cpu: 64, memory: 64Gi}, price: 0.01, taints: [{key: gpu, effect: NoSchedule}]}
"""
)[0]


def test_small_worlds_have_the_optima_of_brute_force() -> None:
    for (_, cost, bound, cheapest, proven), (_, count, most, largest, _proven) in compare_small((7, 13)):
        assert (cost, proven, bound <= cost) == (pytest.approx(cheapest), True, True)
        assert (count, count <= most) == (largest, True)


def test_the_cheapest_set_is_proven_and_the_bound_stands_beside_it() -> None:
    sim = standing(node("n", "1"), deployment(10))
    found = finish(find_help(sim, None, TYPES))
    assert (found.nodes, found.cost, found.bound, found.optimal) == ({"small": 1, "large": 1}, 0.45, 0.45, True)
    assert (len(found.places), found.left, len(waiting(sim))) == (9, (), 9)
    assert found.alone == {"small": 5, "large": 2}
    sim.apply(ApplyObjects(found.objects))
    assert helps(sim, TYPES, ())


def test_what_the_sums_do_not_know_is_found_by_running() -> None:
    sim = standing(node("n", "1"), make_workload("w", 4, "500m", "1Gi", affinity=apart("w")))
    found = finish(find_help(sim, None, TYPES))
    assert (found.nodes, found.bound) == ({"small": 3}, 0.1)


def test_the_pods_of_daemons_take_their_part_of_each_new_node() -> None:
    daemon = make_workload("d", 1, "1500m", "1Gi")
    daemon = {**daemon, "kind": "DaemonSet", "spec": {k: v for k, v in daemon["spec"].items() if k != "replicas"}}
    sim = standing(node("n", "1"), daemon, pod("p", "1500m"))
    said = {"default/p": {"small": "Insufficient cpu with the pods of DaemonSets"}}
    assert finish(find_help(sim, ["default/p"], TYPES[:1])).why == said
    assert finish(find_help(sim, ["default/p"], TYPES)).nodes == {"large": 1}


@pytest.mark.parametrize("release", ["1.34.1", "1.37.2"])  # kube names no taint since 1.34.2, but the answer does
def test_a_pod_that_no_type_takes_says_why_of_each(release: str) -> None:
    sim = standing(node("n", "1"), pod("p", "1", nodeSelector={"disk": "ssd"}), pod("q", "2"))
    sim.apply(SetSettings({"release": release}))
    found = finish(find_help(sim, None, TYPES))
    assert (found.left, found.nodes, found.optimal) == (("default/p",), {"small": 1}, True)
    assert found.why["default/p"] == {
        "small": "node(s) didn't match Pod's node affinity/selector",
        "large": "node(s) didn't match Pod's node affinity/selector",
        "tainted": "node(s) had untolerated taint {gpu: }",
    }


def test_no_more_nodes_are_proposed_than_can_be_had_and_an_end_of_time_is_no_proof() -> None:
    few = list(read({"nodeTypes": [{"name": "large", "price": 0.35, "most": 1}]}, known=TYPES[:2]).values())
    sim = standing(node("n", "1"), deployment(18))
    found = finish(find_help(sim, None, few))
    assert found.nodes == {"large": 1, "small": 5}
    cut = finish(find_help(sim, None, few, should_stop=lambda: True))
    assert (cut.nodes, cut.optimal, len(cut.left)) == ({}, False, 17)


def budget(least: int) -> dict[str, Any]:
    spec = {"minAvailable": least, "selector": {"matchLabels": {"app": "web"}}}
    return {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "b"}, "spec": spec}


def test_nodes_go_one_after_the_other_and_what_keeps_one_is_named() -> None:
    safe = {"cluster-autoscaler.kubernetes.io/safe-to-evict": "false"}
    sim = standing(*(node(f"n{i}", "2") for i in range(5)), deployment(5), pod("p", "1", annotations=safe))
    held = nodes_of(sim)["default/p"]
    found = finish(find_going(sim))
    assert [each.node for each in found.nodes if not each.goes] == [held]
    kept = next(each for each in found.nodes if each.node == held)
    assert [(each.pod, each.reason) for each in kept.keepers] == [("default/p", "alone"), ("default/p", "annotation")]
    assert (len(found.order), found.bound, found.optimal, found.saved) == (2, 2, True, None)
    assert all(place for each in found.nodes if each.goes for place in each.places.values())


@pytest.mark.parametrize(
    ("objects", "reason", "said"), [((budget(4),), "budget", "disruption budget"), ((), "waits", "Insufficient cpu")]
)
def test_budgets_and_lack_of_room_keep_nodes(objects: tuple[dict[str, Any], ...], reason: str, said: str) -> None:
    sim = standing(node("n0", "2"), node("n1", "2"), deployment(4), *objects)
    found = finish(find_going(sim))
    assert (found.order, {keeper.reason for each in found.nodes for keeper in each.keepers}) == ((), {reason})
    assert said in found.nodes[0].keepers[0].message


def test_the_set_with_the_highest_price_goes_and_says_what_it_saves() -> None:
    sim = standing(node("a", "4"), node("b", "2"), node("c", "2"), deployment(4))
    entries = [{"name": name, "price": price} for name, price in (("a", 5), ("b", 1), ("c", 1))]
    types = read({"nodeTypes": entries}, known=[replace(TYPES[0], name=name) for name in "abc"])
    found = finish(find_going(sim, price_nodes(sim.store, types)))
    assert (found.order, found.saved) == (("a",), 5.0)
