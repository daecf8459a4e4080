"""Who is evicted by NoExecute taints, and when."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from scheduler_core.apimachinery.objects.node import Taint
from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.controllers.nodes.taint_eviction import Tolerance, tolerance
from scheduler_core.world.simulation import Simulation
from tests.scheduler_core.clusters import SECOND, messages, patch, silent, wait
from tests.scheduler_core.worlds import node, pod

NAME = "taint-eviction-controller"
A, B = {"key": "a", "effect": "NoExecute"}, {"key": "b", "effect": "NoExecute"}


def tolerates(key: str, seconds: int | None = None) -> dict[str, Any]:
    more = {} if seconds is None else {"tolerationSeconds": seconds}
    return {"key": key, "operator": "Exists", "effect": "NoExecute", **more}


def tainted(*tolerations: Mapping[str, Any], taints: Sequence[Mapping[str, Any]] = (A,)) -> Simulation:
    """A pod on a node that is tainted at 10 s."""
    sim = silent(node("n"), pod("p", nodeName="n", tolerations=list(tolerations)), controllers=[NAME])
    wait(sim, 10)
    patch(sim, "Node", "n", {"spec": {"taints": list(taints)}}, "")
    return sim


def evicted(sim: Simulation) -> bool:
    found = sim.store.pod_at("default/p")
    return found is None or found.deleting


def test_a_pod_that_does_not_tolerate_goes_at_once_and_says_why() -> None:
    sim = tainted()
    wait(sim, 10.1)
    found = sim.store.pod_at("default/p")
    assert found is not None and found.deleting
    condition = found.condition("DisruptionTarget")
    assert condition is not None and condition["reason"] == "DeletionByTaintManager"
    assert messages(sim, "TaintManagerEviction") == ["Marking for deletion Pod default/p"]
    done = sim.surroundings.queues[NAME].done[-1]
    assert done.text == "evicted default/p: the pod does not tolerate a:NoExecute"


def test_a_tolerated_time_counts_from_the_taint() -> None:
    sim = tainted(tolerates("a", 60))
    wait(sim, 69)
    assert not evicted(sim)
    wait(sim, 71)
    assert evicted(sim)


def test_untainting_calls_the_eviction_off() -> None:
    sim = tainted(tolerates("a", 60))
    wait(sim, 30)
    patch(sim, "Node", "n", {"spec": {"taints": None}}, "")
    wait(sim, 100)
    assert not evicted(sim)
    assert messages(sim, "TaintManagerEviction") == ["Cancelling deletion of Pod default/p"]
    assert not sim.due(10_000 * SECOND)


@pytest.mark.parametrize("second", [[A, B], [B]], ids=["another taint", "another one in its place"])
def test_a_planned_eviction_keeps_its_time(second: list[Any]) -> None:
    sim = tainted(tolerates("a", 60), tolerates("b", 5))
    wait(sim, 30)
    patch(sim, "Node", "n", {"spec": {"taints": second}}, "")
    wait(sim, 69)
    assert not evicted(sim)
    wait(sim, 71)
    assert evicted(sim)


def test_a_second_taint_that_is_not_tolerated_evicts_now() -> None:
    sim = tainted(tolerates("a", 60))
    wait(sim, 30)
    patch(sim, "Node", "n", {"spec": {"taints": [A, B]}}, "")
    wait(sim, 31)
    assert evicted(sim)
    assert messages(sim, "TaintManagerEviction") == [
        "Cancelling deletion of Pod default/p",
        "Marking for deletion Pod default/p",
    ]


def test_a_pod_that_comes_later_is_judged_too() -> None:
    sim = silent(node("n"), controllers=[NAME])
    patch(sim, "Node", "n", {"spec": {"taints": [A]}}, "")
    wait(sim, 5)
    sim.change(lambda: (sim.api.create(pod("p", nodeName="n")), None)[1])
    wait(sim, 6)
    assert evicted(sim)


def test_nothing_is_remembered_of_a_pod_that_is_gone() -> None:
    sim = tainted(tolerates("a", 60))
    wait(sim, 20)
    sim.change(lambda: (sim.store.remove("Pod", "default", "p"), None)[1])
    wait(sim, 21)
    assert sim.surroundings.nodes.evictions == {}
    assert messages(sim, "TaintManagerEviction") == ["Cancelling deletion of Pod default/p"]


def test_a_copy_of_the_world_evicts_alike() -> None:
    sim = tainted(tolerates("a", 60))
    wait(sim, 30)
    fork = sim.fork()
    wait(fork, 100)
    assert evicted(fork) and not evicted(sim)


# kube: taint_eviction_test.go TestGetMinTolerationTime
@pytest.mark.parametrize(
    ("tolerations", "seconds"),
    [
        ([tolerates("a", 1)], 1),
        ([tolerates("a", 0)], 0),
        ([tolerates("a", -100)], 0),
        ([tolerates("a")], None),
        ([tolerates("a", 20), tolerates("", 10)], 20),
    ],
)
def test_the_first_toleration_of_a_taint_counts(tolerations: list[Any], seconds: int | None) -> None:
    found = tolerance([Taint("a", "", "NoExecute")], Pod.from_manifest(pod("p", tolerations=tolerations)))
    assert isinstance(found, Tolerance)
    assert found.seconds == seconds
