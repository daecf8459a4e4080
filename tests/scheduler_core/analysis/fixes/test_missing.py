"""What is missing is made or called by its name: claims for devices, labels, room in a quota for all pods that lack."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_core.analysis.fixes import Fix, find_fixes
from scheduler_core.world.commands import ApplyObjects, SetSettings
from scheduler_core.world.simulation import Simulation
from tests.scheduler_core.worlds import node, pod


def claim(name: str) -> dict[str, Any]:
    ask = {"name": "gpu", "exactly": {"deviceClassName": "gpu", "allocationMode": "ExactCount", "count": 1}}
    meta = {"name": name, "namespace": "default"}
    spec = {"devices": {"requests": [ask]}}
    return {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": meta, "spec": spec}


DRIVER = (
    {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": "gpu"}, "spec": {}},
    {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceSlice",
        "metadata": {"name": "a-gpus"},
        "spec": {
            "driver": "gpu.example.com",
            "nodeName": "a",
            "pool": {"name": "a", "generation": 1, "resourceSliceCount": 1},
            "devices": [{"name": "gpu-0"}],
        },
    },
)


def fixes(key: str, *objects: dict[str, Any]) -> dict[str, Fix]:
    sim = Simulation(seed=1)
    sim.apply(ApplyObjects(objects))
    sim.run(steps=2_000)
    return {fix.kind: fix for fix in find_fixes(sim, key)}


def test_a_claim_for_devices_that_does_not_exist_is_made() -> None:
    found = fixes(
        "default/p", node("a"), *DRIVER, pod("p", resourceClaims=[{"name": "gpu", "resourceClaimName": "gpus"}])
    )
    assert found["claim"].changes[0].values == {"claim": "default/gpus", "deviceClass": "gpu"}


def test_a_claim_for_devices_is_called_by_its_name() -> None:
    asks = pod("p", resourceClaims=[{"name": "gpu", "resourceClaimName": "gpus"}])
    found = fixes("default/p", node("a"), *DRIVER, claim("gpu"), asks)
    assert found["claim-name"].changes[0].values == {"from": "gpus", "to": "gpu"}


def test_a_label_that_is_misspelt_is_asked_for_as_the_node_has_it() -> None:
    found = fixes(
        "default/p", node("a", labels={"disk-type": "fast-ssd"}), pod("p", nodeSelector={"disktype": "fast-ssd"})
    )
    assert found["selector-value"].changes[0].values["to"] == "disk-type=fast-ssd"


def test_a_label_with_another_number_is_not_misspelt() -> None:
    found = fixes(
        "default/p", node("a", labels={"pool": "workers-blue-1"}), pod("p", nodeSelector={"pool": "workers-blue-2"})
    )
    assert "selector-value" not in found


def test_a_role_label_without_a_value_is_asked_for_as_the_node_has_it() -> None:
    key = "node-role.kubernetes.io/worker"
    for asked in ("worker", "true"):
        term = {"matchExpressions": [{"key": key, "operator": "In", "values": [asked]}]}
        required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}
        found = fixes("default/p", node("a", labels={key: ""}), pod("p", affinity={"nodeAffinity": required}))
        values = {"from": f"{key}={asked}", "to": f"{key}="}
        assert found["selector-value"].changes[0].values == values


def test_a_label_without_a_value_is_not_what_another_value_meant() -> None:
    found = fixes("default/p", node("a", labels={"team": ""}), pod("p", nodeSelector={"team": "payments"}))
    assert "selector-value" not in found


def offering(name: str, resource: str, amount: str) -> dict[str, Any]:
    made = node(name)
    offered = {**made["status"]["capacity"], resource: amount}
    return {**made, "status": {"capacity": offered, "allocatable": offered}}


def asking(resource: str, amount: str = "1") -> dict[str, Any]:
    amounts = {resource: amount}
    return pod("p", containers=[{"name": "a", "image": "b", "resources": {"requests": amounts, "limits": amounts}}])


def test_a_resource_is_called_by_the_name_that_its_vendor_gives_it_here() -> None:
    found = fixes("default/p", offering("a", "nvidia.com/gpu", "7"), asking("nvidia.com/mig-1g.5gb", "2"))
    fix = found["resource-name"]
    values = {"from": "nvidia.com/mig-1g.5gb", "to": "nvidia.com/gpu", "amount": "2"}
    assert fix.changes[0].values == values
    assert "nvidia.com/gpu: '2'" in fix.kubectl


def test_a_resource_of_another_vendor_or_that_is_offered_elsewhere_is_not_renamed() -> None:
    nodes = offering("a", "amd.com/accelerator", "7"), offering("b", "nvidia.com/gpu", "1")
    assert "resource-name" not in fixes("default/p", *nodes, asking("nvidia.com/gpu", "2"))


def test_the_pod_as_a_whole_asks_for_less_but_not_for_less_than_its_containers() -> None:
    def whole(cpu: str) -> dict[str, Any]:
        made = pod("p", cpu=cpu)
        made["spec"]["resources"] = {"requests": {"cpu": "6"}}
        return made

    found = fixes("default/p", node("a", cpu="4"), whole("1"))
    assert found["request"].changes[0].values == {"resource": "cpu", "from": "6", "to": "4"}
    assert "request" not in fixes("default/p", node("a", cpu="4"), whole("5"))


def test_a_device_class_that_does_not_exist_is_made_for_the_driver_that_is_there() -> None:
    asks = pod("p", resourceClaims=[{"name": "gpu", "resourceClaimName": "gpus"}])
    found = fixes("default/p", node("a"), DRIVER[1], claim("gpus"), asks)
    values = {"class": "gpu", "claim": "default/gpus", "driver": "gpu.example.com"}
    assert found["driver-class"].changes[0].values == values


def test_a_taint_that_an_agent_left_is_taken_off_and_one_of_an_owner_defeats_something() -> None:
    left = {"key": "node.cilium.io/agent-not-ready", "effect": "NoExecute"}
    meant = {"key": "dedicated", "value": "db", "effect": "NoSchedule"}
    found = fixes("default/p", {**node("a"), "spec": {"taints": [left]}}, pod("p"))
    assert next(iter(found)) == "taint-left"
    assert "agent-not-ready:NoExecute-" in found["taint-left"].kubectl
    other = fixes("default/p", {**node("a"), "spec": {"taints": [meant]}}, pod("p"))
    assert "taint-left" not in other


def test_cores_that_no_node_has_are_taken_for_millicores() -> None:
    found = fixes("default/p", node("a"), pod("p", cpu="250"))
    assert next(iter(found)) == "unit"
    assert found["unit"].changes[0].values == {"from": "250", "to": "250m"}
    assert "cpu: 250m" in found["unit"].kubectl
    assert "unit" not in fixes("default/p", node("a", cpu="300"), pod("p", cpu="250"), pod("q", cpu="100"))
    for cores in ("6", "88", "128"):
        assert "unit" not in fixes("default/p", node("a"), pod("p", cpu=cores))


def test_a_request_is_lowered_to_what_people_would_write() -> None:
    found = fixes("default/p", node("a", cpu="3942m"), pod("p", cpu="6"))
    assert found["request"].changes[0].values["to"] == "3900m"


def test_a_label_that_is_compared_is_set_to_a_number_that_holds() -> None:
    for operator, number in (("Gt", "6"), ("Lt", "4")):
        term = {"matchExpressions": [{"key": "generation", "operator": operator, "values": ["5"]}]}
        required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}
        found = fixes(
            "default/p", node("a", labels={"generation": "v9"}), pod("p", affinity={"nodeAffinity": required})
        )
        assert found["label"].changes[0].values["value"] == number


def test_a_resource_in_capitals_is_not_one_that_a_device_plugin_forgot() -> None:
    found = fixes("default/p", node("a"), offering("b", "nvidia.com/gpu", "1"), asking("nvidia.com/GPU"))
    assert next(iter(found)) == "resource-name"
    assert "capacity" not in found


@pytest.mark.parametrize("controllers", [None, []], ids=["all act", "a snapshot"])
def test_an_ephemeral_volume_is_called_otherwise_where_its_claim_is_anothers(controllers: list[str] | None) -> None:
    spec = {"accessModes": ["ReadWriteOnce"], "storageClassName": "fast", "resources": {"requests": {"storage": "1Gi"}}}
    another = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "p-tmp"}, "spec": spec}
    fast = {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": "fast"},
        "provisioner": "example.com/disks",
        "volumeBindingMode": "WaitForFirstConsumer",
    }
    asks = pod("p", volumes=[{"name": "tmp", "ephemeral": {"volumeClaimTemplate": {"spec": spec}}}])
    asks["spec"]["containers"][0]["volumeMounts"] = [{"name": "tmp", "mountPath": "/tmp"}]
    sim = Simulation(seed=1)
    if controllers is not None:
        sim.apply(SetSettings({"cluster": {"controllers": controllers}}))
    sim.apply(ApplyObjects((node("a"), fast, another, asks)))
    sim.run(steps=2_000)
    found = {fix.kind: fix for fix in find_fixes(sim, "default/p")}
    assert found["volume-name"].changes[0].values == {"from": "tmp", "to": "tmp-2", "claim": "p-tmp"}
    assert found["volume-name"].kubectl.count("name: tmp-2") == 2


def test_a_quota_is_raised_for_all_pods_that_are_missing() -> None:
    quota = {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "q", "namespace": "default"},
        "spec": {"hard": {"requests.cpu": "1"}},
    }
    labels = {"app": "web"}
    template = {"metadata": {"labels": labels}, "spec": pod("web", cpu="400m")["spec"]}
    replicas = {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {"replicas": 5, "selector": {"matchLabels": labels}, "template": template},
    }
    found = fixes("default/web-*", node("a"), quota, replicas)
    assert found["quota"].changes[0].values["to"] == "2"
    quota["spec"]["hard"] = {"requests.example.com/gpu": "0"}  # which only limits of the template state
    template["spec"]["containers"][0]["resources"] = {"limits": {"example.com/gpu": "2"}}
    gpus = node("a")
    gpus["status"]["capacity"] |= {"example.com/gpu": "10"}
    found = fixes("default/web-*", gpus, quota, replicas)
    assert found["quota"].changes[0].values["to"] == "10"
