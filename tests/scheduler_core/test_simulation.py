"""The one door: commands, steps, runs, checkpoints and forks."""

from __future__ import annotations

import json

import msgspec
import pytest

from scheduler_core.apiserver.status import Refused
from scheduler_core.base.trace.journal import Place
from scheduler_core.scheduler.core.cycles.phases import Phase
from scheduler_core.world.commands import (
    ApplyObjects,
    DecidePermit,
    DeleteObjects,
    EvictPod,
    PatchObject,
    Redo,
    Ref,
    SetConfiguration,
    SetSettings,
    Undo,
    command_from_json,
)
from scheduler_core.world.simulation import Grain, Simulation
from tests.scheduler_core.worlds import (
    configuration,
    cycle_of,
    everything,
    node,
    nodes_of,
    of_kind,
    pod,
    scheduler_alone,
    scheduler_of,
    settle,
    world,
)


def test_a_pod_that_fits_is_bound_and_runs() -> None:
    sim = world(node("a"), pod("web"))
    settle(sim)
    assert nodes_of(sim) == {"default/web": "a"}
    assert sim.journal.place("default/web") == Place.RUNNING


def test_a_pod_that_fits_nowhere_says_so_in_kubes_words() -> None:
    sim = world(node("a"), node("b"), pod("big", cpu="9"))
    settle(sim)
    condition = sim.store.pod("default", "big").condition("PodScheduled")  # type: ignore[union-attr]
    assert condition is not None
    assert (condition["status"], condition["reason"]) == ("False", "Unschedulable")
    assert condition["message"].startswith("0/2 nodes are available: 2 Insufficient cpu.")
    assert sim.journal.place("default/big") == Place.UNSCHEDULABLE


def test_a_step_by_plugin_passes_over_plugins_with_nothing_to_do() -> None:
    sim = world(node("a"), node("b"), pod("web"))
    ends = []
    while not sim.journal.attempts:
        sim.step(Grain.PLUGIN)
        step = next((step for step in reversed(cycle_of(sim).steps) if step.position == sim.position), None)
        ends.append((step.point, step.plugin) if step is not None else sim.last[0].kind)
    assert ends[1:] == [
        ("PreFilter", "DynamicResources"),
        ("Filter", "NodeResourcesFit"),
        ("PreScore", "NodeResourcesBalancedAllocation"),
        ("Score", "NodeResourcesFit"),
        ("Score", "NodeResourcesBalancedAllocation"),
        ("NormalizeScore", "TaintToleration"),
        "node_selected",
        ("Reserve", "DynamicResources"),
    ]


def test_a_step_by_plugin_ends_where_a_plugin_refuses_reserves_or_waits() -> None:
    sim = world(node("a"), {**node("b"), "spec": {"unschedulable": True}}, node("c", cpu="1"))
    sim.apply(SetSettings({"demonstration": True}))
    asks = {"playground.dev/reserve": "allow", "playground.dev/permit": "wait:5s"}
    sim.apply(ApplyObjects((pod("web", cpu="2", annotations=asks),)))
    ends = []
    while not sim.journal.attempts:
        sim.step(Grain.PLUGIN)
        last = cycle_of(sim).steps[-1]
        ends.append((last.point, last.plugin))
    assert ends == [
        ("QueueSort", "PrioritySort"),
        ("PreFilter", "DynamicResources"),
        ("Filter", "NodeUnschedulable"),
        ("Filter", "NodeResourcesFit"),
        ("Reserve", "Demonstration"),
        ("Permit", "Demonstration"),
    ]


def test_a_step_by_call_is_one_transition() -> None:
    sim = world(node("a"), node("b"), pod("web"))
    for expected in range(sim.position + 1, sim.position + 15):
        assert sim.step(Grain.CALL)
        assert sim.position == expected


def test_a_step_by_point_ends_where_the_next_point_begins() -> None:
    sim = scheduler_alone(node("a"), node("b"), pod("web"))
    seen = []
    while not sim.journal.attempts:
        sim.step(Grain.POINT)
        seen.append(cycle_of(sim).phase)
    assert seen == [
        Phase.PRE_FILTER,
        Phase.FILTER,
        Phase.PRE_SCORE,
        Phase.SCORE,
        Phase.NORMALIZE_SCORE,
        Phase.SELECT,
        Phase.RESERVE,
        Phase.DONE,
    ]


def test_a_step_by_pod_ends_with_the_attempt() -> None:
    sim = world(node("a"), pod("one"), pod("two"))
    sim.step(Grain.POD)
    assert [attempt.pod for attempt in sim.journal.attempts] == ["default/one"]
    sim.step(Grain.POD)
    assert [attempt.pod for attempt in sim.journal.attempts] == ["default/one", "default/two"]


def test_a_step_by_event_ends_with_something_outside_the_scheduling_cycle() -> None:
    sim = scheduler_alone(node("a"), pod("one"))
    records = sim.step(Grain.EVENT)
    assert of_kind(records, "plugin_ran")[-1]["point"] == "PreBind"


def test_stepping_and_running_lead_to_the_same_world() -> None:
    stepped, ran = world(node("a"), pod("one"), pod("two")), world(node("a"), pod("one"), pod("two"))
    while not stepped.idle:
        stepped.step(Grain.CALL)
    settle(ran)
    assert stepped.position == ran.position
    assert nodes_of(stepped) == nodes_of(ran)


def test_a_world_with_nothing_to_do_is_idle_and_does_not_step() -> None:
    sim = Simulation()
    assert sim.idle
    assert sim.step(Grain.CALL) == []
    assert sim.position == 0


def test_a_run_ends_at_its_condition_its_budget_or_the_callers_word() -> None:
    sim = world(node("a"), pod("one"), pod("two"))
    assert sim.run(until=lambda w: bool(w.journal.attempts)).reason == "until"
    assert sim.run(steps=3).reason == "budget"
    assert sim.run(should_stop=lambda: True).reason == "stopped"
    assert sim.run().reason == "idle"


def test_two_worlds_of_one_seed_are_the_same_byte_for_byte() -> None:
    objects = [node(f"n{i}") for i in range(6)] + [pod(f"p{i}") for i in range(10)]
    one, two = everything(world(*objects, seed=5)), everything(world(*objects, seed=5))
    assert json.dumps(one) == json.dumps(two)


def test_another_seed_draws_otherwise_among_tied_nodes() -> None:
    objects = [node(f"n{i}") for i in range(20)] + [pod("p")]
    drawn = set()
    for seed in range(12):
        sim = world(*objects, seed=seed)
        settle(sim)
        drawn.add(nodes_of(sim)["default/p"])
    assert len(drawn) > 1


def test_a_fork_goes_its_own_way_and_leaves_the_origin_alone() -> None:
    sim = world(node("a"), pod("one"))
    sim.run(steps=6)
    before = (sim.position, cycle_of(sim).phase, len(cycle_of(sim).steps))
    fork = sim.fork()
    fork.apply(DeleteObjects((Ref("Node", "", "a"),)))
    settle(fork)
    assert (sim.position, cycle_of(sim).phase, len(cycle_of(sim).steps)) == before
    assert sim.store.node("a") is not None
    settle(sim)
    assert nodes_of(sim) == {"default/one": "a"}


@pytest.mark.parametrize("at", [3, 9, 14, 20, 27, 40])
def test_a_world_restored_from_any_step_goes_on_as_it_did(at: int) -> None:
    objects = [node("a"), node("b"), *(pod(f"p{i}") for i in range(4)), pod("big", cpu="9")]
    sim = world(*objects)
    sim.run(steps=at)
    checkpoint = sim.fork()
    first = everything(sim)
    again = everything(checkpoint.fork())
    assert first == again


def test_a_refused_command_changes_nothing() -> None:
    sim = world(node("a"), pod("web"))
    position, version = sim.position, sim.store.resource_version
    broken = pod("bad")
    broken["spec"]["containers"][0]["resources"]["requests"]["cpu"] = "10x"
    with pytest.raises(Refused) as refused:
        sim.apply(ApplyObjects((node("b"), broken)))
    assert "spec.containers[0].resources.requests" in str(refused.value)
    assert (sim.position, sim.store.resource_version) == (position, version)
    assert sim.store.node("b") is None


def test_creating_a_name_that_is_taken_is_refused_in_kubectls_words() -> None:
    sim = world(node("a"))
    with pytest.raises(Refused, match='nodes "a" already exists'):
        sim.apply(ApplyObjects((node("a", cpu="8"),), create_only=True))


def test_deleting_what_does_not_exist_is_refused_in_kubectls_words() -> None:
    sim = world(node("a"))
    with pytest.raises(Refused, match='pods "nobody" not found'):
        sim.apply(DeleteObjects((Ref("Pod", "default", "nobody"), Ref("Node", "", "a"))))
    assert sim.store.node("a") is not None


def test_undo_takes_created_objects_away_and_redo_brings_them_back() -> None:
    sim = world(node("a"))
    sim.apply(ApplyObjects((pod("web"), pod("db"))))
    sim.apply(Undo())
    assert sim.store.pods() == []
    sim.apply(Redo())
    assert [p.name for p in sim.store.pods()] == ["db", "web"]


def test_undo_of_a_change_keeps_what_the_world_did_since() -> None:
    sim = world(node("a"), pod("web"))
    sim.apply(PatchObject(Ref("Pod", "default", "web"), {"metadata": {"labels": {"app": "x"}}}))
    settle(sim)
    sim.apply(Undo())
    web = sim.store.pod("default", "web")
    assert web is not None
    assert (dict(web.labels), web.node_name, web.phase) == ({}, "a", "Running")


def test_undo_brings_a_deleted_node_back() -> None:
    sim = world(node("a"), pod("web"))
    settle(sim)
    sim.apply(DeleteObjects((Ref("Node", "", "a"),)))
    sim.apply(Undo())
    assert sim.store.node("a") is not None
    assert scheduler_of(sim).cache.table().pod_count.tolist() == [1]


def test_undo_puts_settings_and_configurations_back() -> None:
    sim = Simulation()
    sim.apply(SetSettings({"demonstration": True}))
    sim.apply(SetConfiguration(configuration(profiles=[{"schedulerName": "mine"}])))
    assert list(scheduler_of(sim).profiles) == ["mine"]
    sim.apply(Undo())
    assert list(scheduler_of(sim).profiles) == ["default-scheduler"]
    assert sim.settings.demonstration
    sim.apply(Undo())
    assert not sim.settings.demonstration


def test_undo_with_nothing_to_undo_is_refused() -> None:
    with pytest.raises(Refused, match="none"):
        Simulation().apply(Undo())


def test_a_new_edit_after_an_undo_leaves_nothing_to_redo() -> None:
    sim = world(node("a"))
    sim.apply(Undo())
    sim.apply(ApplyObjects((node("b"),)))
    with pytest.raises(Refused):
        sim.apply(Redo())


def test_a_command_in_the_middle_of_a_cycle_is_not_seen_by_that_cycle() -> None:
    sim = scheduler_alone(node("a", cpu="1"), pod("web", cpu="2"))
    sim.step(Grain.POINT)
    sim.apply(ApplyObjects((node("big", cpu="8"),)))
    sim.step(Grain.POD)
    assert sim.journal.attempts[0].outcome == "unschedulable"
    settle(sim)
    assert nodes_of(sim) == {"default/web": "big"}


def test_a_node_removed_while_a_cycle_uses_it_leaves_the_pod_bound_to_a_node_that_is_gone() -> None:
    sim = scheduler_alone(node("a"), pod("web"))
    sim.step(Grain.POINT)
    sim.apply(DeleteObjects((Ref("Node", "", "a"),)))
    settle(sim)
    web = sim.store.pod("default", "web")
    assert web is not None
    assert (web.node_name, web.phase) == ("a", "Pending")


def test_a_pod_deleted_while_its_cycle_runs_is_not_bound_and_not_lost_track_of() -> None:
    sim = world(node("a"), pod("web"))
    sim.step(Grain.POINT)
    sim.apply(DeleteObjects((Ref("Pod", "default", "web"),)))
    settle(sim)
    assert sim.store.pods() == []
    assert len(scheduler_of(sim).queue) == 0
    assert scheduler_of(sim).queue.in_flight == []
    assert scheduler_of(sim).cache.table().pod_count.tolist() == [0]


def test_a_step_to_the_next_point_ends_though_a_timer_fires_for_ever() -> None:
    """A pod that is made anew in flight leaves its old UID there; then the timer of the unschedulable pods asks the gated ones for ever."""
    sim = scheduler_alone(node("a", cpu="1"), pod("held", schedulingGates=[{"name": "later"}]), pod("web", cpu="2"))
    sim.step(Grain.POINT)
    sim.apply(DeleteObjects((Ref("Pod", "default", "web"),)))
    sim.apply(ApplyObjects((pod("web"),)))
    settle(sim)
    assert [p.uid for p in scheduler_of(sim).queue.in_flight] != []
    fired = [of_kind(sim.step(Grain.POINT), "timer_fired") for _ in range(3)]
    assert [[data["timer"] for data in one] for one in fired] == [["flush_unschedulable"]] * 3


def test_binding_overlaps_with_the_next_pods_cycle() -> None:
    sim = world(node("a"), pod("one"), pod("two"))
    sim.step(Grain.POD)
    while cycle_of(sim).pod.key == "default/one":
        sim.step(Grain.POINT)
    assert list(scheduler_of(sim).bindings) == [1]
    assert cycle_of(sim).pod.key == "default/two"


def test_a_pod_of_an_unknown_scheduler_stays_pending() -> None:
    sim = world(node("a"), pod("web", schedulerName="nobody"))
    settle(sim)
    assert nodes_of(sim) == {"default/web": ""}
    assert sim.journal.place("default/web") == Place.IGNORED


def test_a_second_scheduler_takes_its_own_pods() -> None:
    sim = world(node("a"), pod("web", schedulerName="second"))
    sim.apply(SetConfiguration(configuration(profiles=[{"schedulerName": "second"}]), "another"))
    records = settle(sim)
    assert nodes_of(sim) == {"default/web": "a"}
    assert {r.scheduler for r in records if r.kind == "attempt_ended"} == {"another"}


def test_two_schedulers_cannot_share_a_profile() -> None:
    sim = Simulation()
    with pytest.raises(Refused, match="default-scheduler"):
        sim.apply(SetConfiguration(configuration(), "another"))
    assert [s.name for s in sim.schedulers] == ["kube-scheduler"]


def test_a_bad_configuration_is_refused_whole() -> None:
    sim = Simulation()
    bad = configuration(percentageOfNodesToScore=101)
    with pytest.raises(Refused, match="percentageOfNodesToScore"):
        sim.apply(SetConfiguration(bad))
    assert sim.position == 0


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"cycle_cost": -1}, "settings.cycle_cost: -1 0 to 3600000000000 nanoseconds"),
        ({"cycle_cost": "1s"}, "settings.cycle_cost: '1s' whole nanoseconds"),
        ({"demonstration": 1}, "settings.demonstration: 1 true or false"),
        ({"queue_mode": "fifo"}, "settings.queue_mode: 'fifo' historical or v1.34"),
        ({"client_burst": 0}, "settings.client_burst: 0 1 to 10000 calls"),
        ({"speed": 1}, "settings.speed: 1 one of .*release, switched_off, cycle_cost"),
    ],
)
def test_a_bad_setting_is_refused(changes: dict[str, object], said: str) -> None:
    with pytest.raises(Refused, match=said):
        Simulation().apply(SetSettings(changes))


def test_the_components_around_the_schedulers_cannot_be_taken_away() -> None:
    with pytest.raises(Refused, match=r"settings\.cluster: None an object"):
        Simulation().apply(SetSettings({"cluster": None}))


@pytest.mark.parametrize("seconds", [10**12, 2**63 - 1])
def test_a_pod_may_be_given_more_time_than_can_be_written(seconds: int) -> None:
    sim = Simulation()
    sim.apply(ApplyObjects((node("a"), pod("web"))))
    sim.run(steps=200)
    sim.apply(EvictPod("default/web", grace_period_seconds=seconds))
    evicted = sim.store.pod("default", "web")
    assert evicted is not None
    assert evicted.manifest["metadata"]["deletionTimestamp"] == "9999-12-31T23:59:59Z"


@pytest.mark.parametrize(
    "data",
    [
        None,
        [],
        {"kind": "Explode"},
        {"kind": "ApplyObjects"},
        {"kind": "ApplyObjects", "objects": [1]},
        {"kind": "ApplyObjects", "objects": [], "create_only": "yes"},
        {"kind": "DeleteObjects", "refs": [{"kind": "Pod"}]},
        {"kind": "DecidePermit", "pod": "a/b", "decision": "perhaps"},
        {"kind": "SetConfiguration", "scheduler": ""},
    ],
)
def test_what_is_no_command_is_refused(data: object) -> None:
    with pytest.raises(Refused):
        command_from_json(data)


@pytest.mark.parametrize(
    "command",
    [
        ApplyObjects((node("a"),), create_only=True),
        DeleteObjects((Ref("Node", "", "a"),)),
        PatchObject(Ref("Node", "", "a"), {"spec": {"unschedulable": True}}),
        SetConfiguration(None),
        SetSettings({"cycle_cost": 0}),
        DecidePermit("default/web", "allow"),
        Undo(),
        Redo(),
    ],
)
def test_a_command_survives_json(command: object) -> None:
    data = json.loads(json.dumps(msgspec.to_builtins(command)))
    assert command_from_json(data) == command


@pytest.mark.parametrize("gate", ["async_preemption", "async_api_calls"])
@pytest.mark.parametrize("on", [True, False])
def test_every_transition_says_what_it_did(gate: str, on: bool) -> None:
    sim = world(node("a"))
    sim.apply(SetSettings({gate: on}))
    sim.apply(ApplyObjects((*(pod(f"low-{i}") for i in range(4)), pod("never", cpu="9"))))
    sim.run(steps=2_000)
    sim.apply(ApplyObjects((pod("high", cpu="3", priority=5),)))
    while not sim.idle:
        assert sim.advance()
    assert nodes_of(sim)["default/high"] == "a"


def test_a_further_scheduler_is_taken_away_and_its_pods_are_nobodys() -> None:
    sim = world(node("a"), pod("web", schedulerName="batch"))
    sim.apply(SetConfiguration(configuration(profiles=[{"schedulerName": "batch"}]), "batch"))
    assert sim.journal.place("default/web") == Place.ACTIVE
    sim.apply(SetConfiguration(None, "batch"))
    assert sim.journal.place("default/web") == Place.IGNORED
    assert [s.name for s in sim.schedulers] == ["kube-scheduler"]


def test_a_scheduler_that_does_not_run_cannot_be_taken_away() -> None:
    with pytest.raises(Refused, match="scheduler: 'batch' one of kube-scheduler"):
        Simulation().apply(SetConfiguration(None, "batch"))


def test_pods_of_a_profile_that_goes_are_nobodys_until_it_is_back() -> None:
    sim = world(pod("web"))
    sim.apply(SetConfiguration(configuration(profiles=[{"schedulerName": "other"}])))
    assert sim.journal.place("default/web") == Place.IGNORED
    sim.apply(Undo())
    assert sim.journal.place("default/web") == Place.ACTIVE
