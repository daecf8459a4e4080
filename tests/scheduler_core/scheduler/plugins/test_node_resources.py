"""NodeResourcesFit and NodeResourcesBalancedAllocation by example."""

from typing import Any

import pytest

from scheduler_core.scheduler.framework.cycle_state import CycleState
from scheduler_core.scheduler.framework.status import Code, Status, error, unresolvable, unschedulable
from scheduler_core.testing.builders import PodBuilder, make_node, make_pod, make_table
from tests.support.drive import all_rows, filter_nodes, make_plugin, score_nodes
from tests.support.explained import rows

FIT, BALANCED = "NodeResourcesFit", "NodeResourcesBalancedAllocation"
GPU = "example.com/gpu"


def fit(pod: PodBuilder, *bound: PodBuilder, args: dict[str, Any] | None = None, **capacity: str) -> Status | None:
    nodes = make_table([make_node("a").capacity(**capacity)], [old.on("a") for old in bound])
    return filter_nodes(make_plugin(FIT, args), pod.pod(), nodes)["a"]


def strategy(kind: str, *resources: str, shape: list[tuple[int, int]] | None = None) -> dict[str, Any]:
    scoring: dict[str, Any] = {"type": kind, "resources": [{"name": name, "weight": 1} for name in resources]}
    if shape is not None:
        points = [{"utilization": x, "score": y} for x, y in shape]
        scoring["requestedToCapacityRatio"] = {"shape": points}
    return {"scoringStrategy": scoring}


def score(pod: PodBuilder, args: dict[str, Any] | None = None, *bound: PodBuilder, **capacity: str) -> int:
    nodes = make_table([make_node("a").capacity(**capacity)], [old.on("a") for old in bound])
    found = score_nodes(make_plugin(FIT, args), pod.pod(), nodes)
    assert found is not None
    return found["a"]


def test_a_pod_that_fits_exactly_passes() -> None:
    assert fit(make_pod("p").requests(cpu="1"), make_pod("o").requests(cpu="3"), cpu="4") is None


def test_what_eviction_could_free_is_unschedulable() -> None:
    refused = fit(make_pod("p").requests(cpu="2"), make_pod("o").requests(cpu="3"), cpu="4")
    assert refused == unschedulable("Insufficient cpu")


def test_more_than_the_node_has_is_unresolvable() -> None:
    assert fit(make_pod("p").requests(memory="9Gi"), memory="8Gi") == unresolvable("Insufficient memory")


def test_one_hopeless_resource_makes_the_whole_refusal_unresolvable() -> None:
    pod = make_pod("p").requests(cpu="2", memory="9Gi")
    refused = fit(pod, make_pod("o").requests(cpu="3"), cpu="4", memory="8Gi")
    assert refused == unresolvable("Insufficient cpu", "Insufficient memory")


def test_reasons_come_as_pods_cpu_memory_storage_then_scalars_by_name() -> None:
    pod = make_pod("p").requests({"b.io/x": "1", "a.io/x": "1", "ephemeral-storage": "1Gi"}, cpu="9", memory="9Gi")
    refused = fit(pod, pods="0", cpu="1", memory="1Gi")
    assert refused == unresolvable(
        "Too many pods",
        "Insufficient cpu",
        "Insufficient memory",
        "Insufficient ephemeral-storage",
        "Insufficient a.io/x",
        "Insufficient b.io/x",
    )


def test_too_many_pods_is_never_unresolvable() -> None:
    assert fit(make_pod("p"), pods="0") == unschedulable("Too many pods")


def test_an_extended_resource_that_no_node_knows_refuses() -> None:
    assert fit(make_pod("p").requests({GPU: "1"})) == unresolvable(f"Insufficient {GPU}")


@pytest.mark.parametrize("args", [{"ignoredResources": [GPU]}, {"ignoredResourceGroups": ["example.com"]}])
def test_ignored_extended_resources_are_not_checked(args: dict[str, Any]) -> None:
    assert fit(make_pod("p").requests({GPU: "1"}), args=args) is None


def test_a_sidecar_adds_to_the_containers_and_an_init_container_counts_at_most() -> None:
    pod = make_pod("p").requests(cpu="1").sidecar("s", cpu="1").init_container("i", cpu="2500m").overhead(cpu="500m")
    assert fit(pod, cpu="4") is None
    assert fit(pod, cpu="3999m") == unresolvable("Insufficient cpu")


def test_pod_level_requests_stand_for_the_containers() -> None:
    pod = make_pod("p").requests(cpu="1").pod_level(cpu="3")
    assert fit(pod, cpu="3") is None
    assert fit(pod, cpu="2") == unresolvable("Insufficient cpu")


def test_many_scalar_resources_may_fail_at_once() -> None:
    names = [f"example.com/r{i:02}" for i in range(40)]
    refused = fit(make_pod("p").requests(dict.fromkeys(names, "1")))
    assert refused == unresolvable(*(f"Insufficient {name}" for name in names))


def test_nodes_get_a_status_for_their_own_combination() -> None:
    nodes = make_table([make_node("a").capacity(cpu="1"), make_node("b"), make_node("c").capacity(memory="1Gi")])
    found = filter_nodes(make_plugin(FIT), make_pod("p").requests(cpu="2", memory="2Gi").pod(), nodes)
    assert found == {"a": unresolvable("Insufficient cpu"), "b": None, "c": unresolvable("Insufficient memory")}


def test_least_allocated_prefers_the_free_share() -> None:
    assert score(make_pod("p").requests(cpu="1", memory="2Gi"), cpu="4", memory="4Gi") == (75 + 50) // 2


def test_a_container_without_requests_counts_as_100m_and_200mi() -> None:
    assert score(make_pod("p"), cpu="1", memory="1000Mi") == (90 + 80) // 2


def test_an_explicit_zero_stays_zero() -> None:
    assert score(make_pod("p").requests(cpu="0", memory="0"), cpu="1", memory="1000Mi") == 100


def test_scoring_ignores_the_incoming_pods_pod_level_requests() -> None:
    pod = make_pod("p").requests(cpu="1", memory="0").pod_level(cpu="3", memory="0")
    assert score(pod, strategy("LeastAllocated", "cpu"), cpu="4") == 75


def test_least_allocated_gives_nothing_to_a_node_that_is_over_requested() -> None:
    assert score(make_pod("p").requests(cpu="5"), strategy("LeastAllocated", "cpu"), cpu="4") == 0


def test_most_allocated_counts_an_over_requested_node_as_full() -> None:
    assert score(make_pod("p").requests(cpu="5"), strategy("MostAllocated", "cpu"), cpu="4") == 100


def test_the_arithmetic_wraps_like_gos_int64() -> None:
    # (2^61 - 0) * 100 wraps: 2^61 * 100 mod 2^64 = 2^63, the lowest int64; divided by 2^61 that is -4.
    pod = make_pod("p").requests(cpu="0", memory="0")
    assert score(pod, strategy("LeastAllocated", "memory"), memory="2Ei") == -4


def test_a_scalar_resource_that_the_pod_does_not_request_leaves_the_average() -> None:
    args = strategy("LeastAllocated", "cpu", GPU)
    nodes = make_table([make_node("a").capacity({GPU: "4"}, cpu="4")])
    assert score_nodes(make_plugin(FIT, args), make_pod("p").requests(cpu="2").pod(), nodes) == {"a": 50}
    both = make_pod("p").requests({GPU: "1"}, cpu="2").pod()
    assert score_nodes(make_plugin(FIT, args), both, nodes) == {"a": (50 + 75) // 2}


def test_requested_to_capacity_ratio_leaves_out_what_scores_nothing_and_rounds() -> None:
    args = strategy("RequestedToCapacityRatio", "cpu", "memory", shape=[(0, 0), (100, 10)])
    pod = make_pod("p").requests(cpu="250m", memory="0")
    assert score(pod, args, cpu="1", memory="1Gi") == 25


def test_requested_to_capacity_ratio_beyond_capacity_is_the_shapes_end() -> None:
    args = strategy("RequestedToCapacityRatio", "cpu", shape=[(0, 10), (100, 2)])
    assert score(make_pod("p").requests(cpu="2"), args, cpu="1") == 20


def test_it_explains_what_comes_what_is_taken_and_what_lacks() -> None:
    nodes = make_table([make_node("a").capacity(cpu="4")], [make_pod("o").requests(cpu="3").on("a")])
    pod = make_pod("p").requests(cpu="2").pod()
    assert rows(make_plugin(FIT).explain(CycleState(), pod, nodes, 0)) == [
        ("cpu", "2000", "3000", "4000", "1000", "bad"),
        ("pods", "1", "1", "110", ""),
    ]


def test_balanced_allocation_skips_a_best_effort_pod() -> None:
    assert score_nodes(make_plugin(BALANCED), make_pod("p").pod(), make_table([make_node("a")])) is None


def test_balanced_allocation_of_two_resources_is_half_their_difference() -> None:
    nodes = make_table([make_node("a").capacity(cpu="4", memory="4Gi")])
    pod = make_pod("p").requests(cpu="1", memory="3Gi").pod()
    assert score_nodes(make_plugin(BALANCED), pod, nodes) == {"a": 75}


def test_balanced_allocation_leaves_out_resources_that_a_node_lacks() -> None:
    args = {"resources": [{"name": name, "weight": 1} for name in ("cpu", "memory", GPU)]}
    nodes = make_table(
        [make_node("a").capacity(cpu="4", memory="4Gi"), make_node("b").capacity({GPU: "2"}, cpu="4", memory="4Gi")]
    )
    pod = make_pod("p").requests({GPU: "1"}, cpu="2", memory="2Gi").pod()
    assert score_nodes(make_plugin(BALANCED, args), pod, nodes) == {"a": 100, "b": 100}
    uneven = make_pod("p").requests({GPU: "2"}, cpu="0", memory="2Gi").pod()
    # a: |0 - 0.5| / 2; b: the deviation of 0, 0.5 and 1 is sqrt(1/6).
    assert score_nodes(make_plugin(BALANCED, args), uneven, nodes) == {"a": 75, "b": 59}


def test_the_filter_never_answers_with_success_for_a_refused_row() -> None:
    refused = fit(make_pod("p").requests(cpu="9"), cpu="4")
    assert refused is not None
    assert refused.code in (Code.UNSCHEDULABLE, Code.UNRESOLVABLE)


def test_balanced_allocation_without_pre_score_gives_a_best_effort_pod_nothing() -> None:
    nodes, plugin = make_table([make_node("a")]), make_plugin(BALANCED)
    scores = plugin.score(CycleState(), make_pod("p").pod(), nodes, all_rows(nodes))
    assert not isinstance(scores, Status)
    assert scores.tolist() == [0]


def test_without_pre_filter_the_filter_is_an_internal_error() -> None:
    nodes = make_table([make_node("a")])
    verdicts = make_plugin(FIT).filter(CycleState(), make_pod("p").pod(), nodes, all_rows(nodes))
    assert verdicts is not None
    assert verdicts.statuses == (error('error reading "PreFilterNodeResourcesFit" from cycleState: not found'),)
