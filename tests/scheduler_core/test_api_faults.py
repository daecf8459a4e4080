"""Calls to the API server that fail or take their time on demand, and what the scheduler makes of it."""

from __future__ import annotations

import json
from typing import Any, get_args

import msgspec
import pytest

from scheduler_core.apiserver.faults import FAULT_CODES, StatusCode
from scheduler_core.apiserver.status import Refused
from scheduler_core.base.trace.journal import Place
from scheduler_core.base.trace.records import Record
from scheduler_core.world.commands import (
    ApplyObjects,
    DeleteObjects,
    FailCall,
    Redo,
    Ref,
    SetSettings,
    Undo,
    command_from_json,
)
from scheduler_core.world.simulation import Simulation
from tests.scheduler_core.worlds import node, nodes_of, of_kind, pod, scheduler_of, settle, world
from tests.support.storage import make_claim, make_class

SECOND = 1_000_000_000
MILLISECOND = 1_000_000
WEB = "default/web"


def fails(call: str, pod: str = WEB, code: int = 0, **more: Any) -> FailCall:
    return FailCall(call, pod, code, **more)


def binding_of_web() -> Simulation:
    """A world where the binding cycle of `web` has just begun."""
    sim = world(node("a"), pod("web"))
    sim.run(until=lambda w: bool(scheduler_of(w).bindings))
    return sim


def calls(records: list[Record], verb: str) -> list[dict[str, Any]]:
    return [data for data in of_kind(records, "api_call") if data["verb"] == verb]


def ended(sim: Simulation) -> dict[str, Any]:
    """How the binding cycle in progress ends."""
    records = sim.run(until=lambda w: not scheduler_of(w).bindings).records
    return of_kind(records, "binding_ended")[0]


@pytest.mark.parametrize(
    ("code", "message"),
    [
        (403, 'pods "web" is forbidden: User "system:kube-scheduler" cannot create resource "pods/binding"'),
        (404, 'pods "web" not found'),
        (409, 'Operation cannot be fulfilled on pods/binding "web": the object has been modified;'),
        (500, 'an error on the server ("unknown") has prevented the request from succeeding (post pods web)'),
        (503, "the server is currently unable to handle the request (post pods web)"),
        (504, "the server was unable to return a response in the time allotted, but may still be processing"),
    ],
)
def test_a_binding_fails_in_kubes_words(code: int, message: str) -> None:
    sim = binding_of_web()
    sim.apply(fails("bind", code=code))
    told = ended(sim)
    assert told["outcome"] == "error"
    assert told["message"].startswith(f'running Bind plugin "DefaultBinder": {message}')


def test_a_failed_binding_is_rolled_back_and_tried_again_with_success() -> None:
    sim = binding_of_web()
    sim.apply(fails("bind", code=409))
    ended(sim)
    assert scheduler_of(sim).cache.assumed == {}
    assert sim.journal.place(WEB) == Place.BACKOFF
    settle(sim)
    assert nodes_of(sim) == {WEB: "a"}
    assert sim.faults == {}


def test_a_failure_can_be_asked_for_while_the_call_is_on_its_way() -> None:
    sim = binding_of_web()
    sim.run(until=lambda w: bool(scheduler_of(w).calls.running))
    sim.apply(fails("bind", code=500))
    assert ended(sim)["outcome"] == "error"


def test_a_failure_can_be_asked_for_in_the_middle_of_the_pods_scheduling_cycle() -> None:
    sim = world(node("a"), pod("web"))
    sim.run(steps=5)
    assert scheduler_of(sim).cycle is not None
    sim.apply(fails("bind", code=409))
    sim.run(until=lambda w: bool(scheduler_of(w).bindings))
    assert ended(sim)["outcome"] == "error"


def test_a_binding_fails_as_often_as_asked_for() -> None:
    sim = binding_of_web()
    sim.apply(fails("bind", code=500, times=3))
    records = settle(sim)
    assert [data["outcome"] for data in of_kind(records, "binding_ended")] == ["error"] * 3 + ["bound"]


def test_an_answer_that_is_lost_leaves_the_pod_bound() -> None:
    sim = binding_of_web()
    sim.apply(fails("bind", code=504, after_write=True))
    assert ended(sim)["outcome"] == "error"
    settle(sim)
    assert nodes_of(sim) == {WEB: "a"}
    assert WEB not in scheduler_of(sim).queue
    assert scheduler_of(sim).cache.table().pod_count.tolist() == [1]


def test_a_call_takes_as_long_as_asked_for_and_the_next_one_the_usual_time() -> None:
    sim = world(node("a"), pod("web"), pod("api"))
    sim.apply(fails("bind", latency=3 * SECOND))
    records = settle(sim)
    bound = {r.data["pod"]: r.t for r in records if r.kind == "binding_ended"}
    assert 3 * SECOND < bound[WEB] < 4 * SECOND
    assert bound["default/api"] < SECOND


def test_a_call_on_its_way_can_be_made_slow() -> None:
    sim = binding_of_web()
    sim.run(until=lambda w: bool(scheduler_of(w).calls.running))
    sim.apply(fails("bind", latency=2 * SECOND))
    before = sim.now
    assert ended(sim)["outcome"] == "bound"
    assert sim.now == before + 2 * SECOND


def test_a_call_answered_429_is_made_again_after_a_second() -> None:
    sim = binding_of_web()
    sim.apply(fails("bind", code=429, times=2))
    before = sim.now
    records = sim.run(until=lambda w: not scheduler_of(w).bindings).records
    assert of_kind(records, "binding_ended")[0]["outcome"] == "bound"
    assert [call.get("again_after") for call in calls(records, "BIND")] == [SECOND, SECOND, None]
    assert 2 * SECOND < sim.now - before < 3 * SECOND


def test_a_client_gives_up_after_ten_more_times() -> None:
    sim = binding_of_web()
    sim.apply(fails("bind", code=429, times=1000))
    told = ended(sim)
    assert "the server has received too many requests and has asked us to try again later" in told["message"]
    assert sim.faults["bind", WEB].times == 1000 - 11


def test_a_status_patch_is_made_again_after_an_error_of_the_server() -> None:
    sim = world(node("a"), pod("web", cpu="99"))
    sim.apply(fails("status", code=500, times=2))
    records = settle(sim)
    pauses = [call.get("again_after") for call in calls(records, "PATCH")]
    assert pauses[:3] == [10 * MILLISECOND, 50 * MILLISECOND, None]
    assert sim.store.pod_at(WEB).condition("PodScheduled") is not None  # type: ignore[union-attr]


def test_a_status_patch_that_is_refused_is_not_made_again() -> None:
    sim = world(node("a"), pod("web", cpu="99"))
    sim.apply(fails("status", code=403))
    settle(sim)
    assert sim.store.pod_at(WEB).condition("PodScheduled") is None  # type: ignore[union-attr]


def test_with_synchronous_calls_the_cycle_waits_until_the_patch_got_through() -> None:
    sim = Simulation()
    sim.apply(SetSettings({"async_api_calls": False}))
    sim.apply(ApplyObjects((node("a"), pod("web", cpu="99"))))
    sim.apply(fails("status", code=500))
    records = settle(sim)
    ends = [r.t for r in records if r.kind == "attempt_ended"]
    answered = [r.t for r in records if r.kind == "api_call" and "fault" not in r.data]
    assert ends[0] == answered[0]


def preemption(**settings: bool) -> Simulation:
    """A full node, and a pod of higher priority that will evict one of its pods."""
    sim = Simulation()
    sim.apply(SetSettings(settings))
    sim.apply(ApplyObjects((node("a", cpu="2"), pod("low-1"), pod("low-2"))))
    settle(sim)
    sim.apply(ApplyObjects((pod("web", cpu="2", priority=5),)))
    return sim


@pytest.mark.parametrize("call", ["status", "delete"])
def test_a_preemption_that_fails_has_the_preemptor_tried_again(call: str) -> None:
    sim = preemption(async_preemption=True)
    for name in ("low-1", "low-2"):
        sim.apply(fails(call, f"default/{name}", code=403))
    records = sim.run(until=lambda w: len(w.journal.attempts) >= 4).records
    moves = [m["cause"] for m in of_kind(records, "queue_moved") if m["pod"] == WEB]
    assert "ForceActivate" in moves
    settle(sim)
    assert nodes_of(sim) == {WEB: "a"}


def test_without_async_preemption_the_error_is_postfilters_answer() -> None:
    sim = preemption(async_preemption=False)
    for name in ("low-1", "low-2"):
        sim.apply(fails("delete", f"default/{name}", code=403))
    sim.run(until=lambda w: len(w.journal.attempts) >= 3)
    message = sim.journal.attempts[-1].message
    assert 'preemption: pods "low-' in message
    assert 'is forbidden: User "system:kube-scheduler" cannot delete resource "pods"' in message
    settle(sim)
    assert sim.journal.place(WEB) == Place.UNSCHEDULABLE  # until an event or the timeout, as in kube


def test_the_deletion_of_a_victim_can_be_made_slow_while_it_is_on_its_way() -> None:
    sim = preemption(async_preemption=True)
    sim.run(until=lambda w: any(job.has_condition for job in scheduler_of(w).evictions.values()))
    (job,) = scheduler_of(sim).evictions.values()
    asked, victim = sim.now, job.victims[job.index]
    sim.apply(fails("delete", victim.key, latency=5 * SECOND))
    sim.run(until=lambda w: (w.store.pod_at(victim.key) or victim).deleting or not w.store.pod_at(victim.key))
    assert sim.now == asked + 5 * SECOND


def test_a_pod_that_is_not_there_is_refused() -> None:
    with pytest.raises(Refused, match=r"pod: 'default/web' namespace/name of a pod that exists"):
        Simulation().apply(fails("bind", code=409))


def test_the_binding_of_a_bound_pod_cannot_fail_any_more() -> None:
    sim = world(node("a"), pod("web"))
    settle(sim)
    with pytest.raises(Refused, match="but this one is on a"):
        sim.apply(fails("bind", code=409))


def test_what_was_asked_for_is_taken_back_by_zero_times_or_by_undo() -> None:
    sim = world(node("a"), pod("web"))
    sim.apply(fails("bind", code=409))
    sim.apply(fails("bind", times=0))
    assert sim.faults == {}
    sim.apply(Undo())
    assert sim.faults["bind", WEB].code == 409
    sim.apply(Undo())
    sim.apply(Redo())
    assert sim.faults["bind", WEB].code == 409


def test_taking_back_what_nobody_asked_for_is_refused() -> None:
    with pytest.raises(Refused, match="no fault is injected into the bind calls of default/web"):
        world(pod("web")).apply(fails("bind", times=0))


def test_a_pod_that_goes_takes_along_what_was_asked_for_it() -> None:
    sim = world(pod("web"))
    sim.apply(fails("bind", code=409))
    sim.apply(DeleteObjects((Ref("Pod", "default", "web"),)))
    assert sim.faults == {}


def test_a_fork_has_the_failures_that_were_asked_for_as_its_own() -> None:
    sim = world(node("a"), pod("web"))
    sim.apply(fails("bind", code=409))
    twin = sim.fork()
    settle(twin)
    assert (twin.faults, len(sim.faults)) == ({}, 1)


@pytest.mark.parametrize("code", FAULT_CODES)
def test_every_answer_survives_json(code: int) -> None:
    command = fails("volumes", code=code, times=2, after_write=True, latency=5, message="no")
    assert command_from_json(json.loads(json.dumps(msgspec.to_builtins(command)))) == command


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"call": "watch"}, "call: 'watch' one of bind, claims, delete, status, volumes"),
        ({"code": 418}, "code: 418 one of 0, 403, 404"),
        ({"code": True}, "code: True"),
        ({"times": -1}, "times: -1 0 to 1000"),
        ({"latency": 3601 * SECOND}, "latency: 3601000000000 0 to 3600000000000 ns, or null"),
        ({"latency": 1.5}, "latency: 1.5"),
        ({"after_write": 1}, "after_write: 1 true or false"),
        ({"message": "x" * 501}, "at most 500"),
        ({"code": 0}, "a status code, a latency, or both"),
        ({"code": 0, "latency": 1, "after_write": True}, "because message or after_write is set"),
        ({"pod": 1}, "pod: 1 a string"),
    ],
)
def test_a_bad_failure_is_refused_with_its_field(changes: dict[str, Any], said: str) -> None:
    good = {"kind": "FailCall", "call": "bind", "pod": WEB, "code": 409}
    with pytest.raises(Refused) as refused:
        command_from_json({**good, **changes})
    assert said in str(refused.value)


def test_costs_change_at_once_and_nobody_restarts() -> None:
    sim = world(node("a"), pod("web"))
    sim.run(steps=5)
    cycle = scheduler_of(sim).cycle
    records = sim.apply(SetSettings({"cycle_cost": 2 * SECOND, "bind_cost": 3 * SECOND}))
    assert of_kind(records, "scheduler_started") == []
    assert scheduler_of(sim).cycle is cycle
    settle(sim)
    assert [a.ended for a in sim.journal.attempts] == [2 * SECOND]
    assert nodes_of(sim) == {WEB: "a"}


def test_a_gate_restarts_the_schedulers() -> None:
    records = world(node("a")).apply(SetSettings({"pop_from_backoff": False}))
    assert len(of_kind(records, "scheduler_started")) == 1


def volume_world() -> Simulation:
    """A pod whose claim is bound in PreBind."""
    claimed = pod("web", volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}])
    return world(node("a"), make_class(provisioner="csi.x"), make_claim("c"), claimed)


def test_an_update_of_a_claim_that_fails_ends_prebind_and_is_made_at_the_next_attempt() -> None:
    sim = volume_world()
    sim.apply(fails("volumes", code=409))
    records = settle(sim)
    first, second = of_kind(records, "binding_ended")
    assert first["message"].startswith(
        'running PreBind plugin "VolumeBinding": Operation cannot be fulfilled on '
        'persistentvolumeclaims "c": the object has been modified'
    )
    assert second["outcome"] == "bound"


def test_updates_of_volumes_can_be_slow_and_are_made_again_after_429() -> None:
    sim = volume_world()
    sim.apply(fails("volumes", code=429, latency=2 * SECOND))
    records = settle(sim)
    assert [call.get("again_after") for call in calls(records, "UPDATE")] == [SECOND, None]
    (written,) = (r.t for r in records if r.kind == "api_call" and "patch" in r.data)
    assert written > 3 * SECOND
    assert nodes_of(sim) == {WEB: "a"}


def test_every_code_that_can_be_asked_for_has_its_answer() -> None:
    assert get_args(StatusCode) == (0, *FAULT_CODES)
