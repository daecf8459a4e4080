"""Drains: which pods go, what they wait for, and how they end."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_core.apiserver.status import Refused
from scheduler_core.controllers.memory.nodes import Drain
from scheduler_core.world.commands import CancelDrain, DrainNode, Undo
from scheduler_core.world.simulation import Simulation
from tests.scheduler_core.clusters import SECOND, make, patch, set_status, silent, wait
from tests.scheduler_core.worlds import node, pod

RUNNING = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}


def web(name: str, kind: str = "ReplicaSet", **spec: Any) -> dict[str, Any]:
    manifest = pod(name, nodeName="n", **spec)
    owner = {"apiVersion": "apps/v1", "kind": kind, "name": "web", "uid": "u", "controller": True}
    manifest["metadata"] |= {"labels": {"app": "web"}, "ownerReferences": [owner]}
    return manifest


def world(*pods: dict[str, Any], others: tuple[dict[str, Any], ...] = ()) -> Simulation:
    """Running pods on a node whose kubelet stands still."""
    sim = silent(node("n"), *others, *pods, controllers=["disruption-controller"])
    for manifest in pods:
        set_status(sim, "Pod", manifest["metadata"]["name"], **RUNNING)
    wait(sim, 1)
    return sim


def budget(least: int) -> dict[str, Any]:
    return {
        **make("PodDisruptionBudget", "b", spec={"minAvailable": least, "selector": {"matchLabels": {"app": "web"}}}),
        "apiVersion": "policy/v1",
    }


def drain_of(sim: Simulation) -> Drain:
    return sim.surroundings.nodes.drains["n"]


def gone(sim: Simulation, name: str) -> None:
    """The kubelet has ended a pod."""
    sim.change(lambda: (sim.store.remove("Pod", "default", name), None)[1])


def going(sim: Simulation) -> set[str]:
    return {found.name for found in sim.store.pods() if found.deleting}


def test_it_cordons_evicts_and_ends_when_the_pods_have_gone() -> None:
    sim = world(web("a"), web("b"))
    sim.apply(DrainNode("n"))
    found = sim.store.node("n")
    assert found is not None and found.unschedulable
    wait(sim, 2)
    assert going(sim) == {"a", "b"} and drain_of(sim).ended is None
    gone(sim, "a")
    gone(sim, "b")
    wait(sim, 3)
    assert drain_of(sim).ended is not None and drain_of(sim).outcome == ""
    assert not sim.due(10**6 * SECOND)


def test_what_a_budget_refuses_is_asked_for_again_every_five_seconds() -> None:
    sim = world(web("a"), web("b"), others=(budget(1),))
    sim.apply(DrainNode("n"))
    wait(sim, 12)
    assert len(going(sim)) == 1
    (stuck,) = [each for each in drain_of(sim).pods if each.waits]
    assert stuck.tries == 3
    assert "The disruption budget b needs 1 healthy pods and has 1 currently" in stuck.refusal


def test_a_node_without_pods_is_drained_at_once() -> None:
    sim = world()
    sim.apply(DrainNode("n"))
    assert drain_of(sim).ended == sim.now


@pytest.mark.parametrize(
    ("manifest", "flags", "error"),
    [
        (pod("p", nodeName="n"), {}, "declare no controller (use --force to override): default/p"),
        (pod("p", nodeName="n"), {"force": True}, ""),
        (web("p", "DaemonSet"), {}, 'daemonsets.apps "web" not found: default/p'),
        (web("p", "DaemonSet"), {"force": True}, ""),
        (web("p", volumes=[{"name": "v", "emptyDir": {}}]), {}, "Pods with local storage"),
        (web("p", volumes=[{"name": "v", "emptyDir": {}}]), {"delete_empty_dir_data": True}, ""),
    ],
)
def test_pods_that_it_may_not_touch_keep_it_from_beginning(
    manifest: dict[str, Any], flags: dict[str, Any], error: str
) -> None:
    sim = world(manifest)
    sim.apply(DrainNode("n", **flags))
    wait(sim, 2)
    assert error in drain_of(sim).outcome
    assert bool(drain_of(sim).outcome) == bool(error)
    assert going(sim) == (set() if error else {"p"})
    found = sim.store.node("n")
    assert found is not None and found.unschedulable


def test_pods_of_a_daemon_set_stay_where_they_are_ignored() -> None:
    template = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    spec = {"selector": {"matchLabels": {"app": "web"}}, "template": template}
    daemon_set = {**make("DaemonSet", "web", spec=spec), "apiVersion": "apps/v1"}
    sim = world(web("agent", "DaemonSet"), web("a"), others=(daemon_set,))
    sim.apply(DrainNode("n"))
    assert "use --ignore-daemonsets to ignore" in drain_of(sim).outcome
    sim.apply(DrainNode("n", ignore_daemon_sets=True))
    wait(sim, 2)
    assert going(sim) == {"a"}
    assert drain_of(sim).warnings == ("ignoring DaemonSet-managed Pods: default/agent",)


def test_uncordoning_or_a_command_calls_it_off() -> None:
    for_all = world(web("a"), others=(budget(1),))
    for sim, end in (
        (for_all.fork(), lambda sim: patch(sim, "Node", "n", {"spec": {"unschedulable": None}}, "")),
        (for_all, lambda sim: sim.apply(CancelDrain("n"))),
    ):
        sim.apply(DrainNode("n"))
        wait(sim, 3)
        end(sim)
        wait(sim, 60)
        assert drain_of(sim).ended is not None and drain_of(sim).outcome
        assert not sim.due(10**6 * SECOND)
    with pytest.raises(Refused, match="being drained"):
        for_all.apply(CancelDrain("n"))


def test_an_eviction_that_fails_ends_the_drain_with_its_error() -> None:
    other = budget(1)
    other["metadata"]["name"] = "c"
    sim = world(web("a"), others=(budget(0), other))
    sim.apply(DrainNode("n"))
    wait(sim, 2)
    assert drain_of(sim).outcome.startswith('error when evicting pods/"a" -n "default": This pod has more than one')


def test_a_node_that_is_not_there_is_refused() -> None:
    with pytest.raises(Refused, match="not found"):
        world().apply(DrainNode("x"))


def test_taking_the_command_back_uncordons_the_node_and_calls_the_drain_off() -> None:
    sim = world(web("a"), others=(budget(1),))
    sim.apply(DrainNode("n"))
    wait(sim, 3)
    sim.apply(Undo())
    found = sim.store.node("n")
    assert found is not None and not found.unschedulable
    assert drain_of(sim).outcome == "the node was uncordoned"
