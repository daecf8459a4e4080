"""The figures of a budget's status."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_core.world.commands import EvictPod
from scheduler_core.world.simulation import Simulation
from tests.scheduler_core.clusters import SECOND, messages, set_status, silent, wait
from tests.scheduler_core.worlds import node, pod

NAME = "disruption-controller"
RUNNING = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}


def budget(name: str = "b", **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"selector": {"matchLabels": {"app": "web"}}, **spec},
    }


def replica_set(replicas: int) -> dict[str, Any]:
    template = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    return {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {"name": "web", "namespace": "default", "uid": "rs"},
        "spec": {"replicas": replicas, "selector": {"matchLabels": {"app": "web"}}, "template": template},
    }


def web(name: str, owner: tuple[str, str, str] | None = ("apps/v1", "ReplicaSet", "web")) -> dict[str, Any]:
    manifest = pod(name, nodeName="n")
    manifest["metadata"] |= {"labels": {"app": "web"}, "namespace": "default"}
    if owner is not None:
        version, kind, of = owner
        reference = {"apiVersion": version, "kind": kind, "name": of, "uid": "rs", "controller": True}
        manifest["metadata"]["ownerReferences"] = [reference]
    return manifest


def covered(pods: int, *objects: Any, healthy: int | None = None, owner: Any = None) -> Simulation:
    """A world with these budgets and this many pods, the first of them healthy."""
    names = [f"p{i}" for i in range(pods)]
    owner = ("apps/v1", "ReplicaSet", "web") if owner is None else owner or None
    sim = silent(node("n"), *objects, *(web(name, owner) for name in names), controllers=[NAME])
    for name in names[: pods if healthy is None else healthy]:
        set_status(sim, "Pod", name, **RUNNING)
    wait(sim, 1)
    return sim


def status(sim: Simulation, name: str = "b") -> dict[str, Any]:
    found = sim.store.get("PodDisruptionBudget", "default", name)
    assert found is not None
    return dict(found["status"])


def figures(sim: Simulation) -> tuple[int, int, int, int]:
    """Expected, desired, healthy, allowed."""
    found = status(sim)
    return (found["expectedPods"], found["desiredHealthy"], found["currentHealthy"], found["disruptionsAllowed"])


@pytest.mark.parametrize(
    ("spec", "pods", "wanted"),
    [
        ({"minAvailable": 2}, 3, (3, 2, 3, 1)),
        ({"minAvailable": "50%"}, 7, (7, 4, 7, 3)),
        ({"maxUnavailable": "30%"}, 7, (7, 4, 7, 3)),
        ({"maxUnavailable": 9}, 2, (2, 0, 2, 2)),
        ({"minAvailable": "0%"}, 2, (2, 0, 2, 2)),
        ({}, 2, (0, 0, 2, 0)),
    ],
)
def test_percentages_are_rounded_up(spec: Any, pods: int, wanted: tuple[int, ...]) -> None:
    assert figures(covered(pods, replica_set(pods), budget(**spec))) == wanted


def test_what_is_expected_is_the_scale_of_the_controller() -> None:
    assert figures(covered(2, replica_set(4), budget(maxUnavailable=1))) == (4, 3, 2, 0)


def test_pods_without_a_controller_are_told() -> None:
    sim = covered(2, budget(maxUnavailable=1), owner=())
    assert figures(sim) == (0, 0, 2, 0)
    assert "(selector: &LabelSelector{MatchLabels:map[string]string{app: web,}" in messages(sim, "UnmanagedPods")[0]


def test_a_controller_without_scale_fails_the_count() -> None:
    sim = covered(1, budget(maxUnavailable=1), owner=("batch/v1", "Job", "web"))
    (condition,) = status(sim)["conditions"]
    assert (condition["reason"], condition["message"]) == (
        "SyncFailed",
        "jobs.batch does not implement the scale subresource",
    )
    assert status(sim)["disruptionsAllowed"] == 0


def test_a_budget_without_pods_says_so_and_then_costs_nothing() -> None:
    sim = covered(0, budget(minAvailable=0))
    assert messages(sim, "NoPods") == ["No matching pods found"]
    assert not sim.due(10**6 * SECOND)


def test_a_booked_pod_counts_as_gone_and_is_written_off_after_two_minutes() -> None:
    sim = covered(3, replica_set(3), budget(minAvailable=1))
    booked = {"disruptedPods": {"p0": sim.store.timestamp(sim.now)}}
    set_status(sim, "PodDisruptionBudget", "b", **booked)
    wait(sim, 100)
    assert figures(sim) == (3, 1, 2, 1)
    wait(sim, 130)
    assert figures(sim) == (3, 1, 3, 2)
    assert messages(sim, "NotDeleted") == ["Pod was expected by PDB default/default to be deleted but it wasn't"]


def test_an_evicted_pod_is_not_healthy_and_leaves_the_book() -> None:
    sim = covered(3, replica_set(3), budget(minAvailable=1))
    sim.apply(EvictPod("default/p0"))
    assert list(status(sim)["disruptedPods"]) == ["p0"]
    wait(sim, 2)
    assert figures(sim) == (3, 1, 2, 1)
    assert "disruptedPods" not in status(sim)


def test_a_mark_that_leads_to_no_deletion_is_taken_off() -> None:
    sim = covered(1)
    marked = {
        "type": "DisruptionTarget",
        "status": "True",
        "reason": "PreemptionByScheduler",
        "lastTransitionTime": sim.store.timestamp(sim.now),
    }
    set_status(sim, "Pod", "p0", conditions=[marked])
    wait(sim, 100)
    found = sim.store.pod_at("default/p0")
    assert found is not None and (found.condition("DisruptionTarget") or {})["status"] == "True"
    wait(sim, 130)
    found = sim.store.pod_at("default/p0")
    assert found is not None and (found.condition("DisruptionTarget") or {})["status"] == "False"


def test_two_budgets_of_one_pod_are_both_kept_and_it_is_told() -> None:
    sim = covered(2, replica_set(2), budget("a", minAvailable=1), budget(minAvailable=2))
    assert status(sim, "a")["disruptionsAllowed"] == 1
    assert status(sim)["disruptionsAllowed"] == 0
    assert messages(sim, "MultiplePodDisruptionBudgets")
