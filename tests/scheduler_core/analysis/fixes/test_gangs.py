"""Fixes for gangs that are stuck, each proven when the quorum has nodes, and what explain says of them."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_core.analysis.explain import explain
from scheduler_core.analysis.fixes import find_fixes
from scheduler_core.world.commands import ApplyObjects, SetConfiguration
from scheduler_core.world.simulation import Simulation
from tests.scheduler_core.test_pod_groups import GANG, TWO, group, member, run, world
from tests.scheduler_core.worlds import configuration, node, pod

MEMBERS = GANG[3:]
ONE = (node("a", cpu="4"), *GANG[2:])
QUORUM = "schedulingPolicy.gang.minCount"
IN_RACK = {"topology": [{"key": "rack"}]}
RACKS = tuple(node(f"{rack}{i}", cpu="2", labels={"rack": rack, "hall": "h"}) for rack in "xy" for i in range(2))


def owned(kind: str, replicas: int, **template: Any) -> dict[str, Any]:
    spec = {**member("p", "g")["spec"], **template}
    labels = {"app": "train"}
    return {
        "apiVersion": "apps/v1",
        "kind": kind,
        "metadata": {"name": "train", "namespace": "default"},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": spec},
        },
    }


def fixes_of(sim: Simulation, key: str = "default/p0") -> dict[str, Any]:
    return {fix.kind: fix for fix in find_fixes(sim, key)}


@pytest.mark.parametrize(
    ("objects", "kind", "values"),
    [
        (ONE, "field", {"field": QUORUM, "to": 2}),
        (ONE, "node", {"like": "a"}),
        (ONE, "request", {"resource": "cpu", "to": "1300m"}),
        ((node("a", cpu="4"), group("g", 7), *(member(f"p{i}", "g") for i in range(7))), "nodes", {"count": 3}),
        ((*TWO, group("g", 4), *MEMBERS), "members", {"count": 1, "like": "p0"}),
        ((*TWO, group("g", 5), *MEMBERS), "members+node", {"count": 2, "like": "p0"}),
        ((*TWO, group("g", 5), *MEMBERS), "field", {"field": QUORUM, "to": 3}),
        (
            (*TWO, group("other", 1), member("o", "other", "4", nodeName="a"), *GANG[2:]),
            "free",
            {"pods": ["default/o"]},
        ),
        ((*RACKS, group("g", 3, schedulingConstraints=IN_RACK), *MEMBERS), "topology", {"from": "rack", "to": "hall"}),
    ],
)
def test_a_fix_of_a_gang_is_proven_for_the_quorum(objects: Any, kind: str, values: dict[str, Any]) -> None:
    sim = run(world(*objects, topology_aware_scheduling=True))
    fix = fixes_of(sim)[kind]
    assert values.items() <= dict(fix.changes[0].values).items()
    sim = run(world(*objects, topology_aware_scheduling=True))
    for command, pause in zip(fix.commands, fix.pauses, strict=True):
        sim.apply(command)
        for _ in range(pause):
            sim.advance()
    run(sim, 60)
    needed = sim.store.get("PodGroup", "default", "g")["spec"]["schedulingPolicy"]["gang"]["minCount"]
    assert sum(bool(each.node_name) for each in sim.store.pods() if each.spec.group == "g") >= needed


@pytest.mark.parametrize(
    ("kind", "replicas", "found"),
    [
        ("StatefulSet", 3, "request"),
        ("ReplicaSet", 2, "field"),
        ("Deployment", 3, "request+recreate-strategy"),
        ("Job", 3, "request"),
    ],
)
def test_the_members_of_a_workload_change_with_its_template(kind: str, replicas: int, found: str) -> None:
    owner = owned(kind, replicas)
    if kind == "StatefulSet":
        owner["spec"]["podManagementPolicy"] = "Parallel"
    if kind == "Job":
        template = owner["spec"]["template"]
        template["spec"]["restartPolicy"] = "Never"
        owner |= {"apiVersion": "batch/v1", "spec": {"parallelism": 3, "completions": 3, "template": template}}
    nodes = TWO if found == "field" else (node("a", cpu="4"),)
    sim = run(world(*nodes, group("g", 3), owner))
    waiting = next(each.key for each in sim.store.pods())
    calls = [fix.kubectl for fix in find_fixes(sim, waiting) if fix.kind == found]
    if kind == "Job":  # made anew: its template can't change, and the labels of its pods stay
        assert any("kind: Job" in call and call.count("app: train") == 2 for call in calls), calls
    else:
        assert any(f"{kind.lower()} train" in call.replace("sets", "set") for call in calls), calls


def test_explain_names_the_domains_the_group_in_the_way_and_the_members_that_fit_nowhere() -> None:
    racks = (*RACKS, group("g", 3, schedulingConstraints=IN_RACK), *MEMBERS)
    found = {
        fact.code: fact.values
        for fact in explain(run(world(*racks, topology_aware_scheduling=True)), "PodGroup/default/g").facts
    }
    assert found["GroupNeedsDomain"] == {"topologyKey": "rack", "needed": 3, "domains": ["x (2)", "y (2)"]}
    assert found["GroupMemberRefused"] == {
        "pod": "default/p2",
        "message": "0/2 nodes are available: 2 Insufficient cpu.",
    }
    way = world(*TWO, group("other", 1), member("o", "other", "4", nodeName="a"), *GANG[2:])
    found = {fact.code: fact.values for fact in explain(run(way), "default/p0").facts}
    assert found["GroupHoldsNodes"] == {"group": "other", "pods": ["default/o"], "count": 1, "nodes": ["a"]}


def test_a_gang_that_gets_its_nodes_by_itself_has_to_wait() -> None:
    ending = pod("old", cpu="4", nodeName="a", terminationGracePeriodSeconds=30)
    sim = run(world(*TWO, ending, *GANG[2:]))
    sim.api.delete(("Pod", "default", "old"))
    assert "wait" in fixes_of(sim)


def test_a_gang_of_coscheduling_that_finds_room_for_one_member() -> None:
    names = {"enabled": [{"name": "Coscheduling"}]}
    profile = {"schedulerName": "default-scheduler", "plugins": {"multiPoint": names}}
    sim = Simulation()
    sim.apply(SetConfiguration(configuration(profiles=[profile])))
    labels, needs = "scheduling.x-k8s.io/pod-group", {"playground.dev/min-member": "3"}
    pods = [pod(name, "2", needs) for name in ("g0", "h0", "g1", "h1", "g2", "h2")]
    for each in pods:
        each["metadata"]["labels"] = {labels: each["metadata"]["name"][0]}
    sim.apply(ApplyObjects((*TWO, *pods)))
    run(sim)
    waiting = next(each.key for each in sim.store.pods() if not each.node_name)
    fixes = fixes_of(sim, waiting)
    assert {"field", "node", "request"} <= set(fixes), list(fixes)
    facts = {fact.code: fact.values for fact in explain(sim, waiting).facts}
    assert (facts["GroupBelowQuorum"]["needed"], facts["GroupHoldsNodes"]["group"]) == (3, "h")
