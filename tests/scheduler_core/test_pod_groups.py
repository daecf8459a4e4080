"""Pod groups in a world: their cycle, copies and checkpoints in the middle of it, and the gate."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_core.analysis.explain import explain
from scheduler_core.analysis.explain.explanation import State
from scheduler_core.scheduler.config.gates import GateError, resolve
from scheduler_core.scheduler.core.cycles.group_cycle import Stage
from scheduler_core.world.checkpoint import Archive, decode, encode
from scheduler_core.world.commands import ApplyObjects, PatchObject, Ref, Refused, SetSettings
from scheduler_core.world.simulation import Simulation
from tests.scheduler_core.worlds import node, pod


def group(name: str, needed: int, **spec: Any) -> dict[str, Any]:
    policy = {"schedulingPolicy": {"gang": {"minCount": needed}}}
    metadata = {"name": name, "namespace": "default"}
    return {"apiVersion": "scheduling.k8s.io/v1beta1", "kind": "PodGroup", "metadata": metadata, "spec": policy | spec}


def member(name: str, of: str, cpu: str = "2", **spec: Any) -> dict[str, Any]:
    return pod(name, cpu=cpu, schedulingGroup={"podGroupName": of}, **spec)


def world(*objects: dict[str, Any], **settings: Any) -> Simulation:
    sim = Simulation()
    sim.apply(SetSettings({"release": "1.37.2"}))
    sim.apply(SetSettings({"generic_workload": True, **settings}))
    sim.apply(ApplyObjects(objects))
    return sim


def placed(sim: Simulation) -> dict[str, str]:
    return {each.name: each.node_name for each in sim.store.pods() if each.node_name}


def run(sim: Simulation, seconds: int = 5) -> Simulation:
    while sim.due(seconds * 10**9):
        sim.advance()
    return sim


TWO = (node("a", cpu="4"), node("b", cpu="4"))
GANG = (*TWO, group("g", 3), *(member(f"p{i}", "g") for i in range(3)))


def test_a_gang_is_bound_at_once_or_not_at_all() -> None:
    assert set(placed(run(world(*GANG)))) == {"p0", "p1", "p2"}
    small = run(world(node("a", cpu="4"), *GANG[2:]))
    assert placed(small) == {}
    condition = small.store.list("PodGroup")[0]["status"]["conditions"][0]
    assert condition["reason"] == "Unschedulable"
    assert condition["message"].startswith("minCount (3) cannot be satisfied: 2 scheduled, 0 remaining")


def test_a_copy_and_a_checkpoint_in_the_middle_of_a_cycle_go_on_alike() -> None:
    sim = world(*GANG, topology_aware_scheduling=True)
    for _ in range(400):
        middle = sim.schedulers[0].group
        if middle is not None and middle.stage is Stage.TRYING and len(middle.trial.cycles) == 2:
            break
        sim.advance()
    archive = Archive()
    twins = (sim.copy(), decode(encode(sim, archive), archive))
    run(sim)
    for twin in twins:
        assert placed(run(twin)) == placed(sim)
        assert twin.position == sim.position


def test_a_rack_is_chosen_for_a_group_with_a_topology_constraint() -> None:
    racks = [node(f"{rack}{i}", cpu="4", labels={"rack": rack}) for rack in "xy" for i in range(2)]
    busy = pod("busy", cpu="3", nodeName="x0")
    constraint = {"topology": [{"key": "rack"}]}
    gang = group("g", 3, schedulingConstraints=constraint)
    members = [member(f"p{i}", "g") for i in range(3)]
    sim = run(world(*racks, busy, gang, *members, topology_aware_scheduling=True))
    assert {name for name in placed(sim).values() if name != "x0"} <= {"y0", "y1"}
    assert len(placed(sim)) == 4


def test_a_group_evicts_a_group_that_is_disrupted_as_a_whole() -> None:
    victims = group("low", 2, disruptionMode={"all": {}})
    running = [member(f"v{i}", "low", "3", nodeName=where) for i, where in enumerate("ab")]
    high = [member(f"p{i}", "high", "3", priority=5) for i in range(1)]
    sim = run(world(*TWO, victims, *running, group("high", 1, priority=5), *high), 60)
    assert set(placed(sim)) == {"p0"}


def test_a_group_that_loses_its_last_gate_while_it_backs_off_is_in_no_second_queue() -> None:
    sim = world(node("a", cpu="1"), group("g", 1), member("p0", "g"))
    sim.run(until=lambda w: len(w.schedulers[0].queue.error_backoff_pods) == 1)
    sim.apply(SetSettings({"manual": True}))
    queue = sim.schedulers[0].queue
    queues = ("active_pods", "error_backoff_pods", "gated_pods", "unschedulable_pods")
    held: list[list[str]] = []
    gated = ApplyObjects((member("p1", "g", schedulingGates=[{"name": "example.com/wait"}]),))
    for command in (gated, PatchObject(Ref("Pod", "default", "p1"), {"spec": {"schedulingGates": []}})):
        sim.apply(command)
        while sim.due(sim.now):
            sim.advance()
        held.append([name for name in queues if getattr(queue, name)])
    assert held == [["gated_pods"], ["error_backoff_pods"]]
    assert queue.metrics.waiting["gated"] == 0


def test_without_the_gate_no_pod_group_is_served_and_the_field_changes_nothing() -> None:
    with pytest.raises(Refused, match="GenericWorkload"):
        world(group("g", 3), generic_workload=False)
    assert set(placed(run(world(*TWO, member("p0", "g"), generic_workload=False)))) == {"p0"}


@pytest.mark.parametrize("gate", ["GenericWorkload", "TopologyAwareWorkloadScheduling"])
def test_the_alpha_form_of_pod_groups_is_refused(gate: str) -> None:
    with pytest.raises(GateError, match=r"alpha form of pod groups in 1\.36\.3 is not modeled"):
        resolve({gate: True}, "1.36.3")


@pytest.mark.parametrize(
    ("spec", "problem"),
    [
        ({"schedulingPolicy": {}}, "must specify one of: `basic`, `gang`"),
        ({"schedulingPolicy": {"gang": {"minCount": 0}}}, "spec.schedulingPolicy.gang.minCount"),
        ({"disruptionMode": {"single": {}, "all": {}}}, "must specify exactly one of: `single`, `all`"),
    ],
)
def test_a_pod_group_is_validated(spec: dict[str, Any], problem: str) -> None:
    with pytest.raises(Refused, match=problem):
        world(group("g", 3, **spec))


def test_explain_says_why_a_gang_is_stuck() -> None:
    sim = run(world(node("a", cpu="4"), *GANG[2:], member("lone", "none")))
    found = explain(sim, "default/p0")
    facts = {fact.code: fact.values for fact in found.facts}
    assert found.state is State.BACKOFF
    assert facts["GroupBelowQuorum"] == {"group": "g", "needed": 3, "members": 3, "scheduled": 0}
    assert facts["GroupCycleFailed"]["message"].startswith("minCount (3) cannot be satisfied")
    lone = explain(sim, "default/lone")
    assert (lone.state, [each.code for each in lone.reasons]) == (State.GATED, ["GangScheduling/GroupMissing"])


def _term(app: str) -> dict[str, Any]:
    return {"labelSelector": {"matchLabels": {"app": app}}, "topologyKey": "zone"}


def _labeled(app: str, manifest: dict[str, Any]) -> dict[str, Any]:
    return {**manifest, "metadata": {**manifest["metadata"], "labels": {"app": app}}}


def _apart(app: str) -> dict[str, Any]:
    return {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [_term(app)]}}


def test_plugins_count_pods_beyond_the_placement_that_is_tried() -> None:
    zones = {"schedulingConstraints": {"topology": [{"key": "zone"}]}}
    spread = {**_term("x"), "maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule"}
    sim = world(
        node("a", cpu="4", labels={"zone": "one"}),
        node("b", cpu="4", labels={"zone": "two"}),
        _labeled("x", pod("there", nodeName="a")),
        group("g", 1, **zones),
        member("first", "g", nodeName="a"),
        _labeled("x", member("next", "g", topologySpreadConstraints=[spread])),
        topology_aware_scheduling=True,
    )
    assert "next" not in placed(run(sim))


@pytest.mark.parametrize("narrow", [False, True])
def test_a_victim_that_is_put_back_counts_in_its_whole_domain(narrow: bool) -> None:
    zones = {"schedulingConstraints": {"topology": [{"key": "zone"}]}} if narrow else {}
    classes = [
        {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": name}, "value": value}
        for name, value in (("middle", 5), ("high", 10))
    ]
    sim = world(
        *classes,
        node("elsewhere", cpu="1", labels={"zone": "one"}),
        node("a", cpu="4", labels={"zone": "two"}),
        node("b", cpu="1", labels={"zone": "two"}),
        pod("large", cpu="4", nodeName="a"),
        _labeled("v", pod("small", cpu="100m", nodeName="b", priorityClassName="middle")),
        group("g", 1, priorityClassName="high", **zones),
        member("m", "g", cpu="3", priorityClassName="high", affinity=_apart("v")),
        topology_aware_scheduling=narrow,
    )
    run(sim, 1)
    assert [each.name for each in sim.store.pods()] == ["m"]
