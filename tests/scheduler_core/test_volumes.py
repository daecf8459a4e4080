"""Pods with volumes in a whole world: scheduler, API server and controller."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_core.base.trace.journal import Place
from scheduler_core.world.commands import ApplyObjects, DeleteObjects, PatchObject, Ref, SetConfiguration, SetSettings
from scheduler_core.world.simulation import Simulation
from tests.scheduler_core.worlds import cycle_of, node, nodes_of, of_kind, pod, scheduler_of, settle, world
from tests.support.explained import rows
from tests.support.storage import make_claim, make_class, make_volume


def with_claims(name: str, *claims: str) -> dict[str, Any]:
    sources = [{"name": f"v{i}", "persistentVolumeClaim": {"claimName": c}} for i, c in enumerate(claims)]
    return pod(name, volumes=sources)


def local() -> Simulation:
    """Two pods that each want one of two local volumes, of which each node has one."""
    volumes = [make_volume("va", hosts=["a"]), make_volume("vb", hosts=["b"])]
    claims = [make_claim("c"), make_claim("d")]
    pods = [with_claims("one", "c"), with_claims("two", "d")]
    return world(node("a"), node("b"), make_class(), *volumes, *claims, *pods)


def volume_of(sim: Simulation, claim: str) -> str:
    found = sim.store.get("PersistentVolumeClaim", "default", claim)
    assert found is not None
    return str(found["spec"].get("volumeName") or "")


def until_assumed(sim: Simulation) -> None:
    result = sim.run(until=lambda sim: bool(scheduler_of(sim).assumed), steps=500)
    assert result.reason == "until"


def test_pods_share_out_local_volumes() -> None:
    sim = local()
    settle(sim)
    assert sorted(nodes_of(sim).values()) == ["a", "b"]
    for name, claim in (("one", "c"), ("two", "d")):
        assert volume_of(sim, claim) == f"v{nodes_of(sim)[f'default/{name}']}"
    assert scheduler_of(sim).assumed == {}


def test_a_volume_is_made_where_the_pod_goes() -> None:
    sim = world(node("a"), make_class(provisioner="csi.x"), make_claim("c"), with_claims("one", "c"))
    settle(sim)
    assert nodes_of(sim) == {"default/one": "a"}
    assert volume_of(sim, "c").startswith("pvc-")


def test_a_pod_waits_for_a_claim_that_is_bound_at_once() -> None:
    now = make_class("now", "csi.x", "Immediate")
    sim = world(node("a"), now, make_claim("c", "now"), with_claims("one", "c"))
    records = settle(sim)
    assert nodes_of(sim) == {"default/one": "a"}
    refused = [e["message"] for e in of_kind(records, "event") if e["reason"] == "FailedScheduling"]
    assert refused[0].startswith("0/1 nodes are available: pod has unbound immediate PersistentVolumeClaims.")


def test_a_fork_between_reserve_and_bind_has_the_same_assumptions() -> None:
    sim = local()
    until_assumed(sim)
    twin = sim.fork()
    assert scheduler_of(twin).assumed == scheduler_of(sim).assumed
    settle(twin)
    assert sorted(nodes_of(twin).values()) == ["a", "b"]
    assert len(scheduler_of(sim).assumed) == 1


@pytest.mark.parametrize("permit", ["reject", "wait:1s"])
def test_a_volume_is_free_again_where_the_pod_is_refused_after_reserve(permit: str) -> None:
    sim = world(node("a"), make_class(), make_volume("v"), make_claim("c"))
    sim.apply(SetSettings({"demonstration": True}))
    refused = with_claims("one", "c")
    refused["metadata"]["annotations"] = {"playground.dev/permit": permit}
    sim.apply(ApplyObjects((refused,)))
    until_assumed(sim)
    sim.run(until=lambda w: w.journal.place("default/one") == Place.UNSCHEDULABLE)
    assert scheduler_of(sim).assumed == {}


def test_a_forks_decisions_are_its_own() -> None:
    sim = local()
    until_assumed(sim)
    twin = sim.fork()
    before = dict(scheduler_of(sim).assumed)
    settle(twin)
    settle(sim)
    assert before != scheduler_of(sim).assumed == {}
    assert nodes_of(twin) == nodes_of(sim)


def test_a_volume_that_changes_before_it_is_written_fails_the_binding_and_the_pod_is_tried_again() -> None:
    sim = local()
    until_assumed(sim)
    ((_, _, name),) = scheduler_of(sim).assumed
    sim.apply(PatchObject(Ref("PersistentVolume", "", name), {"metadata": {"labels": {"x": "y"}}}))
    records = settle(sim)
    ended = [record["outcome"] for record in of_kind(records, "binding_ended")]
    assert ended.count("error") == 1
    assert ended.count("bound") == 2
    assert sorted(nodes_of(sim).values()) == ["a", "b"]


def test_a_volume_that_will_not_be_bound_times_out() -> None:
    configuration = {"kind": "KubeSchedulerConfiguration"}
    args = [{"name": "VolumeBinding", "args": {"bindTimeoutSeconds": 3}}]
    sim = Simulation(seed=1)
    version = {"apiVersion": "kubescheduler.config.k8s.io/v1"}
    sim.apply(SetConfiguration({**version, **configuration, "profiles": [{"pluginConfig": args}]}))
    sim.apply(ApplyObjects((node("a"), make_class(), make_claim("c"), make_volume("v"), with_claims("one", "c"))))
    until_assumed(sim)
    sim.apply(DeleteObjects((Ref("StorageClass", "", "local"),)))
    result = sim.run(steps=2)
    assert result.reason == "budget"
    sim.apply(PatchObject(Ref("PersistentVolume", "", "v"), {"spec": {"claimRef": {"name": "other"}}}))
    records = sim.run(steps=40).records
    messages = [record["message"] for record in of_kind(records, "binding_ended")]
    assert messages[:1] == ['running PreBind plugin "VolumeBinding": binding volumes: context deadline exceeded']


def test_volumes_and_classes_get_their_defaults() -> None:
    volume, storage_class = make_volume("v"), make_class()
    del volume["status"]
    del storage_class["volumeBindingMode"]
    sim = world(volume, storage_class)
    assert (sim.store.get("PersistentVolume", "", "v") or {})["status"] == {"phase": "Available"}
    found = sim.store.get("StorageClass", "", "local") or {}
    assert (found["volumeBindingMode"], found["reclaimPolicy"]) == ("Immediate", "Delete")


def test_a_cycle_that_has_just_ended_is_explained() -> None:
    sim = local()
    until_assumed(sim)
    cycle = cycle_of(sim)
    plugin = scheduler_of(sim).profiles["default-scheduler"].plugin("VolumeBinding")
    assert plugin is not None
    ((_, volume),) = rows(plugin.explain(cycle.state, cycle.pod, cycle.nodes, cycle.nodes.rows["a"]))
    assert volume.startswith("would get va")
