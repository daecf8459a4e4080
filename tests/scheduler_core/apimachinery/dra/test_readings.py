from typing import Any

import pytest

from scheduler_core.apimachinery.dra.amounts import Amount
from scheduler_core.apimachinery.dra.claims import ClaimError, ResourceClaim, check_owner, claim_name
from scheduler_core.apimachinery.dra.classes import DeviceClass
from scheduler_core.apimachinery.dra.slices import DeviceId, PoolId, ResourceSlice
from scheduler_core.apimachinery.dra.taints import DeviceTaintRule, taint_slice
from scheduler_core.apimachinery.objects.pod import Pod


def a_slice(**spec: Any) -> dict[str, Any]:
    return {
        "metadata": {"name": "s"},
        "spec": {
            "driver": "gpu.example.com",
            "nodeName": "a",
            "pool": {"name": "a", "generation": 2, "resourceSliceCount": 1},
            "devices": [{"name": "d0"}, {"name": "d1"}],
            **spec,
        },
    }


def a_pod(**status: Any) -> Pod:
    return Pod.from_manifest(
        {"metadata": {"name": "p", "namespace": "default", "uid": "u"}, "spec": {}, "status": status}
    )


def test_a_slice_is_read_once() -> None:
    manifest = a_slice()
    assert ResourceSlice.of(manifest) is ResourceSlice.of(manifest)
    assert ResourceSlice.of(manifest) is not ResourceSlice.of(dict(manifest))


def test_a_slice_names_its_pool_and_devices() -> None:
    read = ResourceSlice.of(a_slice())
    assert read.pool == PoolId("gpu.example.com", "a") and str(read.pool) == "gpu.example.com/a"
    assert (read.generation, read.slice_count, read.scope.node_name) == (2, 1, "a")
    assert [str(device.id) for device in read.devices] == ["gpu.example.com/a/d0", "gpu.example.com/a/d1"]


def test_a_device_has_all_that_the_allocator_asks_for() -> None:
    raw = {
        "name": "d",
        "attributes": {"type": {"string": "full"}, "index": {"int": 1}},
        "capacity": {"memory": {"value": "40Gi", "requestPolicy": {"default": "1Gi", "validValues": ["1Gi"]}}},
        "consumesCounters": [{"counterSet": "g", "counters": {"slots": {"value": "7"}}}],
        "taints": [{"key": "k", "effect": "NoSchedule"}],
        "allNodes": True,
        "bindsToNode": True,
        "bindingConditions": ["ready"],
        "bindingFailureConditions": ["broken"],
        "allowMultipleAllocations": True,
    }
    (device,) = ResourceSlice.of(a_slice(devices=[raw], perDeviceNodeSelection=True)).devices
    policy = device.capacity["memory"].policy
    assert device.capacity["memory"].value == Amount.of("40Gi")
    assert policy and policy.default == Amount.of("1Gi") and policy.values == (Amount.of("1Gi"),)
    assert device.counters[0].amounts == (("slots", 7_000_000_000),)
    assert device.taints[0].effect == "NoSchedule"
    assert device.scope and device.scope.all_nodes
    assert device.binds_to_node and device.allows_multiple
    assert (device.binding_conditions, device.binding_failure_conditions) == (("ready",), ("broken",))


def test_a_claim_has_requests_and_an_allocation() -> None:
    claim = ResourceClaim.of(
        {
            "metadata": {"name": "c", "namespace": "default", "uid": "u"},
            "spec": {
                "devices": {
                    "requests": [
                        {"name": "r", "exactly": {"deviceClassName": "gpu", "allocationMode": "All"}},
                        {"name": "s", "firstAvailable": [{"name": "x", "deviceClassName": "gpu", "count": 2}]},
                    ],
                    "constraints": [{"matchAttribute": "a/b", "requests": ["r"]}],
                }
            },
            "status": {
                "allocation": {
                    "devices": {
                        "results": [{"request": "s/x", "driver": "g", "pool": "a", "device": "d", "shareID": "1"}]
                    }
                },
                "reservedFor": [{"resource": "pods", "name": "p", "uid": "u"}],
            },
        }
    )
    first, second = claim.requests
    assert first.exactly and first.exactly.all_devices and not first.alternatives
    assert second.exactly is None and second.alternatives[0].count == 2
    assert claim.is_allocated and claim.results[0].device == DeviceId("g", "a", "d")
    assert claim.is_reserved_for(a_pod())
    assert claim.constraints[0].match_attribute == "a/b"


def test_the_claim_of_a_pod_is_named_or_made_for_it() -> None:
    made = {"name": "c", "resourceClaimTemplateName": "t"}
    assert claim_name(a_pod(), {"name": "c", "resourceClaimName": "mine"}) == ("mine", False)
    status = [{"name": "c", "resourceClaimName": "p-c-1"}]
    assert claim_name(a_pod(resourceClaimStatuses=status), made) == ("p-c-1", True)
    assert claim_name(a_pod(resourceClaimStatuses=[{"name": "c"}]), made) == (None, True)
    with pytest.raises(ClaimError, match='pod "default/p": ResourceClaim not created yet'):
        claim_name(a_pod(), made)
    with pytest.raises(ClaimError, match=r'spec\.resourceClaim "c": none of the supported fields'):
        claim_name(a_pod(), {"name": "c"})


def test_a_claim_from_a_template_has_to_be_the_pods_own() -> None:
    owned = {"metadata": {"name": "c", "namespace": "default", "ownerReferences": [{"uid": "u", "controller": True}]}}
    check_owner(a_pod(), owned)
    text = r"ResourceClaim default/c was not created for pod default/p \(pod is not owner\)"
    with pytest.raises(ClaimError, match=text):
        check_owner(a_pod(), {"metadata": {"name": "c", "namespace": "default"}})


def test_a_rule_taints_the_devices_that_it_selects() -> None:
    read = ResourceSlice.of(a_slice())
    rule = DeviceTaintRule.of(
        {
            "metadata": {"name": "r"},
            "spec": {
                "deviceSelector": {"driver": "gpu.example.com", "device": "d1"},
                "taint": {"key": "k", "effect": "NoExecute"},
            },
        }
    )
    patched = taint_slice(read, [rule], {}, lambda *_: True)
    assert [len(device.taints) for device in patched.devices] == [0, 1]
    assert read.devices[1].taints == ()


def test_a_rule_of_another_driver_or_of_an_unknown_class_applies_to_nothing() -> None:
    read = ResourceSlice.of(a_slice())
    for selector in ({"driver": "x"}, {"pool": "x"}, {"deviceClassName": "gpu"}):
        rule = DeviceTaintRule.of({"spec": {"deviceSelector": selector, "taint": {"key": "k"}}})
        assert taint_slice(read, [rule], {}, lambda *_: True) is read


def test_a_rule_asks_its_class_and_its_own_selectors() -> None:
    gpu = DeviceClass.of({"metadata": {"name": "gpu"}, "spec": {"selectors": [{"cel": {"expression": "one"}}]}})
    rule = DeviceTaintRule.of(
        {
            "spec": {
                "deviceSelector": {"deviceClassName": "gpu", "selectors": [{"cel": {"expression": "two"}}]},
                "taint": {"key": "k"},
            }
        }
    )
    asked: list[str] = []

    def selects(expression: str, *_: Any) -> bool:
        asked.append(expression)
        return expression == "one"

    read = ResourceSlice.of(a_slice(devices=[{"name": "d"}]))
    assert taint_slice(read, [rule], {"gpu": gpu}, selects) is read
    assert asked == ["one", "two"]


def test_a_rule_does_not_see_that_a_device_allows_several_allocations() -> None:
    read = ResourceSlice.of(a_slice(devices=[{"name": "d", "allowMultipleAllocations": True}]))
    selector = {"selectors": [{"cel": {"expression": "device.allowMultipleAllocations"}}]}
    rule = DeviceTaintRule.of({"spec": {"deviceSelector": selector, "taint": {"key": "k"}}})
    patched = taint_slice(read, [rule], {}, lambda _, __, device: bool(device.allows_multiple))
    assert patched is read
