"""What defaulting and admission wrote into objects is recorded in the store, for every kind, and outlives a checkpoint."""

from __future__ import annotations

from typing import Any

from scheduler_core.world.checkpoint import Archive, decode, encode
from scheduler_core.world.commands import ApplyObjects, PatchObject, Ref
from scheduler_core.world.simulation import Simulation
from tests.scheduler_core.worlds import node, pod, world

RANGE = {
    "apiVersion": "v1",
    "kind": "LimitRange",
    "metadata": {"name": "small", "namespace": "default"},
    "spec": {"limits": [{"type": "Container", "defaultRequest": {"memory": "64Mi"}}]},
}
CLASS = {
    "apiVersion": "storage.k8s.io/v1",
    "kind": "StorageClass",
    "metadata": {"name": "gp3", "annotations": {"storageclass.kubernetes.io/is-default-class": "true"}},
    "provisioner": "csi.example.com",
}
CLAIM = {
    "apiVersion": "v1",
    "kind": "PersistentVolumeClaim",
    "metadata": {"name": "data", "namespace": "default"},
    "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
}


def written(sim: Simulation, kind: str, name: str) -> dict[str, tuple[str, Any]]:
    manifest = sim.store.get(kind, "" if kind in ("Node", "StorageClass") else "default", name)
    assert manifest is not None
    uid = manifest["metadata"]["uid"]
    return {each["path"]: (each["by"], each["value"]) for each in sim.store.list_written(uid)}


def made(*objects: dict[str, Any]) -> Simulation:
    return world(RANGE, CLASS, CLAIM, node("a"), pod("p"), *objects)


def test_each_field_has_who_wrote_it() -> None:
    sim = made()
    of_pod = written(sim, "Pod", "p")
    assert of_pod["spec.containers[0].resources.requests.memory"] == ("LimitRanger", "64Mi")
    assert of_pod["spec.priority"] == ("Priority", 0)
    assert of_pod["spec.schedulerName"] == ("defaults", "default-scheduler")
    assert "spec.containers[0].resources.requests.cpu" not in of_pod
    assert written(sim, "PersistentVolumeClaim", "data")["spec.storageClassName"] == ("DefaultStorageClass", "gp3")
    assert written(sim, "StorageClass", "gp3")["volumeBindingMode"] == ("defaults", "Immediate")


def test_an_update_adds_what_it_made_admission_write() -> None:
    sim = made()
    image = {"spec": {"initContainers": [{"name": "new", "image": "x"}]}}
    sim.apply(ApplyObjects(({**DEPLOYMENT, "spec": {**DEPLOYMENT["spec"], "replicas": 1}},)))
    sim.apply(PatchObject(Ref("Deployment", "default", "web"), {"spec": {"template": image}}, type="strategic"))
    paths = written(sim, "Deployment", "web")
    assert {f"spec.template.spec.{each}[0].imagePullPolicy" for each in ("initContainers", "containers")} <= set(paths)


LABELS = {"app": "web"}
TEMPLATE = {"metadata": {"labels": LABELS}, "spec": {"containers": [{"name": "c", "image": "x"}]}}
DEPLOYMENT: dict[str, Any] = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "web", "namespace": "default"},
    "spec": {"selector": {"matchLabels": LABELS}, "template": TEMPLATE},
}


def test_records_outlive_a_checkpoint_and_forks_and_equal_ones_are_one_object() -> None:
    sim = made(*(pod(f"q{number}") for number in range(20)))
    uids = [each.uid for each in sim.store.pods()]
    assert len({id(sim.store.list_written(uid)) for uid in uids}) == 1
    archive = Archive()
    twin, read = sim.fork(), decode(encode(sim, archive), archive)
    for other in (twin, read):
        assert [other.store.list_written(uid) for uid in uids] == [sim.store.list_written(uid) for uid in uids]
    assert len({id(read.store.list_written(uid)) for uid in uids}) == 1


def test_an_object_that_is_gone_leaves_no_record_and_one_of_a_dump_has_none() -> None:
    sim = made()
    uid = sim.store.pods()[0].uid
    sim.store.remove("Pod", "default", "p")
    assert not sim.store.list_written(uid)
    dumped = pod("d")
    sim.apply(ApplyObjects(({**dumped, "metadata": {**dumped["metadata"], "uid": "u-1", "namespace": "default"}},)))
    assert not sim.store.list_written("u-1")
