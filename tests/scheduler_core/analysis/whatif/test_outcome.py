"""What comes of drained, removed and added nodes, of other replicas, of another configuration."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_core.analysis.whatif import UnknownObject, add, drain, remove, scale, settle, waiting, what_if
from scheduler_core.analysis.whatif.outcome import RETURNS
from scheduler_core.world.commands import ApplyObjects, SetConfiguration
from scheduler_core.world.simulation import Simulation
from tests.scheduler_core.worlds import configuration, node, nodes_of, pod


def deployment(replicas: int, cpu: str = "1") -> dict[str, Any]:
    template = {"metadata": {"labels": {"app": "web"}}, "spec": pod("p", cpu)["spec"]}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {"replicas": replicas, "selector": {"matchLabels": {"app": "web"}}, "template": template},
    }


def standing(*objects: dict[str, Any]) -> Simulation:
    sim = Simulation(1)
    sim.apply(ApplyObjects(objects))
    assert settle(sim)
    return sim


@pytest.fixture
def web() -> Simulation:
    """Three nodes for two pods each, and four pods of a deployment."""
    return standing(*(node(f"n{i}", "2") for i in range(3)), deployment(4))


def test_a_drained_nodes_pods_are_replaced_elsewhere(web: Simulation) -> None:
    mine = sum(where == "n0" for where in nodes_of(web).values())
    found = what_if(web, [drain(web, "n0")])
    assert [(e.kind, e.node, e.to in ("n1", "n2")) for e in found.effects] == [("replaced", "n0", True)] * mine
    assert (found.created, found.pending, found.at_rest) == ((), (), True)
    assert set(nodes_of(web).values()) == {"n0", "n1", "n2"}


def test_a_removed_nodes_pods_are_made_anew_once_it_is_found_out(web: Simulation) -> None:
    found = what_if(web, [remove(web, "n0"), remove(web, "n1")])
    assert found.at_rest
    assert found.time > 40 * 10**9  # the garbage collector of pods waits that long
    assert len(found.pending) == 2
    assert {e.kind for e in found.effects} == {"replaced"}


def test_more_replicas_than_fit_wait(web: Simulation) -> None:
    found = what_if(web, [scale(web, "Deployment", "default", "web", 8)])
    assert found.effects == ()
    assert sorted(node != "" for _, node in found.created) == [False, False, True, True]
    assert set(found.pending) == {key for key, node in found.created if not node}
    assert found.pending_without == ()


def test_added_nodes_take_who_waits() -> None:
    sim = standing(node("n", "2"), *(pod(f"p{i}") for i in range(4)))
    found = what_if(sim, [add(sim, "n", 2)])
    assert [(e.kind, e.to.startswith("n-new-")) for e in found.effects] == [("placed", True)] * 2
    assert (len(found.pending_without), found.pending) == (2, ())


def test_another_configuration_decides_about_who_comes_after_it(web: Simulation) -> None:
    most = {"scoringStrategy": {"type": "MostAllocated", "resources": [{"name": "cpu", "weight": 1}]}}
    args = [{"name": "NodeResourcesFit", "args": most}]
    profiles = [{"schedulerName": "default-scheduler", "pluginConfig": args}]
    change = SetConfiguration(configuration(profiles=profiles))
    found = what_if(web, [change, scale(web, "Deployment", "default", "web", 5)])
    assert [bool(node) for _, node in found.created] == [True]


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda sim: drain(sim, "x"), "no node 'x' exists; expected one of 3: n0, n1, n2"),
        (lambda sim: add(sim, "x", 1), "no node 'x' exists"),
        (lambda sim: scale(sim, "Deployment", "default", "no", 1), "no Deployment default/no exists"),
        (lambda sim: scale(sim, "DaemonSet", "default", "web", 1), "a DaemonSet can't be scaled; expected one of"),
    ],
)
def test_what_does_not_exist_is_named(web: Simulation, ask: Any, said: str) -> None:
    with pytest.raises(UnknownObject, match=said):
        ask(web)


def test_steps_that_are_used_up_are_told(web: Simulation) -> None:
    assert not what_if(web, [drain(web, "n0")], steps=5).at_rest
    assert waiting(web) == ()


def test_a_retry_that_succeeds_is_waited_for() -> None:
    """The quota has no room for the new pod until the old one has gone; by then the ReplicaSet backs off for minutes."""
    quota = {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "q", "namespace": "default"},
        "spec": {"hard": {"pods": "2"}},
    }
    sim = Simulation(1)
    sim.apply(ApplyObjects((node("a", "2"), node("b", "4"), quota, deployment(4))))
    settle(sim)
    (drained, *_) = nodes_of(sim).values()
    found = what_if(sim, [drain(sim, drained)])
    assert {effect.kind for effect in found.effects} == {"replaced"}
    assert all(effect.to not in ("", drained) for effect in found.effects)
    assert (found.pending, found.at_rest) == ((), True)


def test_a_pod_that_nothing_wakes_is_waited_for() -> None:
    """Its own affinity holds the new pod back while the old one ends on the cordoned node, and no event wakes it when that is gone."""
    term = {"labelSelector": {"matchLabels": {"app": "web"}}, "topologyKey": "kubernetes.io/hostname"}
    alone = deployment(1)
    alone["spec"]["template"]["spec"]["affinity"] = {
        "podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}
    }
    sim = standing(*(node(name, "2", labels={"kubernetes.io/hostname": name}) for name in ("a", "b")), alone)
    (where,) = nodes_of(sim).values()
    found = what_if(sim, [drain(sim, where)])
    (effect,) = found.effects
    assert (effect.kind, effect.to != "" and effect.to != where, found.pending) == ("replaced", True, ())


def test_a_drain_does_not_empty_a_node_whose_taint_a_pod_tolerates() -> None:
    made = deployment(1)
    made["spec"]["template"]["spec"] |= {"tolerations": [{"operator": "Exists"}], "nodeSelector": {"disk": "ssd"}}
    sim = standing(node("a", labels={"disk": "ssd"}), node("b"), made)
    found = what_if(sim, [drain(sim, "a")])
    assert [(at, why) for at, _, why in found.held_up] == [("a", RETURNS)]
