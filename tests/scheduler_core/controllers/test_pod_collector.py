"""Which pods the collector of pods takes away, and when."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_core.world.commands import CreateObject, PatchObject, Ref
from scheduler_core.world.simulation import Simulation
from tests.scheduler_core.clusters import cluster, delete, meta_of, patch, silent, wait
from tests.scheduler_core.worlds import node, pod

GC = ["pod-garbage-collector-controller"]


def bound(name: str, to: str = "n", phase: str = "Running", **metadata: Any) -> dict[str, Any]:
    manifest = pod(name, nodeName=to) if to else pod(name, schedulingGates=[{"name": "wait"}])
    manifest["metadata"] |= {"namespace": "default", **metadata}
    return {**manifest, "status": {"phase": phase}}


def phase_of(sim: Simulation, name: str) -> str:
    found = sim.store.pod("default", name)
    return "gone" if found is None else found.phase


def test_pods_of_a_node_that_is_gone_go_40_s_after_the_round_that_misses_it() -> None:
    sim = cluster(node("n"), bound("p"), bound("q", finalizers=["example.com/look"]), controllers=GC)
    wait(sim, 21)
    delete(sim, "Node", "n", "")
    wait(sim, 79.9)
    assert phase_of(sim, "p") == "Running"
    wait(sim, 80)
    assert (phase_of(sim, "p"), phase_of(sim, "q")) == ("gone", "Failed")
    held = sim.store.pod("default", "q")
    assert held is not None
    (condition,) = held.manifest["status"]["conditions"]
    assert (condition["reason"], condition["message"]) == ("DeletionByPodGC", "PodGC: node no longer exists")
    assert held.deleting
    assert not sim.due(3600 * 10**9)


def test_a_node_that_comes_back_in_time_keeps_its_pods() -> None:
    sim = cluster(node("n"), bound("p"), controllers=GC)
    wait(sim, 21)
    delete(sim, "Node", "n", "")
    wait(sim, 70)

    sim.apply(CreateObject(node("n")))
    wait(sim, 200)
    assert phase_of(sim, "p") == "Running"


@pytest.mark.parametrize(
    ("threshold", "left"), [(0, "abcd"), (4, "abcd"), (2, "bd"), (1, "d")], ids=["off", "enough", "two", "one"]
)
def test_above_the_threshold_evicted_pods_go_first_then_the_oldest(threshold: int, left: str) -> None:
    times = {"a": "2025-12-01", "b": "2025-12-03", "c": "2025-12-04", "d": "2025-12-05"}
    pods = [
        bound(name, phase="Failed" if name == "c" else "Succeeded", creationTimestamp=f"{day}T00:00:00Z")
        for name, day in times.items()
    ]
    pods[2]["status"]["reason"] = "Evicted"
    manager = {"terminated-pod-gc-threshold": threshold}
    sim = cluster(node("n"), *pods, bound("x"), controllers=GC, controller_manager=manager)
    wait(sim, 40)
    assert "".join(p.name for p in sim.store.pods() if p.name != "x") == left


def test_a_pod_that_ends_later_is_found_in_the_next_round() -> None:
    ended = bound("a", phase="Succeeded", creationTimestamp="2025-12-01T00:00:00Z")
    manager = {"terminated-pod-gc-threshold": 1}
    sim = cluster(node("n"), ended, bound("b"), controllers=GC, controller_manager=manager)
    wait(sim, 30)

    sim.apply(PatchObject(Ref("Pod", "default", "b"), {"status": {"phase": "Failed"}}, subresource="status"))
    wait(sim, 39)
    assert phase_of(sim, "a") == "Succeeded"
    wait(sim, 40)
    assert phase_of(sim, "a") == "gone"


@pytest.mark.parametrize(
    ("ready", "key", "gone"),
    [
        ("False", "node.kubernetes.io/out-of-service", True),
        ("Unknown", "node.kubernetes.io/out-of-service", True),
        ("True", "node.kubernetes.io/out-of-service", False),
        ("False", "node.kubernetes.io/unreachable", False),
    ],
)
def test_a_node_out_of_service_lets_its_ending_pods_go(ready: str, key: str, gone: bool) -> None:
    lost = node("n")
    lost["status"] = {**lost["status"], "conditions": [{"type": "Ready", "status": ready}]}
    sim = silent(lost, bound("p"), bound("stays"), controllers=GC)
    delete(sim, "Pod", "p")
    wait(sim, 25)
    patch(sim, "Node", "n", {"spec": {"taints": [{"key": key, "effect": "NoExecute"}]}}, "")
    wait(sim, 45)
    assert phase_of(sim, "stays") == "Running"
    assert (phase_of(sim, "p") == "gone") is gone


def test_a_deleted_pod_without_a_node_is_set_failed() -> None:
    sim = cluster(bound("p", to="", phase="Pending", finalizers=["example.com/look"]), controllers=GC)
    wait(sim, 1)
    delete(sim, "Pod", "p")
    assert phase_of(sim, "p") == "Pending"
    wait(sim, 20)
    assert phase_of(sim, "p") == "Failed"


def test_an_ordinary_deletion_asks_for_no_round() -> None:
    sim = cluster(node("n"), bound("p"), controllers=GC)
    wait(sim, 1)
    delete(sim, "Pod", "p")
    assert "pod-garbage-collector-controller" not in sim.surroundings.queues
    assert meta_of(sim, "Pod", "p") is not None


def test_each_missing_node_has_its_own_time() -> None:
    sim = cluster(bound("p", to="a"), controllers=GC)
    wait(sim, 30)
    sim.apply(CreateObject(bound("q", to="b")))
    wait(sim, 50)
    assert (phase_of(sim, "p"), phase_of(sim, "q")) == ("gone", "Pending")
    wait(sim, 80)
    assert phase_of(sim, "q") == "gone"
