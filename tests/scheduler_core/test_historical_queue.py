"""The historical queue, statement by statement of the document that describes it (reference 003)."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_core.apiserver.status import Refused
from scheduler_core.base.trace.journal import Place
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
from tests.scheduler_core.worlds import configuration, node, nodes_of, of_kind, pod, scheduler_of, settle
from tests.support.storage import make_claim, make_class, make_volume

SECOND = 1_000_000_000
BIG = "default/big"


def historical(*objects: Any, **settings: Any) -> Simulation:
    sim = Simulation(settings=WorldSettings(queue_mode="historical", **settings))
    sim.apply(ApplyObjects(objects))
    return sim


def refused_once() -> Simulation:
    """A pod too big for the node has failed once and is unschedulable."""
    sim = historical(node("a"), pod("big", cpu="9"))
    sim.run(until=lambda w: bool(w.journal.attempts))
    return sim


def place(sim: Simulation, key: str = BIG) -> str:
    return sim.journal.place(key)


def pass_time(sim: Simulation, until: int) -> None:
    """Everything up to a time (ns) happens."""
    while sim.due(until):
        sim.advance()
    sim.agenda.now = max(sim.agenda.now, until)


# Active queue


def test_the_highest_priority_is_at_the_top() -> None:
    sim = historical(pod("low"), pod("high", priority=9), node("a"))
    settle(sim)
    assert [attempt.pod for attempt in sim.journal.attempts] == ["default/high", "default/low"]


def test_a_pod_that_fails_goes_to_the_unschedulable_queue() -> None:
    assert place(refused_once()) == Place.UNSCHEDULABLE


def test_a_pod_that_fails_by_an_error_goes_there_too() -> None:
    sim = historical(node("a"), pod("big", annotations={"playground.dev/reserve": "fail"}), demonstration=True)
    sim.run(until=lambda w: bool(w.journal.attempts))
    assert place(sim) == Place.UNSCHEDULABLE


def test_it_goes_to_the_backoff_queue_where_a_move_request_came_in_the_same_cycle() -> None:
    sim = historical(node("a"), pod("big", cpu="9"))
    sim.run(steps=4)
    assert scheduler_of(sim).cycle is not None
    sim.apply(ApplyObjects((node("b"),)))
    records = sim.run(until=lambda w: bool(w.journal.attempts)).records
    assert place(sim) == Place.BACKOFF
    told = of_kind(records, "queue_moved")[-1]
    assert (told["cause"], told["hint"]) == ("ScheduleAttemptFailure", "moveRequestCycle")
    assert told["event"] == "NodeAdd"


def test_a_move_request_of_an_earlier_cycle_does_not_count() -> None:
    sim = refused_once()
    sim.apply(ApplyObjects((pod("other", cpu="9"),)))
    sim.run(until=lambda w: len(w.journal.attempts) == 2)
    assert place(sim, "default/other") == Place.UNSCHEDULABLE


def test_a_binding_that_fails_after_newer_cycles_had_a_move_request_goes_to_backoff() -> None:
    sim = historical(node("a"), pod("big"))
    sim.apply(FailCall("bind", BIG, 409, latency=5 * SECOND))
    sim.run(until=lambda w: bool(scheduler_of(w).bindings))
    sim.apply(ApplyObjects((pod("later", cpu="9"),)))
    sim.run(until=lambda w: len(w.journal.attempts) == 2)
    sim.apply(ApplyObjects((node("b", cpu="1"),)))
    assert scheduler_of(sim).queue.state.move_request == (2, "NodeAdd")
    sim.run(until=lambda w: not scheduler_of(w).bindings)
    assert place(sim) == Place.BACKOFF


def test_a_pod_that_is_scheduled_is_in_no_queue() -> None:
    sim = historical(node("a"), pod("big"))
    settle(sim)
    assert nodes_of(sim) == {BIG: "a"}
    assert BIG not in scheduler_of(sim).queue


# Backoff queue


@pytest.mark.parametrize(("failed", "seconds"), [(1, 2), (2, 4), (3, 8), (5, 32)])
def test_the_backoff_is_two_to_the_number_of_failed_attempts(failed: int, seconds: int) -> None:
    sim = historical()
    sim.apply(SetConfiguration(configuration(podMaxBackoffSeconds=100)))
    sim.apply(ApplyObjects((node("a"), pod("big", cpu="9"))))
    sim.run(until=lambda w: bool(w.journal.attempts))
    for more in range(1, failed):
        sim.apply(ApplyObjects((node(f"n{more}"),)))
        sim.run(until=lambda w, n=more: len(w.journal.attempts) > n)  # type: ignore[misc]
    entry = scheduler_of(sim).queue.find(BIG)
    assert entry is not None
    assert entry.backoff_until == entry.timestamp + seconds * SECOND


def test_the_backoff_ends_at_the_maximum_of_ten_seconds() -> None:
    sim = refused_once()
    for more in range(1, 5):
        sim.apply(ApplyObjects((node(f"n{more}"),)))
        sim.run(until=lambda w, n=more: len(w.journal.attempts) > n)  # type: ignore[misc]
    entry = scheduler_of(sim).queue.find(BIG)
    assert entry is not None
    assert entry.backoff_until == entry.timestamp + 10 * SECOND


def test_a_pod_that_backs_off_is_not_popped_though_nothing_is_active() -> None:
    sim = refused_once()
    sim.apply(ApplyObjects((node("b", cpu="16"),)))
    assert place(sim) == Place.BACKOFF
    assert not scheduler_of(sim).queue.ready


def test_each_second_those_that_backed_off_long_enough_become_active() -> None:
    sim = refused_once()
    sim.apply(ApplyObjects((node("b", cpu="16"),)))
    settle(sim)
    assert nodes_of(sim) == {BIG: "b"}
    moved = [move for move in sim.journal.lane(BIG) if move.cause == "BackoffComplete"]
    assert [move.t for move in moved] == [3 * SECOND]


# Unschedulable queue


@pytest.mark.parametrize(("since", "moved"), [(0, 30), (1, 60), (29, 60), (30, 60), (31, 90)])
def test_after_30_to_60_seconds_a_leftover_is_tried_again(since: int, moved: int) -> None:
    sim = historical(node("a"), cycle_cost=0)
    pass_time(sim, since * SECOND)
    sim.apply(ApplyObjects((pod("big", cpu="9"),)))
    pass_time(sim, moved * SECOND - 1)
    assert place(sim) == Place.UNSCHEDULABLE
    pass_time(sim, moved * SECOND)
    assert len(sim.journal.attempts) == 2
    assert "UnschedulableTimeout" in [move.cause for move in sim.journal.lane(BIG)]


def test_the_period_is_fixed() -> None:
    sim = historical(node("a"), pod("big", cpu="9"), max_in_unschedulable=3600 * SECOND)
    pass_time(sim, 61 * SECOND)
    assert len(sim.journal.attempts) == 2


def test_without_a_move_request_a_pod_stays() -> None:
    sim = refused_once()
    pass_time(sim, 29 * SECOND)
    assert place(sim) == Place.UNSCHEDULABLE


# Move requests

CHANGES = {
    "a node is added": ApplyObjects((node("b", cpu="1"),)),
    "a node is changed": PatchObject(Ref("Node", "", "a"), {"metadata": {"labels": {"x": "y"}}}),
    "a node is deleted": DeleteObjects((Ref("Node", "", "a"),)),
    "a pod is deleted": DeleteObjects((Ref("Pod", "default", "bound"),)),
    "a service is added": ApplyObjects(
        (
            {
                "apiVersion": "v1",
                "kind": "Service",
                "metadata": {"name": "s"},
                "spec": {"selector": {"a": "b"}, "ports": [{"port": 80}]},
            },
        )
    ),
    "a volume is added": ApplyObjects((make_volume("v"),)),
    "a claim is added": ApplyObjects((make_claim("c"),)),
    "a class is added": ApplyObjects((make_class(),)),
    "a CSINode is added": ApplyObjects(
        ({"apiVersion": "storage.k8s.io/v1", "kind": "CSINode", "metadata": {"name": "a"}, "spec": {"drivers": []}},)
    ),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_change_moves_every_unschedulable_pod_and_nobody_is_asked(change: Any) -> None:
    sim = historical(node("a"), {**pod("bound"), "spec": {**pod("bound")["spec"], "nodeName": "a"}})
    sim.apply(ApplyObjects((pod("big", cpu="9"),)))
    sim.run(until=lambda w: bool(w.journal.attempts))
    sim.apply(change)
    if place(sim) == Place.UNSCHEDULABLE:  # a deleted pod takes its time to end
        sim.run(until=lambda w: place(w) != Place.UNSCHEDULABLE, steps=20)
    assert place(sim) in (Place.BACKOFF, Place.ACTIVE)


def test_by_hints_the_same_service_moves_nobody() -> None:
    sim = Simulation()
    sim.apply(ApplyObjects((node("a"), pod("big", cpu="9"))))
    sim.run(until=lambda w: bool(w.journal.attempts))
    sim.apply(CHANGES["a service is added"])
    assert place(sim) == Place.UNSCHEDULABLE


def affine(to: str) -> dict[str, Any]:
    term = {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": to}}}
    required = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    return pod(f"near-{to}", affinity=required)


def test_a_pod_that_is_scheduled_moves_those_with_matching_affinity_only() -> None:
    sim = historical(node("a"), affine("db"), affine("cache"))
    sim.run(until=lambda w: len(w.journal.attempts) == 2)
    db = pod("db")
    db["metadata"]["labels"] = {"app": "db"}
    sim.apply(ApplyObjects((db,)))
    sim.run(until=lambda w: bool(nodes_of(w)["default/db"]))
    assert place(sim, "default/near-db") == Place.BACKOFF
    assert place(sim, "default/near-cache") == Place.UNSCHEDULABLE


def test_a_changed_pod_moves_itself_and_a_changed_status_does_not() -> None:
    sim = refused_once()
    sim.run(until=lambda w: bool(w.store.pod_at(BIG).condition("PodScheduled")))  # type: ignore[union-attr]
    assert place(sim) == Place.UNSCHEDULABLE
    sim.apply(PatchObject(Ref("Pod", "default", "big"), {"metadata": {"labels": {"x": "y"}}}))
    assert place(sim) == Place.BACKOFF


# The mode


def test_the_mode_restarts_the_schedulers() -> None:
    sim = Simulation()
    records = sim.apply(SetSettings({"queue_mode": "historical"}))
    assert len(of_kind(records, "scheduler_started")) == 1
    assert scheduler_of(sim).queue.options.historical


def test_a_copy_is_historical_too() -> None:
    sim = refused_once()
    twin = sim.fork()
    pass_time(twin, 61 * SECOND)
    pass_time(sim, 61 * SECOND)
    assert len(twin.journal.attempts) == len(sim.journal.attempts) == 2


def test_an_unknown_mode_is_refused() -> None:
    with pytest.raises(Refused, match=r"settings\.queue_mode: .2019. historical or v1\.34"):
        Simulation().apply(SetSettings({"queue_mode": "2019"}))


def test_a_gated_pod_waits_for_its_gate_alone() -> None:
    sim = historical(node("a"), pod("big", schedulingGates=[{"name": "g"}]))
    sim.apply(ApplyObjects((node("b"),)))
    assert place(sim) == Place.GATED
    sim.apply(PatchObject(Ref("Pod", "default", "big"), {"spec": {"schedulingGates": []}}))
    settle(sim)
    assert nodes_of(sim)[BIG] in ("a", "b")
