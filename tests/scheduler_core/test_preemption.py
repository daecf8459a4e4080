"""Preemption in a running world: victims are evicted, the preemptor is nominated and bound."""

from __future__ import annotations

from typing import Any

from msgspec import structs

from scheduler_core.apiserver.options import APIServerOptions
from scheduler_core.scheduler.framework.preemption.evidence import Evidence
from scheduler_core.world.commands import ApplyObjects
from scheduler_core.world.simulation import Simulation
from tests.scheduler_core.worlds import cycle_of, node, nodes_of, of_kind, pod, scheduler_of, settle, world


def class_of(name: str, value: int) -> dict[str, Any]:
    return {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": name}, "value": value}


def important(name: str, cpu: str) -> dict[str, Any]:
    return pod(name, cpu=cpu, priorityClassName="high")


def crowded() -> Simulation:
    """Two nodes of 4 cpus, each full of four small pods."""
    sim = world(class_of("high", 1000), node("a"), node("b"), *(pod(f"small-{i}") for i in range(8)))
    settle(sim)
    return sim


def test_a_pod_of_higher_priority_takes_the_place_of_lower_ones() -> None:
    sim = crowded()
    sim.apply(ApplyObjects((important("big", "2"),)))
    records = settle(sim)
    assert nodes_of(sim)["default/big"] in ("a", "b")
    assert len(nodes_of(sim)) == 7
    assert [e["reason"] for e in of_kind(records, "event")].count("Preempted") == 2


def test_the_preemptor_is_nominated_until_its_victims_are_gone() -> None:
    sim = crowded()
    sim.apply(ApplyObjects((important("big", "2"),)))
    sim.run(until=lambda w: all(p.nominated_node_name for p in w.store.pods() if p.name == "big"))
    big = sim.store.pod("default", "big")
    assert big is not None
    assert big.nominated_node_name in ("a", "b")
    assert scheduler_of(sim).queue.nominator.nodes() == [big.nominated_node_name]
    sim.run(until=lambda w: not scheduler_of(w).evictions)
    assert sum(p.deleting for p in sim.store.pods()) == 2


def test_while_a_nomination_stands_its_space_is_not_given_to_a_lower_priority() -> None:
    sim = crowded()
    sim.apply(ApplyObjects((important("big", "4"),)))
    sim.run(until=lambda w: any(p.nominated_node_name for p in w.store.pods()))
    sim.apply(ApplyObjects((pod("late"),)))
    settle(sim)
    assert nodes_of(sim)["default/big"] in ("a", "b")
    assert nodes_of(sim)["default/late"] == ""


def test_a_victim_is_told_why_it_has_to_go() -> None:
    sim = crowded()
    sim.apply(ApplyObjects((important("big", "2"),)))
    sim.run(until=lambda w: any(p.deleting for p in w.store.pods()))
    victim = next(p for p in sim.store.pods() if p.deleting)
    condition = victim.condition("DisruptionTarget")
    assert condition is not None
    assert condition["reason"] == "PreemptionByScheduler"
    assert condition["message"] == "default-scheduler: preempting to accommodate a higher priority pod"


def test_a_victim_with_a_finalizer_gives_its_room_but_stays() -> None:
    held = pod("held", cpu="4")
    held["metadata"]["finalizers"] = ["example.com/hold"]
    sim = world(class_of("high", 1000), node("a"), held)
    settle(sim)
    sim.apply(ApplyObjects((important("big", "4"),)))
    settle(sim)
    assert nodes_of(sim) == {"default/held": "a", "default/big": "a"}
    victim = sim.store.pod("default", "held")
    assert victim is not None
    assert (victim.deleting, victim.terminal) == (True, True)


def test_a_deletion_that_admission_refuses_ends_the_preemption() -> None:
    sim = crowded()
    sim.apply(ApplyObjects((important("big", "2"),)))
    denying = APIServerOptions(enable_admission_plugins=("AlwaysDeny",))
    sim.settings = structs.replace(sim.settings, cluster=structs.replace(sim.settings.cluster, apiserver=denying))
    sim.run(until=lambda w: bool(scheduler_of(w).evictions))
    records = sim.run(until=lambda w: not scheduler_of(w).evictions).records
    assert not any(pod.deleting for pod in sim.store.pods())
    assert [call["verb"] for call in of_kind(records, "api_call")].count(
        "DELETE"
    ) == 1  # the second victim is let alone


def test_the_evidence_tells_candidates_victims_reprieves_and_criteria() -> None:
    sim = crowded()
    sim.apply(ApplyObjects((important("big", "2"),)))
    attempts = len(sim.journal.attempts)
    sim.run(until=lambda w: len(w.journal.attempts) > attempts)
    evidence = next(s.evidence for s in cycle_of(sim).steps if isinstance(s.evidence, Evidence))
    told = evidence.to_json()
    assert [c["node"] for c in told["candidates"]] and told["eligible"]
    first = told["candidates"][0]
    assert [r["kept"] for r in first["reprieves"]].count(False) == len(first["victims"]) == 2
    assert told["criteria"][0]["name"] == "fewest PDB violations"
    assert told["nominated"] in ("a", "b")


def test_a_pod_that_must_not_preempt_evicts_nobody() -> None:
    sim = crowded()
    never = {**class_of("polite", 1000), "preemptionPolicy": "Never"}
    sim.apply(ApplyObjects((never, pod("big", cpu="2", priorityClassName="polite"))))
    settle(sim)
    assert len(nodes_of(sim)) == 9
    assert "not eligible due to preemptionPolicy=Never." in sim.journal.attempts[-1].message


def test_a_budget_turns_the_choice_to_the_other_node() -> None:
    labels = {"metadata": {"labels": {"app": "guarded"}}}
    guarded = [{**p, "metadata": {**p["metadata"], **labels["metadata"]}} for p in (pod("g", cpu="4"),)]
    budget = {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "keep", "namespace": "default"},
        "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "guarded"}}},
        "status": {"disruptionsAllowed": 0},
    }
    sim = world(class_of("high", 1000), node("a"), budget, *guarded)
    settle(sim)
    sim.apply(ApplyObjects((node("b"), pod("free", cpu="4"))))
    settle(sim)
    sim.apply(ApplyObjects((important("big", "4"),)))
    settle(sim)
    assert nodes_of(sim) == {"default/big": "b", "default/g": "a"}
