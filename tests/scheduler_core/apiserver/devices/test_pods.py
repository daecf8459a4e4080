"""Pods that claim devices: what is wrong with their claims, and what becomes of them where the gate is off.

kube: pkg/apis/core/validation/validation_test.go (TestPodResourceClaims ...) @ v1.34.1
"""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_core.apiserver.options import APIServerOptions
from scheduler_core.apiserver.registry.devices.defaults import DeviceGates
from scheduler_core.apiserver.server import APIServer
from scheduler_core.apiserver.status import Refused
from scheduler_core.apiserver.store import Store

OF_TEMPLATE = {"name": "a", "resourceClaimTemplateName": "t"}
OF_CLAIM = {"name": "a", "resourceClaimName": "c"}


def server(**gates: bool) -> APIServer:
    options = APIServerOptions(disable_admission_plugins=("NamespaceLifecycle",))
    return APIServer(Store(), options, 0, devices=DeviceGates(**gates))


def pod(*claims: Any, uses: tuple[Any, ...] = (), **spec: Any) -> dict[str, Any]:
    container = {"name": "c", "image": "app", "resources": {"claims": list(uses)} if uses else {}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p", "namespace": "default"},
        "spec": {"containers": [container], "resourceClaims": list(claims), **spec},
    }


def refusals(manifest: Any) -> list[str]:
    with pytest.raises(Refused) as refused:
        server().create(manifest)
    return [str(error) for error in refused.value.errors]


@pytest.mark.parametrize(
    ("claims", "uses"),
    [
        ([OF_TEMPLATE], [{"name": "a"}]),
        ([OF_CLAIM, {**OF_TEMPLATE, "name": "b"}], [{"name": "a"}, {"name": "b"}]),
        ([OF_CLAIM], [{"name": "a", "request": "x"}, {"name": "a", "request": "y"}]),
        ([OF_CLAIM], []),
    ],
)
def test_pods_with_sound_claims_are_taken(claims: Any, uses: Any) -> None:
    made = server().create(pod(*claims, uses=tuple(uses)))
    assert made["spec"]["resourceClaims"] == claims


ONE_OF = "`resourceClaimName`, `resourceClaimTemplateName`"


@pytest.mark.parametrize(
    ("claims", "uses", "said"),
    [
        ([{**OF_CLAIM, "name": ""}], [], ["spec.resourceClaims[0].name: Required value"]),
        ([OF_CLAIM, OF_TEMPLATE], [], ['spec.resourceClaims[1].name: Duplicate value: "a"']),
        (
            [{"name": "a"}],
            [],
            [
                'spec.resourceClaims[0]: Invalid value: {"Name":"a","ResourceClaimName":null,'
                f'"ResourceClaimTemplateName":null}}: must specify one of: {ONE_OF}'
            ],
        ),
        (
            [{**OF_CLAIM, **OF_TEMPLATE}],
            [],
            [
                'spec.resourceClaims[0]: Invalid value: {"Name":"a","ResourceClaimName":"c",'
                '"ResourceClaimTemplateName":"t"}: at most one of `resourceClaimName` or '
                "`resourceClaimTemplateName` may be specified"
            ],
        ),
        (
            [OF_CLAIM],
            [{"name": "b"}],
            [
                'spec.containers[0].resources.claims[0]: Not found: "b": '
                "must be one of the names in pod.spec.resourceClaims: a"
            ],
        ),
        (
            [],
            [{"name": "b"}],
            [
                'spec.containers[0].resources.claims[0]: Not found: "b": '
                "must be one of the names in pod.spec.resourceClaims which is empty"
            ],
        ),
        (
            [OF_CLAIM],
            [{"name": "a", "request": "x"}, {"name": "a"}],
            ['spec.containers[0].resources.claims[1]: Duplicate value: "a"'],
        ),
        (
            [OF_CLAIM],
            [{"name": "a", "request": "x"}, {"name": "a", "request": "x"}],
            ['spec.containers[0].resources.claims[1]: Duplicate value: "a/x"'],
        ),
        ([OF_CLAIM], [{"name": ""}], ["spec.containers[0].resources.claims[0]: Required value"]),
    ],
)
def test_what_is_wrong_with_claims_is_told_in_kubes_words(claims: Any, uses: Any, said: list[str]) -> None:
    assert refusals(pod(*claims, uses=tuple(uses))) == said


def test_templates_of_workloads_are_looked_at_too() -> None:
    labels = {"app": "x"}
    template = {"metadata": {"labels": labels}, "spec": pod({"name": "a"})["spec"]}
    spec = {"selector": {"matchLabels": labels}, "template": template}
    meta = {"name": "d", "namespace": "default"}
    found = refusals({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": meta, "spec": spec})
    assert found[0].startswith("spec.template.spec.resourceClaims[0]: Invalid value")


def test_without_the_gate_claims_are_dropped_and_kept_where_they_were() -> None:
    off = server(dynamic_resources=False)
    made = off.create(pod(OF_CLAIM, uses=({"name": "a"},)))
    assert "resourceClaims" not in made["spec"]
    assert made["spec"]["containers"][0]["resources"] == {}
    there = server().create(pod(OF_CLAIM))
    off.store.create({**there, "metadata": {**there["metadata"], "name": "q"}}, "Pod", 0)
    kept = off.store.get("Pod", "default", "q")
    assert kept is not None
    changed = off.update({**kept, "metadata": {**kept["metadata"], "labels": {"a": "b"}}})
    assert changed["spec"]["resourceClaims"] == [OF_CLAIM]


def test_a_status_names_only_claims_of_the_pod() -> None:
    api = server()
    made = api.create(pod(OF_TEMPLATE))
    wrong = {"resourceClaimStatuses": [{"name": "b", "resourceClaimName": "x"}]}
    with pytest.raises(Refused) as refused:
        api.update({**made, "status": {**made["status"], **wrong}}, "status")
    assert [str(error) for error in refused.value.errors] == [
        'status.resourceClaimStatuses[0].name: Invalid value: "b": must match the name of an entry in '
        "`spec.resourceClaims`"
    ]


def test_claims_of_a_pod_never_change() -> None:
    api = server()
    made = api.create(pod(OF_CLAIM))
    other = {**made, "spec": {**made["spec"], "resourceClaims": [{**OF_CLAIM, "resourceClaimName": "d"}]}}
    with pytest.raises(Refused, match="pod updates may not change fields other than"):
        api.update(other)


def test_a_kubelet_writes_neither_slices_of_other_nodes_nor_what_was_claimed() -> None:
    options = APIServerOptions(
        enable_admission_plugins=("NodeRestriction",), disable_admission_plugins=("NamespaceLifecycle",)
    )
    api = APIServer(Store(), options, 0, devices=DeviceGates())
    spec = {"driver": "gpu.example.com", "nodeName": "n1", "pool": {"name": "n1", "resourceSliceCount": 1}}
    slice_ = {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": "s"}, "spec": spec}
    with pytest.raises(Refused, match="can only create ResourceSlice with the same NodeName"):
        api.create(slice_, "system:node:n2")
    api.create(slice_, "system:node:n1")
    with pytest.raises(Refused, match="can only delete ResourceSlice with the same NodeName"):
        api.delete(("ResourceSlice", "", "s"), user="system:node:n2")
    made = api.create(pod(OF_TEMPLATE, nodeName="n1"))
    named = {"resourceClaimStatuses": [{"name": "a", "resourceClaimName": "x"}]}
    with pytest.raises(Refused, match="cannot update resource claim statues"):
        api.update({**made, "status": {**made["status"], **named}}, "status", "system:node:n1")
