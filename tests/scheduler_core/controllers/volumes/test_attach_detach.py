"""Volumes attached and detached: VolumeAttachments, the pods that wait for them, and nodes that are lost.

Facts of pkg/controller/volume/attachdetach/reconciler/reconciler_test.go and of pkg/volume/csi @ v1.34.1.
"""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.world.commands import (
    ApplyObjects,
    CreateObject,
    DeleteObjects,
    PatchObject,
    Ref,
    SetKubelet,
    SetSettings,
)
from tests.scheduler_core.controllers.kubelet.worlds import Cluster, node, pod
from tests.support.storage import make_claim, make_volume

DRIVER = "csi.x"


def volume(name: str = "v", claim: str = "c", *modes: str, namespace: str = "default", **source: Any) -> Manifest:
    made = make_volume(name, "", "1Gi", **(source or {"csi": {"driver": DRIVER, "volumeHandle": f"h-{name}"}}))
    ref = {"kind": "PersistentVolumeClaim", "namespace": namespace, "name": claim, "uid": f"uid-{claim}"}
    made["spec"] |= {"claimRef": ref, "accessModes": list(modes or ("ReadWriteOnce",))}
    made["status"] = {"phase": "Bound"}
    return made


def claim(name: str = "c", of: str = "v", *modes: str) -> Manifest:
    made = make_claim(name, "", "1Gi", of)
    made["spec"]["accessModes"] = list(modes or ("ReadWriteOnce",))
    made["status"] = {"phase": "Bound"}
    return made


def using(name: str, on: str, *claims: str, **spec: Any) -> Manifest:
    volumes = [{"name": each, "persistentVolumeClaim": {"claimName": each}} for each in claims or ("c",)]
    return pod(name, on, volumes=volumes, **spec)


def attachments(cluster: Cluster) -> dict[str, tuple[str, bool]]:
    """By node, the volume and whether it is attached."""
    return {
        each["spec"]["nodeName"]: (
            each["spec"]["source"]["persistentVolumeName"],
            (each.get("status") or {}).get("attached", False),
        )
        for each in cluster.sim.store.list("VolumeAttachment")
        if not each["metadata"].get("deletionTimestamp")
    }


def running(cluster: Cluster, name: str) -> bool:
    return cluster.pod(name).phase == "Running"


def delete(cluster: Cluster, name: str, grace: int = 0) -> None:
    cluster.do(DeleteObjects((Ref("Pod", "default", name),), grace))


def two(*objects: Manifest, **settings: Any) -> Cluster:
    return Cluster(node("a"), node("b"), volume(), claim(), *objects, cluster=settings)


def test_a_volume_is_attached_before_its_pod_starts() -> None:
    cluster = two(using("p", "a")).until(0.015)
    (made,) = cluster.sim.store.list("VolumeAttachment")
    # sha256 of handle, driver and node
    assert made["metadata"]["name"] == "csi-526de6a966123e85acd1f99c704480c328d09c817428241cab0ebbd3e55789c2"
    assert made["spec"] == {"attacher": DRIVER, "nodeName": "a", "source": {"persistentVolumeName": "v"}}
    assert cluster.container("p")["state"] == {"waiting": {"reason": "ContainerCreating"}}
    cluster.until(5)
    assert attachments(cluster) == {"a": ("v", True)}
    assert running(cluster, "p")
    assert cluster.events("SuccessfulAttachVolume") == ['AttachVolume.Attach succeeded for volume "v" ']


@pytest.mark.parametrize("required", [True, False])
def test_a_driver_may_need_no_attachment(required: bool) -> None:
    driver = {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "CSIDriver",
        "metadata": {"name": DRIVER},
        "spec": {"attachRequired": required},
    }
    cluster = two(driver, using("p", "a"), using("q", "b")).until(5)
    assert bool(attachments(cluster)) is required
    assert (running(cluster, "p"), running(cluster, "q")) == (True, not required)


def test_a_volume_that_is_no_drivers_is_not_attached() -> None:
    local = volume(hostPath={"path": "/data"})
    cluster = Cluster(node("a"), node("b"), local, claim(), using("p", "a"), using("q", "b")).until(5)
    assert attachments(cluster) == {}
    assert running(cluster, "p")
    assert running(cluster, "q")


def test_a_pod_on_a_second_node_waits_until_the_first_has_gone() -> None:
    cluster = two(using("p", "a")).until(5)
    cluster.do(CreateObject(using("q", "b")))
    cluster.until(100)
    assert attachments(cluster) == {"a": ("v", True)}
    assert cluster.container("q")["state"] == {"waiting": {"reason": "ContainerCreating"}}
    assert cluster.events("FailedAttachVolume") == [
        'Multi-Attach error for volume "v" Volume is already used by pod(s) p'
    ]
    delete(cluster, "p", 30)
    cluster.until(120)
    assert attachments(cluster) == {"b": ("v", True)}
    assert running(cluster, "q")


def test_a_volume_in_use_without_a_pod_is_exclusively_attached() -> None:
    """The kubelet has not reported yet that it is unmounted."""
    cluster = two(using("p", "a")).until(11)
    delete(cluster, "p")
    cluster.do(CreateObject(using("q", "b")))
    cluster.until(19)
    why = "Volume is already exclusively attached to one node and can't be attached to another"
    assert cluster.events("FailedAttachVolume") == [f'Multi-Attach error for volume "v" {why}']
    cluster.until(25)
    assert running(cluster, "q")


@pytest.mark.parametrize(
    ("others", "message"),
    [(("p2", "p1"), "Volume is already used by pod(s) p1, p2"), (("p1",), "Volume is already used by pod(s) p1")],
)
def test_the_pods_that_use_a_volume_are_named(others: tuple[str, ...], message: str) -> None:
    cluster = two(*(using(name, "a") for name in others)).until(5)
    cluster.do(CreateObject(using("q", "b")))
    cluster.until(10)
    assert cluster.events("FailedAttachVolume") == [f'Multi-Attach error for volume "v" {message}']


@pytest.mark.parametrize("modes", [("ReadWriteMany",), ("ReadWriteOnce", "ReadOnlyMany")])
def test_a_volume_for_many_nodes_is_attached_to_each(modes: tuple[str, ...]) -> None:
    shared = volume("v", "c", *modes), claim("c", "v", *modes)
    cluster = Cluster(node("a"), node("b"), *shared, using("p", "a"), using("q", "b")).until(5)
    assert set(attachments(cluster)) == {"a", "b"}
    assert running(cluster, "p")
    assert running(cluster, "q")


def test_two_pods_of_one_node_share_an_attachment() -> None:
    cluster = two(using("p", "a"), using("q", "a")).until(5)
    assert running(cluster, "p")
    assert running(cluster, "q")
    delete(cluster, "p")
    cluster.until(60)
    assert attachments(cluster) == {"a": ("v", True)}
    delete(cluster, "q")
    cluster.until(120)
    assert attachments(cluster) == {}


def test_a_pod_that_has_ended_wants_its_volume_no_longer() -> None:
    cluster = two(using("p", "a", restartPolicy="Never"))
    cluster.programs({"runs": [{"for": "5s", "exit": 0}]})
    cluster.until(60)
    assert cluster.status("p")["phase"] == "Succeeded"
    assert attachments(cluster) == {}


def test_a_node_that_is_lost_gives_its_volume_back_after_six_minutes() -> None:
    cluster = two(using("p", "a")).until(20)
    cluster.do(SetKubelet("a", False))
    cluster.until(120)
    delete(cluster, "p")
    cluster.do(CreateObject(using("q", "b")))
    cluster.until(120 + 355)
    assert set(attachments(cluster)) == {"a"}
    assert not running(cluster, "q")
    cluster.until(120 + 370)
    assert set(attachments(cluster)) == {"b"}
    assert running(cluster, "q")


def test_a_deleted_node_gives_its_volume_back_after_six_minutes() -> None:
    cluster = two(using("p", "a")).until(20)
    cluster.do(DeleteObjects((Ref("Node", "", "a"),)))
    cluster.do(CreateObject(using("q", "b")))
    cluster.until(360)
    assert set(attachments(cluster)) == {"a"}
    cluster.until(480)
    assert set(attachments(cluster)) == {"b"}


def test_a_node_out_of_service_gives_its_volume_back_at_once() -> None:
    cluster = two(using("p", "a")).until(20)
    cluster.do(SetKubelet("a", False))
    cluster.until(120)
    delete(cluster, "p")
    cluster.until(130)
    assert set(attachments(cluster)) == {"a"}
    taint = {"key": "node.kubernetes.io/out-of-service", "value": "nodeshutdown", "effect": "NoExecute"}
    cluster.do(PatchObject(Ref("Node", "", "a"), {"spec": {"taints": [taint]}}))
    cluster.until(131)
    assert attachments(cluster) == {}


def test_a_kubelet_that_comes_back_reports_what_is_in_use() -> None:
    cluster = two(using("p", "a")).until(20)
    cluster.do(SetKubelet("a", False))
    cluster.until(60)
    delete(cluster, "p")
    cluster.until(100)
    assert set(attachments(cluster)) == {"a"}
    cluster.do(SetKubelet("a", True))
    cluster.until(115)
    assert attachments(cluster) == {}


def test_an_attachment_that_nobody_wants_is_detached() -> None:
    dangling = {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "VolumeAttachment",
        "metadata": {"name": "left", "finalizers": ["external-attacher/csi-x"]},
        "spec": {"attacher": DRIVER, "nodeName": "b", "source": {"persistentVolumeName": "v"}},
        "status": {"attached": True},
    }
    cluster = two(dangling, using("p", "a")).until(5)
    assert attachments(cluster) == {"a": ("v", True)}
    assert running(cluster, "p")


def test_a_volume_that_a_driver_has_taken_over_is_attached_by_it() -> None:
    disk = volume(gcePersistentDisk={"pdName": "d"})
    cluster = Cluster(node("a"), disk, claim(), using("p", "a")).until(5)
    (made,) = cluster.sim.store.list("VolumeAttachment")
    assert made["spec"]["attacher"] == "pd.csi.storage.gke.io"
    assert running(cluster, "p")


def test_without_the_controller_volumes_count_as_attached() -> None:
    cluster = two(using("p", "a"), using("q", "b"), controllers=["persistentvolume-binder-controller"]).until(5)
    assert attachments(cluster) == {}
    assert running(cluster, "p")
    assert running(cluster, "q")


def test_attached_volumes_count_against_a_drivers_limit() -> None:
    csi_node = {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "CSINode",
        "metadata": {"name": "a"},
        "spec": {"drivers": [{"name": DRIVER, "nodeID": "a", "allocatable": {"count": 1}}]},
    }
    cluster = Cluster(node("a"), csi_node, volume(), claim(), volume("w", "d"), claim("d", "w")).until(1)
    cluster.do(ApplyObjects((using("p", "a"),)))
    cluster.until(5)
    cluster.do(CreateObject(using("q", "", "d")))
    cluster.until(10)
    assert "node(s) exceed max volume count" in (cluster.pod("q").condition("PodScheduled") or {})["message"]
    delete(cluster, "p")
    cluster.until(60)
    assert running(cluster, "q")


def test_a_provisioner_that_fails_leaves_its_claim_pending_until_it_does_not() -> None:
    storage_class = {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": "fast"},
        "provisioner": DRIVER,
    }
    waiting = make_claim("c", "fast", "1Gi")
    why = "rpc error: code = ResourceExhausted desc = no space left"
    for at in ("fast", DRIVER):
        cluster = Cluster(node("a"), storage_class, waiting, cluster={"provisioning_errors": {at: why}}).until(30)
        found = cluster.sim.store.get("PersistentVolumeClaim", "default", "c")
        assert found is not None
        assert found["status"]["phase"] == "Pending"
        message = f'failed to provision volume with StorageClass "fast": {why}'
        assert cluster.events("ProvisioningFailed") == [message] * 5  # after 1, 2, 4, 8 and 16 s
        cluster.do(SetSettings({"cluster": {}}))
        cluster.until(600)
        found = cluster.sim.store.get("PersistentVolumeClaim", "default", "c")
        assert found is not None
        assert found["status"]["phase"] == "Bound"
