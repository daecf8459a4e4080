"""A claim's life in a world: allocated, reserved, shared; what wakes pods that wait; calls that fail."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_core.world.commands import ApplyObjects, DeleteObjects, FailCall, PatchObject, Ref
from scheduler_core.world.simulation import Simulation
from tests.scheduler_core.scheduler.plugins.dynamicresources.worlds import (
    device_world,
    devices_of,
    go_on,
    messages,
    node_of,
    reserved_for,
    status_of,
)
from tests.scheduler_core.world.checkpoint.rich import again
from tests.scheduler_core.worlds import node, of_kind, pod
from tests.support.devices import claim, claiming, device, device_class, gpus, request, taint_rule


def refused(sim: Simulation, name: str) -> str:
    """Lets the scheduler try a pod; why it failed."""
    said = messages(go_on(sim), name)
    assert node_of(sim, name) == ""
    return said[-1] if said else ""


def add(sim: Simulation, *objects: Any) -> None:
    sim.apply(ApplyObjects(objects))


def patch_status(sim: Simulation, name: str, **status: Any) -> None:
    ref = Ref("ResourceClaim", "default", name)
    sim.apply(PatchObject(ref, {"status": status}, subresource="status"))


# Allocation


def test_a_claim_is_allocated_and_reserved_before_its_pod_is_bound() -> None:
    sim = device_world(node("a"), gpus("a"), claim("c"), claiming(pod("p"), "c"))
    calls = [(call["verb"], call.get("object", "")) for call in of_kind(go_on(sim), "api_call")]
    assert calls == [("UPDATE", "default/c"), ("UPDATE", "default/c/status"), ("BIND", "")]
    assert (devices_of(sim, "c"), reserved_for(sim, "c"), node_of(sim, "p")) == (
        ["gpu.example.com/a/gpu-0"],
        ["p"],
        "a",
    )


def test_each_pod_gets_devices_of_its_own_while_others_are_still_being_bound() -> None:
    pods = [claiming(pod(f"p{i}"), f"c{i}") for i in range(4)]
    claims = [claim(f"c{i}") for i in range(4)]
    sim = device_world(node("a"), node("b"), gpus("a"), gpus("b"), *claims, *pods, bind_cost=10**9)
    go_on(sim, 5)
    given = [each for i in range(4) for each in devices_of(sim, f"c{i}")]
    assert len(set(given)) == 4


def test_pods_share_a_claim_on_its_node() -> None:
    pods = [claiming(pod(name), "c") for name in ("p", "q")]
    sim = device_world(node("a"), node("b"), gpus("a"), gpus("b"), claim("c"), *pods)
    go_on(sim, 30)
    assert sorted(reserved_for(sim, "c")) == ["p", "q"]
    assert node_of(sim, "p") == node_of(sim, "q") != ""


def test_a_claim_in_flight_has_its_other_pods_wait_until_it_is_written() -> None:
    pods = [claiming(pod(name), "c") for name in ("p", "q")]
    sim = device_world(node("a"), gpus("a"), claim("c"), *pods)
    sim.apply(FailCall("claims", "default/p", latency=2 * 10**9))
    said = messages(go_on(sim), "q")
    assert "resource claim default/c is in the process of being allocated" in said[0]
    go_on(sim, 30)
    assert sorted(reserved_for(sim, "c")) == ["p", "q"]


def test_while_informers_lag_no_device_is_given_away_twice() -> None:
    pods = [claiming(pod(f"p{i}"), f"c{i}") for i in range(2)]
    claims = [claim(f"c{i}") for i in range(2)]
    sim = device_world(node("a"), gpus("a"), *claims, *pods, informer_lag=10**9)
    go_on(sim, 10)
    given = [devices_of(sim, f"c{i}") for i in range(2)]
    assert sorted(given) == [["gpu.example.com/a/gpu-0"], ["gpu.example.com/a/gpu-1"]]


def invalid(name: str) -> list[dict[str, Any]]:
    """Two slices of a node's pool that have a device of the same name."""
    pool = {"name": name, "generation": 1, "resourceSliceCount": 2}
    return [gpus(name, name=f"{name}-{i}", pool=pool) for i in range(2)]


def test_an_error_on_a_node_behind_those_that_are_wanted_is_not_met() -> None:
    names = [f"n{i}" for i in range(120)]
    good = [gpus(name) for name in names[:-1]]
    sim = device_world(*(node(name) for name in names), *good, *invalid(names[-1]), claim("c"), claiming(pod("p"), "c"))
    go_on(sim)
    assert node_of(sim, "p")


def test_an_error_on_a_node_that_is_reached_ends_the_cycle() -> None:
    sim = device_world(node("a"), node("b"), gpus("a"), *invalid("b"), claim("c"), claiming(pod("p"), "c"))
    assert "invalid" in refused(sim, "p")


# What wakes a pod


def test_a_pod_is_gated_until_its_claim_is_there() -> None:
    sim = device_world(node("a"), gpus("a"), claiming(pod("p"), "c"))
    assert refused(sim, "p") == ""
    add(sim, claim("c"))
    go_on(sim)
    assert node_of(sim, "p") == "a"


def test_a_pod_waits_for_a_class_and_for_devices_of_it() -> None:
    asked = claim("c", request(device_class="fast"))
    sim = device_world(node("a"), asked, claiming(pod("p"), "c"))
    assert "request r: device class fast does not exist" in refused(sim, "p")
    add(sim, device_class("fast"))
    assert "cannot allocate all claims" in messages(go_on(sim, 15), "p")[-1]
    add(sim, gpus("a"))
    go_on(sim, 15)
    assert node_of(sim, "p") == "a"


def test_a_slice_that_gains_devices_wakes_those_that_lack_them() -> None:
    sim = device_world(node("a"), gpus("a", 1), claim("c", count=2), claiming(pod("p"), "c"))
    assert "cannot allocate all claims" in refused(sim, "p")
    add(sim, gpus("a", 2))
    go_on(sim, 15)
    assert len(devices_of(sim, "c")) == 2


def test_a_claim_that_is_deallocated_wakes_those_that_lack_devices() -> None:
    taken, wanted = claim("taken", count=2), claim("c", count=2)
    sim = device_world(node("a"), gpus("a"), taken, claiming(pod("first"), "taken"))
    go_on(sim)
    add(sim, wanted, claiming(pod("p"), "c"))
    assert "cannot allocate all claims" in refused(sim, "p")
    patch_status(sim, "taken", allocation=None, reservedFor=None)
    go_on(sim, 15)
    assert len(devices_of(sim, "c")) == 2


def test_the_devices_of_a_pod_that_goes_are_released_to_the_one_that_waits() -> None:
    sim = device_world(node("a"), gpus("a", 1), claim("taken"), claiming(pod("first"), "taken"))
    go_on(sim, 5)
    add(sim, claim("c"), claiming(pod("p"), "c"))
    assert "cannot allocate all claims" in refused(sim, "p")
    sim.apply(DeleteObjects([Ref("Pod", "default", "first")]))
    go_on(sim, 60)
    assert (devices_of(sim, "taken"), devices_of(sim, "c")) == ([], ["gpu.example.com/a/gpu-0"])
    assert node_of(sim, "p") == "a"


def test_an_update_of_another_claim_wakes_nobody() -> None:
    sim = device_world(node("a"), gpus("a", 1), claim("other"), claim("c", count=2), claiming(pod("p"), "c"))
    refused(sim, "p")
    sim.apply(PatchObject(Ref("ResourceClaim", "default", "other"), {"metadata": {"labels": {"a": "b"}}}))
    assert messages(go_on(sim, 15), "p") == []


def test_a_claim_that_is_deleted_keeps_its_pod_from_being_scheduled() -> None:
    sim = device_world(node("a"), claim("c"), claiming(pod("p"), "c"))
    refused(sim, "p")
    sim.apply(DeleteObjects([Ref("ResourceClaim", "default", "c")]))
    add(sim, gpus("a"))
    go_on(sim, 15)
    assert node_of(sim, "p") == ""


def test_a_rule_that_no_longer_taints_the_devices_wakes_those_that_do_not_tolerate_it() -> None:
    sim = device_world(
        node("a"), gpus("a"), taint_rule("broken"), claim("c"), claiming(pod("p"), "c"), dra_device_taints=True
    )
    assert "cannot allocate all claims" in refused(sim, "p")
    add(sim, taint_rule("elsewhere", pool="b"))
    assert messages(go_on(sim, 15), "p") == []
    sim.apply(DeleteObjects([Ref("DeviceTaintRule", "", "broken")]))
    go_on(sim, 15)
    assert node_of(sim, "p") == "a"


# PostFilter


def test_a_claim_that_is_allocated_where_its_pod_can_not_run_is_deallocated_and_allocated_anew() -> None:
    sim = device_world(node("a"), gpus("a"), gpus("gone"), claim("c"))
    add(sim, claiming(pod("p"), "c"))
    selector = {
        "nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["gone"]}]}]
    }
    result = {"request": "r", "driver": "gpu.example.com", "pool": "gone", "device": "gpu-0"}
    patch_status(sim, "c", allocation={"devices": {"results": [result]}, "nodeSelector": selector})
    said = messages(go_on(sim, 15), "p")
    assert "resourceclaim not available on the node. deallocation of ResourceClaim completed" in said[0]
    assert devices_of(sim, "c") == ["gpu.example.com/a/gpu-0"]


# Calls that fail


def one_pod(**settings: Any) -> Simulation:
    return device_world(node("a"), gpus("a"), claim("c"), claiming(pod("p"), "c"), **settings)


def test_a_conflict_is_tried_again_with_the_claim_as_it_is_now() -> None:
    sim = one_pod()
    sim.apply(FailCall("claims", "default/p", 409, times=4))
    records = go_on(sim)
    assert messages(records, "p") == []
    fails = [call for call in of_kind(records, "api_call") if call.get("fault")]
    assert (len(fails), node_of(sim, "p")) == (4, "a")


def test_the_fifth_conflict_ends_the_binding() -> None:
    sim = one_pod()
    sim.apply(FailCall("claims", "default/p", 409, times=5))
    (said,) = messages(go_on(sim, 0.5), "p")
    assert said.startswith(
        'running PreBind plugin "DynamicResources": add finalizer to claim default/c: Operation cannot be '
        'fulfilled on resourceclaims.resource.k8s.io "c"'
    )


def test_a_failed_binding_gives_the_devices_back_and_is_tried_again() -> None:
    sim = one_pod()
    sim.apply(FailCall("claims", "default/p", 500))
    assert len(messages(go_on(sim, 0.5), "p")) == 1
    assert (devices_of(sim, "c"), sim.schedulers[0].claims.has_pending_allocation("x")) == ([], False)
    assert not sim.schedulers[0].claims.allocated().devices
    go_on(sim, 15)
    assert devices_of(sim, "c") == ["gpu.example.com/a/gpu-0"]


def test_a_pod_whose_binding_call_fails_leaves_the_claim_allocated_without_its_reservation() -> None:
    sim = one_pod()
    sim.apply(FailCall("bind", "default/p", 500))
    go_on(sim, 0.5)
    assert (devices_of(sim, "c"), reserved_for(sim, "c")) == (["gpu.example.com/a/gpu-0"], [])
    go_on(sim, 15)
    assert (node_of(sim, "p"), reserved_for(sim, "c")) == ("a", ["p"])


def test_the_api_client_waits_as_it_does_for_other_calls_after_429() -> None:
    sim = one_pod()
    sim.apply(FailCall("claims", "default/p", 429, times=2))
    waited = [call["again_after"] for call in of_kind(go_on(sim, 3), "api_call") if "again_after" in call]
    assert (waited, node_of(sim, "p")) == ([10**9, 10**9], "a")


# Gates


def conditions(ok: str) -> list[dict[str, Any]]:
    driven = {"driver": "gpu.example.com", "pool": "a", "device": "gpu-0"}
    condition = {"type": "example.com/ready", "status": ok, "reason": "R", "message": "m"}
    return [{**driven, "conditions": [{**condition, "lastTransitionTime": "2026-01-01T00:00:00Z"}]}]


def binding_world(**fields: Any) -> Simulation:
    slow = device("gpu-0", bindsToNode=True, bindingConditions=["example.com/ready"], **fields)
    slow.setdefault("bindingFailureConditions", ["example.com/broken"])
    sim = device_world(
        node("a"), gpus("a", devices=[slow]), claim("c"), claiming(pod("p"), "c"), dra_binding_conditions=True
    )
    go_on(sim, 20)
    return sim


def test_a_pod_is_bound_once_the_driver_has_reported_the_binding_conditions() -> None:
    sim = binding_world()
    assert (node_of(sim, "p"), status_of(sim, "c")["allocation"]["allocationTimestamp"]) == ("", "2026-01-01T00:00:00Z")
    patch_status(sim, "c", devices=conditions("True"))
    go_on(sim, 6)
    assert node_of(sim, "p") == "a"


def test_a_pod_does_not_wait_longer_than_ten_minutes() -> None:
    sim = binding_world()
    late, then = messages(go_on(sim, 600), "p")
    assert late == 'running PreBind plugin "DynamicResources": device binding timeout'
    assert "resourceclaim not available on the node. deallocation of ResourceClaim completed" in then


def test_a_search_that_takes_longer_than_the_filter_timeout_is_given_up() -> None:
    slow = device_world(node("a"), gpus("a", 8), claim("c", count=8), claiming(pod("p"), "c"), device_cost=2 * 10**9)
    assert "timed out trying to allocate devices" in refused(slow, "p")
    sim = device_world(node("a"), gpus("a", 8), claim("c", count=1), claiming(pod("p"), "c"), device_cost=2 * 10**9)
    go_on(sim)
    assert node_of(sim, "p") == "a"


def test_an_extended_resource_is_served_by_devices() -> None:
    wanting = pod("p")
    wanting["spec"]["containers"][0]["resources"] = {
        "requests": {"example.com/gpu": "2"},
        "limits": {"example.com/gpu": "2"},
    }
    served = device_class("gpu", extendedResourceName="example.com/gpu")
    sim = device_world(node("a"), gpus("a"), dra_extended_resource=True)
    add(sim, served, wanting)
    go_on(sim, 15)
    found = sim.store.pod("default", "p")
    assert found is not None
    status = found.manifest["status"]["extendedResourceClaimStatus"]
    assert (found.node_name, len(devices_of(sim, status["resourceClaimName"]))) == ("a", 2)
    assert status["requestMappings"] == [
        {"containerName": "c", "resourceName": "example.com/gpu", "requestName": "container-0-request-0"}
    ]


# State


@pytest.mark.parametrize("lag", [0, 10**9])
def test_a_world_that_is_written_and_read_at_every_step_comes_to_the_same_end(lag: int) -> None:
    pods = [claiming(pod(f"p{i}"), f"c{i}") for i in range(3)]
    claims = [claim(f"c{i}") for i in range(3)]
    objects = (node("a"), node("b"), gpus("a", 1), gpus("b", 1), *claims, *pods)
    plain, reread = (device_world(*objects, informer_lag=lag) for _ in range(2))
    for _ in range(120):
        if plain.idle:
            break
        ours = [record.to_json() for record in plain.advance()]
        reread = again(reread)
        assert [record.to_json() for record in reread.advance()] == ours
    assert plain.store.list("ResourceClaim") == reread.store.list("ResourceClaim")


def test_a_fork_has_claims_of_its_own() -> None:
    sim = one_pod()
    sim.run(steps=9)
    fork = sim.fork()
    go_on(fork)
    assert devices_of(fork, "c")
    assert not devices_of(sim, "c")
    go_on(sim)
    assert devices_of(sim, "c") == devices_of(fork, "c")
