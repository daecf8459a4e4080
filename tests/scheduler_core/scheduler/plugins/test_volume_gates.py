"""VolumeBinding under its gates: StorageCapacityScoring and VolumeAttributesClass."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_core.scheduler.framework.cycle_state import CycleState
from scheduler_core.scheduler.framework.features import Features
from scheduler_core.scheduler.framework.status import Status, error
from scheduler_core.testing.builders import make_node, make_pod, make_table
from tests.support.drive import all_rows, filter_nodes, make_plugin
from tests.support.storage import Objects, make_claim, make_class, make_volume

TABLE = make_table([make_node(name) for name in "ab"])
DRIVER = {"kind": "CSIDriver", "metadata": {"name": "csi.test"}, "spec": {"storageCapacity": True}}
POOLED = make_class("pooled", provisioner="csi.test")


def pool(name: str, host: str, **sizes: str) -> dict[str, Any]:
    """A CSIStorageCapacity of class pooled on one node."""
    return {
        "kind": "CSIStorageCapacity",
        "metadata": {"name": name, "namespace": "default"},
        "storageClassName": "pooled",
        "nodeTopology": {"matchLabels": {"kubernetes.io/hostname": host}},
        **sizes,
    }


def scores(
    *objects: dict[str, Any], on: bool = True, claims: tuple[str, ...] = ("c",), **args: Any
) -> dict[str, int] | None:
    """Per node the score after PreFilter and Filter; None where PreScore skips."""
    handle = Objects(objects)
    handle.features = Features(storage_capacity_scoring=on)
    plugin, state, pod = (make_plugin("VolumeBinding", args, handle), CycleState(), make_pod("p").claims(*claims).pod())
    rows = all_rows(TABLE)
    plugin.pre_filter(state, pod, TABLE)
    plugin.filter(state, pod, TABLE, rows)
    status = plugin.pre_score(state, pod, TABLE, rows)
    if status.skipped:
        return None
    assert status.ok
    found = plugin.score(state, pod, TABLE, rows)
    assert not isinstance(found, Status)
    assert [plugin.formula(state, pod, TABLE, int(row)).result for row in rows] == found.tolist()
    return dict(zip(TABLE.names, found.tolist(), strict=True))


LOCAL = (make_class(), make_volume("va", size="2Gi", hosts=("a",)), make_volume("vb", size="4Gi", hosts=("b",)))
POOLS = (POOLED, DRIVER, pool("one", "a", capacity="4Gi"), pool("two", "b", capacity="10Gi"))


def test_without_its_gate_nothing_is_scored() -> None:
    assert scores(*LOCAL, make_claim("c"), on=False) is None


def test_volumes_that_are_there_score_by_what_is_left_of_them() -> None:
    assert scores(*LOCAL, make_claim("c", size="1Gi")) == {"a": 50, "b": 75}


def test_new_volumes_score_by_the_pool_that_they_come_from() -> None:
    assert scores(*POOLS, make_claim("c", "pooled", size="1Gi")) == {"a": 75, "b": 90}


def test_two_claims_of_a_class_come_from_one_pool() -> None:
    made = [make_claim(name, "pooled", size="1Gi") for name in ("c", "d")]
    assert scores(*POOLS, *made, claims=("c", "d")) == {"a": 50, "b": 80}


def test_a_pool_that_two_claims_overfill_scores_as_full() -> None:
    made = [make_claim(name, "pooled", size="3Gi") for name in ("c", "d")]
    assert scores(*POOLS, *made, claims=("c", "d")) == {"a": 0, "b": 40}


def test_classes_weigh_the_same_and_their_mean_is_rounded() -> None:
    other = (make_class("other"), make_volume("oa", "other", "3Gi"))
    made = [make_claim("c", size="1Gi"), make_claim("d", "other", size="1Gi")]
    assert scores(*LOCAL, *other, *made, claims=("c", "d")) == {"a": 59, "b": 71}


def test_where_a_volume_is_there_new_ones_do_not_count() -> None:
    made = [make_claim("c", size="1Gi"), make_claim("d", "pooled", size="1Gi")]
    assert scores(*LOCAL, *POOLS, *made, claims=("c", "d")) == {"a": 50, "b": 75}


def test_a_class_without_storage_capacity_scores_nothing() -> None:
    assert scores(make_class("pooled", provisioner="nobody"), make_claim("c", "pooled")) == {"a": 0, "b": 0}


def test_a_pod_without_claims_scores_nothing() -> None:
    assert scores(*LOCAL, claims=()) == {"a": 0, "b": 0}


def test_the_shape_of_the_arguments_counts() -> None:
    shape = [{"utilization": 0, "score": 0}, {"utilization": 100, "score": 10}]
    assert scores(*LOCAL, make_claim("c", size="1Gi"), shape=shape) == {"a": 50, "b": 25}


def test_a_pool_that_only_says_how_large_a_volume_may_be_counts_as_full() -> None:
    pools = (POOLED, DRIVER, pool("one", "a", maximumVolumeSize="4Gi"), pool("two", "b", capacity="10Gi"))
    assert scores(*pools, make_claim("c", "pooled", size="1Gi")) == {"a": 0, "b": 90}


def refusals(claim: dict[str, Any], volume: dict[str, Any], on: bool) -> dict[str, Status | None]:
    handle = Objects([make_class(), claim, volume])
    handle.features = Features(volume_attributes_class=on)
    return filter_nodes(make_plugin("VolumeBinding", handle=handle), make_pod("p").claims("c").pod(), TABLE)


GOLD = {"volumeAttributesClassName": "gold"}
NO_MATCH = "node(s) didn't find available persistent volumes to bind"
DISABLED = error(
    "unsupported volumeAttributesClassName is set on claim default/c "
    "when the feature-gate VolumeAttributesClass is disabled"
)


@pytest.mark.parametrize(("on", "refusal"), [(True, None), (False, DISABLED)])
def test_a_claim_with_a_volume_attributes_class_is_an_error_without_the_gate(on: bool, refusal: Status | None) -> None:
    found = refusals(make_claim("c", **GOLD), make_volume("v", **GOLD), on)
    assert found == {"a": refusal, "b": refusal}


@pytest.mark.parametrize("on", [True, False])
def test_a_volume_with_a_class_is_not_for_a_claim_without_one(on: bool) -> None:
    found = refusals(make_claim("c"), make_volume("v", **GOLD), on)
    assert [status and status.reasons for status in found.values()] == [(NO_MATCH,)] * 2
