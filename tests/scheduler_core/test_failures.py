"""Every way in which an attempt or a binding fails after the pod was assumed: rollback, message, place, condition, Event, nomination."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_core.base.trace.journal import Place
from scheduler_core.base.trace.records import Record
from scheduler_core.world.commands import ApplyObjects, DeleteObjects, Ref, SetSettings
from scheduler_core.world.simulation import Simulation
from tests.scheduler_core.worlds import node, nodes_of, of_kind, pod, scheduler_of, settle
from tests.support.storage import make_claim, make_class

WEB = "default/web"


def begun(name: str, value: str, **settings: Any) -> Simulation:
    """A node, and a pod whose annotation has a plugin fail."""
    sim = Simulation()
    sim.apply(SetSettings({"demonstration": True, **settings}))
    sim.apply(ApplyObjects((node("a"), pod("web", annotations={f"playground.dev/{name}": value}))))
    return sim


def failed(sim: Simulation) -> list[Record]:
    """Everything up to the condition that tells of the first failure."""

    def told(w: Simulation) -> bool:
        live = w.store.pod_at(WEB)
        return live is not None and live.condition("PodScheduled") is not None

    return sim.run(until=told, steps=500).records


NOT_FOUND = "0/1 nodes are available: 1 "
CASES = [
    ("reserve", "reject", NOT_FOUND + "the pod asks to be rejected: playground.dev/reserve=reject.", "Unschedulable"),
    ("reserve", "fail", 'running Reserve plugin "Demonstration": the pod asks to fail', "SchedulerError"),
    ("permit", "reject", NOT_FOUND + "the pod asks to be rejected: playground.dev/permit=reject.", "Unschedulable"),
    ("permit", "fail", 'running Permit plugin "Demonstration": the pod asks to fail', "SchedulerError"),
    ("permit", "wait:2s", NOT_FOUND + "rejected due to timeout after waiting 2s at plugin Demonstration.", "Unschedulable"),
    ("pre-bind", "reject", "the pod asks to be rejected: playground.dev/pre-bind=reject", "Unschedulable"),
    ("pre-bind", "fail", 'running PreBind plugin "Demonstration": the pod asks to fail', "SchedulerError"),
    ("bind", "fail", 'running Bind plugin "Demonstration": the pod asks to fail', "SchedulerError"),
]  # fmt: skip
names = pytest.mark.parametrize(("name", "value", "message", "reason"), CASES, ids=lambda v: str(v)[:10])


@names
def test_a_failure_is_told_by_event_and_condition(name: str, value: str, message: str, reason: str) -> None:
    sim = begun(name, value)
    events = of_kind(failed(sim), "event")
    assert [(e["reason"], e["message"].startswith(message)) for e in events] == [("FailedScheduling", True)]
    live = sim.store.pod_at(WEB)
    assert live is not None
    condition = live.condition("PodScheduled")
    assert condition is not None
    assert (condition["status"], condition["reason"]) == ("False", reason)
    assert condition["message"].startswith(message)


@names
def test_a_failure_gives_everything_back_in_reverse_order(name: str, value: str, message: str, reason: str) -> None:
    sim = begun(name, value)
    records = failed(sim)
    ran = [(step["point"], step["plugin"]) for step in of_kind(records, "plugin_ran")]
    reserved = [plugin for point, plugin in ran if point == "Reserve"]
    assert [plugin for point, plugin in ran if point == "Unreserve"] == reserved[::-1]
    assert [forgotten["pod"] for forgotten in of_kind(records, "pod_forgotten")] == [WEB]
    assert scheduler_of(sim).cache.table().pod_count.tolist() == [0]


@names
def test_a_failed_pod_is_back_in_the_queue_and_no_longer_in_flight(
    name: str, value: str, message: str, reason: str
) -> None:
    sim = begun(name, value)
    failed(sim)
    scheduler = scheduler_of(sim)
    # The demonstration plugin says not what may help, so the patch of the pod's own status moves what it rejected.
    assert sim.journal.place(WEB) in (Place.BACKOFF, Place.UNSCHEDULABLE)
    assert WEB in scheduler.queue
    assert scheduler.queue.in_flight == []
    assert scheduler.bindings == {}


@pytest.mark.parametrize(("keep", "left"), [(False, ""), (True, "a")])
def test_a_binding_that_fails_takes_the_nomination_back_unless_it_is_to_last(keep: bool, left: str) -> None:
    sim = begun("bind", "fail", expect_nominated_node=keep)
    sim.change(lambda: sim.store.patch_pod_status(WEB, sim.now, nominated_node_name="a") and None)
    failed(sim)
    live = sim.store.pod_at(WEB)
    assert live is not None
    assert live.nominated_node_name == left


def test_a_node_that_goes_between_assume_and_bind_is_bound_to_all_the_same() -> None:
    sim = begun("pre-bind", "delay:3s", cluster={"controllers": []})
    sim.run(until=lambda w: bool(scheduler_of(w).bindings))
    sim.apply(DeleteObjects((Ref("Node", "", "a"),)))
    settle(sim)
    assert nodes_of(sim) == {WEB: "a"}


def test_a_node_that_goes_while_volumes_are_bound_fails_prebind() -> None:
    sim = Simulation()
    claimed = pod("web", volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}])
    objects = (node("a"), make_class(provisioner="csi.x"), make_claim("c"), claimed)
    sim.apply(ApplyObjects(objects))
    sim.run(until=lambda w: bool(scheduler_of(w).bindings))
    sim.apply(DeleteObjects((Ref("Node", "", "a"),)))
    records = failed(sim)
    (ended,) = of_kind(records, "binding_ended")
    assert ended["message"] == (
        'running PreBind plugin "VolumeBinding": binding volumes: failed to get node "a": node "a" not found'
    )


def test_a_rejection_by_permit_wakes_others_but_not_the_pod_itself() -> None:
    sim = begun("permit", "wait:2s")
    sim.apply(ApplyObjects((pod("other", cpu="4"),)))
    records = sim.run(steps=400).records
    moved = [m for m in of_kind(records, "queue_moved") if m["cause"] == "AssignedPodDelete"]
    assert {m["pod"] for m in moved} == {"default/other"}
