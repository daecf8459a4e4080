"""Strategic merge patches.

kube: apimachinery/pkg/util/strategicpatch/patch_test.go @ v1.34.1
"""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_core.apiserver.schema.merging import BadPatch, apply_strategic_patch
from tests.scheduler_core.apiserver.cluster.requests import api_server, make, pod, refusal

A, B, C = ({"name": name, "image": name} for name in "abc")


def containers(*listed: Any, **spec: Any) -> dict[str, Any]:
    return {"spec": {"containers": list(listed), **spec}}


def env(**values: str) -> list[dict[str, str]]:
    return [{"name": name, "value": value} for name, value in values.items()]


@pytest.mark.parametrize(
    ("old", "patch", "new"),
    [
        (containers(A, B), containers({"name": "b", "image": "x"}), containers(A, {"name": "b", "image": "x"})),
        (containers(A), containers(B), containers(B, A)),
        (containers(A, B), containers({"name": "a", "$patch": "delete"}), containers(B)),
        (containers(A, B), containers({"$patch": "replace"}, C), containers(C)),
        (
            containers(A, B),
            {"spec": {"containers": [C], "$setElementOrder/containers": [{"name": n} for n in "bca"]}},
            containers(B, C, A),
        ),
        (
            containers({**A, "env": env(x="1", y="2")}),
            containers({"name": "a", "env": env(y="3")}),
            containers({**A, "env": env(x="1", y="3")}),
        ),
        (
            {"spec": {"tolerations": [{"key": "a"}]}},
            {"spec": {"tolerations": [{"key": "b"}]}},
            {"spec": {"tolerations": [{"key": "b"}]}},
        ),
        (
            {"metadata": {"finalizers": ["a", "b"]}},
            {"metadata": {"finalizers": ["c"]}},
            {"metadata": {"finalizers": ["c", "a", "b"]}},
        ),
        (
            {"metadata": {"finalizers": ["a", "b"]}},
            {"metadata": {"$deleteFromPrimitiveList/finalizers": ["a"]}},
            {"metadata": {"finalizers": ["b"]}},
        ),
        (
            {"metadata": {"labels": {"a": "1", "b": "2"}}},
            {"metadata": {"labels": {"a": None, "c": "3"}}},
            {"metadata": {"labels": {"b": "2", "c": "3"}}},
        ),
        (
            {"metadata": {"labels": {"a": "1"}}},
            {"metadata": {"labels": {"$patch": "replace", "c": "3"}}},
            {"metadata": {"labels": {"c": "3"}}},
        ),
        (
            {"spec": {"securityContext": {"runAsUser": 1}}},
            {"spec": {"securityContext": {"$patch": "delete"}}},
            {"spec": {"securityContext": {}}},
        ),
        ({}, {"spec": {"nodeSelector": {"a": None, "b": "1"}}}, {"spec": {"nodeSelector": {"b": "1"}}}),
        (
            {"spec": {"volumes": [{"name": "v", "emptyDir": {}}]}},
            {"spec": {"volumes": [{"name": "v", "hostPath": {"path": "/a"}, "$retainKeys": ["name", "hostPath"]}]}},
            {"spec": {"volumes": [{"name": "v", "hostPath": {"path": "/a"}}]}},
        ),
        (
            {"status": {"conditions": [{"type": "Ready", "status": "False"}, {"type": "X", "status": "True"}]}},
            {"status": {"conditions": [{"type": "Ready", "status": "True"}]}},
            {"status": {"conditions": [{"type": "Ready", "status": "True"}, {"type": "X", "status": "True"}]}},
        ),
    ],
)
def test_merging(old: dict[str, Any], patch: dict[str, Any], new: dict[str, Any]) -> None:
    assert apply_strategic_patch(old, patch, "Pod") == new


@pytest.mark.parametrize(
    ("patch", "problem"),
    [
        (containers({"image": "x"}), "does not contain declared merge key: name"),
        ({"spec": {"$patch": "explode"}}, "unknown patch type: explode"),
        ({"spec": {"containers": [A, B], "$setElementOrder/containers": [B, A]}}, "The order in patch list"),
        ({"spec": {"$retainKeys": ["containers"], "nodeName": "n"}}, "invalid patch format of retainKeys"),
    ],
)
def test_patches_that_cannot_be_applied(patch: dict[str, Any], problem: str) -> None:
    with pytest.raises(BadPatch, match=problem):
        apply_strategic_patch(containers(A), patch, "Pod")


def test_nothing_is_changed_in_place() -> None:
    old = containers(A, B)
    apply_strategic_patch(old, containers({"name": "b", "image": "x"}, nodeName="n"), "Pod")
    assert old == containers(A, B)


def test_a_strategic_patch_of_a_pod_keeps_its_other_containers_fields() -> None:
    api = api_server(pod(resources={"requests": {"cpu": "1"}}))
    stored = api.patch(("Pod", "default", "p"), containers({"name": "c", "image": "new"}), "strategic")
    assert stored["spec"]["containers"][0]["resources"] == {"requests": {"cpu": "1"}}


def test_custom_resources_have_no_strategic_patches() -> None:
    api = api_server(make("Foo", "f", "default", api="example.com/v1"))
    target = ("Foo.example.com", "default", "f")
    assert refusal(lambda: api.patch(target, {"spec": {}}, "strategic")).code == 415
