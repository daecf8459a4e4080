"""What is in every cluster from the start, and stays."""

from __future__ import annotations

import pytest

from tests.scheduler_core.apiserver.cluster.requests import api_server, make, pod, refusal


@pytest.mark.parametrize("name", ["default", "kube-system", "kube-public"])
def test_a_namespace_of_kubes_own_cannot_be_deleted(name: str) -> None:
    api = api_server()
    answer = refusal(lambda: api.delete(("Namespace", "", name)))
    assert answer.message == f'namespaces "{name}" is forbidden: this namespace may not be deleted'


@pytest.mark.parametrize("name", ["system-node-critical", "system-cluster-critical"])
def test_a_system_priority_class_cannot_be_deleted(name: str) -> None:
    api = api_server()
    answer = refusal(lambda: api.delete(("PriorityClass", "", name)))
    assert (answer.code, "this is a system priority class" in answer.message) == (403, True)


def test_namespaces_are_labelled_with_their_names() -> None:
    found = api_server().found(("Namespace", "", "kube-node-lease"))
    assert found["metadata"]["labels"] == {"kubernetes.io/metadata.name": "kube-node-lease"}


def test_a_pod_in_an_unknown_namespace_is_not_found() -> None:
    answer = refusal(lambda: api_server().create(pod(namespace="nowhere")))
    assert (answer.code, answer.message) == (404, 'namespaces "nowhere" not found')


def test_nothing_is_made_in_a_namespace_that_is_going() -> None:
    api = api_server(make("Namespace", "going"))
    api.patch_status(("Namespace", "", "going"), {"phase": "Terminating"})
    answer = refusal(lambda: api.create(make("ConfigMap", "c", "going")))
    assert answer.causes == ("namespace going is being terminated",)
