"""Pods that would fit and that nothing is about to try, as kube leaves them."""

from __future__ import annotations

from typing import Any

from scheduler_core.analysis.inspection.stranding import Stranding, Way, find_stranding
from scheduler_core.world.commands import ApplyObjects, DeleteObjects, Ref, SetPrograms, SetSettings
from scheduler_core.world.simulation import Simulation
from tests.scheduler_core.worlds import node, nodes_of, pod, scheduler_of, settle, world

SECOND = 1_000_000_000


def keeps_away(*labels: str) -> dict[str, Any]:
    terms = [
        {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": label}}} for label in labels
    ]
    return {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}


def labelled(name: str, label: str, **spec: Any) -> dict[str, Any]:
    made = pod(name, **spec)
    made["metadata"]["labels"] = {"app": label}
    return made


def delete(sim: Simulation, name: str) -> None:
    sim.apply(DeleteObjects((Ref("Pod", "default", name),)))


def refused_by_the_anti_affinity_of_another() -> Simulation:
    sim = world(node("n"), labelled("first", "a", affinity=keeps_away("b"), terminationGracePeriodSeconds=0))
    settle(sim)
    sim.apply(ApplyObjects((labelled("second", "b"),)))
    settle(sim)
    return sim


def test_the_deletion_of_a_pod_with_anti_affinity_strands_those_it_refused() -> None:
    sim = refused_by_the_anti_affinity_of_another()
    assert find_stranding(sim, "default/second") is None
    delete(sim, "first")
    settle(sim)
    found = find_stranding(sim, "default/second")
    assert found is not None
    assert (found.way, found.node, found.plugins) == (Way.EXISTING_ANTI_AFFINITY, "n", ("InterPodAffinity",))


def test_a_stranded_pod_is_tried_again_when_it_says() -> None:
    sim = refused_by_the_anti_affinity_of_another()
    delete(sim, "first")
    settle(sim)
    found = find_stranding(sim, "default/second")
    assert found is not None and found.until == 330 * SECOND
    while sim.now < found.until and sim.advance():
        pass
    assert find_stranding(sim, "default/second") is None
    settle(sim)
    assert nodes_of(sim)["default/second"] == "n"


def test_a_pod_that_keeps_away_from_two_kinds_is_stranded_when_one_of_them_goes() -> None:
    """The hint asks whether the deleted pod was of both."""
    sim = world(node("n"), labelled("first", "a", terminationGracePeriodSeconds=0))
    settle(sim)
    sim.apply(ApplyObjects((pod("shy", affinity=keeps_away("a", "b")),)))
    settle(sim)
    delete(sim, "first")
    settle(sim)
    found = find_stranding(sim, "default/shy")
    assert found is not None and found.way is Way.NO_HINT
    assert found.until == 330 * SECOND


def a_gated_preemptor() -> Simulation:
    """Its first victim is gone, which gated it; its last one takes ten minutes to end."""
    sim = world(
        priority("high", 10),
        priority("middle", 5),
        node("n", cpu="2"),
        pod("quick", cpu="1", priorityClassName="middle", terminationGracePeriodSeconds=0),
        pod("slow", cpu="1", terminationGracePeriodSeconds=600),
    )
    sim.apply(SetPrograms(({"onTerm": "ignore"},)))
    settle(sim)
    sim.apply(ApplyObjects((pod("vip", cpu="2", priorityClassName="high"),)))
    while not scheduler_of(sim).queue.gated_pods:
        sim.advance()
    while sim.due(30 * SECOND):
        sim.advance()
    return sim


def test_a_preemptor_that_was_gated_hears_of_no_node() -> None:
    sim = a_gated_preemptor()
    assert find_stranding(sim, "default/vip") is None
    sim.apply(ApplyObjects((node("m"),)))
    found = find_stranding(sim, "default/vip")
    assert found == Stranding(Way.GATED_PREEMPTOR, "m", ("DefaultPreemption",))


def priority(name: str, value: int) -> dict[str, Any]:
    kind = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass"}
    return {**kind, "metadata": {"name": name}, "value": value}


def test_a_pod_in_the_active_queue_is_not_stranded() -> None:
    sim = world(node("n"))
    sim.apply(SetSettings({"manual": True}))
    sim.apply(ApplyObjects((pod("p"),)))
    assert find_stranding(sim, "default/p") is None
    assert find_stranding(sim, "default/nobody") is None
