"""Why a pod is pending: its state, the reasons with their codes, what they rest on, and what wakes it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from scheduler_core.analysis.explain import Explanation, State, explain, explain_uncreated
from scheduler_core.world.commands import ApplyObjects
from scheduler_core.world.simulation import Simulation
from tests.scheduler_core.clusters import cluster, make, wait
from tests.scheduler_core.worlds import node, pod, settle, world

ZONE = "topology.kubernetes.io/zone"
TAINTS = {"taints": [{"key": "dedicated", "value": "infra", "effect": "NoSchedule"}]}


def asked(sim: Simulation, name: str) -> Explanation:
    found = explain(sim, f"default/{name}")
    assert found is not None
    json.dumps(found.to_json())
    return found


def codes(found: Explanation) -> list[str]:
    return [reason.code for reason in found.reasons]


def tainted(name: str, **rest: Any) -> dict[str, Any]:
    return {**node(name, **rest), "spec": TAINTS}


@pytest.mark.parametrize(
    ("objects", "state", "code"),
    [
        ([pod("p")], State.NO_NODES, "NoNodes"),
        ([node("n"), pod("p", schedulerName="volcano")], State.NO_SUCH_SCHEDULER, "NoSuchScheduler"),
        ([node("n"), pod("p", nodeName="gone")], State.NO_SUCH_NODE, "NoSuchNode"),
        ([node("n"), pod("p", schedulingGates=[{"name": "g"}])], State.GATED, "SchedulingGates/Gated"),
    ],
    ids=["no node", "nobody's", "a node that is not there", "gated"],
)
def test_a_pod_that_no_attempt_would_help_says_why(objects: Any, state: State, code: str):
    found = asked(world(*objects), "p")
    assert (found.state, codes(found)) == (state, [code])


def test_before_any_attempt_the_plugins_say_what_they_would_say():
    sim = world(tainted("a"), node("b", cpu="2"), pod("p", cpu="3"))
    found = asked(sim, "p")
    assert (found.state, found.attempts) == (State.NOT_ATTEMPTED, 0)
    assert codes(found) == ["NodeResourcesFit/InsufficientCpu", "TaintToleration/UntoleratedTaint"]
    taint = next(each for each in found.reasons if each.plugin == "TaintToleration")
    assert (taint.nodes, taint.evidence) == (("a",), {"key": "dedicated", "value": "infra"})


def test_nodes_without_the_kind_of_resource_that_is_asked_for_come_last():
    gpu = node("gpu")
    gpu["status"]["allocatable"] = {**gpu["status"]["allocatable"], "nvidia.com/gpu": "1"}
    asks = pod("p")
    for field in ("requests", "limits"):
        asks["spec"]["containers"][0]["resources"].setdefault(field, {})["nvidia.com/gpu"] = "1"
    sim = world(*[node(f"n-{i}") for i in range(3)], {**gpu, "spec": {"unschedulable": True}}, asks)
    assert codes(asked(sim, "p")) == ["NodeUnschedulable/Cordoned", "NodeResourcesFit/InsufficientResource"]


def test_a_refused_pod_waits_for_what_its_plugins_registered_for():
    sim = world(node("b", cpu="2"), pod("p", cpu="3"))
    settle(sim)
    found = asked(sim, "p")
    assert (found.state, found.attempts) == (State.WAITING_FOR_EVENT, 1)
    assert found.until is not None and {"PodDelete", "NodeAdd"} <= set(found.events)
    assert found.message.startswith("0/1 nodes are available: 1 Insufficient cpu.")


def test_a_pod_that_backs_off_says_until_when():
    sim = world(node("b", cpu="2"), pod("p", cpu="3"))
    sim.run(until=lambda world: "default/p" in world.schedulers[0].queue.unschedulable_pods)
    sim.apply(ApplyObjects((node("c", cpu="4"),)))
    found = asked(sim, "p")
    assert (found.state, found.events, found.fits) == (State.BACKOFF, (), ("c",))
    assert found.until is not None and found.until > sim.now


def test_near_misses_come_first_with_how_little_is_missing():
    fillers = [pod(f"f{i}", cpu="3", nodeName=f"n{i}") for i in range(3)]
    sim = world(*(node(f"n{i}", cpu="4") for i in range(3)), tainted("t"), *fillers, pod("p", cpu="1200m"))
    first, second = asked(sim, "p").reasons
    assert (first.code, first.count, second.final) == ("NodeResourcesFit/InsufficientCpu", 3, True)
    near = first.evidence["near"]
    assert (near["count"], near["atMost"]) == (3, 200)
    assert near["nodes"][0] == {"node": "n0", "short": 200, "free": 1000, "allocatable": 4000}


def test_many_nodes_are_grouped_by_whoever_made_them():
    pool = "eks.amazonaws.com/nodegroup"
    nodes = [node(f"n{i}", cpu="1", labels={pool: "big" if i % 3 else "small"}) for i in range(12)]
    [reason] = asked(world(*nodes, pod("p", cpu="2")), "p").reasons
    assert reason.groups == ((f"{pool}=big", 8), (f"{pool}=small", 4))


def test_groups_of_one_node_each_are_none():
    nodes = [node(f"ip-{i}.internal", cpu="1") for i in range(12)]
    [reason] = asked(world(*nodes, pod("p", cpu="2")), "p").reasons
    assert (reason.groups, reason.count, len(reason.nodes) > 0) == ((), 12, True)


def test_a_domain_that_counts_although_no_pod_can_go_there_is_named_with_what_a_policy_would_change():
    spread = {
        "maxSkew": 1,
        "topologyKey": ZONE,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "web"}},
    }

    def web(name: str, **spec: Any) -> dict[str, Any]:
        made = pod(name, topologySpreadConstraints=[spread], **spec)
        made["metadata"]["labels"] = {"app": "web"}
        return made

    sim = world(tainted("a", labels={ZONE: "z1"}), node("b", labels={ZONE: "z2"}), web("w0", nodeName="b"), web("w1"))
    reason = next(each for each in asked(sim, "w1").reasons if each.plugin == "PodTopologySpread")
    [constraint] = reason.evidence["constraints"]
    assert (reason.code, constraint["closedDomains"]) == ("PodTopologySpread/SkewTooLarge", ["z1"])
    assert constraint["withPolicies"] == {"set": {"nodeTaintsPolicy": "Honor"}, "lowest": 1, "passing": 1}


def claim(name: str, of_class: str) -> dict[str, Any]:
    spec = {
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": of_class,
        "resources": {"requests": {"storage": "5Gi"}},
    }
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": name, "namespace": "default"},
        "spec": spec,
    }


def test_a_claim_says_its_class_and_the_volumes_that_could_be_its_own():
    uses = [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}]
    terms = [{"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": ["n"]}]}]
    volume = {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": "disk"},
        "spec": {
            "capacity": {"storage": "1Gi"},
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": "fast",
            "nodeAffinity": {"required": {"nodeSelectorTerms": terms}},
            "local": {"path": "/x"},
        },
    }
    sim = world(node("n"), claim("data", "fast"), volume, pod("p", volumes=uses))
    found = asked(sim, "p")
    [said] = found.reasons[0].evidence["claims"]
    assert (found.state, codes(found)) == (State.WAITING_FOR_CLAIM, ["VolumeBinding/UnboundImmediateClaims"])
    assert (said["class"], said["classExists"], said["phase"]) == ("fast", False, "Pending")
    [candidate] = said["candidates"]
    assert (candidate["volume"], candidate["reachedFromNodes"]) == ("disk", ["n"])
    assert candidate["affinity"] == "kubernetes.io/hostname in (n)"


def test_preemption_says_why_not_in_kubes_words():
    sim = world(node("n", cpu="2"), pod("p", cpu="3", preemptionPolicy="Never", priority=5), pod("q", cpu="8"))
    settle(sim)
    never, useless = asked(sim, "p").preemption, asked(sim, "q").preemption
    assert never is not None and useless is not None
    assert [code for code, _, _ in never.reasons] == ["DefaultPreemption/PolicyNever"]
    assert useless.reasons == (("DefaultPreemption/NotHelpful", "Preemption is not helpful for scheduling", 1),)


def test_pods_that_a_quota_keeps_from_being_made_are_called_by_their_owner():
    quota = make("ResourceQuota", "two", spec={"hard": {"pods": "2"}})
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    spec = {"replicas": 3, "selector": {"matchLabels": {"a": "b"}}, "template": template}
    sim = cluster(quota)
    wait(sim, 1)
    sim.apply(ApplyObjects((make("ReplicaSet", "web", spec=spec),)))
    wait(sim, 5)
    [found] = explain_uncreated(sim)
    assert (found.pod, found.state) == ("default/web-*", State.QUOTA_EXCEEDED)
    assert found.reasons[0].evidence == {
        "owner": {"kind": "ReplicaSet", "name": "web"},
        "missing": 1,
        "quota": "two",
        "room": False,
    }


def test_a_pod_that_would_fit_says_where():
    found = asked(world(node("n"), pod("p")), "p")
    assert (found.state, found.fits, found.reasons) == (State.NOT_ATTEMPTED, ("n",), ())


def test_the_world_stays_as_it_is():
    sim = world(tainted("a"), node("b", cpu="2"), pod("p", cpu="3"), pod("q", cpu="1"))
    twin = sim.fork()
    assert asked(sim, "p") == asked(sim, "p")
    settle(sim)
    settle(twin)
    assert [attempt.message for attempt in sim.journal.attempts] == [
        attempt.message for attempt in twin.journal.attempts
    ]
    assert asked(sim, "p") == asked(twin, "p")
