"""Volumes are made for claims, when and where they are to be."""

from __future__ import annotations

import pytest

from scheduler_core.world.commands import CreateObject
from tests.scheduler_core.clusters import delete, patch, wait
from tests.scheduler_core.controllers.volumes.worlds import binding, claim, of_claim, of_volume, reasons
from tests.scheduler_core.worlds import node, pod
from tests.support.storage import make_class

MADE = "pvc-uid-c"


def test_a_class_that_does_not_wait_has_its_volume_made_at_once() -> None:
    sim = binding(make_class("now", "csi.x", "Immediate"), claim(storageClassName="now"))
    wait(sim, 1)
    assert (of_claim(sim), of_volume(sim, MADE)) == (("Bound", MADE), ("Bound", "c uid-c"))
    assert reasons(sim) == ["ExternalProvisioning", "Provisioning", "ProvisioningSucceeded"]
    made = sim.store.get("PersistentVolume", "", MADE)
    assert made is not None
    assert made["metadata"]["annotations"] == {"pv.kubernetes.io/provisioned-by": "csi.x"}
    assert made["metadata"]["finalizers"][0] == "external-provisioner.volume.kubernetes.io/finalizer"


def test_where_no_provisioner_runs_the_claim_waits_and_it_is_said_for_whom() -> None:
    sim = binding(make_class("now", "csi.x", "Immediate"), claim(storageClassName="now"), provisioners=["csi.y"])
    wait(sim, 60)
    assert of_claim(sim) == ("Pending", "")
    (event,) = sim.store.events
    assert event.message.startswith("Waiting for a volume to be created either by the external provisioner 'csi.x' or")


@pytest.mark.parametrize(
    ("provisioner", "text"),
    [
        ("kubernetes.io/no-provisioner", "no volume plugin matched name: kubernetes.io/no-provisioner"),
        (
            "kubernetes.io/host-path",
            'Failed to create provisioner: provisioning in volume plugin "kubernetes.io/host-path" is disabled',
        ),
        ("", 'storageclass.storage.k8s.io "now" not found'),
    ],
)
def test_a_class_that_cannot_make_volumes_says_why(provisioner: str, text: str) -> None:
    classes = [make_class("now", provisioner, "Immediate")] if provisioner else []
    sim = binding(*classes, claim(storageClassName="now"))
    wait(sim, 1)
    (event,) = sim.store.events
    assert (event.reason, event.message) == ("ProvisioningFailed", text)


def test_an_in_tree_provisioner_is_left_to_the_driver_that_replaced_it() -> None:
    storage_class = make_class("now", "kubernetes.io/aws-ebs", "Immediate")
    sim = binding(storage_class, claim(storageClassName="now"), provisioners=["ebs.csi.aws.com"])
    wait(sim, 1)
    assert of_claim(sim) == ("Bound", MADE)


def test_one_that_waits_for_its_pod_is_made_where_the_pod_goes() -> None:
    storage_class = make_class(
        "late",
        "csi.x",
        allowedTopologies=[{"matchLabelExpressions": [{"key": "kubernetes.io/hostname", "values": ["a", "b"]}]}],
    )
    sim = binding(node("a"), node("b"), storage_class, claim(storageClassName="late"))
    wait(sim, 20)
    assert of_claim(sim) == ("Pending", "")
    used = pod("p", volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}])
    sim.apply(CreateObject({**used, "spec": {**used["spec"], "nodeSelector": {"kubernetes.io/hostname": "b"}}}))
    wait(sim, 40)
    assert of_claim(sim) == ("Bound", MADE)
    bound = sim.store.pod("default", "p")
    made = sim.store.get("PersistentVolume", "", MADE)
    assert bound is not None
    assert made is not None
    assert bound.node_name == "b"
    (term,) = made["spec"]["nodeAffinity"]["required"]["nodeSelectorTerms"]
    assert term["matchExpressions"][0]["values"] == ["b"]


def test_a_claim_whose_node_is_gone_gives_its_choice_back() -> None:
    lost = claim(storageClassName="late")
    lost["metadata"]["annotations"] = {"volume.kubernetes.io/selected-node": "gone"}
    sim = binding(make_class("late", "csi.x"), lost)
    wait(sim, 1)
    assert 'failed to get target node: nodes "gone" not found' in [event.message for event in sim.store.events]
    manifest = sim.store.get("PersistentVolumeClaim", "default", "c")
    assert manifest is not None
    assert "volume.kubernetes.io/selected-node" not in manifest["metadata"]["annotations"]


def test_it_deletes_what_it_made_when_the_claim_is_gone() -> None:
    others = ("persistentvolume-protection-controller",)
    sim = binding(make_class("now", "csi.x", "Immediate"), claim(storageClassName="now"), others=others)
    wait(sim, 1)
    patch(sim, "PersistentVolumeClaim", "c", {"metadata": {"finalizers": None}})
    delete(sim, "PersistentVolumeClaim", "c")
    wait(sim, 2)
    assert of_volume(sim, MADE) == ("gone", "")
