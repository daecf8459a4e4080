"""What a real API server takes although it looks odd."""

from __future__ import annotations

from typing import Any

import pytest

from tests.scheduler_core.apiserver.cluster.requests import api_server, make, pod, refusal

RBAC = "rbac.authorization.k8s.io/v1"


def daemon(*ports: dict[str, Any]) -> dict[str, Any]:
    spec = {"hostNetwork": True, "containers": [{"name": "c", "image": "app", "ports": list(ports)}]}
    template = {"metadata": {"labels": {"a": "b"}}, "spec": spec}
    return make(
        "DaemonSet", "d", "default", "apps/v1", spec={"selector": {"matchLabels": {"a": "b"}}, "template": template}
    )


def test_a_template_on_the_hosts_network_leaves_its_ports_open() -> None:
    api_server().create(daemon({"containerPort": 9100}))


def test_a_template_says_no_other_port_of_the_host() -> None:
    answer = refusal(lambda: api_server().create(daemon({"containerPort": 9100, "hostPort": 91})))
    assert "must match `containerPort` when `hostNetwork` is true" in answer.message


@pytest.mark.parametrize("kind", ["Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding"])
def test_rbac_names_are_parts_of_an_address(kind: str) -> None:
    space = "default" if not kind.startswith("Cluster") else ""
    name = "system:kube-scheduler"
    ref = {"roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"}}
    more = ref if kind.endswith("Binding") else {}
    assert api_server().create(make(kind, name, space, RBAC, **more))["metadata"]["name"] == name
    answer = refusal(lambda: api_server().create(make(kind, "a/b", space, RBAC, **more)))
    assert "may not contain '/'" in answer.message


def test_nulls_in_maps_and_lists_are_zero_values() -> None:
    stored = api_server().create(make("ConfigMap", "c", "default", data={"a": None, "b": "1"}))
    assert stored["data"] == {"a": "", "b": "1"}
    labelled = pod()
    labelled["metadata"]["labels"] = {"app": None}
    assert api_server().create(labelled)["metadata"]["labels"] == {"app": ""}


def test_a_null_container_is_one_without_a_name() -> None:
    answer = refusal(lambda: api_server().create(pod(containers=[None])))
    assert "spec.containers[0].name: Required value" in answer.message


def test_custom_resources_have_finalizers_of_any_name() -> None:
    named = {"finalizers": ["finalizer.example.com"]}
    api_server().create(make("AppProject", "p", "default", "example.com/v1", metadata=named))
    answer = refusal(lambda: api_server().create(make("ConfigMap", "p", "default", metadata=named)))
    assert "neither a standard finalizer name nor is it fully qualified" in answer.message


def test_a_kind_of_another_group_is_another_kind() -> None:
    api = api_server()
    api.create(make("Job", "j", "default", "batch.volcano.sh/v1alpha1", spec={"minAvailable": 3}))
    api.create(make("StatefulSet", "s", "default", "apps.kruise.io/v1beta1", spec={"replicas": "x"}))
    assert api.store.count("Job") == 0
    assert api.found(("Job.batch.volcano.sh", "default", "j"))["spec"] == {"minAvailable": 3}
