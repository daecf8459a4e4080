"""The smaller admission plugins, with rows of kube's own tests.

kube: pkg/util/tolerations/tolerations_test.go, plugin/pkg/admission/*/admission_test.go @ v1.34.1
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from scheduler_core.apimachinery.objects.errors import InvalidObject
from scheduler_core.apimachinery.objects.typed import convert_data
from scheduler_core.apiserver.admission.catalogue import LEFT_OUT, PLUGINS
from scheduler_core.apiserver.admission.plugins.tolerations import covers, merge_tolerations
from scheduler_core.apiserver.options import NOT_HERE, ORDERED_PLUGINS, APIServerOptions
from scheduler_core.apiserver.registry.devices.defaults import DeviceGates
from tests.scheduler_core.apiserver.cluster.requests import api_server, make, pod, refusal

NODE = "system:node:n1"
ALL = {"operator": "Exists"}
FOO = {"key": "foo", "operator": "Exists"}
FOO_BAR = {"key": "foo", "operator": "Equal", "value": "bar"}
FOO_TEN = {**FOO, "effect": "NoExecute", "tolerationSeconds": 10}
FOO_ZERO = {**FOO, "effect": "NoExecute", "tolerationSeconds": 0}


@pytest.mark.parametrize(
    ("wide", "narrow", "so"),
    [
        (ALL, FOO, True),
        (FOO, ALL, False),
        (FOO, FOO_BAR, True),
        (FOO_BAR, FOO, False),
        (FOO_TEN, FOO_ZERO, True),
        (FOO_ZERO, FOO_TEN, False),
        ({**FOO, "effect": "NoExecute"}, FOO_TEN, True),
        (FOO_TEN, {**FOO, "effect": "NoExecute"}, False),
        ({**FOO, "effect": "NoSchedule"}, FOO, False),
    ],
)
def test_which_toleration_covers_which(wide: dict[str, Any], narrow: dict[str, Any], so: bool) -> None:
    assert covers(wide, narrow) is so


def test_merging_keeps_the_widest_in_the_order_given() -> None:
    assert merge_tolerations([FOO_BAR, FOO_TEN], [FOO, FOO]) == [FOO]


def test_an_extended_resource_is_tolerated_where_the_plugin_is_on() -> None:
    api = api_server(enable_admission_plugins=("ExtendedResourceToleration",))
    stored = api.create(pod(resources={"limits": {"example.com/gpu": "1"}}))
    assert {"key": "example.com/gpu", "operator": "Exists", "effect": "NoSchedule"} in stored["spec"]["tolerations"]


def test_a_namespace_bounds_its_pods_tolerations_with_an_error_500() -> None:
    allowed = {"scheduler.alpha.kubernetes.io/tolerationsWhitelist": '[{"key":"a","operator":"Exists"}]'}
    namespace = make("Namespace", "t", metadata={"annotations": allowed})
    api = api_server(
        namespace,
        enable_admission_plugins=("PodTolerationRestriction",),
        disable_admission_plugins=("DefaultTolerationSeconds",),
    )
    answer = refusal(lambda: api.create(pod(namespace="t", tolerations=[FOO])))
    assert (answer.code, "conflict with its namespace whitelist" in answer.message) == (500, True)
    api.create(pod(namespace="t", tolerations=[{"key": "a", "operator": "Exists"}]))


def test_the_clusters_node_selector_counts_where_the_namespace_says_nothing() -> None:
    config = {"clusterDefaultNodeSelector": "env=dev, tier=x", "default": "env=dev,tier=x"}
    api = api_server(enable_admission_plugins=("PodNodeSelector",), podNodeSelectorPluginConfig=config)
    assert api.create(pod())["spec"]["nodeSelector"] == {"env": "dev", "tier": "x"}
    answer = refusal(lambda: api.create(pod("q", nodeSelector={"disk": "ssd"})))
    assert "conflict with its namespace whitelist" in answer.message


def test_a_claim_without_a_class_gets_the_newest_default_and_a_finalizer() -> None:
    marked = {"annotations": {"storageclass.kubernetes.io/is-default-class": "true"}}
    classes = [make("StorageClass", name, api="storage.k8s.io/v1", provisioner="p", metadata=marked) for name in "ba"]
    api = api_server(*classes)
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    stored = api.create(make("PersistentVolumeClaim", "c", "default", spec=spec))
    assert stored["spec"]["storageClassName"] == "a"  # as old as the other, and first by name
    assert stored["metadata"]["finalizers"] == ["kubernetes.io/pvc-protection"]


def test_only_a_bound_claim_of_an_expandable_class_may_grow() -> None:
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}, "storageClassName": "s"}
    api = api_server(make("StorageClass", "s", api="storage.k8s.io/v1", provisioner="p"))
    api.create(make("PersistentVolumeClaim", "c", "default", spec=spec))
    key, more = (("PersistentVolumeClaim", "default", "c"), {"spec": {"resources": {"requests": {"storage": "2Gi"}}}})
    assert "spec is immutable after creation" in refusal(lambda: api.patch(key, more)).message
    api.patch_status(key, {"phase": "Bound", "capacity": {"storage": "1Gi"}})
    assert "only dynamically provisioned pvc can be resized" in refusal(lambda: api.patch(key, more)).message
    api.patch(("StorageClass", "", "s"), {"allowVolumeExpansion": True})
    assert api.patch(key, more)["spec"]["resources"]["requests"]["storage"] == "2Gi"


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"spec": {"taints": []}}, 'node "n1" is not allowed to modify taints'),
        ({"metadata": {"labels": {"kubernetes.io/foo": "x"}}}, "is not allowed to modify labels: kubernetes.io/foo"),
        ({"metadata": {"labels": {"node.kubernetes.io/foo": "x", "topology.kubernetes.io/zone": "z"}}}, ""),
    ],
)
def test_what_a_kubelet_may_change_of_its_node(change: dict[str, Any], problem: str) -> None:
    api = api_server(make("Node", "n1"), enable_admission_plugins=("NodeRestriction",))
    message = refusal(lambda: api.patch(("Node", "", "n1"), change, user=NODE)).message
    assert (problem in message) if problem else message == ""


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"metadata": {"labels": {"a": "b"}}}, 'node "n1" cannot update labels through pod status'),
        ({"status": {"phase": "Running"}}, ""),
    ],
)
def test_what_a_kubelet_may_change_of_its_pods_status(change: dict[str, Any], problem: str) -> None:
    api = api_server(pod(nodeName="n1"), pod("q"), enable_admission_plugins=("NodeRestriction",))
    message = refusal(lambda: api.patch(("Pod", "default", "p"), change, subresource="status", user=NODE)).message
    assert (problem in message) if problem else message == ""
    others = refusal(lambda: api.patch(("Pod", "default", "q"), change, subresource="status", user=NODE)).message
    assert "for pods with spec.nodeName set to itself" in others


def test_a_kubelet_makes_mirror_pods_of_its_own_node() -> None:
    api = api_server(make("Node", "n1"), enable_admission_plugins=("NodeRestriction",))
    uid = api.found(("Node", "", "n1"))["metadata"]["uid"]
    owner = {"apiVersion": "v1", "kind": "Node", "name": "n1", "uid": uid, "controller": True}
    mirror = pod(nodeName="n1")
    mirror["metadata"] |= {"annotations": {"kubernetes.io/config.mirror": "x"}, "ownerReferences": [owner]}
    secret = {**mirror, "spec": {**mirror["spec"], "imagePullSecrets": [{"name": "s"}]}}
    assert "can not create pods that reference secrets" in refusal(lambda: api.create(secret, NODE)).message
    assert api.create(mirror, NODE)["spec"]["nodeName"] == "n1"


def test_images_are_always_pulled_where_the_plugin_is_on() -> None:
    api = api_server(enable_admission_plugins=("AlwaysPullImages",))
    assert api.create(pod())["spec"]["containers"][0]["imagePullPolicy"] == "Always"


def test_external_addresses_that_were_there_may_stay() -> None:
    before = make("Service", "s", "default", spec={"ports": [{"port": 1}], "externalIPs": ["10.0.0.1"]})
    api = api_server(enable_admission_plugins=("DenyServiceExternalIPs",))
    assert "Use of external IPs is denied" in refusal(lambda: api.create(before)).message
    api.store.create(before, "Service", 0)
    key = ("Service", "default", "s")
    api.patch(key, {"metadata": {"labels": {"a": "b"}}})
    more = {"spec": {"externalIPs": ["10.0.0.1", "10.0.0.2"]}}
    assert "Use of external IPs is denied" in refusal(lambda: api.patch(key, more)).message


def test_everything_can_be_denied() -> None:
    api = api_server(enable_admission_plugins=("AlwaysDeny",))
    assert "admission control is denying all modifications" in refusal(lambda: api.create(pod())).message


@pytest.mark.parametrize(
    ("flags", "field"),
    [
        ({"enable-admission-plugins": ["Foo"]}, "enable-admission-plugins"),
        ({"disable-admission-plugins": ["Foo"]}, "disable-admission-plugins"),
        (
            {"enable-admission-plugins": ["Priority"], "disable-admission-plugins": ["Priority"]},
            "enable-admission-plugins",
        ),
        ({"enable-admission-plugins": ["ImagePolicyWebhook"]}, "enable-admission-plugins"),
        (
            {"ResourceQuotaConfiguration": {"limitedResources": [{"matchContains": []}]}},
            "ResourceQuotaConfiguration.limitedResources[0].resource",
        ),
    ],
)
def test_flags_that_kube_apiserver_refuses(flags: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidObject) as refused:
        convert_data(flags, APIServerOptions)
    assert refused.value.errors[0].path == field


@pytest.mark.parametrize(
    ("on", "flags", "zone"),
    [(True, {}, "b"), (False, {}, "a"), (True, {"disable_admission_plugins": ("PodTopologyLabels",)}, "a")],
)
def test_a_pod_gets_the_zone_and_the_region_of_its_node(on: bool, flags: dict[str, Any], zone: str) -> None:
    key, rack = "topology.kubernetes.io/zone", "example.com/rack"
    api = replace(api_server(**flags), devices=DeviceGates(topology_labels=on))
    api.create(make("Node", "n1", metadata={"labels": {key: "b", rack: "r1"}}))
    manifest = pod()
    placed = {**manifest, "metadata": {**manifest["metadata"], "labels": {key: "a", "app": "web"}}}
    placed["spec"] = {**manifest["spec"], "nodeName": "n1"}
    assert api.create(placed)["metadata"]["labels"] == {key: zone, "app": "web"}
    bound = {**placed, "metadata": {**placed["metadata"], "name": "bound"}, "spec": manifest["spec"]}
    assert api.create(bound)["metadata"]["labels"][key] == "a"
    api.bind("default/bound", "", "n1")
    assert api.found(("Pod", "default", "bound"))["metadata"]["labels"] == {key: zone, "app": "web"}
    # Pods of a dump have what their own cluster gave them.
    dumped = {**placed, "metadata": {**placed["metadata"], "name": "dumped"}}
    assert api.create(dumped, imported=True)["metadata"]["labels"][key] == "a"


def test_plugins_run_in_kubes_order_and_the_others_are_said_to_be_left_out() -> None:
    names = [plugin.name for plugin in PLUGINS]
    assert names == [name for name in ORDERED_PLUGINS if name in names]
    gated = ("MutatingAdmissionPolicy",)  # off with their gates
    assert set(ORDERED_PLUGINS) - set(names) == {*LEFT_OUT, *NOT_HERE, *gated}


def test_a_plugin_is_either_here_or_said_to_be_left_out() -> None:
    assert not {plugin.name for plugin in PLUGINS} & set(LEFT_OUT)
