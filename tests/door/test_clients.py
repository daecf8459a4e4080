"""Clients in Python against a live session; each test skips where its client is not installed."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

import pytest
import yaml

from playground.management.door import Door
from tests.browser.server import PlaygroundServer
from tests.door.transcripts import new_session

NODE = {
    "metadata": {"name": "n"},
    "status": {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "9"}, "conditions": [{"type": "Ready", "status": "True"}]},
}  # fmt: skip
TEMPLATE = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "x"}]}}
DEPLOYMENT = {"selector": {"matchLabels": {"a": "b"}}, "replicas": 2, "template": TEMPLATE}


def needs(client: str) -> pytest.MarkDecorator:
    """Skip a test where a client is not installed."""
    return pytest.mark.skipif(find_spec(client) is None, reason=f"the client {client} is not installed")


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """A kubeconfig of a session's local listener."""
    server = PlaygroundServer(tmp_path_factory.mktemp("clients"), ENGINE_WORKERS="1", ENGINE_HEAVY_WORKERS="1")
    server.manage("migrate", "--verbosity", "0")
    server.start()
    door = Door(f"{server.url}/s/{new_session(server.url, live='1', kubelet='runs')}/")
    try:
        yield yaml.safe_load(door.start())
    finally:
        door.stop()
        server.stop()


@needs("kubernetes")
def test_the_official_client_creates_watches_scales_and_evicts(config: dict[str, Any]) -> None:
    from kubernetes import client, watch
    from kubernetes import config as loading

    loading.load_kube_config_from_dict(config)
    core, apps = client.CoreV1Api(), client.AppsV1Api()
    core.create_node(NODE)
    apps.create_namespaced_deployment("default", {"metadata": {"name": "web"}, "spec": DEPLOYMENT})
    running: set[str] = set()
    for event in watch.Watch().stream(core.list_namespaced_pod, "default", timeout_seconds=20):
        if event["object"].status.phase == "Running":
            running.add(event["object"].metadata.name)
        if len(running) == 2:
            break
    assert len(running) == 2
    name = min(running)
    core.create_namespaced_pod_eviction(name, "default", {"metadata": {"name": name}})
    scaled = apps.patch_namespaced_deployment_scale("web", "default", {"spec": {"replicas": 1}})
    assert scaled.spec.replicas == 1
    with pytest.raises(client.ApiException) as refused:
        core.read_namespaced_pod("nope", "default")
    assert refused.value.status == 404


@needs("lightkube")
def test_lightkube_creates_patches_applies_and_lists(config: dict[str, Any]) -> None:
    import lightkube
    from lightkube.models.meta_v1 import ObjectMeta
    from lightkube.resources.core_v1 import ConfigMap

    client = lightkube.Client(config=lightkube.KubeConfig.from_dict(config))
    meta = ObjectMeta(name="one", namespace="default")
    client.create(ConfigMap(metadata=meta, data={"a": "1"}))
    client.patch(ConfigMap, "one", {"data": {"b": "2"}})
    applied = ConfigMap(
        apiVersion="v1", kind="ConfigMap", metadata=ObjectMeta(name="two", namespace="default"), data={"c": "3"}
    )
    client.apply(applied, field_manager="me")
    assert {each.metadata.name: each.data for each in client.list(ConfigMap)} == {
        "one": {"a": "1", "b": "2"},
        "two": {"c": "3"},
    }
