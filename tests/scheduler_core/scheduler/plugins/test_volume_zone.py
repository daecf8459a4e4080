from typing import Any

import pytest

from scheduler_core.scheduler.framework.cycle_state import CycleState
from scheduler_core.scheduler.framework.status import SKIP, Status, unresolvable
from scheduler_core.scheduler.plugins.volume_zone import VolumeZone
from scheduler_core.testing.builders import make_node, make_pod, make_table
from tests.support.drive import filter_nodes
from tests.support.explained import rows
from tests.support.storage import Objects, make_claim, make_class, make_volume

ZONE, REGION = "topology.kubernetes.io/zone", "topology.kubernetes.io/region"
OLD_ZONE = "failure-domain.beta.kubernetes.io/zone"
REFUSED = unresolvable("node(s) had no available volume zone")

OLD = make_node("old").label(OLD_ZONE, "z1")
TABLE = make_table([make_node("one").zone("z1", "r"), make_node("two").zone("z2", "r"), make_node("none"), OLD])
POD = make_pod("p").claims("c").pod()


def refused_on(labels: dict[str, str]) -> list[str]:
    """The nodes refused for a pod whose volume has these labels."""
    objects = Objects([make_claim("c", volume="v"), make_volume("v", claim="c", labels=labels)])
    found = filter_nodes(VolumeZone({}, objects), POD, TABLE)
    assert set(found.values()) <= {None, REFUSED}
    return [name for name, status in found.items() if status is not None]


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ({ZONE: "z1"}, ["two", "old"]),  # the old name of a label does not stand for the new one
        ({OLD_ZONE: "z1"}, ["two"]),  # but the new one does for the old
        ({ZONE: "z1__z2"}, ["old"]),
        ({ZONE: "z3"}, ["one", "two", "old"]),
        ({REGION: "r", ZONE: "z2"}, ["one", "old"]),
        ({ZONE: "z1__"}, []),
        ({"zone": "z9"}, []),
    ],
)
def test_zone_and_region_labels_of_a_volume_must_be_the_nodes_own(labels: dict[str, str], expected: list[str]) -> None:
    assert refused_on(labels) == expected


def answer(*objects: dict[str, Any]) -> Status:
    return VolumeZone({}, Objects(objects)).pre_filter(CycleState(), POD, TABLE).status


def without_mode() -> dict[str, Any]:
    found = make_class()
    del found["volumeBindingMode"]
    return found


@pytest.mark.parametrize(
    ("objects", "text"),
    [
        ([], 'persistentvolumeclaim "c" not found'),
        ([make_claim("c", volume="v")], 'persistentvolume "v" not found'),
        ([make_claim("c", None)], "PersistentVolumeClaim had no pv name and storageClass name"),
        ([make_claim("c", "x")], 'storageclass.storage.k8s.io "x" not found'),
        ([make_claim("c"), make_class(mode="Immediate")], "PersistentVolume had no name"),
        ([make_claim("c"), without_mode()], 'VolumeBindingMode not set for StorageClass "local"'),
    ],
)
def test_a_volume_that_can_not_be_found_refuses_every_node(objects: list[dict[str, Any]], text: str) -> None:
    assert answer(*objects) == unresolvable(text)


def test_a_claim_that_waits_for_the_pod_has_no_zone_yet() -> None:
    assert answer(make_claim("c"), make_class()) == SKIP


def test_it_explains_the_volumes_labels_beside_the_nodes() -> None:
    objects = Objects([make_claim("c", volume="v"), make_volume("v", claim="c", labels={ZONE: "z1"})])
    plugin, state = VolumeZone({}, objects), CycleState()
    plugin.pre_filter(state, POD, TABLE)
    assert rows(plugin.explain(state, POD, TABLE, 1)) == [(f"v [{ZONE}]", "z1", "z2", "bad")]
