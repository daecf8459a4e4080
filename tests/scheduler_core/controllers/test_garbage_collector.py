"""Dependents go with their owners, are orphaned, or keep them."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_core.world.commands import ApplyObjects, CreateObject
from scheduler_core.world.simulation import Simulation
from tests.scheduler_core.clusters import cluster, delete, make, meta_of, patch, wait

GC = ["garbage-collector-controller"]


def ref(sim: Simulation, name: str, kind: str = "ConfigMap", **fields: Any) -> dict[str, Any]:
    """A reference to an owner that is there."""
    meta = meta_of(sim, kind, name, fields.pop("namespace", "default"))
    assert meta is not None
    return {"apiVersion": "v1", "kind": kind, "name": name, "uid": meta["uid"], **fields}


def add(sim: Simulation, name: str, *refs: dict[str, Any], namespace: str = "default", **meta: Any) -> None:

    owned = {"ownerReferences": list(refs), **meta}
    sim.apply(CreateObject(make("ConfigMap", name, namespace, metadata=owned)))


def chain(block: bool = True) -> Simulation:
    """a owns b, which owns c."""
    sim = cluster(make("ConfigMap", "a"), controllers=GC)
    add(sim, "b", ref(sim, "a", blockOwnerDeletion=block))
    add(sim, "c", ref(sim, "b", blockOwnerDeletion=block))
    wait(sim, 1)
    return sim


def there(sim: Simulation) -> str:
    return "".join(m["metadata"]["name"] for m in sim.store.list("ConfigMap"))


def test_in_the_background_the_owner_goes_first_and_the_dependents_follow() -> None:
    sim = chain()
    delete(sim, "ConfigMap", "a")
    assert there(sim) == "bc"
    wait(sim, 2)
    assert there(sim) == ""


def test_in_the_foreground_dependents_go_before_their_owners() -> None:
    sim = chain()
    patch(sim, "ConfigMap", "c", {"metadata": {"finalizers": ["example.com/hold"]}})
    delete(sim, "ConfigMap", "a", propagation_policy="Foreground")
    wait(sim, 2)
    assert there(sim) == "abc"
    for name in "ab":
        meta = meta_of(sim, "ConfigMap", name)
        assert meta is not None
        assert meta["finalizers"] == ["foregroundDeletion"]
    patch(sim, "ConfigMap", "c", {"metadata": {"finalizers": None}})
    wait(sim, 3)
    assert there(sim) == ""


def test_a_dependent_that_does_not_block_is_not_waited_for() -> None:
    sim = chain(block=False)
    patch(sim, "ConfigMap", "b", {"metadata": {"finalizers": ["example.com/hold"]}})
    delete(sim, "ConfigMap", "a", propagation_policy="Foreground")
    wait(sim, 2)
    assert there(sim) == "b"


def test_orphaned_dependents_stay_without_the_reference() -> None:
    sim = chain()
    delete(sim, "ConfigMap", "a", propagation_policy="Orphan")
    wait(sim, 2)
    assert there(sim) == "bc"
    meta = meta_of(sim, "ConfigMap", "b")
    assert meta is not None
    assert not meta["ownerReferences"]


def test_one_of_two_owners_is_enough_to_stay() -> None:
    sim = cluster(make("ConfigMap", "a"), make("ConfigMap", "b"), controllers=GC)
    add(sim, "c", ref(sim, "a"), kept := ref(sim, "b"))
    wait(sim, 1)
    delete(sim, "ConfigMap", "a")
    wait(sim, 2)
    meta = meta_of(sim, "ConfigMap", "c")
    assert meta is not None
    assert meta["ownerReferences"] == [kept]
    delete(sim, "ConfigMap", "b")
    wait(sim, 3)
    assert there(sim) == ""


@pytest.mark.parametrize(
    "wrong",
    [{"uid": "1111"}, {"name": "other"}, {"kind": "Secret"}],
    ids=["a uid of nobody", "another name", "another kind"],
)
def test_an_owner_that_is_not_there_counts_as_gone(wrong: dict[str, str]) -> None:
    sim = cluster(make("ConfigMap", "a"), controllers=GC)
    add(sim, "b", {**ref(sim, "a"), **wrong})
    wait(sim, 1)
    assert there(sim) == "a"


def test_dependents_stay_whose_owners_an_import_did_not_bring() -> None:
    sim = cluster(controllers=GC)
    owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": "a", "uid": "1111"}
    dependent = make("ConfigMap", "b", metadata={"ownerReferences": [owner], "uid": "2222"})
    sim.apply(ApplyObjects((dependent,), stopped=()))
    wait(sim, 1)
    assert there(sim) == "b"
    sim.apply(ApplyObjects((make("ConfigMap", "a", metadata={"uid": "1111"}),), stopped=()))
    delete(sim, "ConfigMap", "a")
    wait(sim, 2)
    assert there(sim) == ""


def test_an_owner_in_another_namespace_is_none_and_an_event_says_so() -> None:
    sim = cluster(make("Namespace", "far", ""), make("ConfigMap", "a", "far"), controllers=GC)
    add(sim, "b", ref(sim, "a", namespace="far"))
    wait(sim, 1)
    assert there(sim) == "a"
    (event,) = sim.store.events
    assert event.reason == "OwnerRefInvalidNamespace"
    assert event.message.endswith('does not exist in namespace "default"')


def test_what_has_no_namespace_cannot_be_owned_by_what_has_one() -> None:
    sim = cluster(make("ConfigMap", "a"), controllers=GC)
    owned = {"ownerReferences": [{**ref(sim, "a"), "uid": "1111"}]}

    sim.apply(CreateObject(make("Node", "v", "", metadata=owned)))
    wait(sim, 1)
    assert meta_of(sim, "Node", "v", "") is not None


def test_a_reference_to_a_kind_that_nobody_has_defined_is_left_alone() -> None:
    sim = cluster(controllers=GC)
    add(sim, "b", {"apiVersion": "example.com/v1", "kind": "Rollout", "name": "r", "uid": "1"})
    wait(sim, 1)
    assert there(sim) == "b"


def test_two_that_wait_for_each_other_both_go() -> None:
    sim = cluster(make("ConfigMap", "a"), controllers=GC)
    add(sim, "b", ref(sim, "a", blockOwnerDeletion=True))
    patch(sim, "ConfigMap", "a", {"metadata": {"ownerReferences": [ref(sim, "b", blockOwnerDeletion=True)]}})
    wait(sim, 1)
    delete(sim, "ConfigMap", "a", propagation_policy="Foreground")
    wait(sim, 2)
    assert there(sim) == ""


def test_a_job_that_is_deleted_without_a_policy_orphans_what_it_owns() -> None:
    job = make(
        "Job", "j", spec={"template": {"spec": {"containers": [{"name": "c", "image": "i"}], "restartPolicy": "Never"}}}
    )
    sim = cluster(job, controllers=GC)
    add(sim, "b", {**ref(sim, "j", "Job"), "apiVersion": "batch/v1"})
    delete(sim, "Job", "j")
    wait(sim, 1)
    assert there(sim) == "b"


def test_a_world_that_was_copied_goes_on_the_same() -> None:
    sim = chain()
    twin = sim.fork()
    for each in (sim, twin):
        delete(each, "ConfigMap", "a")
        wait(each, 2)
        assert there(each) == ""
    assert sim.position == twin.position


def test_an_idle_world_has_nothing_on_its_agenda() -> None:
    sim = chain()
    assert not sim.due(3600 * 10**9)
