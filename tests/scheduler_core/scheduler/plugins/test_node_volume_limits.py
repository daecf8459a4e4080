from typing import Any

import pytest

from scheduler_core.scheduler.framework.cycle_state import CycleState
from scheduler_core.scheduler.framework.status import SKIP, Status, unresolvable, unschedulable
from scheduler_core.scheduler.plugins.nodevolumelimits import NodeVolumeLimits
from scheduler_core.testing.builders import PodBuilder, make_node, make_pod, make_table
from tests.support.drive import filter_nodes
from tests.support.explained import rows
from tests.support.storage import Objects, make_claim, make_class, make_csi_node, make_volume

FULL = unschedulable("node(s) exceed max volume count")
POD = make_pod("p").claims("c")


def csi_volume(claim: str, handle: str = "", driver: str = "csi.x") -> list[dict[str, Any]]:
    """A claim and the volume it is bound to."""
    source = {"driver": driver, "volumeHandle": handle or f"h-{claim}"}
    return [make_claim(claim, volume=f"v-{claim}"), make_volume(f"v-{claim}", claim=claim, csi=source)]


def on_a(limit: int | None, *users: PodBuilder, objects: list[dict[str, Any]], pod: PodBuilder = POD) -> Status | None:
    """What node a, where `users` run, answers; its CSINode sets a limit for the driver csi.x."""
    handle = Objects([make_csi_node("a", {"csi.x": limit}), *objects])
    nodes = make_table([make_node("a"), make_node("free")], [user.on("a") for user in users])
    found = filter_nodes(NodeVolumeLimits({}, handle), pod.pod(), nodes)
    assert found["free"] is None
    return found["a"]


OLD = make_pod("old").claims("d")
BOTH = csi_volume("c") + csi_volume("d")


@pytest.mark.parametrize(("limit", "expected"), [(1, FULL), (2, None), (None, None), (0, FULL)])
def test_a_node_takes_as_many_volumes_as_its_driver_says(limit: int | None, expected: Status | None) -> None:
    assert on_a(limit, OLD, objects=BOTH) == expected


def test_a_volume_of_two_pods_counts_once() -> None:
    assert on_a(1, make_pod("old").claims("c"), objects=BOTH) is None


def test_volumes_with_the_same_handle_are_one() -> None:
    assert on_a(1, OLD, objects=csi_volume("c", "same") + csi_volume("d", "same")) is None


def test_volumes_of_another_driver_do_not_count() -> None:
    assert on_a(1, OLD, objects=csi_volume("c") + csi_volume("d", driver="csi.y")) is None


def test_a_claim_without_a_volume_counts_for_the_driver_of_its_class() -> None:
    waiting = [make_claim("c"), make_class(provisioner="csi.x")]
    assert on_a(1, OLD, objects=[*waiting, *csi_volume("d")]) == FULL


def test_an_attached_volume_that_no_pod_uses_counts() -> None:
    spec = {"attacher": "csi.x", "nodeName": "a", "source": {"persistentVolumeName": "v-d"}}
    attachment = {"kind": "VolumeAttachment", "metadata": {"name": "x"}, "spec": spec}
    assert on_a(1, objects=[*BOTH, attachment]) == FULL
    assert on_a(2, OLD, objects=[*BOTH, attachment]) is None


def test_a_claim_of_a_running_pod_that_is_gone_does_not_count() -> None:
    assert on_a(1, OLD, objects=csi_volume("c")) is None


def test_a_claim_of_the_pod_itself_must_be_there() -> None:
    nodes = make_table([make_node("a")])
    found = filter_nodes(NodeVolumeLimits({}, Objects()), POD.pod(), nodes)
    assert found == {"a": unresolvable('looking up PVC default/c: persistentvolumeclaim "c" not found')}


def test_an_in_tree_volume_counts_for_the_driver_that_took_it_over() -> None:
    disks = [{"name": f"d{i}", "gcePersistentDisk": {"pdName": f"d{i}"}} for i in range(2)]
    handle = Objects([make_csi_node("a", {"pd.csi.storage.gke.io": 1})])
    nodes = make_table([make_node("a")], [make_pod("old").volumes(disks[0]).on("a")])
    limits = NodeVolumeLimits({}, handle)
    assert filter_nodes(limits, make_pod("p").volumes(disks[0]).pod(), nodes) == {"a": None}
    assert filter_nodes(limits, make_pod("p").volumes(disks[1]).pod(), nodes) == {"a": FULL}


def test_a_pod_without_volumes_of_drivers_is_skipped() -> None:
    pod = make_pod("p").volumes({"name": "tmp", "emptyDir": {}}).pod()
    result = NodeVolumeLimits({}, Objects()).pre_filter(CycleState(), pod, make_table([make_node("a")]))
    assert result.status == SKIP


def test_it_explains_the_counts_by_driver() -> None:
    handle = Objects([make_csi_node("a", {"csi.x": 3, "csi.y": 5}), *BOTH])
    nodes = make_table([make_node("a")], [OLD.on("a")])
    assert rows(NodeVolumeLimits({}, handle).explain(CycleState(), POD.pod(), nodes, 0)) == [
        ("csi.x", "1", "1", "3"),
        ("csi.y", "0", "0", "5"),
    ]
