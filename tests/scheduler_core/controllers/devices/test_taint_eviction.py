"""The device taint eviction controller: pods go whose devices have a NoExecute taint that their claims do not tolerate."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_core.world.commands import ApplyObjects, CreateObject, SetSettings
from scheduler_core.world.simulation import Simulation
from tests.scheduler_core.clusters import delete, wait
from tests.scheduler_core.controllers.devices.worlds import about_devices, allocated, claim, with_devices
from tests.scheduler_core.worlds import node, pod

CONTROLLER = "device-taint-eviction-controller"
BROKEN = {"key": "example.com/broken", "value": "yes", "effect": "NoExecute"}
OF_CLAIM = [{"name": "gpu", "resourceClaimName": "c"}]


def published(*taints: Any, generation: int = 1, name: str = "s") -> dict[str, Any]:
    """A slice with one device that has these taints."""
    spec = {
        "driver": "gpu.example.com",
        "nodeName": "n",
        "pool": {"name": "node-a", "generation": generation, "resourceSliceCount": 1},
        "devices": [
            {"name": "gpu-0", "attributes": {"model": {"string": "a"}}, **({"taints": list(taints)} if taints else {})}
        ],
    }
    manifest = about_devices("ResourceSlice", name, spec)
    del manifest["metadata"]["namespace"]
    return manifest


def rule(taint: Any = BROKEN, **selector: Any) -> dict[str, Any]:
    manifest = about_devices("DeviceTaintRule", "r", {"deviceSelector": selector, "taint": taint})
    del manifest["metadata"]["namespace"]
    return {**manifest, "apiVersion": "resource.k8s.io/v1alpha3"}


def running(*tolerations: Any, gate: bool = True, **spec: Any) -> Simulation:
    """A pod on a node that uses the device, and the claim says that these taints are tolerated."""
    sim = with_devices(CONTROLLER, dra_device_taints=gate)
    for manifest in (node("n"), published(), claim(), pod("p", resourceClaims=OF_CLAIM, **spec)):
        sim.apply(CreateObject(manifest))
    allocated(sim, "c", "p", **({"tolerations": list(tolerations)} if tolerations else {}))
    sim.change(lambda: sim.api.bind("default/p", "", "n"))
    wait(sim, 5)
    return sim


def events(sim: Simulation) -> list[str]:
    return [event.message for event in sim.store.events if event.reason == "DeviceTaintManagerEviction"]


def ends(sim: Simulation) -> bool:
    found = sim.store.pod("default", "p")
    return found is None or found.deleting


def tolerated(seconds: int | None = None, **fields: Any) -> dict[str, Any]:
    own = {} if seconds is None else {"tolerationSeconds": seconds}
    return {"key": BROKEN["key"], "operator": "Exists", "effect": "NoExecute", **own, **fields}


def test_a_pod_leaves_a_device_that_is_tainted() -> None:
    sim = running()
    sim.apply(ApplyObjects((published(BROKEN),)))
    wait(sim, 5.015)
    assert ends(sim)
    assert events(sim) == ["Marking for deletion"]
    conditions = sim.store.pod("default", "p").manifest["status"]["conditions"]  # type: ignore[union-attr]
    (condition,) = [each for each in conditions if each["type"] == "DisruptionTarget"]
    assert condition["reason"] == "DeletionByDeviceTaintManager"
    assert condition["message"] == "Device Taint manager: deleting due to NoExecute taint"
    assert "observedGeneration" not in condition


@pytest.mark.parametrize(
    "selector",
    [
        {},
        {"driver": "gpu.example.com", "pool": "node-a", "device": "gpu-0"},
        {"selectors": [{"cel": {"expression": "device.attributes['gpu.example.com'].model == 'a'"}}]},
    ],
)
def test_rules_taint_devices_too(selector: Any) -> None:
    sim = running()
    sim.apply(CreateObject(rule(**selector)))
    wait(sim, 6)
    assert ends(sim)


@pytest.mark.parametrize(
    "selector",
    [
        {"driver": "nic.example.com"},
        {"device": "gpu-1"},
        {"deviceClassName": "gpu.example.com"},  # it does not exist
        {"selectors": [{"cel": {"expression": "device.attributes['gpu.example.com'].none == 'a'"}}]},
    ],
)
def test_rules_about_other_devices_change_nothing(selector: Any) -> None:
    sim = running()
    sim.apply(CreateObject(rule(**selector)))
    wait(sim, 60)
    assert not ends(sim)


def test_a_taint_that_is_tolerated_for_a_while_evicts_when_that_is_over() -> None:
    sim = running(tolerated(20))
    sim.apply(CreateObject(rule()))
    wait(sim, 24)
    assert not ends(sim)
    wait(sim, 26)
    assert ends(sim)


def test_the_shortest_of_several_tolerations_counts() -> None:
    sim = running(tolerated(100), tolerated(10))
    sim.apply(CreateObject(rule()))
    wait(sim, 16)
    assert ends(sim)


@pytest.mark.parametrize("taint", [{**BROKEN, "effect": "NoSchedule"}, BROKEN])
def test_what_is_tolerated_for_ever_or_does_not_evict_leaves_the_pod_alone(taint: Any) -> None:
    sim = running(tolerated())
    sim.apply(CreateObject(rule(taint)))
    wait(sim, 600)
    assert not ends(sim)


def test_an_eviction_is_called_off_when_the_taint_goes() -> None:
    sim = running(tolerated(60))
    sim.apply(CreateObject(rule()))
    wait(sim, 10)
    delete(sim, "DeviceTaintRule", "r", "")
    wait(sim, 100)
    assert not ends(sim)
    assert events(sim) == ["Cancelling deletion"]


def test_slices_of_older_generations_taint_nothing() -> None:
    sim = running()
    sim.apply(CreateObject(published(generation=2, name="t")))
    sim.apply(ApplyObjects((published(BROKEN),)))
    wait(sim, 60)
    assert not ends(sim)


def test_without_the_gate_nothing_happens_and_with_it_at_once() -> None:
    sim = running(gate=False)
    sim.apply(CreateObject(rule()))
    wait(sim, 60)
    assert not ends(sim)
    sim.apply(SetSettings({"dra_device_taints": True}))
    wait(sim, 61)
    assert ends(sim)


def test_a_pod_for_which_the_claim_is_not_reserved_is_left_alone() -> None:
    sim = running()
    sim.apply(CreateObject(pod("q", resourceClaims=OF_CLAIM)))
    sim.apply(CreateObject(rule()))
    wait(sim, 60)
    assert sim.store.pod("default", "q") is not None
    assert ends(sim)
