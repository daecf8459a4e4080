"""How many more pods fit: equal to making them one by one, with whatever decides about a pod."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler_core.analysis.whatif import Room, copy_of, pods_of, room_for
from scheduler_core.world.commands import ApplyObjects
from scheduler_core.world.simulation import Refused, Simulation
from tests.scheduler_core.worlds import node, pod, settle

ZONE = "topology.kubernetes.io/zone"
OWN = {"labelSelector": {"matchLabels": {"app": "more"}}}


def standing(*objects: dict[str, Any], seed: int = 0) -> Simulation:
    """A world at rest with these objects."""
    sim = Simulation(seed)
    sim.apply(ApplyObjects(objects))
    settle(sim, 50_000)
    return sim


def more(cpu: str = "1", **spec: Any) -> dict[str, Any]:
    made = pod("p", cpu, **spec)
    made["metadata"]["labels"] = {"app": "more"}
    return made


def one_by_one(sim: Simulation, manifest: dict[str, Any]) -> dict[str, int]:
    """Nodes and how many copies each took, each copy created when the one before had its node."""
    world, taken, number = sim.fork(), dict[str, int](), 0
    while True:
        made = copy_of(manifest, f"copy-{number}")
        world.apply(ApplyObjects((made,), create_only=True))
        while (index := world.journal.last_attempt.get(f"default/copy-{number}")) is None:
            assert world.advance()
        attempt = world.journal.attempts[index]
        if attempt.outcome != "scheduled":
            return taken
        taken[attempt.node] = taken.get(attempt.node, 0) + 1
        number += 1


@st.composite
def worlds(draw: st.DrawFn) -> tuple[list[dict[str, Any]], dict[str, Any], int]:
    nodes = [
        node(f"n{i}", str(draw(st.integers(1, 6))), labels={ZONE: draw(st.sampled_from("ab"))})
        for i in range(draw(st.integers(1, 5)))
    ]
    pods = [pod(f"old{i}", f"{draw(st.integers(1, 8)) * 250}m") for i in range(draw(st.integers(0, 6)))]
    spec: dict[str, Any] = {}
    kind = draw(st.sampled_from(["plain", "anti", "spread", "port", "gpu"]))
    if kind == "anti":
        term = {**OWN, "topologyKey": draw(st.sampled_from([ZONE, "kubernetes.io/hostname"]))}
        spec["affinity"] = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    if kind == "spread":
        spec["topologySpreadConstraints"] = [
            {**OWN, "topologyKey": ZONE, "maxSkew": draw(st.integers(1, 2)), "whenUnsatisfiable": "DoNotSchedule"}
        ]
    manifest = more(f"{draw(st.integers(1, 6)) * 250}m", **spec)
    if kind == "port":
        manifest["spec"]["containers"][0]["ports"] = [{"containerPort": 80, "hostPort": 8080}]
    if kind == "gpu":
        manifest["spec"]["containers"][0]["resources"]["requests"]["example.com/gpu"] = "1"
        manifest["spec"]["containers"][0]["resources"]["limits"] = {"example.com/gpu": "1"}
        for each in nodes[:2]:
            each["status"]["capacity"] = each["status"]["allocatable"] = {
                **each["status"]["capacity"],
                "example.com/gpu": str(draw(st.integers(0, 3))),
            }
    return [*nodes, *pods], manifest, draw(st.integers(0, 2**31))


@settings(max_examples=25)
@given(worlds())
def test_it_is_what_comes_of_making_them_one_by_one(drawn: Any) -> None:
    objects, manifest, seed = drawn
    sim = standing(*objects, seed=seed)
    found = room_for(sim, [manifest], batch=7)
    expected = one_by_one(sim, manifest)
    assert (found.count, dict(found.nodes)) == (sum(expected.values()), expected)
    assert not found.enough


def test_the_nodes_are_told_and_why_the_next_one_does_not_fit() -> None:
    sim = standing(node("a", "4"), node("b", "2"))
    found = room_for(sim, [more()])
    assert found.why.startswith("0/2 nodes are available: 2 Insufficient cpu.")
    assert found == Room(6, (("a", 4), ("b", 2)), found.why)


def test_nobody_is_evicted_for_them_and_the_world_stays_as_it_is() -> None:
    sim = standing(node("n", "2"), pod("low", "1", priority=0))
    before = sim.position
    assert room_for(sim, [more(priority=1000)]).count == 1
    assert (sim.position, len(sim.store.pods())) == (before, 1)


def test_no_more_are_made_than_are_asked_for() -> None:
    sim = standing(node("n", "100"))
    found = room_for(sim, [more()], most=10, batch=4)
    assert (found.count, found.enough, found.why) == (10, True, "")


def test_a_bound_pod_with_an_owner_and_a_uid_is_copied_as_a_new_one() -> None:
    bound = more()
    bound["metadata"] |= {"uid": "u", "resourceVersion": "7", "ownerReferences": [{"kind": "ReplicaSet"}]}
    bound["spec"]["nodeName"] = "elsewhere"
    bound["status"] = {"phase": "Running"}
    assert room_for(standing(node("n", "3")), [bound]).count == 3


def test_a_pod_that_the_api_server_refuses_is_refused_in_its_words() -> None:
    with pytest.raises(Refused, match="Invalid"):
        room_for(standing(node("n")), [more("-1")])


def test_a_set_counts_when_all_of_it_fits() -> None:
    sim = standing(node("a", "4"), node("b", "3"))
    found = room_for(sim, [more("2"), more("1")])
    assert (found.count, dict(found.nodes)) == (2, {"a": 2, "b": 2})
    assert found.why.startswith("0/2 nodes are available: 2 Insufficient cpu.")


def test_the_pods_of_a_workload_have_claims_of_their_own() -> None:
    claim = {
        "metadata": {"name": "data"},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": "late",
            "resources": {"requests": {"storage": "1Gi"}},
        },
    }
    kind = {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": "late"},
        "provisioner": "example.com/disk",
        "volumeBindingMode": "WaitForFirstConsumer",
    }
    database = {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": {"name": "db"},
        "spec": {"replicas": 2, "template": {"spec": more()["spec"]}, "volumeClaimTemplates": [claim]},
    }
    pods = pods_of(database)
    assert len(pods) == 2
    assert room_for(standing(kind, node("n", "5")), pods).count == 2
    pods = pods_of(
        {
            **database,
            "spec": {
                **database["spec"],
                "volumeClaimTemplates": [{**claim, "spec": {**claim["spec"], "storageClassName": "none"}}],
            },
        }
    )
    assert room_for(standing(kind, node("n", "5")), pods).why.startswith("0/1 nodes are available")
