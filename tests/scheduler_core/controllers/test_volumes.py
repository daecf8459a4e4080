"""The controller of volumes: claims find volumes, get new ones, and let them go."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from scheduler_core.api.store import Store
from scheduler_core.config.settings import WorldSettings
from scheduler_core.controllers.minimal.contract import Timer
from scheduler_core.controllers.minimal.volumes.controller import (
    BIND_LATENCY,
    PROVISION_LATENCY,
    VolumeController,
)
from scheduler_core.testing.builders import make_node, make_pod
from scheduler_core.testing.storage import make_claim, make_class, make_csi_node, make_volume

SECOND = 10**9
CONTROLLER = VolumeController()
SETTINGS = WorldSettings()
SELECTED = {"volume.kubernetes.io/selected-node": "a"}
DEFAULT = {"storageclass.kubernetes.io/is-default-class": "true"}


class Cluster:
    """A store and the controller's timers, which `settle` lets run out in order."""

    def __init__(self, *objects: Mapping[str, Any]) -> None:
        self.store = Store()
        self.timers: list[Timer] = []
        self.now = 0
        self.store.subscribe(
            lambda event: self.timers.extend(CONTROLLER.on_watch(self.store, event, self.now, SETTINGS))
        )
        for manifest in objects:
            self.store.create(manifest, manifest["kind"], 0)

    def settle(self) -> None:
        while self.timers:
            timer = min(self.timers, key=lambda timer: timer.at)
            self.timers.remove(timer)
            if timer.action.stands(self.store):
                self.now = timer.at
                timer.action.run(self.store, self.now)

    def claim(self, name: str = "c") -> Mapping[str, Any] | None:
        return self.store.get("PersistentVolumeClaim", "default", name)

    def bound_to(self, name: str = "c") -> str:
        """The volume of a claim that is bound, from both sides."""
        claim = self.claim(name)
        assert claim is not None
        if claim["status"]["phase"] != "Bound":
            return ""
        volume = claim["spec"]["volumeName"]
        assert "pv.kubernetes.io/bind-completed" in claim["metadata"]["annotations"]
        found = self.volume(volume)
        assert found is not None
        assert found["spec"]["claimRef"]["uid"] == claim["metadata"]["uid"]
        assert found["status"]["phase"] == "Bound"
        return str(volume)

    def volume(self, name: str) -> Mapping[str, Any] | None:
        return self.store.get("PersistentVolume", "", name)


NOW = make_class("now", provisioner="csi.x", mode="Immediate", reclaimPolicy="Delete")
STATIC = make_class("static", mode="Immediate")


def settled(*objects: Mapping[str, Any]) -> Cluster:
    cluster = Cluster(*objects)
    cluster.settle()
    return cluster


def test_a_claim_gets_the_smallest_volume_that_suits_it() -> None:
    offered = [make_volume(name, "static", size) for name, size in (("big", "9Gi"), ("fits", "2Gi"))]
    cluster = settled(STATIC, *offered, make_claim("c", "static"))
    assert cluster.bound_to() == "fits"
    assert cluster.now == BIND_LATENCY


def test_a_claim_that_was_there_first_gets_a_volume_that_comes_later() -> None:
    cluster = settled(STATIC, make_claim("c", "static"), make_claim("d", "static"))
    for name in ("v", "w"):
        cluster.store.create(make_volume(name, "static"), "PersistentVolume", 0)
    cluster.settle()
    assert sorted([cluster.bound_to("c"), cluster.bound_to("d")]) == ["v", "w"]


def test_a_claim_without_a_suitable_volume_waits() -> None:
    cluster = settled(STATIC, make_volume("v", "static", "1Mi"), make_claim("c", "static"))
    assert cluster.bound_to() == ""


def test_a_claim_whose_class_waits_for_a_consumer_is_left_to_the_scheduler() -> None:
    cluster = settled(make_class(), make_volume("v"), make_claim("c"))
    assert cluster.bound_to() == ""
    assert cluster.timers == []


def test_the_volume_that_the_scheduler_reserved_is_bound() -> None:
    cluster = settled(make_class(), make_volume("v"), make_volume("w"), make_claim("c"))
    cluster.store.replace(make_volume("w", claim="c"), "PersistentVolume")
    cluster.settle()
    assert cluster.bound_to() == "w"


def test_a_claim_that_names_its_volume_gets_it() -> None:
    cluster = settled(make_class(), make_volume("v"), make_claim("c", volumeName="v"))
    assert cluster.bound_to() == "v"


def test_a_volume_is_made_for_a_claim_that_does_not_wait() -> None:
    cluster = settled(NOW, make_claim("c", "now", "3Gi"))
    volume = cluster.volume(cluster.bound_to())
    assert volume is not None
    assert volume["spec"]["capacity"] == {"storage": "3Gi"}
    assert volume["spec"]["csi"]["driver"] == "csi.x"
    assert cluster.now == PROVISION_LATENCY


def chosen(*others: Mapping[str, Any], **fields: Any) -> Cluster:
    """A claim that has chosen node a, whose class makes volumes."""
    claim = make_claim("c")
    claim["metadata"]["annotations"] = SELECTED
    return settled(*others, make_class(provisioner="csi.x", **fields), claim)


A = make_node("a").zone("z1").manifest()


def expressions(cluster: Cluster) -> list[Any]:
    volume = cluster.volume(cluster.bound_to())
    assert volume is not None
    terms = ((volume["spec"].get("nodeAffinity") or {}).get("required") or {}).get("nodeSelectorTerms") or ()
    return [(e["key"], e["values"]) for term in terms for e in term["matchExpressions"]]


def test_a_volume_made_for_a_node_can_be_reached_from_its_part_of_the_drivers_topology() -> None:
    csi_node = make_csi_node("a", {"csi.x": None})
    csi_node["spec"]["drivers"][0]["topologyKeys"] = ["topology.kubernetes.io/zone"]
    assert expressions(chosen(A, csi_node)) == [("topology.kubernetes.io/zone", ["z1"])]


def test_without_a_drivers_topology_that_of_the_class_counts() -> None:
    expression = {"key": "topology.kubernetes.io/zone", "values": ["z1", "z2"]}
    cluster = chosen(A, allowedTopologies=[{"matchLabelExpressions": [expression]}])
    assert expressions(cluster) == [("topology.kubernetes.io/zone", ["z1"])]


def test_without_its_node_a_claim_gives_its_choice_back() -> None:
    cluster = chosen()
    claim = cluster.claim()
    assert claim is not None
    assert claim["metadata"]["annotations"] == {}
    assert [event.reason for event in cluster.store.events] == ["ProvisioningFailed"]


def test_a_claim_without_a_class_gets_the_default_class() -> None:
    marked = {**NOW, "metadata": {"name": "now", "annotations": DEFAULT}}
    cluster = settled(STATIC, marked, make_claim("c", None))
    claim = cluster.claim()
    assert claim is not None
    assert claim["spec"]["storageClassName"] == "now"
    assert cluster.bound_to() != ""


def test_a_claim_that_wants_no_class_gets_none() -> None:
    marked = {**NOW, "metadata": {"name": "now", "annotations": DEFAULT}}
    assert settled(marked, make_claim("c", "")).bound_to() == ""


def test_a_class_that_comes_later_serves_the_claims_that_wait_for_it() -> None:
    cluster = settled(make_claim("c", "now"))
    cluster.store.create(NOW, "StorageClass", 0)
    cluster.settle()
    assert cluster.bound_to() != ""


def test_a_claim_whose_volume_is_gone_is_lost() -> None:
    cluster = settled(make_volume("v", claim="c"), make_claim("c", volume="v"))
    cluster.store.remove("PersistentVolume", "", "v")
    cluster.settle()
    claim = cluster.claim()
    assert claim is not None
    assert claim["status"]["phase"] == "Lost"


@pytest.mark.parametrize(("policy", "phase"), [("Delete", None), ("Retain", "Released")])
def test_what_becomes_of_a_volume_whose_claim_is_deleted(policy: str, phase: str | None) -> None:
    volume = make_volume("v", claim="c", persistentVolumeReclaimPolicy=policy)
    cluster = settled(volume, make_claim("c", volume="v"))
    cluster.store.remove("PersistentVolumeClaim", "default", "c")
    cluster.settle()
    left = cluster.volume("v")
    assert (None if left is None else left["status"]["phase"]) == phase


def test_claims_of_ephemeral_volumes_come_and_go_with_their_pod() -> None:
    template = {"spec": make_claim("x", "now")["spec"]}
    ephemeral = {"name": "scratch", "ephemeral": {"volumeClaimTemplate": template}}
    pod = make_pod("p").volumes(ephemeral).manifest()
    cluster = settled(NOW, pod)
    claim, volume = cluster.claim("p-scratch"), cluster.bound_to("p-scratch")
    assert claim is not None
    assert [owner["uid"] for owner in claim["metadata"]["ownerReferences"]] == ["default-p"]
    cluster.store.remove("Pod", "default", "p")
    cluster.settle()
    assert cluster.claim("p-scratch") is None
    assert cluster.volume(volume) is None


def test_a_timer_of_a_claim_that_was_deleted_does_nothing() -> None:
    cluster = Cluster(NOW, make_claim("c", "now"))
    cluster.store.remove("PersistentVolumeClaim", "default", "c")
    assert [timer.action.stands(cluster.store) for timer in cluster.timers] == [False]
    cluster.settle()
    assert cluster.store.list("PersistentVolume") == []
