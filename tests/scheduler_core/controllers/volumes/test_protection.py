"""What is in use is kept; claims of ephemeral volumes come and go with their pods."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_core.world.simulation import Simulation
from tests.scheduler_core.clusters import cluster, delete, meta_of, patch, wait
from tests.scheduler_core.controllers.volumes.worlds import claim, of_claim, of_volume, volume
from tests.scheduler_core.worlds import pod

PROTECTION = ["persistentvolumeclaim-protection-controller", "persistentvolume-protection-controller"]
NAMED = {"name": "v", "persistentVolumeClaim": {"claimName": "c"}}


def using(node: str = "n", phase: str = "Running", source: dict[str, Any] = NAMED, **metadata: Any) -> dict[str, Any]:
    manifest = pod("p", volumes=[source], schedulerName="nobody", **({"nodeName": node} if node else {}))
    manifest["metadata"] |= {"namespace": "default", "uid": "uid-p", **metadata}
    return {**manifest, "status": {"phase": phase}}


def deleted(*objects: dict[str, Any]) -> Simulation:
    """A world in which the claim c was deleted."""
    sim = cluster(*objects, controllers=PROTECTION)
    delete(sim, "PersistentVolumeClaim", "c")
    wait(sim, 1)
    return sim


@pytest.mark.parametrize(
    ("pods", "stays"),
    [
        ([], False),
        ([using()], True),
        ([using(phase="Succeeded")], True),
        ([using(node="", phase="Pending")], False),
        ([using(source={"name": "v", "persistentVolumeClaim": {"claimName": "other"}})], False),
    ],
    ids=["unused", "used", "used by a pod that has ended", "used by a pod without a node", "another is used"],
)
def test_a_deleted_claim_stays_while_a_pod_on_a_node_names_it(pods: list[dict[str, Any]], stays: bool) -> None:
    sim = deleted(claim(), *pods)
    assert (of_claim(sim)[0] != "gone") is stays


def test_it_goes_when_the_last_pod_is_gone() -> None:
    sim = deleted(claim(), using())
    delete(sim, "Pod", "p", grace_period_seconds=0)
    wait(sim, 2)
    assert of_claim(sim)[0] == "gone"


def test_a_claim_that_came_without_protection_gets_it() -> None:
    bare = claim()
    bare["metadata"]["finalizers"] = []
    sim = cluster(controllers=PROTECTION)
    sim.store.create(bare, "PersistentVolumeClaim", 0)
    wait(sim, 1)
    meta = meta_of(sim, "PersistentVolumeClaim", "c")
    assert meta is not None
    assert meta["finalizers"] == ["kubernetes.io/pvc-protection"]


@pytest.mark.parametrize(("phase", "stays"), [("Bound", True), ("Released", False), ("Available", False)])
def test_a_deleted_volume_stays_while_it_is_bound(phase: str, stays: bool) -> None:
    sim = cluster(volume("v", phase=phase), controllers=PROTECTION)
    delete(sim, "PersistentVolume", "v", "")
    wait(sim, 1)
    assert (of_volume(sim)[0] != "gone") is stays
    if stays:
        patch(sim, "PersistentVolume", "v", {"metadata": {"finalizers": None}}, "")
        assert of_volume(sim)[0] == "gone"


EPHEMERAL = {
    "name": "v",
    "ephemeral": {
        "volumeClaimTemplate": {
            "metadata": {"labels": {"a": "b"}},
            "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
        }
    },
}
EPHEMERALS = ["ephemeral-volume-controller", "garbage-collector-controller", *PROTECTION]


def test_the_claim_of_an_ephemeral_volume_is_made_and_made_again_and_goes_with_its_pod() -> None:
    sim = cluster(using(source=EPHEMERAL), controllers=EPHEMERALS)
    wait(sim, 1)
    first = meta_of(sim, "PersistentVolumeClaim", "p-v")
    assert first is not None
    assert (first["labels"], first["ownerReferences"][0]["uid"]) == ({"a": "b"}, "uid-p")
    patch(sim, "PersistentVolumeClaim", "p-v", {"metadata": {"finalizers": None}})
    delete(sim, "PersistentVolumeClaim", "p-v")
    wait(sim, 2)
    second = meta_of(sim, "PersistentVolumeClaim", "p-v")
    assert second is not None
    assert second["uid"] != first["uid"]
    delete(sim, "Pod", "p", grace_period_seconds=0)
    wait(sim, 3)
    assert meta_of(sim, "PersistentVolumeClaim", "p-v") is None


def test_a_claim_of_that_name_that_is_somebody_elses_is_left_alone() -> None:
    sim = cluster(claim("p-v"), using(source=EPHEMERAL), controllers=EPHEMERALS[:1])
    wait(sim, 1)
    (event,) = sim.store.events
    text = "ephemeral volume v: PVC default/p-v was not created for pod default/p (pod is not owner)"
    assert (event.reason, event.message) == ("FailedBinding", text)
