from typing import Any

import numpy as np
import pytest

from scheduler_core.scheduler.cache.table import NodeTable
from scheduler_core.scheduler.cache.what_if import Change
from scheduler_core.scheduler.framework.cycle_state import CycleState
from scheduler_core.scheduler.framework.status import SKIP, unresolvable, unschedulable
from scheduler_core.scheduler.plugins.volume_restrictions import VolumeRestrictions
from scheduler_core.testing.builders import make_node, make_pod, make_table
from tests.support.drive import all_rows, filter_nodes
from tests.support.storage import Objects, make_claim

DISK = unschedulable("node(s) had no available disk")
IN_USE = unschedulable(
    "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod"
)
NODES = [make_node("a"), make_node("b")]


def volume(kind: str, **source: Any) -> dict[str, Any]:
    return {"name": "d", kind: source}


RBD = {"monitors": ["m1", "m2"], "pool": "p", "image": "i"}


@pytest.mark.parametrize(
    ("held", "wanted", "clash"),
    [
        (volume("gcePersistentDisk", pdName="x"), volume("gcePersistentDisk", pdName="x"), True),
        (volume("gcePersistentDisk", pdName="x"), volume("gcePersistentDisk", pdName="y"), False),
        (
            volume("gcePersistentDisk", pdName="x", readOnly=True),
            volume("gcePersistentDisk", pdName="x", readOnly=True),
            False,
        ),
        (volume("gcePersistentDisk", pdName="x", readOnly=True), volume("gcePersistentDisk", pdName="x"), True),
        (
            volume("awsElasticBlockStore", volumeID="x", readOnly=True),
            volume("awsElasticBlockStore", volumeID="x", readOnly=True),
            True,
        ),
        (volume("iscsi", iqn="q", lun=1), volume("iscsi", iqn="q", lun=2), True),
        (volume("iscsi", iqn="q", readOnly=True), volume("iscsi", iqn="q", readOnly=True), False),
        (volume("rbd", **RBD), volume("rbd", **{**RBD, "monitors": ["m2", "m3"]}), True),
        (volume("rbd", **RBD), volume("rbd", **{**RBD, "monitors": ["m3"]}), False),
        (volume("rbd", **RBD), volume("rbd", **{**RBD, "pool": "q"}), False),
        (volume("rbd", **RBD, readOnly=True), volume("rbd", **RBD, readOnly=True), False),
    ],
)
def test_a_disk_in_use_refuses_its_node(held: dict[str, Any], wanted: dict[str, Any], clash: bool) -> None:
    nodes = make_table(NODES, [make_pod("old").volumes(held).on("a")])
    pod = make_pod("p").volumes(wanted).pod()
    assert filter_nodes(VolumeRestrictions({}, Objects()), pod, nodes) == {"a": DISK if clash else None, "b": None}


EXCLUSIVE = make_claim("c", volume="v", accessModes=["ReadWriteOncePod"])
POD = make_pod("p").claims("c").pod()


def plugin(*claims: dict[str, Any]) -> VolumeRestrictions:
    return VolumeRestrictions({}, Objects(claims))


def table(*users: str) -> NodeTable:
    """Pods on node a that use a claim c, each in its namespace."""
    return make_table(NODES, [make_pod("old", namespace).claims("c").on("a") for namespace in users])


def test_an_exclusive_claim_in_use_refuses_every_node_in_filter() -> None:
    assert filter_nodes(plugin(EXCLUSIVE), POD, table("default")) == {"a": IN_USE, "b": IN_USE}


def test_an_exclusive_claim_that_nobody_uses_is_skipped() -> None:
    result = plugin(EXCLUSIVE).pre_filter(CycleState(), POD, table("elsewhere"))
    assert result.status == SKIP


def test_a_claim_for_many_pods_is_skipped() -> None:
    assert plugin(make_claim("c", volume="v")).pre_filter(CycleState(), POD, table("default")).status == SKIP


def test_a_claim_that_is_not_there_refuses_every_node() -> None:
    result = plugin().pre_filter(CycleState(), POD, table())
    assert result.status == unresolvable('persistentvolumeclaim "c" not found')


def test_without_the_pod_that_uses_it_the_claim_is_free_on_that_row_of_a_what_if() -> None:
    nodes, state = table("default"), CycleState()
    mine = plugin(EXCLUSIVE)
    mine.pre_filter(state, POD, nodes)
    what_if = state.copy()
    mine.adjust(what_if, POD, nodes, [Change(0, nodes.pods[0][0], -1)])
    verdicts = mine.filter(what_if, POD, nodes, all_rows(nodes))
    assert verdicts is not None
    assert verdicts.reason.tolist() == [-1, 1]
    mine.adjust(what_if, POD, nodes, [Change(0, nodes.pods[0][0], 1)])
    verdicts = mine.filter(what_if, POD, nodes, np.array([0]))
    assert verdicts is not None
    assert verdicts.statuses[int(verdicts.reason[0])] == IN_USE
