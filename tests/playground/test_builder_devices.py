"""Devices without hardware, and claims for them: whatever a preset makes is accepted as it is."""

from __future__ import annotations

import pytest

from playground.workbench.builder import PRESETS, Preset, claim_manifests, device_manifests
from scheduler_core.apiserver.imports.plan import plan_import
from scheduler_core.apiserver.options import APIServerOptions
from scheduler_core.apiserver.registry.devices.defaults import DeviceGates
from scheduler_core.apiserver.server import APIServer
from scheduler_core.apiserver.store import Store


def api(preset: Preset | None = None) -> APIServer:
    """An API server with the gates that a preset needs."""
    gates = DeviceGates(**(preset.settings if preset else {}))
    return APIServer(Store(), APIServerOptions(disable_admission_plugins=("NamespaceLifecycle",)), 0, devices=gates)


@pytest.mark.parametrize("slug", PRESETS)
@pytest.mark.parametrize("nodes", [("a",), ("a", "b")])
def test_a_preset_is_accepted_whole_and_keeps_all_that_it_says(slug: str, nodes: tuple[str, ...]) -> None:
    preset = PRESETS[slug]
    for count in (1, preset.count, preset.most):
        server = api(preset)
        manifests = device_manifests(preset, nodes, count)
        plan = plan_import(server, manifests)
        assert [str(error) for item in plan.items for error in item.errors] == []
        assert list(plan.warnings) == []
        kept = server.create(manifests[1])
        assert kept["spec"] == manifests[1]["spec"]


def test_four_gpus_are_one_nvlink_domain() -> None:
    (_, slice_) = device_manifests(PRESETS["gpu"], ["n"], 8)
    domains = [each["attributes"]["nvlinkDomain"]["string"] for each in slice_["spec"]["devices"]]
    assert domains == ["n-0"] * 4 + ["n-1"] * 4


def test_partitions_of_a_gpu_exclude_each_other_where_they_overlap() -> None:
    (_, slice_) = device_manifests(PRESETS["mig"], ["n"], 1)
    taken = {
        device["name"]: set(device["consumesCounters"][0]["counters"]) - {"compute"}
        for device in slice_["spec"]["devices"]
    }
    assert not taken["gpu-0-3g-40gb-0"] & taken["gpu-0-3g-40gb-4"]
    assert taken["gpu-0-7g-80gb-0"] & taken["gpu-0-1g-10gb-6"]
    assert len(taken) == 13


def test_whoever_asks_for_any_part_of_a_gpu_gets_the_smallest() -> None:
    (_, slice_) = device_manifests(PRESETS["mig"], ["n"], 1)
    memory = [device["capacity"]["memory"]["value"] for device in slice_["spec"]["devices"]]
    assert (memory[0], memory[-1]) == ("10Gi", "80Gi")


def test_whoever_asks_for_a_part_of_a_gpu_gets_no_gpu_that_has_none() -> None:
    whole, parts = (device_manifests(PRESETS[slug], ["n"], 1) for slug in ("gpu", "mig"))
    types = [{each["attributes"]["type"]["string"] for each in made[-1]["spec"]["devices"]} for made in (whole, parts)]
    assert types == [{"gpu"}, {"mig"}]
    assert "type in ['mig']" in str(parts[0])


def test_presets_for_one_node_do_not_share_a_pool() -> None:
    made = [manifest for preset in PRESETS.values() for manifest in device_manifests(preset, ["n"], 1)]
    slices = [each for each in made if each["kind"] == "ResourceSlice"]
    assert len({(s["spec"]["driver"], s["spec"]["pool"]["name"]) for s in slices}) == len(slices)
    assert len({s["metadata"]["name"] for s in slices}) == len(slices)


@pytest.mark.parametrize("shared", [False, True])
def test_a_claim_and_its_pods_are_accepted(shared: bool) -> None:
    manifests = claim_manifests(
        name="two",
        shared=shared,
        count=2,
        selectors=["device.attributes['gpu.example.com'].numaNode == 0"],
        match_attribute="gpu.example.com/nvlinkDomain",
        tolerations=[{"key": "a", "operator": "Exists"}],
        pods=2,
        pod_name="train-{i}",
    )
    plan = plan_import(api(), manifests)
    assert [str(error) for item in plan.items for error in item.errors] == []
    claim, *pods = manifests
    assert claim["kind"] == ("ResourceClaim" if shared else "ResourceClaimTemplate")
    field = "resourceClaimName" if shared else "resourceClaimTemplateName"
    assert [pod["spec"]["resourceClaims"] for pod in pods] == [[{"name": "devices", field: "two"}]] * 2
    assert pods[0]["spec"]["containers"][0]["resources"]["claims"] == [{"name": "devices"}]


def test_all_devices_that_match_are_no_number() -> None:
    (claim,) = claim_manifests(name="all", shared=True, count=None, pods=0)
    assert claim["spec"]["devices"]["requests"][0]["exactly"] == {
        "deviceClassName": "gpu.example.com",
        "allocationMode": "All",
    }
