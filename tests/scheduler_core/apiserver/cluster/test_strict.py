"""Strict decoding: unknown and misplaced fields are refused in kubectl's words, and what was meant is told."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_core.apiserver.kinds import KINDS, kind_of
from scheduler_core.apiserver.schema.strict import strict_errors
from scheduler_core.apiserver.schema.table import fields, type_of
from tests.scheduler_core.apiserver.cluster.requests import api_server, make, pod, refusal


def told(manifest: dict[str, Any]) -> list[str]:
    kind = kind_of(manifest)
    assert kind is not None
    return [str(error) for error in strict_errors(manifest, kind)]


def container(**fields: Any) -> dict[str, Any]:
    return make("Pod", "p", "default", spec={"containers": [{"name": "c", "image": "app", **fields}]})


@pytest.mark.parametrize(
    ("manifest", "error"),
    [
        (container(resource={}), 'spec.containers[0].resource: unknown field "resource" (did you mean "resources"?)'),
        (pod(nodeselector={}), 'spec.nodeselector: unknown field "nodeselector" (did you mean "nodeSelector"?)'),
        (
            container(nodeSelector={}),
            'spec.containers[0].nodeSelector: unknown field "nodeSelector" (did you mean "spec.nodeSelector"?)',
        ),
        (make("Node", "n", taints=[]), 'taints: unknown field "taints" (did you mean "spec.taints"?)'),
        (pod(quux=1), 'spec.quux: unknown field "quux"'),
        (container(image=5), "spec.containers[0].image: 5 is a number, expected a string"),
        (container(env={"A": "b"}), 'spec.containers[0].env: {"A": "b"} is an object, expected a list'),
        (
            make("LimitRange", "l", spec={"limits": [{"max": {"cpu": "x"}}]}),
            'spec.limits[0].max[cpu]: "x" is not a quantity. Write it as 500m or 2',
        ),
        (
            make("Deployment", "d", api="apps/v1", spec={"template": {"spec": {"container": []}}}),
            'spec.template.spec.container: unknown field "container" (did you mean "containers"?)',
        ),
    ],
)
def test_what_is_told(manifest: dict[str, Any], error: str) -> None:
    assert told(manifest) == [error]


def test_the_refusal_has_kubectls_words() -> None:
    answer = refusal(lambda: api_server().create(pod(foo=1, bar=2)))
    text = 'strict decoding error: unknown field "spec.foo", unknown field "spec.bar"'
    assert (answer.code, answer.message) == (400, f'Pod in version "v1" cannot be handled as a Pod: {text}')


def test_a_patch_is_decoded_strictly_too() -> None:
    api = api_server(pod())
    answer = refusal(lambda: api.patch(("Pod", "default", "p"), {"spec": {"toleration": []}}))
    assert (answer.code, 'strict decoding error: unknown field "spec.toleration"' in answer.message) == (422, True)


def test_a_newer_clusters_status_passes() -> None:
    assert told({**pod(), "status": {"phase": "Running", "somethingNew": 1}}) == []


@pytest.mark.parametrize("version", ["autoscaling/v1", "example.com/v1"])
def test_versions_that_the_table_does_not_have_pass(version: str) -> None:
    assert told({**make("HorizontalPodAutoscaler", "h", api=version), "foo": 1}) == []


@pytest.mark.parametrize("version", ["policy/v1beta1", "policy/v2"])
def test_a_version_that_kube_no_longer_serves_has_no_match(version: str) -> None:
    answer = refusal(lambda: api_server().create(make("PodDisruptionBudget", "b", "default", version)))
    assert answer.message == f'no matches for kind "PodDisruptionBudget" in version "{version}"'


def test_every_type_of_the_table_is_there() -> None:
    for name in (*KINDS,):
        root = type_of(KINDS[name], "v1")
        seen, left = {root: None}, [root] if root else []
        while left:
            for field in fields(left.pop()).values():
                inner = field.inner.replace("[]", "").replace("{}", "")
                if field.shape == "object" and inner not in seen:
                    seen[inner] = None
                    left.append(inner)


def test_a_kind_is_not_taken_for_a_part_of_its_name() -> None:
    claim = make("ResourceClaim", "c", "default", "resource.k8s.io/v1", spec={"devices": {}})
    assert refusal(lambda: api_server().create(claim)).ok
