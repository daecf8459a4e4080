"""What is proposed for containers that do not start or are ended, by the words of their kubelet."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_core.analysis.fixes.containers import propose_containers
from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.scheduler.framework.drafts import Draft
from scheduler_core.world.simulation import Simulation
from tests.scheduler_core.worlds import node, pod, world


def proposed(sim: Simulation, manifest: dict[str, Any], where: str = "a") -> list[Draft]:
    found = Pod.from_manifest(manifest)
    return list(propose_containers(Draft(manifest), sim, found, sim.store.node(where)))


def saying(message: str, reason: str = "CreateContainerConfigError", **spec: Any) -> dict[str, Any]:
    made = pod("p", **spec)
    name = made["spec"]["containers"][0]["name"]
    waiting = {"name": name, "state": {"waiting": {"reason": reason, "message": message}}}
    return {**made, "status": {"phase": "Pending", "containerStatuses": [waiting]}}


def labelled(name: str, system: str, architecture: str) -> dict[str, Any]:
    made = node(name)
    made["metadata"]["labels"] |= {"kubernetes.io/os": system, "kubernetes.io/arch": architecture}
    return made


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        ("container has runAsNonRoot and image will run as root", "user"),
        ("container has runAsNonRoot and image has non-numeric user (node), cannot verify user is non-root", "user"),
        ('configmap "settings" not found', "config-object"),
        ('secret "keys" not found', "config-object"),
        ("rpc error: code = Unknown desc = failed to authorize: 401 Unauthorized", "pull-secret"),
    ],
)
def test_the_words_of_a_kubelet_have_their_fix(message: str, kind: str) -> None:
    [draft] = proposed(world(node("a")), saying(message))
    assert draft.kinds == (kind,)


@pytest.mark.parametrize(
    ("message", "context", "left"),
    [
        (
            'forbidden sysctl: "net.core.somaxconn" not allowlisted',
            {"sysctls": [{"name": "net.core.somaxconn"}]},
            {"sysctls": None},
        ),
        (
            "Setting volume ownership for x, processed 9 files.",
            {"fsGroup": 1},
            {"fsGroup": 1, "fsGroupChangePolicy": "OnRootMismatch"},
        ),
        ("Setting volume ownership for x, processed 9 files.", {}, None),
    ],
)
def test_the_security_context_is_what_the_kubelet_wants(message: str, context: dict[str, Any], left: Any) -> None:
    asks = saying(message)
    asks["spec"]["securityContext"] = context
    found = proposed(world(node("a")), asks)
    assert [(each.pod or {})["spec"]["securityContext"] for each in found] in ([], [left], [{}])
    assert bool(found) == (left is not None)


@pytest.mark.parametrize(
    ("image", "name"), [("acme/web:4.5980468e+07", "acme/web:45980468"), ("https://acme.io/web:1", "acme.io/web:1")]
)
def test_an_image_gets_a_name_that_can_be_read(image: str, name: str) -> None:
    asks = saying(
        f'Failed to apply default image tag "{image}": couldn\'t parse image name "{image}": invalid reference format'
    )
    asks["spec"]["containers"][0]["image"] = image
    [draft] = proposed(world(node("a")), asks)
    assert (draft.pod or {})["spec"]["containers"][0]["image"] == name


def test_a_custom_resource_of_another_namespace_is_copied() -> None:
    meta = {"name": "vault", "namespace": "other"}
    there = {"apiVersion": "secrets-store.csi.x-k8s.io/v1", "kind": "SecretProviderClass", "metadata": meta, "spec": {}}
    message = 'SecretProviderClass.secrets-store.csi.x-k8s.io "vault" not found'
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "other"}}
    [draft] = proposed(world(node("a"), namespace, there), saying(message))
    assert [each["metadata"]["namespace"] for each in draft.objects] == ["default"]
    assert proposed(world(node("a")), saying(message)) == []


def test_an_image_that_may_not_be_pulled_is_pulled() -> None:
    asks = saying('Container image "x" is not present with pull policy of Never', "ErrImageNeverPull")
    asks["spec"]["containers"][0]["imagePullPolicy"] = "Never"
    [draft] = proposed(world(node("a")), asks)
    assert draft.pod is not None
    assert draft.pod["spec"]["containers"][0]["imagePullPolicy"] == "IfNotPresent"


@pytest.mark.parametrize(
    ("other", "selector"),
    [
        (labelled("b", "linux", "amd64"), {"kubernetes.io/arch": "amd64"}),
        (labelled("b", "linux", "arm64"), None),
        (labelled("b", "windows", "amd64"), None),
    ],
)
def test_a_foreign_program_goes_to_nodes_of_another_kind_if_there_are_any(
    other: dict[str, Any], selector: dict[str, str] | None
) -> None:
    sim = world(labelled("a", "linux", "arm64"), other)
    found = proposed(sim, saying('exec: "/app": exec format error: unknown', "CrashLoopBackOff"))
    assert [(each.pod or {})["spec"].get("nodeSelector") for each in found] == ([selector] if selector else [])


def test_a_directory_that_the_node_lacks_is_made_by_the_kubelet() -> None:
    volume = {"name": "games", "hostPath": {"path": "/data/games", "type": "Directory"}}
    message = 'MountVolume.SetUp failed for volume "games" : hostPath type check failed: /data/games is not a directory'
    [draft] = proposed(world(node("a")), saying(message, "ContainerCreating", volumes=[volume]))
    assert draft.pod is not None
    assert draft.pod["spec"]["volumes"][0]["hostPath"]["type"] == "DirectoryOrCreate"


def test_a_container_that_was_killed_for_its_memory_gets_twice_as_much() -> None:
    asks = saying("", "CrashLoopBackOff")
    asks["spec"]["containers"][0]["resources"] = {"limits": {"memory": "64Mi"}, "requests": {"memory": "64Mi"}}
    asks["status"]["containerStatuses"][0]["lastState"] = {"terminated": {"reason": "OOMKilled", "exitCode": 137}}
    [draft] = proposed(world(node("a")), asks)
    assert draft.changes[0].values == {
        "field": "limits", "resource": "memory", "container": asks["spec"]["containers"][0]["name"], "to": "128Mi"
    }  # fmt: skip


def test_an_object_that_is_there_is_not_made_again() -> None:
    settings = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings", "namespace": "default"}}
    assert not proposed(world(node("a"), settings), saying('configmap "settings" not found'))


def test_a_startup_probe_that_gives_up_soon_may_fail_more_often() -> None:
    manifest = saying(
        'Startup probe failed: Get "http://10.0.0.3:80/": dial tcp 10.0.0.3:80: connect: connection refused'
    )
    container = manifest["spec"]["containers"][0]
    container |= {"startupProbe": {"httpGet": {"port": 80}, "failureThreshold": 1}, "ports": [{"containerPort": 80}]}
    for given, raised in ((1, 30), (30, 60)):
        container["startupProbe"]["failureThreshold"] = given
        (found,) = proposed(world(node("a")), manifest)
        assert found.changes[0].values["to"] == raised


def test_a_pod_of_a_workload_whose_mounted_file_has_gone_is_deleted() -> None:
    manifest = saying(
        'mounting ".../volume-subpaths/settings/app/0" to rootfs: no such file or directory', "StartError"
    )
    assert proposed(world(node("a")), manifest) == []
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": "1", "controller": True}
    manifest["metadata"]["ownerReferences"] = [owner]
    assert [each.kinds for each in proposed(world(node("a")), manifest)] == [("delete",)]


def test_an_empty_dir_over_its_limit_gets_twice_as_much() -> None:
    manifest = saying('Usage of EmptyDir volume "scratch" exceeds the limit "5Gi".', "Evicted")
    manifest["spec"]["volumes"] = [{"name": "scratch", "emptyDir": {"sizeLimit": "5Gi"}}]
    (found,) = proposed(world(node("a")), manifest)
    assert found.pod is not None and found.pod["spec"]["volumes"][0]["emptyDir"]["sizeLimit"] == "10Gi"
