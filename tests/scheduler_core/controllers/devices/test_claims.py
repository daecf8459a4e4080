"""The resource claim controller: made of templates, reserved, released."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_core.controllers.devices.templates import base_name
from scheduler_core.world.commands import CreateObject, SetSettings
from scheduler_core.world.simulation import Simulation
from tests.scheduler_core.clusters import delete, wait
from tests.scheduler_core.controllers.devices.worlds import (
    FINALIZER,
    allocated,
    claim,
    claims_of,
    request,
    status_of,
    template,
    with_devices,
)
from tests.scheduler_core.worlds import node, pod

OF_TEMPLATE = [{"name": "gpu", "resourceClaimTemplateName": "one-gpu"}]
OF_CLAIM = [{"name": "gpu", "resourceClaimName": "c"}]


def begun(*objects: Any, **settings: Any) -> Simulation:
    """A world with these objects, after a second."""
    sim = with_devices(**settings)
    for manifest in objects:
        sim.apply(CreateObject(manifest))
    wait(sim, 1)
    return sim


def statuses(sim: Simulation, name: str = "p") -> list[Any]:
    found = sim.store.pod("default", name)
    assert found is not None
    return (found.manifest.get("status") or {}).get("resourceClaimStatuses") or []


def says(sim: Simulation) -> list[str]:
    return [event.message for event in sim.store.events if event.reporter == "resource_claim"]


def ended(sim: Simulation, name: str = "p") -> None:
    sim.change(lambda: sim.api.patch_status(("Pod", "default", name), {"phase": "Succeeded"}) and None)


def test_a_claim_is_made_of_a_template_and_named_in_the_pods_status() -> None:
    sim = begun(template(labels={"a": "b"}, annotations={"x": "y"}), pod("p", resourceClaims=OF_TEMPLATE))
    (name,) = claims_of(sim)
    assert name.startswith("p-gpu-")
    assert statuses(sim) == [{"name": "gpu", "resourceClaimName": name}]
    made = sim.store.get("ResourceClaim", "default", name)
    assert made is not None
    assert made["metadata"]["labels"] == {"a": "b"}
    notes = {"x": "y", "resource.kubernetes.io/pod-claim-name": "gpu"}
    assert made["metadata"]["annotations"] == notes
    (owner,) = made["metadata"]["ownerReferences"]
    assert (owner["kind"], owner["name"], owner["controller"]) == ("Pod", "p", True)
    assert made["spec"]["devices"]["requests"][0]["exactly"]["count"] == 1


def test_a_claim_that_is_lost_is_made_anew_once_it_is_forgotten() -> None:
    sim = begun(template(), pod("p", resourceClaims=OF_TEMPLATE))
    (first,) = claims_of(sim)
    delete(sim, "ResourceClaim", first)
    wait(sim, 2)
    assert claims_of(sim) == []
    wait(sim, 3602)
    sim.change(lambda: sim.api.patch_status(("Pod", "default", "p"), {"reason": "any change"}) and None)
    wait(sim, 3603)
    (second,) = claims_of(sim)
    assert second != first
    assert statuses(sim) == [{"name": "gpu", "resourceClaimName": second}]


def test_a_claim_of_which_the_status_does_not_know_is_found_again() -> None:
    sim = begun(template(), pod("p", resourceClaims=OF_TEMPLATE))
    (first,) = claims_of(sim)
    sim.change(lambda: sim.api.patch_status(("Pod", "default", "p"), {"resourceClaimStatuses": []}) and None)
    wait(sim, 2)
    assert claims_of(sim) == [first]
    assert statuses(sim) == [{"name": "gpu", "resourceClaimName": first}]


def test_a_missing_template_is_told_and_tried_again() -> None:
    sim = begun(pod("p", resourceClaims=OF_TEMPLATE))
    text = (
        'PodResourceClaim gpu: resource claim template "one-gpu": '
        'resourceclaimtemplate.resource.k8s.io "one-gpu" not found'
    )
    assert says(sim) == [text]
    sim.apply(CreateObject(template()))
    wait(sim, 30)
    assert len(claims_of(sim)) == 1


def test_a_template_for_a_gate_that_is_off_makes_no_claim() -> None:
    sub = {"name": "a", "deviceClassName": "gpu.example.com"}
    listed = template("one-gpu", {"name": "gpu", "firstAvailable": [sub]})
    sim = begun(listed)
    sim.apply(SetSettings({"dra_prioritized_list": False}))
    sim.apply(CreateObject(pod("p", resourceClaims=OF_TEMPLATE)))
    wait(sim, 2)
    why = "template includes a prioritized list of subrequests, but the feature is disabled"
    assert says(sim) == [f"PodResourceClaim gpu: {why}"]


@pytest.mark.parametrize(
    ("pod_name", "claim_name", "base"),
    [("p", "gpu", "p-gpu-"), ("a" * 40, "b" * 40, "a" * 27 + "-" + "b" * 27), ("a" * 60, "b", "a" * 54 + "-")],
)
def test_names_of_generated_claims_share_the_room(pod_name: str, claim_name: str, base: str) -> None:
    assert base_name(pod_name, claim_name) == base


def test_a_pod_that_has_ended_releases_its_claim() -> None:
    sim = begun(claim(), pod("p", resourceClaims=OF_CLAIM), pod("q", resourceClaims=OF_CLAIM))
    allocated(sim, "c", "p", "q")
    ended(sim)
    wait(sim, 2)
    status = status_of(sim)
    assert status is not None
    assert [ref["name"] for ref in status["reservedFor"]] == ["q"]
    assert "allocation" in status


def test_without_consumers_a_claim_is_deallocated() -> None:
    sim = begun(claim(), pod("p", resourceClaims=OF_CLAIM))
    allocated(sim, "c", "p")
    delete(sim, "Pod", "p")
    wait(sim, 2)
    assert status_of(sim) == {}
    found = sim.store.get("ResourceClaim", "default", "c")
    assert found is not None
    assert not found["metadata"].get("finalizers")


def test_a_claim_that_was_never_reserved_keeps_its_allocation() -> None:
    sim = begun(claim())
    allocated(sim, "c")
    wait(sim, 2)
    status = status_of(sim)
    assert status is not None
    assert "allocation" in status


def test_a_deleted_claim_goes_when_it_is_reserved_for_nobody() -> None:
    sim = begun(claim(), pod("p", resourceClaims=OF_CLAIM))
    allocated(sim, "c", "p")
    delete(sim, "ResourceClaim", "c")
    wait(sim, 2)
    assert claims_of(sim) == ["c"]  # the pod may run
    delete(sim, "Pod", "p")
    wait(sim, 3)
    assert claims_of(sim) == []


def test_the_claim_of_a_pod_that_has_ended_is_deleted() -> None:
    sim = begun(template(), pod("p", resourceClaims=OF_TEMPLATE))
    allocated(sim, claims_of(sim)[0], "p")
    ended(sim)
    wait(sim, 2)
    assert claims_of(sim) == []


def test_a_pod_that_has_its_node_gets_the_claim_reserved() -> None:
    sim = begun(claim())
    allocated(sim, "c")
    sim.apply(CreateObject(pod("p", resourceClaims=OF_CLAIM, nodeName="n")))
    wait(sim, 2)
    status = status_of(sim)
    assert status is not None
    assert [ref["name"] for ref in status["reservedFor"]] == ["p"]


def test_a_consumer_that_was_replaced_is_taken_off() -> None:
    sim = begun(claim(), pod("p", resourceClaims=OF_CLAIM), pod("q", resourceClaims=OF_CLAIM))
    allocated(sim, "c", "p")
    found = sim.store.get("ResourceClaim", "default", "c")
    assert found is not None
    gone = {"resource": "pods", "name": "q", "uid": "another"}
    status = {**found["status"], "reservedFor": [*found["status"]["reservedFor"], gone]}
    sim.change(lambda: sim.api.update({**found, "status": status}, "status") and None)
    wait(sim, 2)
    assert [ref["name"] for ref in (status_of(sim) or {})["reservedFor"]] == ["p"]


# the kubelet


def test_a_pod_starts_when_its_claims_are_allocated_and_reserved_for_it() -> None:
    sim = begun(node("n"), claim(), pod("p", resourceClaims=OF_CLAIM, nodeName="n"))
    wait(sim, 10)
    found = sim.store.pod("default", "p")
    assert found is not None
    assert found.phase == "Pending"
    (said,) = [event.message for event in sim.store.events if event.reason == "FailedPrepareDynamicResources"]
    assert "is not allowed to use ResourceClaim c (default-c-" in said
    allocated(sim, "c")
    wait(sim, 20)
    assert sim.store.pod("default", "p").phase == "Running"  # type: ignore[union-attr]


def test_finalizers_of_others_stay() -> None:
    sim = begun(claim("c", request()), pod("p", resourceClaims=OF_CLAIM))
    allocated(sim, "c", "p")
    found = sim.store.get("ResourceClaim", "default", "c")
    assert found is not None
    kept = {**found["metadata"], "finalizers": ["example.com/mine", FINALIZER]}
    sim.change(lambda: sim.api.update({**found, "metadata": kept}) and None)
    delete(sim, "Pod", "p")
    wait(sim, 3)
    found = sim.store.get("ResourceClaim", "default", "c")
    assert found is not None
    assert found["metadata"]["finalizers"] == ["example.com/mine"]
