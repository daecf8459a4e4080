"""The plugin LimitRanger, with the rows of TestPodLimitFunc that say most, and the validation of LimitRanges.

kube: plugin/pkg/admission/limitranger/admission_test.go, pkg/apis/core/validation/validation_test.go @ v1.34.1
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.scheduler_core.apiserver.cluster.requests import api_server, make, pod, refusal


def limits(*items: dict[str, Any]) -> dict[str, Any]:
    return make("LimitRange", "l", "default", spec={"limits": list(items)})


def pods(requests: dict[str, str], limit: dict[str, str], count: int = 1) -> dict[str, Any]:
    container = {"image": "app", "resources": {"requests": requests, "limits": limit}}
    return make("Pod", "p", "default", spec={"containers": [{"name": f"c{i}", **container} for i in range(count)]})


@pytest.mark.parametrize(
    ("item", "requests", "limit", "problem"),
    [
        ({"min": {"cpu": "50m"}}, {"cpu": "100m"}, {}, ""),
        ({"min": {"cpu": "50m"}}, {"cpu": "40m"}, {}, "minimum cpu usage per Container is 50m, but request is 40m"),
        (
            {"min": {"memory": "50Mi"}},
            {"cpu": "1", "memory": "40Mi"},
            {},
            "minimum memory usage per Container is 50Mi, but request is 40Mi",
        ),
        ({"min": {"memory": "50Mi"}}, {"memory": "60Mi"}, {"memory": "100Mi"}, ""),
        (
            {"max": {"memory": "1Gi"}},
            {},
            {"memory": "1025Mi"},
            "maximum memory usage per Container is 1Gi, but limit is 1025Mi",
        ),
        (
            {"maxLimitRequestRatio": {"cpu": "1.5"}},
            {"cpu": "1"},
            {"cpu": "2"},
            "cpu max limit to request ratio per Container is 1500m, but provided ratio is 2.000000",
        ),
        (
            {"maxLimitRequestRatio": {"cpu": "2"}},
            {"cpu": "0"},
            {"cpu": "2"},
            "cpu max limit to request ratio per Container is 2, but no request is specified or request is 0",
        ),
        ({"maxLimitRequestRatio": {"memory": "2"}}, {"memory": "100M"}, {"memory": "200M"}, ""),
    ],
)
def test_bounds_of_a_container(
    item: dict[str, Any], requests: dict[str, str], limit: dict[str, str], problem: str
) -> None:
    api = api_server(limits({"type": "Container", **item}))
    assert problem in refusal(lambda: api.create(pods(requests, limit))).message


def test_the_containers_of_a_pod_are_summed() -> None:
    api = api_server(limits({"type": "Pod", "max": {"memory": "1Gi"}}))
    answer = refusal(lambda: api.create(pods({}, {"memory": "600Mi"}, 2)))
    assert "maximum memory usage per Pod is 1Gi, but limit is 1200Mi" in answer.message


def test_init_containers_are_defaulted_and_noted_too() -> None:
    api = api_server(limits({"type": "Container", "defaultRequest": {"cpu": "50m"}}))
    init = {"name": "i", "image": "app"}
    stored = api.create(pod(initContainers=[init]))
    note = "LimitRanger plugin set: cpu request for container c; cpu request for init container i"
    assert stored["metadata"]["annotations"] == {"kubernetes.io/limit-ranger": note}


@pytest.mark.parametrize(
    ("item", "problem"),
    [
        ({"type": "Pod", "default": {"cpu": "1"}}, "may not be specified when `type` is 'Pod'"),
        ({"type": "Container", "min": {"cpu": "2"}, "max": {"cpu": "1"}}, "min value 2 is greater than max value 1"),
        (
            {"type": "Container", "defaultRequest": {"cpu": "2"}, "default": {"cpu": "1"}},
            "default request value 2 is greater than default limit value 1",
        ),
        (
            {"type": "Container", "max": {"cpu": "1"}, "maxLimitRequestRatio": {"cpu": "800m"}},
            "ratio 800m is less than 1",
        ),
        (
            {"type": "Pod", "maxLimitRequestRatio": {"cpu": "4"}, "min": {"cpu": "1"}, "max": {"cpu": "2"}},
            "ratio 4 is greater than max/min = 2.000000",
        ),
        ({"type": "PersistentVolumeClaim"}, "either minimum or maximum storage value is required"),
        ({"type": "Foo"}, "must be a standard limit type or fully qualified"),
    ],
)
def test_a_range_that_kube_refuses(item: dict[str, Any], problem: str) -> None:
    answer = refusal(lambda: api_server().create(limits(item)))
    assert (answer.code, problem in answer.message) == (422, True)
