"""kube-scheduler's metrics, counted in hand-made worlds. Default costs: a cycle 1 ms, a binding call 5 ms, a status patch 1 ms."""

from __future__ import annotations

import pytest

from scheduler_core.analysis.status.families import Spread
from scheduler_core.world.commands import ApplyObjects, DeleteObjects, FailCall, Ref, SetConfiguration, SetSettings
from scheduler_core.world.simulation import Simulation
from tests.scheduler_core.scheduler.metrics.figures import series, spreads, values
from tests.scheduler_core.worlds import configuration, node, pod, settle, world

PROFILE = "default-scheduler"
NODES = tuple(node(f"n{i}") for i in range(3))


def settled(*objects: object, **settings: object) -> Simulation:
    """A world with these settings and objects, run until nothing is left to do."""
    sim = Simulation(seed=1)
    if settings:
        sim.apply(SetSettings(settings))
    sim.apply(ApplyObjects(objects))  # type: ignore[arg-type]
    settle(sim)
    return sim


def test_a_pod_that_is_bound_counts_as_one_scheduled_attempt() -> None:
    sim = settled(*NODES, pod("web"))
    assert values(sim, "schedule_attempts_total") == {("scheduled", PROFILE): 1}


def test_an_attempt_lasts_from_its_pop_to_the_end_of_its_binding() -> None:
    sim = settled(*NODES, pod("web"))
    assert spreads(sim, "scheduling_attempt_duration_seconds") == {("scheduled", PROFILE): (1, 0.006)}


def test_the_algorithm_takes_what_a_cycle_costs() -> None:
    sim = settled(*NODES, pod("web"), cycle_cost=3_000_000)
    assert spreads(sim, "scheduling_algorithm_duration_seconds") == {(): (1, 0.003)}


def test_an_unschedulable_attempt_lasts_as_long_as_its_cycle() -> None:
    sim = settled(node("a", cpu="1"), pod("big", cpu="2"))
    assert spreads(sim, "scheduling_attempt_duration_seconds")["unschedulable", PROFILE] == (1, 0.001)


def test_no_nodes_is_an_attempt_without_any_extension_point() -> None:
    sim = settled(pod("web"))
    assert values(sim, "schedule_attempts_total")["unschedulable", PROFILE] >= 1
    points = {labels[0] for labels in series(sim, "framework_extension_point_duration_seconds")}
    assert points == {"PreEnqueue"}


def test_a_pods_sli_runs_from_its_way_into_the_active_queue_by_its_attempts() -> None:
    sim = settled(node("a", cpu="1"), pod("big", cpu="2"))
    before = sim.now
    sim.apply(ApplyObjects((node("b"),)))
    settle(sim)
    (((label,), (count, total)),) = spreads(sim, "pod_scheduling_sli_duration_seconds").items()
    assert (label, count) == ("2", 1)
    assert total >= before / 10**9
    assert spreads(sim, "pod_scheduling_attempts") == {(): (1, 2.0)}


def test_extension_points_of_a_pod_that_is_scored_and_bound() -> None:
    sim = settled(*NODES, pod("web"))
    assert {labels: n for labels, (n, _) in spreads(sim, "framework_extension_point_duration_seconds").items()} == {
        (point, "Success", PROFILE): 1
        for point in (
            "PreEnqueue",
            "PreFilter",
            "Filter",
            "PreScore",
            "Score",
            "Reserve",
            "Permit",
            "PreBind",
            "Bind",
            "PostBind",
        )
    }


def test_bind_takes_what_its_call_costs() -> None:
    sim = settled(*NODES, pod("web"), bind_cost=7_000_000)
    assert spreads(sim, "framework_extension_point_duration_seconds")["Bind", "Success", PROFILE] == (1, 0.007)
    assert spreads(sim, "plugin_execution_duration_seconds")["DefaultBinder", "Bind", "Success"] == (1, 0.007)


def test_one_feasible_node_needs_no_scores() -> None:
    sim = settled(node("a"), pod("web"))
    points = {labels[0] for labels in series(sim, "framework_extension_point_duration_seconds")}
    assert points & {"PreScore", "Score"} == set()
    assert "Reserve" in points


def test_a_refused_pod_goes_through_post_filter() -> None:
    sim = settled(node("a", cpu="1"), pod("big", cpu="2"))
    points = spreads(sim, "framework_extension_point_duration_seconds")
    assert points["PostFilter", "Unschedulable", PROFILE][0] == 1
    assert values(sim, "preemption_attempts_total") == {(): 1}


def test_filter_and_score_are_evaluated_once_a_node() -> None:
    sim = settled(*NODES, node("full", cpu="0"), pod("web"))
    evaluated = values(sim, "plugin_evaluation_total")
    assert evaluated["NodeResourcesFit", "PreFilter", PROFILE] == 1
    assert evaluated["NodeResourcesFit", "Filter", PROFILE] == 4
    assert evaluated["NodeResourcesFit", "Score", PROFILE] == 3


def test_a_plugin_behind_one_that_refuses_a_node_is_not_asked_about_it() -> None:
    sim = settled(*NODES, {**node("cordoned"), "spec": {"unschedulable": True}}, pod("web"))
    evaluated = values(sim, "plugin_evaluation_total")
    assert evaluated["NodeUnschedulable", "Filter", PROFILE] == 4
    assert evaluated["NodeResourcesFit", "Filter", PROFILE] == 3


def test_a_plugin_that_asks_to_be_skipped_is_executed_and_not_evaluated() -> None:
    sim = settled(*NODES, pod("web"))
    executed = spreads(sim, "plugin_execution_duration_seconds")
    assert executed["NodePorts", "PreFilter", "Skip"] == (1, 0.0)
    assert ("NodePorts", "PreFilter", PROFILE) not in values(sim, "plugin_evaluation_total")


def test_cycles_that_went_alike_add_up() -> None:
    sim = settled(*NODES, *(pod(f"p{i}", cpu="100m") for i in range(5)))
    evaluated = values(sim, "plugin_evaluation_total")
    assert evaluated["NodeResourcesFit", "Filter", PROFILE] == 15
    executed = spreads(sim, "plugin_execution_duration_seconds")
    assert executed["NodeResourcesFit", "Score", "Success"][0] == 15
    assert executed["TaintToleration", "ScoreExtensionNormalize", "Success"][0] == 5


def test_a_search_that_ends_early_counts_only_the_nodes_that_it_needed() -> None:
    sim = settled(*(node(f"n{i}") for i in range(300)), pod("web"))
    wanted = 300 * (50 - 300 // 125) // 100
    evaluated = values(sim, "plugin_evaluation_total")
    assert evaluated["NodeResourcesFit", "Filter", PROFILE] == wanted + 1  # the one more that ends the search
    assert evaluated["NodeResourcesFit", "Score", PROFILE] == wanted


def test_refusals_within_a_search_that_ends_early_count_too() -> None:
    full = [node(f"full{i}", cpu="0") for i in range(50)]
    sim = settled(*full, *(node(f"n{i}") for i in range(250)), pod("web"))
    wanted = 300 * (50 - 300 // 125) // 100
    assert values(sim, "plugin_evaluation_total")["NodeResourcesFit", "Filter", PROFILE] == wanted + 1 + 50


def test_a_failed_binding_is_an_error_and_unreserves() -> None:
    sim = Simulation(seed=1)
    sim.apply(ApplyObjects((*NODES, pod("web"))))
    sim.apply(FailCall("bind", "default/web", 409))
    settle(sim)
    assert values(sim, "schedule_attempts_total") == {("error", PROFILE): 1, ("scheduled", PROFILE): 1}
    points = spreads(sim, "framework_extension_point_duration_seconds")
    assert points["Bind", "Error", PROFILE][0] == points["Unreserve", "Success", PROFILE][0] == 1
    calls = values(sim, "async_api_call_execution_total")
    assert calls["pod_binding", "error"] == calls["pod_binding", "success"] == 1


def test_a_wait_on_permit_is_measured() -> None:
    waits = {"playground.dev/permit": "wait:10s"}
    sim = Simulation(seed=1)
    sim.apply(SetSettings({"demonstration": True}))
    sim.apply(ApplyObjects((*NODES, pod("web", annotations=waits))))
    sim.run(until=lambda w: w.now > 10_500_000_000, steps=2_000)
    assert spreads(sim, "permit_wait_duration_seconds")[("Unschedulable",)] == (1, 10.0)
    assert ("Permit", "Wait", PROFILE) in series(sim, "framework_extension_point_duration_seconds")


def preempting(**settings: object) -> Simulation:
    """Two victims make room for a pod that matters more."""
    first = settled(node("a", cpu="2"), pod("low1"), pod("low2"), **settings)
    first.apply(ApplyObjects((pod("high", cpu="2", priority=10),)))
    settle(first)
    return first


def test_victims_are_counted_by_preemption() -> None:
    assert spreads(preempting(), "preemption_victims") == {(): (1, 2.0)}


def test_an_asynchronous_preemption_counts_as_a_success_of_no_length() -> None:
    assert spreads(preempting(), "preemption_goroutines_duration_seconds") == {("success",): (1, 0.0)}
    assert values(preempting(), "preemption_goroutines_execution_total") == {("success",): 1}


def test_a_synchronous_preemption_belongs_to_post_filter() -> None:
    sim = preempting(async_preemption=False, evict_cost=2_000_000)
    points = spreads(sim, "framework_extension_point_duration_seconds")
    assert points["PostFilter", "Success", PROFILE] == (1, 0.008)
    assert spreads(sim, "scheduling_algorithm_duration_seconds")[()][1] >= 0.008


@pytest.mark.parametrize(
    ("gate", "name"),
    [
        ("async_preemption", "preemption_goroutines_execution_total"),
        ("async_api_calls", "async_api_call_execution_total"),
        ("async_api_calls", "pending_async_api_calls"),
    ],
)
def test_a_metric_whose_gate_is_off_is_not_registered(gate: str, name: str) -> None:
    sim = settled(*NODES, pod("web"), **{gate: False})
    with pytest.raises(ValueError, match="not enough values"):
        series(sim, name)


def test_gauges_tell_of_cache_and_queue() -> None:
    sim = settled(*NODES, pod("web"), pod("big", cpu="9"), pod("gated", schedulingGates=[{"name": "g"}]))
    assert values(sim, "cache_size") == {("assumed_pods",): 0, ("nodes",): 3, ("pods",): 1}
    assert values(sim, "pending_pods") == {("active",): 0, ("backoff",): 0, ("gated",): 1, ("unschedulable",): 1}
    assert values(sim, "unschedulable_pods") == {("NodeResourcesFit", PROFILE): 1, ("SchedulingGates", PROFILE): 1}


def test_while_a_binding_runs_its_goroutine_is_counted() -> None:
    sim = world(*NODES, pod("web"))
    sim.run(until=lambda w: bool(w.schedulers[0].bindings), steps=200)
    assert values(sim, "goroutines") == {("binding",): 1}
    assert values(sim, "cache_size")[("assumed_pods",)] == 1


def test_events_are_counted_as_they_are_handled() -> None:
    sim = settled(*NODES, pod("web"))
    handled = {labels[0]: n for labels, (n, _) in spreads(sim, "event_handling_duration_seconds").items()}
    assert handled["NodeAdd"] == 3
    assert handled["UnschedulablePodAdd"] == handled["UnschedulablePodDelete"] == handled["AssignedPodAdd"] == 1


def test_hints_are_counted_by_their_answer() -> None:
    sim = settled(node("a", cpu="1"), pod("big", cpu="2"))
    sim.apply(ApplyObjects((node("tiny", cpu="1"), node("b"))))
    settle(sim)
    asked = spreads(sim, "queueing_hint_execution_duration_seconds")
    assert asked["NodeResourcesFit", "NodeAdd", "QueueSkip"] == (1, 0.0)
    assert asked["NodeResourcesFit", "NodeAdd", "Queue"] == (1, 0.0)


def test_events_in_flight_are_counted_while_a_cycle_runs() -> None:
    sim = world(*NODES, pod("web"))
    sim.run(until=lambda w: w.schedulers[0].cycle is not None, steps=50)
    sim.apply(DeleteObjects((Ref("Node", "", "n2"),)))
    assert values(sim, "inflight_events") == {("NodeDelete",): 1, ("PodPopped",): 1}


def test_a_fork_counts_for_itself() -> None:
    sim = settled(*NODES, pod("web"))
    twin = sim.fork()
    twin.apply(ApplyObjects((pod("other"),)))
    settle(twin)
    assert values(sim, "schedule_attempts_total") == {("scheduled", PROFILE): 1}
    assert values(twin, "schedule_attempts_total") == {("scheduled", PROFILE): 2}
    assert values(twin, "plugin_evaluation_total")["NodeName", "Filter", PROFILE] == 6
    assert values(sim, "plugin_evaluation_total")["NodeName", "Filter", PROFILE] == 3


def test_a_scheduler_that_restarts_counts_from_nothing() -> None:
    sim = settled(*NODES, pod("web"))
    sim.apply(SetConfiguration(configuration()))
    assert values(sim, "schedule_attempts_total") == {}


def test_buckets_are_closed_above() -> None:
    sim = settled(*NODES, pod("web"), cycle_cost=2_000_000)
    (algorithm,) = series(sim, "scheduling_algorithm_duration_seconds").values()
    assert isinstance(algorithm, Spread)
    assert algorithm.counts[:3] == (0, 1, 0)  # 2 ms belongs to the bucket up to 2 ms
