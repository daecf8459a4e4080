"""Nodes that are lost and come back, and the taints that they have meanwhile."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_core.apiserver.status import Refused
from scheduler_core.world.commands import (
    ApplyObjects,
    CreateObject,
    DeleteObjects,
    Ref,
    ReportCondition,
    SetKubelet,
    SetSettings,
)
from scheduler_core.world.simulation import Simulation
from tests.scheduler_core.clusters import SECOND, messages, patch, silent, wait
from tests.scheduler_core.worlds import node, pod

NAMES = ["node-lifecycle-controller", "taint-eviction-controller"]


def nodes(count: int, zone: str = "", first: int = 1) -> list[dict[str, Any]]:
    labels = {"topology.kubernetes.io/zone": zone} if zone else {}
    return [node(f"n{i}", labels=labels) for i in range(first, first + count)]


def with_nodes(*objects: Any, **flags: Any) -> Simulation:
    return silent(*objects, controllers=NAMES, kubelets=True, controller_manager=flags)


def stop(sim: Simulation, *names: str) -> None:
    for name in names:
        sim.apply(SetKubelet(name, False))


def taints(sim: Simulation, name: str) -> set[str]:
    found = sim.store.node(name)
    assert found is not None
    return {str(taint).removeprefix("node.kubernetes.io/") for taint in found.taints}


def tainted(sim: Simulation) -> int:
    """How many nodes evict."""
    return sum("unreachable:NoExecute" in taints(sim, found.name) for found in sim.store.nodes())


def ready(sim: Simulation, name: str) -> str:
    found = sim.store.node(name)
    assert found is not None
    return found.ready


def test_a_world_at_rest_has_nothing_to_do() -> None:
    sim = with_nodes(*nodes(3))
    wait(sim, 10)
    assert not sim.due(10**6 * SECOND)
    assert len(messages(sim, "RegisteredNode")) == 3


def test_a_silent_kubelet_is_noticed_after_the_grace_period_and_its_pods_go_after_theirs() -> None:
    sim = with_nodes(*nodes(3), pod("p", nodeName="n1"))
    wait(sim, 31)
    stop(sim, "n1")
    wait(sim, 79)
    assert ready(sim, "n1") == "True"
    wait(sim, 81)
    assert ready(sim, "n1") == "Unknown"
    assert taints(sim, "n1") == {"unreachable:NoSchedule", "unreachable:NoExecute"}
    assert "Node n1 status is now: NodeNotReady" in messages(sim, "NodeNotReady")
    assert "Node is not ready" in messages(sim, "NodeNotReady")
    wait(sim, 379)
    assert not getattr(sim.store.pod_at("default/p"), "deleting", True)
    wait(sim, 382)
    assert getattr(sim.store.pod_at("default/p"), "deleting", False)


def test_its_pods_stay_when_it_comes_back_in_time() -> None:
    sim = with_nodes(*nodes(3), pod("p", nodeName="n1"))
    wait(sim, 31)
    stop(sim, "n1")
    wait(sim, 200)
    sim.apply(SetKubelet("n1", True))
    wait(sim, 600)
    assert (ready(sim, "n1"), taints(sim, "n1")) == ("True", set())
    assert not getattr(sim.store.pod_at("default/p"), "deleting", True)


def test_the_grace_period_can_be_set() -> None:
    sim = with_nodes(*nodes(3), **{"node-monitor-grace-period": "20s"})
    wait(sim, 31)
    stop(sim, "n1")
    wait(sim, 51)
    assert ready(sim, "n1") == "Unknown"


def test_a_duration_that_is_none_is_refused() -> None:
    with pytest.raises(Refused, match="duration"):
        Simulation().apply(SetSettings({"cluster": {"controller_manager": {"node-monitor-grace-period": "soon"}}}))


def test_the_only_node_is_never_evicted_from() -> None:
    sim = with_nodes(*nodes(1), pod("p", nodeName="n1"))
    wait(sim, 30)
    stop(sim, "n1")
    wait(sim, 3000)
    assert ready(sim, "n1") == "Unknown"
    assert taints(sim, "n1") == {"unreachable:NoSchedule"}
    assert not sim.due(10**6 * SECOND)


def test_all_lost_frees_those_that_were_tainted_before() -> None:
    sim = with_nodes(*nodes(2))
    wait(sim, 30)
    stop(sim, "n1")
    wait(sim, 100)
    assert tainted(sim) == 1
    stop(sim, "n2")
    wait(sim, 200)
    assert tainted(sim) == 0
    sim.apply(SetKubelet("n2", True))
    wait(sim, 300)
    assert tainted(sim) == 1


def test_one_node_in_ten_seconds_is_tainted() -> None:
    sim = with_nodes(*nodes(12))
    wait(sim, 30)
    stop(sim, "n1", "n2", "n3")
    counts = []
    for t in (85, 95, 105):
        wait(sim, t)
        counts.append(tainted(sim))
    assert counts == [1, 2, 3]


def test_a_small_zone_that_is_partly_lost_is_left_alone_and_another_is_not() -> None:
    sim = with_nodes(*nodes(5, "a"), *nodes(3, "b", 6))
    wait(sim, 30)
    stop(sim, "n1", "n2", "n3", "n6")
    wait(sim, 60)
    wait(sim, 2000)
    assert ready(sim, "n3") == "Unknown"
    assert taints(sim, "n6") == {"unreachable:NoSchedule", "unreachable:NoExecute"}
    assert tainted(sim) < 4


def test_a_large_zone_that_is_partly_lost_goes_on_slowly() -> None:
    sim = with_nodes(*nodes(5), **{"large-cluster-size-threshold": 4, "secondary-node-eviction-rate": 0.001})
    wait(sim, 30)
    stop(sim, "n1", "n2", "n3")
    wait(sim, 1000)
    first = tainted(sim)
    wait(sim, 4000)
    assert first < tainted(sim) == 3


def test_a_kubelet_that_reports_not_ready_has_the_other_taint_and_silence_swaps_them() -> None:
    sim = with_nodes(*nodes(3))
    wait(sim, 30)
    sim.apply(ReportCondition("n1", "Ready", "False", "KubeletNotReady", "runtime is down"))
    wait(sim, 60)
    assert taints(sim, "n1") == {"not-ready:NoSchedule", "not-ready:NoExecute"}
    stop(sim, "n1")
    wait(sim, 130)
    assert taints(sim, "n1") == {"unreachable:NoSchedule", "unreachable:NoExecute"}


def test_a_taint_that_somebody_takes_off_comes_back() -> None:
    sim = with_nodes(*nodes(3))
    wait(sim, 30)
    stop(sim, "n1")
    wait(sim, 100)
    patch(sim, "Node", "n1", {"spec": {"taints": None}}, "")
    wait(sim, 120)
    assert taints(sim, "n1") == {"unreachable:NoSchedule", "unreachable:NoExecute"}


def test_a_node_that_is_excluded_does_not_count_for_its_zone() -> None:
    excluded = node("n2", labels={"node.kubernetes.io/exclude-disruption": "true"})
    sim = with_nodes(*nodes(1), excluded)
    wait(sim, 30)
    stop(sim, "n1")
    wait(sim, 200)
    assert taints(sim, "n1") == {"unreachable:NoSchedule"}


def test_cordons_and_conditions_are_taints_as_long_as_they_hold() -> None:
    mine = {"key": "mine", "effect": "NoSchedule"}
    sim = with_nodes({**node("n1"), "spec": {"taints": [mine]}})
    patch(sim, "Node", "n1", {"spec": {"unschedulable": True}}, "")
    sim.apply(ReportCondition("n1", "PIDPressure", "True"))
    wait(sim, 30)
    assert taints(sim, "n1") == {"mine:NoSchedule", "unschedulable:NoSchedule", "pid-pressure:NoSchedule"}
    patch(sim, "Node", "n1", {"spec": {"unschedulable": None}}, "")
    sim.apply(ReportCondition("n1", "PIDPressure", "False"))
    wait(sim, 60)
    assert taints(sim, "n1") == {"mine:NoSchedule"}


def test_old_names_of_labels_say_what_the_new_ones_say() -> None:
    labels = {"kubernetes.io/os": "linux", "beta.kubernetes.io/os": "windows", "kubernetes.io/arch": "arm64"}
    sim = with_nodes(node("n1", labels=labels))
    wait(sim, 1)
    found = sim.store.node("n1")
    assert found is not None
    assert (found.labels["beta.kubernetes.io/os"], found.labels["beta.kubernetes.io/arch"]) == ("linux", "arm64")


def test_a_pod_that_comes_to_a_lost_node_is_not_ready() -> None:
    sim = with_nodes(*nodes(1))
    wait(sim, 30)
    stop(sim, "n1")
    wait(sim, 100)
    sim.apply(CreateObject(pod("p", nodeName="n1")))
    sim.change(
        lambda: (
            sim.api.patch_status(("Pod", "default", "p"), {"conditions": [{"type": "Ready", "status": "True"}]}),
            None,
        )[1]
    )
    wait(sim, 101)
    found = sim.store.pod_at("default/p")
    assert found is not None and (found.condition("Ready") or {})["status"] == "False"


def test_a_node_that_goes_is_told() -> None:
    sim = with_nodes(*nodes(2))
    wait(sim, 20)
    sim.apply(DeleteObjects((Ref("Node", "", "n2"),)))
    wait(sim, 30)
    assert messages(sim, "RemovingNode") == ["Node n2 event: Removing Node n2 from Controller"]
    assert list(sim.surroundings.nodes.heard) == ["n1"]


def test_a_copy_of_the_world_goes_the_same_way() -> None:
    sim = with_nodes(*nodes(12))
    wait(sim, 30)
    stop(sim, "n1", "n2")
    wait(sim, 82)
    fork = sim.fork()
    wait(fork, 100)
    assert (tainted(sim), tainted(fork)) == (1, 2)


@pytest.mark.parametrize(("stand_in", "ready"), [("runs", "True"), ("removes", "True"), ("", "Unknown")])
def test_a_stand_in_for_kubelets_keeps_nodes_ready(stand_in: str, ready: str) -> None:
    sim = Simulation()
    sim.apply(SetSettings({"cluster": {"run_kubelets": False, "stand_in": stand_in}}))
    sim.apply(ApplyObjects((node("a"),)))
    wait(sim, 300)
    found = sim.store.node("a")
    assert found is not None and found.ready == ready
