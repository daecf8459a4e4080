"""Informers that lag, assumed pods that expire, and the limits of the scheduler's API client."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_core.apiserver.status import Refused
from scheduler_core.base.trace.journal import Place
from scheduler_core.base.trace.records import Record
from scheduler_core.scheduler.config.cluster import ClusterSettings
from scheduler_core.scheduler.config.settings import WorldSettings
from scheduler_core.world.commands import (
    ApplyObjects,
    DeleteObjects,
    FailCall,
    PatchObject,
    Ref,
    SetConfiguration,
    SetSettings,
)
from scheduler_core.world.simulation import Simulation
from tests.scheduler_core.worlds import configuration, node, nodes_of, of_kind, pod, scheduler_of, settle, world
from tests.support.storage import make_claim, make_class, make_volume

SECOND = 1_000_000_000
MILLISECOND = 1_000_000
WEB = "default/web"


def lagging(lag: int, *objects: Any, **settings: Any) -> Simulation:
    """A world whose schedulers hear of everything `lag` later, these objects included."""
    sim = Simulation(settings=WorldSettings(informer_lag=lag, **settings))
    sim.apply(ApplyObjects(objects))
    return sim


def times(records: list[Record], kind: str) -> list[int]:
    return [record.t for record in records if record.kind == kind]


# Informers that lag


def test_a_scheduler_hears_of_a_pod_when_the_lag_is_over() -> None:
    sim = lagging(3 * SECOND, node("a"), pod("web"))
    assert scheduler_of(sim).cache.table().names == []
    records = settle(sim)
    assert times(records, "attempt_started") == [3 * SECOND]
    assert nodes_of(sim) == {WEB: "a"}


def test_what_it_hears_is_told_in_the_order_in_which_it_happened() -> None:
    sim = lagging(SECOND, node("a"), node("b"))
    sim.apply(DeleteObjects((Ref("Node", "", "a"),)))
    heard = of_kind(settle(sim), "watch_event")
    assert [(h["type"], h["name"]) for h in heard] == [("ADDED", "a"), ("ADDED", "b"), ("DELETED", "a")]


def test_a_scheduler_that_restarts_before_it_hears_of_a_binding_leaves_the_journey_bound() -> None:
    sim = lagging(4 * SECOND, node("a"), pod("web"))
    sim.apply(FailCall("bind", WEB, 404, after_write=True))
    sim.run(until=lambda w: w.journal.place(WEB) == Place.BACKOFF)
    assert nodes_of(sim) == {WEB: "a"}
    sim.apply(SetConfiguration(configuration(percentageOfNodesToScore=50)))
    assert sim.journal.place(WEB) == Place.BOUND


def test_a_shorter_lag_lets_nothing_pass_what_is_under_way() -> None:
    sim = lagging(5 * SECOND, node("a"))
    sim.apply(SetSettings({"informer_lag": MILLISECOND}))
    sim.apply(ApplyObjects((node("b"),)))
    assert times(settle(sim), "watch_event") == [5 * SECOND, 5 * SECOND]


def test_when_the_lag_ends_a_scheduler_catches_up_and_hears_at_once_again() -> None:
    sim = lagging(SECOND, node("a"), pod("web"))
    sim.apply(SetSettings({"informer_lag": 0}))
    settle(sim)
    assert scheduler_of(sim).replica is None
    sim.apply(ApplyObjects((node("b"),)))
    assert sorted(scheduler_of(sim).cache.table().names) == ["a", "b"]


def test_the_lag_changes_without_a_restart_in_the_middle_of_a_cycle() -> None:
    sim = world(node("a"), pod("web"))
    sim.run(steps=5)
    records = sim.apply(SetSettings({"informer_lag": SECOND}))
    assert of_kind(records, "scheduler_started") == []
    settle(sim)
    assert nodes_of(sim) == {WEB: "a"}


def test_a_bound_pod_stays_assumed_until_its_scheduler_hears_of_the_binding() -> None:
    sim = lagging(2 * SECOND, node("a"), pod("web"))
    sim.run(until=lambda w: bool(nodes_of(w)[WEB]))
    bound = sim.now
    assert scheduler_of(sim).cache.assumed == {WEB: "a"}
    sim.run(until=lambda w: not scheduler_of(w).cache.assumed)
    assert sim.now == bound + 2 * SECOND


def test_assumed_pods_take_room_though_no_informer_has_told_of_them() -> None:
    sim = lagging(10 * SECOND, node("a", cpu="1"), pod("web"), pod("api"))
    sim.run(until=lambda w: len(w.journal.attempts) == 2)
    assert [attempt.outcome for attempt in sim.journal.attempts] == ["scheduled", "unschedulable"]


def test_a_scheduler_binds_to_a_node_that_has_gone_unheard() -> None:
    sim = lagging(2 * SECOND, node("a"), pod("web"), cluster=ClusterSettings(controllers=()))
    sim.run(until=lambda w: bool(scheduler_of(w).bindings))
    sim.apply(DeleteObjects((Ref("Node", "", "a"),)))
    settle(sim)
    assert nodes_of(sim) == {WEB: "a"}


def test_the_binding_of_a_pod_that_has_gone_unheard_fails_in_the_api_servers_words() -> None:
    sim = lagging(2 * SECOND, node("a"), pod("web"))
    sim.run(until=lambda w: bool(scheduler_of(w).cycle))
    sim.apply(DeleteObjects((Ref("Pod", "default", "web"),)))
    records = settle(sim)
    (ended,) = of_kind(records, "binding_ended")
    assert ended["message"] == 'running Bind plugin "DefaultBinder": pods "web" not found'
    assert WEB not in scheduler_of(sim).queue
    assert sim.journal.place(WEB) == Place.DELETED


def test_a_lost_answer_and_a_lag_have_a_bound_pod_tried_again_and_refused() -> None:
    sim = lagging(5 * SECOND, node("a"), pod("web"))
    sim.run(until=lambda w: bool(scheduler_of(w).bindings))
    sim.apply(FailCall("bind", WEB, 504, after_write=True))
    records = settle(sim)
    messages = [data["message"] for data in of_kind(records, "binding_ended")]
    assert len(messages) > 1
    assert 'pod web is already assigned to node "a"' in messages[1]
    assert sim.journal.place(WEB) in (Place.BOUND, Place.RUNNING)


def test_the_journey_of_a_pod_is_not_that_of_the_one_before_whose_end_is_unheard() -> None:
    sim = lagging(3 * SECOND, node("a", cpu="1"), pod("web", cpu="2"))
    sim.run(until=lambda w: w.journal.place(WEB) == Place.ACTIVE)
    sim.apply(DeleteObjects((Ref("Pod", "default", "web"),)))
    sim.apply(ApplyObjects((pod("web", schedulerName="nobody"),)))
    assert [data["to"] for data in of_kind(settle(sim), "queue_moved")] == [Place.IN_FLIGHT, Place.UNSCHEDULABLE]
    assert sim.journal.place(WEB) == Place.IGNORED


def test_a_preemptor_whose_victim_went_unheard_is_tried_over_and_over_until_its_scheduler_hears() -> None:
    sim = world(node("a"), pod("small", cpu="4", priority=0))
    settle(sim)
    sim.apply(SetSettings({"informer_lag": SECOND}))
    sim.apply(ApplyObjects((pod("web", cpu="4", priority=5),)))
    sim.run(until=lambda w: w.journal.place(WEB) == Place.IN_FLIGHT)
    sim.store.remove("Pod", "default", "small")
    settle(sim, steps=50_000)
    assert nodes_of(sim) == {WEB: "a"}
    attempts = sim.journal.attempts_of(WEB)
    assert {attempt.victims for attempt in attempts[:-1]} == {("default/small",)}
    assert len(attempts) > 100
    assert attempts[-1].started - attempts[0].started <= 2 * SECOND


def test_a_fork_hears_what_was_under_way() -> None:
    sim = lagging(2 * SECOND, node("a"), pod("web"))
    sim.run(steps=3)
    twin = sim.fork()
    assert [r.to_json() for r in settle(twin)] == [r.to_json() for r in settle(sim)]


def test_a_restarted_scheduler_lists_what_there_is_and_lags_behind_what_follows() -> None:
    sim = lagging(2 * SECOND, node("a"))
    sim.apply(SetConfiguration(configuration()))
    assert scheduler_of(sim).cache.table().names == ["a"]
    sim.apply(ApplyObjects((node("b"),)))
    assert scheduler_of(sim).cache.table().names == ["a"]


def test_volumes_are_bound_though_their_informers_lag() -> None:
    claimed = pod("web", volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}])
    sim = lagging(3 * SECOND, node("a"), make_class(), make_volume("v", hosts=["a"]), make_claim("c"), claimed)
    settle(sim)
    assert nodes_of(sim) == {WEB: "a"}
    assert scheduler_of(sim).assumed == {}


def test_an_update_of_a_volume_that_changed_unheard_is_a_conflict() -> None:
    claimed = pod("web", volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}])
    sim = lagging(3 * SECOND, node("a"), make_class(), make_volume("v", hosts=["a"]), make_claim("c"), claimed)
    sim.run(until=lambda w: bool(scheduler_of(w).assumed))
    sim.apply(PatchObject(Ref("PersistentVolume", "", "v"), {"metadata": {"labels": {"x": "y"}}}))
    records = settle(sim)
    first, *_ = of_kind(records, "binding_ended")
    assert first["message"].startswith(
        'running PreBind plugin "VolumeBinding": Operation cannot be fulfilled on persistentvolumes "v"'
    )
    assert nodes_of(sim) == {WEB: "a"}


# Assumed pods that expire (historical)


def test_assumed_pods_never_expire_by_default() -> None:
    sim = lagging(3600 * SECOND, node("a"), pod("web"))
    sim.run(until=lambda w: bool(nodes_of(w)[WEB]))
    sim.run(until=lambda w: not w.schedulers[0].inbox or bool(of_kind(list(w.last), "pod_forgotten")))
    assert times(list(sim.last), "pod_forgotten") == []
    assert scheduler_of(sim).cache.assumed in ({}, {WEB: "a"})


def test_with_the_historical_setting_an_unconfirmed_pod_expires_and_its_room_is_given_away() -> None:
    sim = lagging(60 * SECOND, node("a", cpu="1"), pod("web"), assumed_pod_ttl=30 * SECOND)
    sim.run(until=lambda w: bool(nodes_of(w)[WEB]))
    bound = sim.now
    records = sim.run(until=lambda w: bool(of_kind(list(w.last), "pod_forgotten"))).records
    assert of_kind(records, "pod_forgotten") == [{"pod": WEB, "cause": "expired"}]
    assert bound + 30 * SECOND < sim.now <= bound + 31 * SECOND
    assert sim.now % SECOND == 0
    assert scheduler_of(sim).cache.table().requested[0, 0] == 0


def test_a_confirmed_pod_does_not_expire() -> None:
    sim = lagging(0, node("a"), pod("web"), assumed_pod_ttl=SECOND)
    records = settle(sim)
    assert of_kind(records, "pod_forgotten") == []


# Limits of the client


def bound_at(sim: Simulation) -> list[int]:
    """When each pod was bound, in order (ns)."""
    return times([r for r in settle(sim) if r.kind == "binding_ended"], "binding_ended")


def limited(qps: int, burst: int, pods: int) -> Simulation:
    settings = WorldSettings(client_qps=qps, client_burst=burst, cycle_cost=0, bind_cost=0)
    sim = Simulation(settings=settings)
    sim.apply(ApplyObjects((node("a", cpu="99"), *(pod(f"web-{i}") for i in range(pods)))))
    return sim


def test_calls_beyond_the_burst_wait_for_their_turn() -> None:
    assert bound_at(limited(2, 3, 6)) == [0, 0, 0, SECOND // 2, SECOND, 3 * SECOND // 2]


def test_the_bucket_fills_again_up_to_the_burst() -> None:
    sim = limited(10, 2, 3)
    settle(sim)
    later = sim.now + 5 * SECOND
    sim.agenda.now = later
    sim.apply(ApplyObjects(tuple(pod(f"late-{i}") for i in range(4))))
    assert [t - later for t in bound_at(sim)] == [0, 0, SECOND // 10, SECOND // 5]


def test_a_call_that_is_held_back_is_told() -> None:
    records = settle(limited(2, 1, 2))
    (told,) = of_kind(records, "api_throttled")
    assert told == {"call": "bind", "pod": "default/web-1", "wait": SECOND // 2, "qps": 2, "burst": 1}


def test_by_default_nothing_is_limited_though_kubes_configuration_says_fifty() -> None:
    sim = Simulation()
    sim.apply(ApplyObjects((node("a", cpu="999"), *(pod(f"web-{i}", cpu="10m") for i in range(110)))))
    assert of_kind(settle(sim), "api_throttled") == []


def test_limits_of_a_configuration_count_where_they_are_not_kubes_default() -> None:
    sim = Simulation()
    sim.apply(SetConfiguration(configuration(clientConnection={"qps": 1, "burst": 1})))
    sim.apply(ApplyObjects((node("a"), pod("web"), pod("api"))))
    assert len(of_kind(settle(sim), "api_throttled")) == 1


@pytest.mark.parametrize("qps", [1e-320, 1e-9])
def test_a_limit_that_lets_nearly_nothing_through_lets_a_call_through_each_hour(qps: float) -> None:
    sim = Simulation()
    sim.apply(SetConfiguration(configuration(clientConnection={"qps": qps, "burst": 1})))
    sim.apply(ApplyObjects((node("a"), pod("web"), pod("api"))))
    [told] = of_kind(settle(sim), "api_throttled")
    assert told["wait"] in range(3599 * SECOND, 3600 * SECOND + 1)


def test_a_backoff_of_ages_never_ends_and_the_clock_stays_where_it_can_be_told() -> None:
    sim = Simulation()
    ages = 9 * 10**17
    sim.apply(SetConfiguration(configuration(podInitialBackoffSeconds=ages, podMaxBackoffSeconds=ages)))
    sim.apply(ApplyObjects((node("a"), pod("web"))))
    sim.apply(FailCall("bind", WEB, 500))
    settle(sim)
    assert (sim.idle, nodes_of(sim), sim.journal.place(WEB)) == (True, {WEB: ""}, Place.BACKOFF)
    assert sim.now < SECOND


def test_a_setting_wins_over_the_configuration() -> None:
    sim = Simulation()
    sim.apply(SetConfiguration(configuration(clientConnection={"qps": 1, "burst": 1})))
    sim.apply(SetSettings({"client_qps": 1000}))
    sim.apply(ApplyObjects((node("a"), pod("web"), pod("api"))))
    assert of_kind(settle(sim), "api_throttled") == []


def test_evictions_are_held_back_too() -> None:
    sim = Simulation(settings=WorldSettings(client_qps=1, client_burst=1))
    sim.apply(ApplyObjects((node("a", cpu="1"), pod("low"))))
    settle(sim)
    sim.apply(ApplyObjects((pod("web", priority=5),)))
    told = of_kind(settle(sim), "api_throttled")
    assert {(t["call"], t["pod"]) for t in told} >= {("delete", "default/low")}
    assert nodes_of(sim) == {WEB: "a"}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"client_qps": -1}, "settings.client_qps: -1 0 to 10000 calls a second"),
        ({"client_burst": 0}, "settings.client_burst: 0 1 to 10000 calls"),
        ({"client_qps": 0.5}, "settings.client_qps: 0.5 whole calls a second"),
        ({"informer_lag": 3601 * SECOND}, "settings.informer_lag: 3601000000000 0 to 3600000000000 nanoseconds"),
    ],
)
def test_a_bad_limit_is_refused(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(Refused, match=said):
        Simulation().apply(SetSettings(changes))
