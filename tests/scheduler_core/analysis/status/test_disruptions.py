"""What takes pods away, as it is told."""

from __future__ import annotations

from scheduler_core.analysis.status import read_covered, read_drains, read_planned, read_troubles, read_zones
from scheduler_core.world.commands import DrainNode, SetKubelet
from scheduler_core.world.simulation import Simulation
from tests.scheduler_core.clusters import SECOND, make, patch, set_status, silent, wait
from tests.scheduler_core.worlds import node, pod

HEALTHY = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}


def guarded() -> Simulation:
    """Two pods, one of them healthy, under a budget that wants one healthy."""
    budget = {**make("PodDisruptionBudget", "b", spec={"minAvailable": 1, "selector": {}}), "apiVersion": "policy/v1"}
    pods = (pod("a", nodeName="n"), pod("b", nodeName="n"))
    sim = silent(node("n"), budget, *pods, controllers=["disruption-controller", "taint-eviction-controller"])
    set_status(sim, "Pod", "a", **HEALTHY)
    set_status(sim, "Pod", "b", phase="Running")
    wait(sim, 1)
    return sim


def test_who_is_covered_by_a_budget() -> None:
    rows = read_covered(guarded(), "default/b")
    assert [(row["pod"], row["state"]) for row in rows] == [("default/a", "healthy"), ("default/b", "not ready")]


def test_a_stuck_eviction_and_what_it_waits_for() -> None:
    sim = guarded()
    sim.apply(DrainNode("n", force=True))
    wait(sim, 30)
    (drain,) = read_drains(sim)
    assert drain["ended"] is None and drain["ending"] == ["default/b"]
    (stuck,) = drain["stuck"]
    assert stuck["pod"] == "default/a" and "needs 1 healthy pods" in stuck["why"]
    (trouble,) = read_troubles(sim)
    assert trouble["sign"] == "repeating" and trouble["about"] == "default/a"


def test_planned_evictions_of_a_node() -> None:
    tolerations = [{"key": "bad", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 60}]
    sim = silent(node("n"), pod("p", nodeName="n", tolerations=tolerations), controllers=["taint-eviction-controller"])
    patch(sim, "Node", "n", {"spec": {"taints": [{"key": "bad", "effect": "NoExecute"}]}}, "")
    wait(sim, 1)
    (row,) = read_planned(sim, "n")
    assert (row["pod"], row["at"] - row["since"]) == ("default/p", 60 * SECOND)
    assert row["why"] == "tolerates bad:NoExecute for 60 s"
    assert read_planned(sim, "m") == []


def test_zones_with_their_rates() -> None:
    nodes = [node(name, labels={"topology.kubernetes.io/zone": name[0]}) for name in ("a1", "a2", "b1")]
    sim = silent(*nodes, controllers=["node-lifecycle-controller"], kubelets=True)
    wait(sim, 30)
    sim.apply(SetKubelet("b1", False))
    wait(sim, 100)
    rows = [(row["zone"], row["state"], row["rate"], row["ready"], row["lost"]) for row in read_zones(sim)]
    assert rows == [("zone a", "Normal", 0.1, 2, 0), ("zone b", "FullDisruption", 0.1, 0, 1)]
