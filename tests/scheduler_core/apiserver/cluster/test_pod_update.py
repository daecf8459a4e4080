"""What of a pod may change, with rows of TestValidatePodUpdate and TestValidatePodResize.

kube: pkg/apis/core/validation/validation_test.go @ v1.34.1
"""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_core.apiserver.server import APIServer
from tests.scheduler_core.apiserver.cluster.requests import api_server, pod, refusal

KEY = ("Pod", "default", "p")
IN_A = {"matchExpressions": [{"key": "k", "operator": "In", "values": ["a"]}]}
NARROWER = {"matchExpressions": [*IN_A["matchExpressions"], {"key": "l", "operator": "Exists"}]}
GATED = {"schedulingGates": [{"name": "g"}]}
OTHERS = "pod updates may not change fields other than"


def required(*terms: Any) -> dict[str, Any]:
    inner = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": list(terms)}}
    return {"affinity": {"nodeAffinity": inner}}


def patched(before: dict[str, Any], change: dict[str, Any]) -> str:
    """The refusal of a change of the spec, "" where it is made."""
    api = api_server(pod(**before), disable_admission_plugins=("DefaultTolerationSeconds",))
    return refusal(lambda: api.patch(KEY, {"spec": change})).message


@pytest.mark.parametrize(
    ("before", "change", "problem"),
    [
        ({}, {"activeDeadlineSeconds": 20}, ""),
        ({"activeDeadlineSeconds": 20}, {"activeDeadlineSeconds": 10}, ""),
        ({"activeDeadlineSeconds": 20}, {"activeDeadlineSeconds": 30}, "must be less than or equal to previous"),
        ({"activeDeadlineSeconds": 20}, {"activeDeadlineSeconds": None}, "must not update from a positive integer"),
        ({}, {"containers": []}, "pod updates may not add or remove containers"),
        ({}, {"nodeName": "n"}, OTHERS),
        ({}, {"priorityClassName": "system-node-critical"}, OTHERS),
        ({}, {"hostNetwork": False, "nodeSelector": {}}, ""),
        ({"terminationGracePeriodSeconds": -1}, {"terminationGracePeriodSeconds": 1}, ""),
        ({"terminationGracePeriodSeconds": -1}, {"terminationGracePeriodSeconds": 2}, OTHERS),
        (GATED, {"nodeSelector": {"a": "b"}}, ""),
        ({**GATED, **required(IN_A)}, required(NARROWER), ""),
        ({**GATED, **required(NARROWER)}, required(IN_A), "only additions are allowed (no mutations or deletions)"),
        ({**GATED, **required(IN_A)}, required(IN_A, NARROWER), "no additions/deletions to non-empty"),
        (GATED, required(IN_A), ""),
        (GATED, {"affinity": {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": []}}}, ""),
        ({}, required(IN_A), OTHERS),
        (GATED, {"schedulingGates": []}, ""),
    ],
)
def test_changes_of_a_spec(before: dict[str, Any], change: dict[str, Any], problem: str) -> None:
    message = patched(before, change)
    assert (problem in message) if problem else message == ""


def test_the_seconds_of_a_toleration_may_change() -> None:
    before = {"key": "k", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 10}
    after = [{**before, "tolerationSeconds": 20}]
    assert patched({"tolerations": [before]}, {"tolerations": after}) == ""


def test_resources_are_changed_by_the_subresource_resize_alone() -> None:
    before = {"requests": {"cpu": "100m"}}
    api = api_server(pod(resources=before))
    change = {"spec": {"containers": [{"name": "c", "image": "app", "resources": {"requests": {"cpu": "200m"}}}]}}
    assert OTHERS in refusal(lambda: api.patch(KEY, change)).message
    api.patch(KEY, change, subresource="resize")
    assert _requests(api) == {"cpu": "200m"}


def _requests(api: APIServer) -> Any:
    return api.found(KEY)["spec"]["containers"][0]["resources"]["requests"]


@pytest.mark.parametrize(
    ("after", "problem"),
    [
        ({"requests": {"cpu": "1"}, "limits": {"cpu": "1"}}, "resource requests cannot be removed"),
        ({"requests": {"cpu": "1", "memory": "1Gi"}, "limits": {"cpu": "1", "memory": "1Gi"}}, ""),
        (
            {"requests": {"cpu": "500m", "memory": "1Gi"}, "limits": {"cpu": "1", "memory": "1Gi"}},
            "Pod QOS Class may not",
        ),
        (
            {
                "requests": {"cpu": "1", "memory": "1Gi", "ephemeral-storage": "1Gi"},
                "limits": {"cpu": "1", "memory": "1Gi"},
            },
            "only cpu and",
        ),
    ],
)
def test_resizes(after: dict[str, Any], problem: str) -> None:
    same = {"cpu": "2", "memory": "2Gi"}
    api = api_server(pod(resources={"requests": same, "limits": same}))
    change = {"spec": {"containers": [{"name": "c", "image": "app", "resources": after}]}}
    message = refusal(lambda: api.patch(KEY, change, subresource="resize")).message
    assert (problem in message) if problem else message == ""


RUNNING = {"name": "c", "state": {"running": {}}}


@pytest.mark.parametrize(
    ("status", "spec", "problem"),
    [
        ({"containerStatuses": [RUNNING]}, {}, "Pod running on node without support for resize"),
        ({"containerStatuses": [{**RUNNING, "resources": {}}]}, {}, ""),
        ({"containerStatuses": [{"name": "c", "state": {"waiting": {}}}]}, {}, ""),
        ({}, {"os": {"name": "windows"}}, "windows pods cannot be resized"),
    ],
)
def test_not_every_pod_can_be_resized(status: dict[str, Any], spec: dict[str, Any], problem: str) -> None:
    given = pod(resources={"requests": {"cpu": "1"}})
    api = api_server({**given, "spec": {**given["spec"], **spec}})
    api.patch(KEY, {"status": status}, subresource="status")
    change = {"spec": {"containers": [{"name": "c", "image": "app", "resources": {"requests": {"cpu": "2"}}}]}}
    message = refusal(lambda: api.patch(KEY, change, subresource="resize")).message
    assert (problem in message) if problem else message == ""


def test_the_quality_of_service_is_set_once() -> None:
    api = api_server(pod())
    change = {"status": {"qosClass": "Guaranteed"}}
    assert "field is immutable" in refusal(lambda: api.patch(KEY, change, subresource="status")).message


def test_a_posted_pods_status_is_the_servers_to_write() -> None:
    stored = api_server().create({**pod(), "status": {"phase": "Running"}})
    assert stored["status"] == {"phase": "Pending", "qosClass": "BestEffort"}


def test_a_pod_that_is_said_to_be_there_keeps_its_status() -> None:
    stored = api_server().create({**pod(nodeName="n"), "status": {"phase": "Running"}}, imported=True)
    assert stored["status"] == {"phase": "Running", "qosClass": "BestEffort"}


def test_an_unknown_subresource_is_not_found() -> None:
    api = api_server(pod())
    assert refusal(lambda: api.patch(KEY, {}, subresource="exec")).code == 404
