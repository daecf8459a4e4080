"""Claims and volumes find each other. The tables are those of kube's own tests, told by what must hold in the end.

kube: pkg/controller/volume/persistentvolume/binder_test.go @ v1.34.1
"""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_core.world.commands import ApplyObjects, CreateObject
from scheduler_core.world.simulation import plan_import
from tests.scheduler_core.clusters import delete, patch, wait
from tests.scheduler_core.controllers.volumes.worlds import (
    BOUND_BY_CONTROLLER,
    PROVISIONED_BY,
    binding,
    claim,
    of_claim,
    of_volume,
    reasons,
    volume,
)
from tests.scheduler_core.worlds import pod
from tests.support.storage import make_class

UNBOUND = ("Pending", "")
V, MINE = ("Bound", "v"), ("Bound", "c uid-c")
FREE = ("Available", "")
LABELS = {"matchLabels": {"a": "b"}}
CSI = {"driver": "csi.x", "volumeHandle": "v"}


@pytest.mark.parametrize(
    ("volumes", "asking", "claim_is", "volume_is", "events"),
    [
        pytest.param([volume("v")], claim(), V, MINE, [], id="1-1 successful bind"),
        pytest.param([volume("v")], claim(size="10Gi"), UNBOUND, FREE, ["FailedBinding"], id="1-2 too small"),
        pytest.param(
            [volume("v")],
            claim(size="10Gi", phase="Bound"),
            UNBOUND,
            FREE,
            ["FailedBinding"],
            id="1-3 reset to Pending",
        ),
        pytest.param([volume("big", "10Gi"), volume("v")], claim(), V, MINE, [], id="1-4 smallest volume"),
        pytest.param(
            [volume("v", "10Gi", "", "c"), volume("small")], claim(), V, MINE, [], id="1-5 prebound volume by name"
        ),
        pytest.param(
            [volume("v", "10Gi", "uid-c", "c"), volume("small")], claim(), V, MINE, [], id="1-6 prebound volume by UID"
        ),
        pytest.param(
            [volume("v", "1Gi", "uid-c", "c", "Available", BOUND_BY_CONTROLLER)],
            claim(),
            V,
            MINE,
            [],
            id="1-8 PV bound",
        ),
        pytest.param(
            [volume("v", "1Gi", "uid-c", "c", "Bound", BOUND_BY_CONTROLLER)],
            claim(),
            V,
            MINE,
            [],
            id="1-9 status saved",
        ),
        pytest.param(
            [volume("v", "1Gi", "uid-c", "c", "Bound", BOUND_BY_CONTROLLER)],
            claim(volume="v"),
            V,
            MINE,
            [],
            id="1-10 PVC bound",
        ),
        pytest.param(
            [volume("v")], claim(selector=LABELS), UNBOUND, FREE, ["FailedBinding"], id="1-12 selector does not match"
        ),
        pytest.param(
            [volume("v")], claim(volumeMode="Block"), UNBOUND, FREE, ["FailedBinding"], id="1-13 volumeMode differs"
        ),
        pytest.param(
            [volume("v", accessModes=["ReadWriteOnce", "ReadOnlyMany"]), volume("w", "5Gi")],
            claim(),
            ("Bound", "w"),
            FREE,
            [],
            id="fewer access modes before size",
        ),
        pytest.param([], claim(volume="v", bound=False), ("Pending", "v"), ("gone", ""), [], id="2-1 volume missing"),
        pytest.param([volume("v")], claim(volume="v", bound=False), V, MINE, [], id="2-2 bound to asked volume"),
        pytest.param(
            [volume("v", "1Gi", "", "c")], claim(volume="v", bound=False), V, MINE, [], id="2-3 prebound by name"
        ),
        pytest.param(
            [volume("v", "1Gi", "uid-o", "other")],
            claim(volume="v", bound=False),
            ("Pending", "v"),
            ("Released", "other uid-o"),
            ["FailedBinding"],
            id="2-6 bound to another",
        ),
        pytest.param(
            [volume("v")],
            claim(size="5Gi", volume="v", bound=False),
            ("Pending", "v"),
            FREE,
            ["VolumeMismatch"],
            id="2-9 asked volume too small",
        ),
        pytest.param([], claim(volume="v", phase="Bound"), ("Lost", "v"), ("gone", ""), ["ClaimLost"], id="3-2 lost"),
        pytest.param([volume("v")], claim(volume="v", phase="Bound"), V, MINE, [], id="3-3 volume came unbound"),
        pytest.param(
            [volume("v", "1Gi", "uid-o", "c", "Bound")],
            claim(volume="v", phase="Bound"),
            ("Lost", "v"),
            ("Released", "c uid-o"),
            ["ClaimMisbound"],
            id="3-6 misbound",
        ),
    ],
)
def test_a_claim_and_its_volume(
    volumes: list[dict[str, Any]],
    asking: dict[str, Any],
    claim_is: tuple[str, str],
    volume_is: tuple[str, str],
    events: list[str],
) -> None:
    sim = binding(*volumes, asking)
    wait(sim, 1)
    assert (of_claim(sim), of_volume(sim), reasons(sim)) == (claim_is, volume_is, events)


@pytest.mark.parametrize(
    ("one", "volume_is"),
    [
        pytest.param(volume("v", phase="Pending"), FREE, id="4-1 pending"),
        pytest.param(volume("v", "1Gi", "", "gone", "Pending"), ("Available", "gone"), id="4-2 prebound"),
        pytest.param(volume("v", "1Gi", "uid-x", "gone", "Bound"), ("Released", "gone uid-x"), id="4-3 claim missing"),
        pytest.param(volume("v", "1Gi", "uid-x", "c", "Bound"), ("Released", "c uid-x"), id="4-4 claim made anew"),
        pytest.param(volume("v", "1Gi", "uid-c", "c", "Bound", BOUND_BY_CONTROLLER), FREE, id="4-7 bound elsewhere"),
        pytest.param(volume("v", "1Gi", "uid-c", "c", "Bound"), ("Available", "c"), id="4-8 bound elsewhere, by user"),
    ],
)
def test_a_volume_whose_claim_is_elsewhere(one: dict[str, Any], volume_is: tuple[str, str]) -> None:
    elsewhere = volume("w", "1Gi", "uid-c", "c", "Bound"), claim(volume="w", phase="Bound")
    sim = binding(one, *elsewhere)
    wait(sim, 1)
    assert of_volume(sim) == volume_is


def test_a_volume_that_comes_later_is_seen_within_15_s() -> None:
    sim = binding(claim())
    wait(sim, 20)
    sim.apply(CreateObject(volume("v")))
    wait(sim, 29.9)
    assert (of_claim(sim), of_volume(sim)) == (UNBOUND, FREE)
    wait(sim, 31)
    assert (of_claim(sim), of_volume(sim)) == (V, MINE)
    assert not sim.due(3600 * 10**9)


def test_a_bound_claim_says_what_its_volume_offers() -> None:
    sim = binding(volume("v", "5Gi"), claim())
    wait(sim, 1)
    manifest = sim.store.get("PersistentVolumeClaim", "default", "c")
    assert manifest is not None
    assert manifest["status"] == {"phase": "Bound", "accessModes": ["ReadWriteOnce"], "capacity": {"storage": "5Gi"}}
    assert manifest["metadata"]["annotations"] == {
        "pv.kubernetes.io/bind-completed": "yes",
        "pv.kubernetes.io/bound-by-controller": "yes",
    }


def test_a_claim_whose_volume_is_deleted_is_lost() -> None:
    sim = binding(volume("v"), claim())
    wait(sim, 1)
    patch(sim, "PersistentVolume", "v", {"metadata": {"finalizers": None}}, "")
    delete(sim, "PersistentVolume", "v", "")
    wait(sim, 2)
    assert of_claim(sim) == ("Lost", "v")


def test_one_that_waits_for_a_consumer_is_bound_only_to_what_is_meant_for_it() -> None:
    sim = binding(make_class("late"), volume("v"), volume("w", "1Gi", "", "mine"), claim(storageClassName="late"))
    sim.apply(CreateObject(claim("mine", storageClassName="late")))
    wait(sim, 1)
    assert (of_claim(sim), of_claim(sim, "mine")) == (UNBOUND, ("Bound", "w"))
    assert reasons(sim) == ["WaitForFirstConsumer"]


def test_it_says_for_which_pod_a_claim_waits() -> None:
    sim = binding(make_class("late"), claim(storageClassName="late"))
    wait(sim, 1)
    used = pod("p", volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}], schedulerName="nobody")
    sim.apply(CreateObject(used))
    wait(sim, 16)
    assert [event.message for event in sim.store.events] == [
        "waiting for first consumer to be created before binding",
        "waiting for pod p to be scheduled",
    ]


def test_a_default_class_is_given_to_claims_that_came_before_it() -> None:
    early = claim()
    del early["spec"]["storageClassName"]
    sim = binding(early, provisioners=["csi.x"])
    wait(sim, 10)
    assert reasons(sim) == ["FailedBinding"]
    marked = make_class("std", "csi.x", "Immediate")
    marked["metadata"]["annotations"] = {"storageclass.kubernetes.io/is-default-class": "true"}
    sim.apply(CreateObject(marked))
    wait(sim, 16)
    assert of_claim(sim) == ("Bound", "pvc-uid-c")


@pytest.mark.parametrize(
    ("policy", "source", "marks", "volume_is", "events"),
    [
        ("Retain", {}, (), ("Released", "c uid-c"), []),
        ("Recycle", {}, (BOUND_BY_CONTROLLER,), FREE, ["VolumeRecycled"]),
        ("Recycle", {}, (), ("Available", "c"), ["VolumeRecycled"]),
        ("Recycle", {"hostPath": None, "csi": CSI}, (), ("Failed", "c uid-c"), ["VolumeFailedRecycle"]),
        ("Delete", {}, (), ("Failed", "c uid-c"), ["VolumeFailedDelete"]),
        ("Delete", {"hostPath": {"path": "/tmp/x"}}, (), ("gone", ""), []),
        ("Delete", {"hostPath": None, "csi": CSI}, (), ("Released", "c uid-c"), []),
        ("Delete", {"hostPath": None, "csi": CSI}, (PROVISIONED_BY,), ("gone", ""), []),
    ],
)
def test_what_becomes_of_a_volume_whose_claim_is_gone(
    policy: str, source: dict[str, Any], marks: tuple[str, ...], volume_is: tuple[str, str], events: list[str]
) -> None:
    fields = {name: value for name, value in {"hostPath": {"path": "/x"}, **source}.items() if value is not None}
    one = volume("v", "1Gi", "uid-c", "c", "Bound", *marks, persistentVolumeReclaimPolicy=policy)
    one["spec"] = {**{k: v for k, v in one["spec"].items() if k != "hostPath"}, **fields}
    sim = binding(
        one,
        claim(volume="v", phase="Bound"),
        others=("persistentvolume-protection-controller",),
        provisioners=["csi.x"],
    )
    wait(sim, 1)
    patch(sim, "PersistentVolumeClaim", "c", {"metadata": {"finalizers": None}})
    delete(sim, "PersistentVolumeClaim", "c")
    wait(sim, 2)
    assert (of_volume(sim), reasons(sim)) == (volume_is, events)


def test_a_released_volume_is_free_once_its_reference_is_taken_away() -> None:
    sim = binding(volume("v", "1Gi", "uid-x", "gone", "Released"), claim())
    wait(sim, 1)
    assert of_claim(sim) == UNBOUND
    patch(sim, "PersistentVolume", "v", {"spec": {"claimRef": None}}, "")
    wait(sim, 16)
    assert (of_claim(sim), of_volume(sim)) == (V, MINE)


@pytest.mark.parametrize(("name", "state"), [("c", (V, MINE)), ("other", (UNBOUND, ("Available", "other")))])
def test_a_volume_that_is_made_for_a_claim_that_waits_is_bound_to_it(name: str, state: tuple[Any, Any]) -> None:
    sim = binding(claim())
    wait(sim, 1)
    sim.apply(ApplyObjects((volume("v", claim=name),)))
    wait(sim, 17)
    assert (of_claim(sim), of_volume(sim)) == state


def test_a_bound_claim_that_is_imported_again_stays_bound() -> None:
    asking = claim()
    sim = binding(volume("v"), asking)
    wait(sim, 1)
    again = {**asking, "metadata": {"name": "c"}, "status": {}}
    assert [item.action for item in plan_import(sim.api, [again]).items] == ["unchanged"]
