"""ResourceQuota: what objects use, which quotas count them, and what is refused.

kube: pkg/quota/v1/evaluator/core/*_test.go, pkg/apis/core/validation/validation_test.go @ v1.34.1
"""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_core.apimachinery.objects.demand import texts
from scheduler_core.apiserver.kinds import KINDS
from scheduler_core.apiserver.quota import in_scope, matching, usage
from scheduler_core.apiserver.server import APIServer
from tests.scheduler_core.apiserver.cluster.requests import api_server, make, pod, refusal

POD, SERVICE, CLAIM = KINDS["Pod"], KINDS["Service"], KINDS["PersistentVolumeClaim"]


def quota(hard: dict[str, str], **spec: Any) -> dict[str, Any]:
    return make("ResourceQuota", "q", "default", spec={"hard": hard, **spec})


def counted(hard: dict[str, str], used: dict[str, str] | None = None, **spec: Any) -> APIServer:
    """A server whose quota has been counted."""
    api = api_server(quota(hard, **spec))
    status = {"hard": hard, "used": {**dict.fromkeys(hard, "0"), **(used or {})}}
    api.patch_status(("ResourceQuota", "default", "q"), status)
    return api


def used(api: APIServer) -> Any:
    return api.found(("ResourceQuota", "default", "q"))["status"]["used"]


def test_a_pod_uses_requests_limits_overhead_and_its_place() -> None:
    resources = {
        "requests": {"cpu": "100m", "example.com/gpu": "2"},
        "limits": {"memory": "1Gi", "example.com/gpu": "2"},
    }
    manifest = pod(resources=resources, overhead={"cpu": "50m", "memory": "1Mi"})
    assert texts(usage(POD, manifest, 0)) == {
        "count/pods": "1",
        "pods": "1",
        "cpu": "150m",
        "requests.cpu": "150m",
        "memory": "1Mi",
        "requests.memory": "1Mi",
        "limits.memory": "1025Mi",
        "requests.example.com/gpu": "2",
    }


@pytest.mark.parametrize(
    ("request_", "devices"),
    [
        ({"exactly": {"deviceClassName": "gpu", "allocationMode": "ExactCount", "count": 5}}, "5"),
        ({"exactly": {"deviceClassName": "gpu", "allocationMode": "All"}}, "32"),
        ({"exactly": {"deviceClassName": "gpu", "allocationMode": "future"}}, "0"),
        (
            {
                "firstAvailable": [
                    {"name": "a", "deviceClassName": "gpu", "allocationMode": "ExactCount", "count": 2},
                    {"name": "b", "deviceClassName": "gpu", "allocationMode": "ExactCount", "count": 4},
                ]
            },
            "4",
        ),
    ],
)
def test_a_claim_uses_devices_by_their_class(request_: Any, devices: str) -> None:
    of_devices, name = KINDS["ResourceClaim"], "gpu.deviceclass.resource.k8s.io/devices"
    claim = {"spec": {"devices": {"requests": [{"name": "r", **request_}]}}}
    expected = {"count/resourceclaims.resource.k8s.io": "1", name: devices}
    assert texts(usage(of_devices, claim, 0)) == expected
    assert matching(of_devices, ["pods", *expected]) == list(expected)


def test_init_containers_count_at_most_and_sidecars_with_the_others() -> None:
    inits = [
        {"name": "i", "image": "app", "resources": {"requests": {"cpu": "3"}}},
        {"name": "s", "image": "app", "restartPolicy": "Always", "resources": {"requests": {"cpu": "500m"}}},
    ]
    manifest = pod(resources={"requests": {"cpu": "1"}}, initContainers=inits)
    assert texts(usage(POD, manifest, 0))["cpu"] == "3"


@pytest.mark.parametrize("phase", ["Succeeded", "Failed"])
def test_an_ended_pod_is_only_counted_among_the_objects(phase: str) -> None:
    assert texts(usage(POD, {**pod(), "status": {"phase": phase}}, 0)) == {"count/pods": "1"}


@pytest.mark.parametrize(
    ("spec", "ports", "balancers"),
    [
        ({"type": "ClusterIP"}, "0", "0"),
        ({"type": "NodePort"}, "2", "0"),
        ({"type": "LoadBalancer"}, "2", "1"),
        ({"type": "LoadBalancer", "allocateLoadBalancerNodePorts": False}, "1", "1"),
    ],
)
def test_services_use_node_ports_and_load_balancers(spec: dict[str, Any], ports: str, balancers: str) -> None:
    service = make("Service", "s", "default", spec={**spec, "ports": [{"port": 1, "nodePort": 30_000}, {"port": 2}]})
    found = texts(usage(SERVICE, service, 0))
    assert (found["services.nodeports"], found["services.loadbalancers"]) == (ports, balancers)


def test_claims_use_storage_of_their_class_too() -> None:
    spec = {"storageClassName": "gold", "resources": {"requests": {"storage": "1.5"}}}
    found = texts(usage(CLAIM, make("PersistentVolumeClaim", "c", "default", spec=spec), 0))
    assert found["gold.storageclass.storage.k8s.io/requests.storage"] == "2"
    assert found["gold.storageclass.storage.k8s.io/persistentvolumeclaims"] == "1"


def test_objects_of_other_kinds_are_counted_by_name() -> None:
    names = ["count/deployments.apps", "count/jobs.batch", "pods"]
    assert matching(KINDS["Deployment"], names) == ["count/deployments.apps"]


@pytest.mark.parametrize(
    ("scope", "spec", "so"),
    [
        ({"scopeName": "PriorityClass", "operator": "Exists"}, {}, False),
        ({"scopeName": "PriorityClass", "operator": "DoesNotExist"}, {}, True),
        ({"scopeName": "PriorityClass", "operator": "NotIn", "values": ["a"]}, {"priorityClassName": "b"}, True),
        ({"scopeName": "NotTerminating"}, {"activeDeadlineSeconds": 5}, False),
        ({"scopeName": "CrossNamespacePodAffinity", "operator": "Exists"}, {}, False),
        (
            {"scopeName": "CrossNamespacePodAffinity", "operator": "Exists"},
            {
                "affinity": {
                    "podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [{"namespaceSelector": {}}]}
                }
            },
            True,
        ),
    ],
)
def test_scopes(scope: dict[str, Any], spec: dict[str, Any], so: bool) -> None:
    assert in_scope(scope, POD, pod(**spec)) is so


def test_what_is_taken_is_charged_at_once() -> None:
    api = counted({"requests.cpu": "1", "count/pods": "5"})
    api.create(pod(resources={"requests": {"cpu": "300m"}}))
    assert used(api) == {"count/pods": "1", "requests.cpu": "300m"}


def test_a_dry_run_and_a_refused_request_charge_nothing() -> None:
    api = counted({"pods": "5"})
    api.create(pod(), dry_run=True)
    api.create(pod())
    assert refusal(lambda: api.create(pod())).reason == "AlreadyExists"
    assert used(api) == {"pods": "1"}


def test_a_quota_that_is_not_counted_yet_says_so() -> None:
    api = api_server(quota({"pods": "1"}))
    api.patch_status(("ResourceQuota", "default", "q"), {"hard": {"pods": "1"}})
    assert "status unknown for quota: q, resources: pods" in refusal(lambda: api.create(pod())).message


def test_a_quota_without_a_status_holds_nothing_back() -> None:
    assert api_server(quota({"pods": "0"})).create(pod())


def test_a_service_that_becomes_a_load_balancer_is_charged_the_difference() -> None:
    api = counted({"services": "1", "services.loadbalancers": "0"})
    api.create(make("Service", "s", "default", spec={"ports": [{"port": 1}]}))
    key = ("Service", "default", "s")
    message = refusal(lambda: api.patch(key, {"spec": {"type": "LoadBalancer"}})).message
    assert (
        "requested: services.loadbalancers=1, used: services.loadbalancers=0, limited: services.loadbalancers=0"
        in message
    )


def test_what_is_limited_by_default_needs_a_quota_that_covers_it() -> None:
    limited = {"limitedResources": [{"resource": "pods", "matchContains": ["cpu"]}]}
    api = api_server(ResourceQuotaConfiguration=limited)
    api.create(pod("idle"))
    answer = refusal(lambda: api.create(pod(resources={"requests": {"cpu": "1"}})))
    assert "insufficient quota to consume: cpu,requests.cpu" in answer.message


@pytest.mark.parametrize(
    ("manifest", "problem"),
    [
        (quota({"pods": "1.5"}), "must be an integer"),
        (quota({"pods": "-1"}), "must be greater than or equal to 0"),
        (quota({"foo": "1"}), "must be a standard resource for quota"),
        (quota({"pods": "1"}, scopes=["Some"]), "unsupported scope"),
        (quota({"cpu": "1"}, scopes=["BestEffort"]), "unsupported scope applied to resource"),
        (quota({"pods": "1"}, scopes=["BestEffort", "NotBestEffort"]), "conflicting scopes"),
        (
            quota(
                {"pods": "1"}, scopeSelector={"matchExpressions": [{"scopeName": "PriorityClass", "operator": "In"}]}
            ),
            "must be at least one value",
        ),
    ],
)
def test_quotas_that_kube_refuses(manifest: dict[str, Any], problem: str) -> None:
    answer = refusal(lambda: api_server().create(manifest))
    assert (answer.code, problem in answer.message) == (422, True)


def test_the_scopes_of_a_quota_cannot_change() -> None:
    api = api_server(quota({"pods": "1"}))
    key = ("ResourceQuota", "default", "q")
    assert "field is immutable" in refusal(lambda: api.patch(key, {"spec": {"scopes": ["BestEffort"]}})).message
