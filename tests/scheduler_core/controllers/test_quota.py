"""resourcequota-controller counts what is used when a quota is new, its limits change, or something is given back."""

from __future__ import annotations

from typing import Any

from scheduler_core.world.commands import ApplyObjects, CreateObject, DeleteObjects, PatchObject, Ref, SetSettings
from scheduler_core.world.simulation import Simulation
from tests.scheduler_core.apiserver.cluster.requests import make, pod


def world() -> Simulation:
    sim = Simulation()
    sim.apply(SetSettings({"cluster": {"controllers": ["resourcequota-controller"]}}))
    return sim


def quota(hard: dict[str, str]) -> ApplyObjects:
    return ApplyObjects((make("ResourceQuota", "q", "default", spec={"hard": hard}),))


def settled(sim: Simulation) -> Any:
    """The quota's status, once all has happened that is due."""
    while sim.due(sim.now + 10**9):
        sim.advance()
    found = sim.store.get("ResourceQuota", "default", "q")
    assert found is not None
    return found["status"]


def test_a_new_quota_counts_what_is_there() -> None:
    sim = world()
    sim.apply(CreateObject(pod()))
    sim.apply(quota({"pods": "5", "count/pods": "5", "secrets": "1"}))
    assert settled(sim)["used"] == {"pods": "1", "count/pods": "1", "secrets": "0"}


def test_a_deleted_pod_gives_back_what_it_used() -> None:
    sim = world()
    sim.apply(quota({"pods": "1"}))
    settled(sim)
    sim.apply(CreateObject(pod()))
    assert settled(sim)["used"] == {"pods": "1"}
    sim.apply(DeleteObjects((Ref("Pod", "default", "p"),)))
    assert settled(sim)["used"] == {"pods": "0"}


def test_changed_limits_are_taken_over() -> None:
    sim = world()
    sim.apply(quota({"pods": "1"}))
    settled(sim)
    sim.apply(PatchObject(Ref("ResourceQuota", "default", "q"), {"spec": {"hard": {"pods": "3"}}}))
    assert settled(sim)["hard"] == {"pods": "3"}


def test_what_was_imported_with_its_uid_is_counted_too() -> None:
    sim = world()
    sim.apply(quota({"pods": "1"}))
    settled(sim)
    old = {"uid": "u", "creationTimestamp": "2025-01-01T00:00:00Z"}
    sim.apply(
        ApplyObjects(tuple({**pod(name), "metadata": {"name": name, "namespace": "default", **old}} for name in "ab"))
    )
    assert settled(sim)["used"] == {"pods": "2"}


def test_a_world_without_quotas_has_nothing_to_count() -> None:
    sim = world()
    sim.apply(CreateObject(pod()))
    sim.apply(DeleteObjects((Ref("Pod", "default", "p"),)))
    assert sim.surroundings.queues.get("resourcequota-controller") is None
