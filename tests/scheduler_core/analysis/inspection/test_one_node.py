"""Why a pod is not on a node: every Filter plugin's verdict now, and the scores of a node that is feasible."""

from __future__ import annotations

from typing import Any

from scheduler_core.analysis.inspection import WhyNot, why_not
from scheduler_core.scheduler.framework.plugin import Point
from scheduler_core.world.simulation import Simulation
from tests.scheduler_core.worlds import node, pod, settle, world

TAINTS = [{"key": "dedicated", "value": "infra", "effect": "NoSchedule"}]


def asked(sim: Simulation, name: str, where: str) -> WhyNot:
    found = why_not(sim, f"default/{name}", where)
    assert found is not None
    return found


def tainted(name: str, **rest: Any) -> dict[str, Any]:
    return {**node(name, **rest), "spec": {"taints": TAINTS}}


def test_every_plugin_says_its_verdict_and_not_only_the_first_that_refuses():
    sim = world(tainted("n", cpu="1"), pod("big", cpu="2"))
    found = asked(sim, "big", "n")
    refused = {each.plugin: each.status.message for each in found.verdicts if each.status}
    assert refused == {
        "TaintToleration": "node(s) had untolerated taint {dedicated: infra}",
        "NodeResourcesFit": "Insufficient cpu",
    }
    assert found.refusal is not None and found.refusal.plugin == "TaintToleration"
    assert any(each.skipped for each in found.verdicts)
    assert found.scores == ()


def test_a_feasible_node_is_scored_beside_the_others():
    sim = world(node("small", cpu="2"), node("large", cpu="8"), pod("p", cpu="1"))
    found = asked(sim, "p", "small")
    assert (found.refusal, found.feasible, found.best) == (None, 2, ("large",))
    assert found.total == sum(each.normalized * each.weight for each in found.scores)
    assert found.total < found.top == asked(sim, "p", "large").total


def test_an_attempt_comes_to_the_same_node():
    sim = world(node("small", cpu="2"), node("large", cpu="8"), pod("p", cpu="1"))
    found = asked(sim, "p", "small")
    settle(sim)
    assert found.best == (sim.journal.attempts[0].node,)


def test_a_bound_pod_is_asked_about_as_if_it_were_on_no_node():
    sim = world(node("n", cpu="2"), pod("p", cpu="2"))
    settle(sim)
    found = asked(sim, "p", "n")
    assert (found.leaves, found.refusal) == ("n", None)


def test_a_plugin_that_leaves_nodes_out_before_filter_says_so():
    affinity = {
        "nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {
                "nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["m"]}]}]
            }
        }
    }
    sim = world(node("n"), node("m"), pod("p", affinity=affinity))
    [said] = [each for each in asked(sim, "p", "n").verdicts if each.status]
    assert (said.plugin, said.point) == ("NodeAffinity", Point.PRE_FILTER)


def test_the_world_stays_as_it_is():
    sim = world(tainted("n", cpu="1"), pod("big", cpu="2"))
    twin = sim.fork()
    asked(sim, "big", "n")
    settle(sim)
    settle(twin)
    assert [each.message for each in sim.journal.attempts] == [each.message for each in twin.journal.attempts]
    assert why_not(sim, "default/nobody", "n") is None
    assert why_not(sim, "default/big", "nowhere") is None
