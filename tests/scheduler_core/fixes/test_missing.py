"""What is missing is made or called by its name: claims for devices, labels, room in a quota for all pods that lack."""

from __future__ import annotations

from typing import Any

from scheduler_core import LATEST_EDITION
from scheduler_core.commands import ApplyObjects
from scheduler_core.fixes import Fix, find_fixes
from scheduler_core.simulation import Simulation
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
    sim = Simulation(seed=1, edition=LATEST_EDITION)
    sim.apply(ApplyObjects(objects))
    sim.run(steps=2_000)
    return {fix.kind: fix for fix in find_fixes(sim, key)}


def test_a_claim_for_devices_that_does_not_exist_is_made() -> None:
    found = fixes(
        "default/p",
        node("a"),
        *DRIVER,
        pod("p", resourceClaims=[{"name": "gpu", "resourceClaimName": "gpus"}]),
    )
    assert found["claim"].changes[0].values == {"claim": "default/gpus", "deviceClass": "gpu"}


def test_a_claim_for_devices_is_called_by_its_name() -> None:
    asks = pod("p", resourceClaims=[{"name": "gpu", "resourceClaimName": "gpus"}])
    found = fixes("default/p", node("a"), *DRIVER, claim("gpu"), asks)
    assert found["claim-name"].changes[0].values == {"from": "gpus", "to": "gpu"}


def test_a_label_that_is_misspelt_is_asked_for_as_the_node_has_it() -> None:
    found = fixes(
        "default/p",
        node("a", labels={"disk-type": "fast-ssd"}),
        pod("p", nodeSelector={"disktype": "fast-ssd"}),
    )
    assert found["selector-value"].changes[0].values["to"] == "disk-type=fast-ssd"


def test_a_label_with_another_number_is_not_misspelt() -> None:
    found = fixes(
        "default/p",
        node("a", labels={"pool": "workers-blue-1"}),
        pod("p", nodeSelector={"pool": "workers-blue-2"}),
    )
    assert "selector-value" not in found


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
