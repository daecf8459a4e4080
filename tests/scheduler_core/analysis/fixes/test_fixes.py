"""Fixes: what is proposed for each refusal, and that everything reported is true on a fork."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
import yaml

from scheduler_core.analysis.fixes import Budget, Fix, find_fixes, search_fixes
from scheduler_core.analysis.fixes.fix import DISTURBANCES, Findings
from scheduler_core.world.commands import ApplyObjects, SetSettings, command_from_json
from scheduler_core.world.simulation import Simulation
from tests.scheduler_core.worlds import node, nodes_of, pod, settle, world

ZONE = "topology.kubernetes.io/zone"
GPU_TAINT = {"key": "gpu", "value": "yes", "effect": "NoSchedule"}


def tainted(name: str, *taints: dict[str, str], **rest: Any) -> dict[str, Any]:
    return {**node(name, **rest), "spec": {"taints": list(taints or (GPU_TAINT,))}}


def cordoned(name: str, **rest: Any) -> dict[str, Any]:
    return {**node(name, **rest), "spec": {"unschedulable": True}}


def labelled(manifest: dict[str, Any], **labels: str) -> dict[str, Any]:
    return {**manifest, "metadata": {**manifest["metadata"], "labels": labels}}


def spread(key: str = ZONE, skew: int = 1) -> list[dict[str, Any]]:
    selector = {"matchLabels": {"app": "web"}}
    return [{"maxSkew": skew, "topologyKey": key, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": selector}]


def pod_terms(side: str) -> dict[str, Any]:
    term = {"labelSelector": {"matchLabels": {"app": "web"}}, "topologyKey": "kubernetes.io/hostname"}
    return {side: {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}


def stuck(*objects: dict[str, Any], key: str = "default/p") -> Simulation:
    """A world in which the pod fits nowhere."""
    sim = world(*objects)
    settle(sim)
    assert nodes_of(sim)[key] == ""
    return sim


def kinds(fixes: list[Fix]) -> list[tuple[str, ...]]:
    return [tuple(change.kind for change in fix.changes) for fix in fixes]


def findings(sim: Simulation, key: str = "default/p", budget: Budget | None = None) -> Findings:
    turns = search_fixes(sim, key, budget or Budget())
    while True:
        try:
            next(turns)
        except StopIteration as end:
            found: Findings = end.value
            return found


def assert_proven(sim: Simulation, fix: Fix, key: str = "default/p") -> None:
    """Applying the commands, as the log would hold them, leads to the node in so many transitions."""
    twin = sim.fork()
    for command, pause in zip(fix.commands, fix.pauses, strict=True):
        twin.apply(command_from_json(msgspec.to_builtins(command)))
        for _ in range(pause):
            twin.advance()
    for _ in range(fix.steps):
        twin.advance()
    attempt = twin.journal.attempts[twin.journal.last_attempt[key]]
    assert (attempt.outcome, attempt.node) == ("scheduled", fix.node)


CASES: dict[str, tuple[tuple[dict[str, Any], ...], set[str]]] = {
    "a taint": ((tainted("a"), pod("p")), {"toleration", "taint", "node"}),
    "a cordoned node": ((cordoned("a"), pod("p")), {"uncordon", "node"}),
    "a node selector": ((node("a"), pod("p", nodeSelector={"disk": "ssd"})), {"label", "selector", "node"}),
    "no room": (
        (node("a", cpu="2"), pod("q"), pod("p", cpu="1500m")),
        {"request", "free", "node", "priority", "resize"},
    ),
    "a pod larger than every node": ((node("a", cpu="2"), pod("p", cpu="3")), {"request", "node"}),
    "a gate": ((node("a"), pod("p", schedulingGates=[{"name": "wait"}])), {"gates"}),
    "a scheduler that nobody is": ((node("a"), pod("p", schedulerName="nobody")), {"scheduler", "profile"}),
    "a spread": (
        (
            node("a", labels={ZONE: "a"}),
            cordoned("b", labels={ZONE: "b"}),
            labelled(pod("q"), app="web"),
            labelled(pod("p", topologySpreadConstraints=spread()), app="web"),
        ),
        {"skew", "soften", "uncordon", "node", "priority", "policy"},
    ),
    "an affinity to nobody": ((node("a"), pod("p", affinity=pod_terms("podAffinity"))), {"soften"}),
    "an anti-affinity": (
        (node("a"), labelled(pod("a-first"), app="web"), pod("p", affinity=pod_terms("podAntiAffinity"))),
        {"soften", "node", "priority", "free"},
    ),
    "a pod that keeps others away": (
        (node("a"), pod("a-first", affinity=pod_terms("podAntiAffinity")), labelled(pod("p"), app="web")),
        {"free", "node", "priority"},
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_each_refusal_has_its_own_small_fixes_and_each_is_proven(case: str) -> None:
    objects, expected = CASES[case]
    sim = stuck(*objects)
    fixes = find_fixes(sim, "default/p")
    if sim.settings.cluster is None:
        expected = expected - {"policy"}  # nobody taints a cordoned node there
    assert {kind for change in kinds(fixes) for kind in change} == expected
    for fix in fixes:
        assert_proven(sim, fix)


def test_the_world_that_is_searched_stays_as_it_is() -> None:
    sim, same = stuck(tainted("a"), pod("p")), stuck(tainted("a"), pod("p"))
    find_fixes(sim, "default/p")
    assert sim.position == same.position
    assert [r.to_json() for r in sim.advance()] == [r.to_json() for r in same.advance()]


def test_the_same_world_and_budget_find_the_same_fixes() -> None:
    first, second = (
        [fix.to_json() for fix in find_fixes(stuck(tainted("a"), cordoned("b"), pod("p")), "default/p")]
        for _ in range(2)
    )
    assert first == second


def test_what_needs_two_changes_gets_two_and_what_needs_one_never_two() -> None:
    both = stuck(tainted("a"), pod("p", nodeSelector={"disk": "ssd"}))
    found = kinds(find_fixes(both, "default/p"))
    assert {len(changes) for changes in found if changes != ("node",)} == {2}
    one = stuck(tainted("a"), node("b"), pod("p", nodeSelector={"disk": "ssd"}))
    assert {len(changes) for changes in kinds(find_fixes(one, "default/p"))} == {1}


def test_every_taint_of_a_node_is_tolerated_at_once() -> None:
    other = {"key": "dedicated", "effect": "NoExecute"}
    fixes = find_fixes(stuck(tainted("a", GPU_TAINT, other), pod("p")), "default/p")
    assert kinds(fixes)[0] == ("toleration", "toleration")


def test_a_lowered_request_asks_for_exactly_what_is_free() -> None:
    sim = stuck(node("a", cpu="2"), pod("q"), pod("p", cpu="1500m"))
    change = next(fix.changes[0] for fix in find_fixes(sim, "default/p") if fix.changes[0].kind == "request")
    assert (change.values["from"], change.values["to"]) == ("1500m", "1")


def test_the_pod_whose_end_frees_least_is_the_one_to_go() -> None:
    sim = stuck(node("a", cpu="4"), pod("one"), pod("three", cpu="3"), pod("p", cpu="1"))
    change = next(fix.changes[0] for fix in find_fixes(sim, "default/p") if fix.changes[0].kind == "free")
    assert (change.values["pods"], change.values["amounts"]) == (["default/one"], ["1 cpu"])


def test_a_required_node_affinity_can_lose_one_expression_or_become_a_preference() -> None:
    expressions = [{"key": "disk", "operator": "In", "values": ["ssd"]}, {"key": "rack", "operator": "Exists"}]
    required = {"nodeSelectorTerms": [{"matchExpressions": expressions}]}
    rule = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}
    sim = stuck(node("a", labels={"rack": "1"}), pod("p", affinity=rule))
    assert set(kinds(find_fixes(sim, "default/p"))) == {("label",), ("selector",), ("soften",), ("node",)}


def test_a_pod_that_fits_as_it_is_needs_no_fix() -> None:
    sim = world(node("a"), pod("p"))
    assert findings(sim).state == "fits"
    assert find_fixes(sim, "default/p") == []


def test_a_bound_pod_and_a_pod_that_is_gone_are_told_apart() -> None:
    sim = world(node("a"), pod("p"))
    settle(sim)
    assert findings(sim).state == "bound"
    assert findings(sim, "default/nobody").state == "gone"


def test_room_that_another_pod_takes_first_is_no_fix() -> None:
    """Uncordoning frees one cpu, but a pod of higher priority waits for it, too."""
    klass = {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": "high"},
        "value": 1000,
        "preemptionPolicy": "Never",
    }
    sim = stuck(klass, cordoned("a", cpu="1"), pod("p"), pod("important", priorityClassName="high"))
    found = findings(sim)
    assert ("uncordon",) not in kinds(list(found.fixes))
    assert found.unproven >= 1


def test_a_budget_ends_the_search() -> None:
    sim = stuck(*(tainted(f"n{i}", {**GPU_TAINT, "key": f"k{i}"}) for i in range(9)), pod("p"))
    found = findings(sim, budget=Budget(candidates=3, big=0))
    assert found.tried == 3
    assert len(found.fixes) <= 3


def test_where_there_is_no_node_at_all_the_smallest_one_is_added() -> None:
    sim = world(pod("p", cpu="1500m", nodeSelector={"disk": "ssd"}))
    settle(sim)
    (fix,) = findings(sim).fixes
    (change,) = fix.changes
    assert change.values["amounts"] == {"cpu": "2", "memory": "1Gi", "pods": "110"}
    assert change.values["labels"] == {"disk": "ssd"}
    assert_proven(sim, fix)


def test_the_least_harm_comes_first() -> None:
    sim = stuck(tainted("a", cpu="2"), node("b", cpu="2"), pod("q"), pod("p", cpu="1500m"))
    fixes = find_fixes(sim, "default/p")
    harms = [DISTURBANCES.index(fix.disturbance) for fix in fixes]
    assert harms == sorted(harms)
    assert {"free", "priority"} == {fix.kind for fix in fixes if fix.disturbance == "displaces"}
    assert [fix.kind for fix in fixes][:3] == ["node", "request", "toleration"]  # b takes the pod without one


def test_what_a_fix_does_to_other_pods_is_compared_with_the_world_without_it() -> None:
    sim = stuck(node("a", cpu="2"), pod("q"), pod("p", cpu="1500m"))
    effects = {fix.kind: [e.kind for e in fix.effects] for fix in find_fixes(sim, "default/p")}
    assert effects == {"node": [], "request": [], "resize": [], "free": ["evicted"], "priority": ["evicted"]}


def test_a_pod_that_loses_its_turn_to_the_fix_is_told() -> None:
    """Both wait for the node to be free; who is more important gets it first."""
    sim = stuck(node("a", cpu="2"), pod("q"), pod("p", cpu="1500m"))
    sim.apply(ApplyObjects((pod("late", cpu="1"),)))
    raised = next(fix for fix in find_fixes(sim, "default/p") if fix.kind == "priority")
    assert [(e.kind, e.pod) for e in raised.effects] == [("evicted", "default/q"), ("pending", "default/late")]


def test_a_pod_on_a_node_that_does_not_exist_is_given_to_the_scheduler() -> None:
    sim = world(node("a"), pod("p", nodeName="gone"))
    if sim.settings.cluster is None:
        return  # who deletes a bound pod there waits for a kubelet
    fixes = find_fixes(sim, "default/p")
    assert kinds(fixes)[0] == ("node-name",)
    assert_proven(sim, fixes[0])


def test_a_fix_says_what_to_type() -> None:
    sim = stuck(tainted("a"), pod("p"))
    typed = {fix.kind: fix.kubectl for fix in find_fixes(sim, "default/p")}
    assert typed["taint"] == "kubectl taint node a gpu=yes:NoSchedule-"
    assert typed["toleration"].startswith("kubectl patch pod p -n default --type=merge -p '{")


def large(count: int = 1523) -> Simulation:
    """A large cluster of tainted, cordoned, small and full nodes, in which one pod of many fits nowhere."""
    nodes = []
    for i in range(count):
        name = f"node-{i:04}"
        made = (tainted(name, cpu="64"), cordoned(name, cpu="64"), node(name, cpu="1"), node(name, cpu="2"))
        nodes.append(made[i % 4])
    sim = world(*nodes, pod("p", cpu="32"), *(pod(f"w-{i}", cpu="500m") for i in range(300)))
    return sim


def test_a_cluster_of_1523_nodes_is_searched_within_its_budget() -> None:
    sim = large()
    settle(sim, 50_000)
    found = findings(sim)
    assert {("toleration",), ("uncordon",)} <= set(kinds(list(found.fixes)))
    assert found.tried <= Budget().candidates
    for fix in found.fixes:
        assert_proven(sim, fix)


def test_pods_that_wait_before_it_are_held_back_and_counted() -> None:
    sim = large(40)
    sim.run(until=lambda w: "default/p" in w.journal.last_attempt)
    fixes = find_fixes(sim, "default/p")
    assert ("toleration",) in kinds(fixes)
    assert all(fix.held_back > 200 for fix in fixes)


@pytest.mark.parametrize(("on", "proposed"), [(True, False), (False, True)])
def test_a_containers_request_is_lowered_where_pod_level_requests_are_not_read(on: bool, proposed: bool) -> None:
    sim = world(node("a", cpu="2"))
    sim.apply(SetSettings({"pod_level_resources": on}))
    sim.apply(ApplyObjects((pod("p", cpu="3", resources={"requests": {"cpu": "3"}}),)))
    settle(sim)
    assert (("request",) in kinds(find_fixes(sim, "default/p"))) is proposed


def test_a_pod_is_printed_as_people_write_it() -> None:
    """Defaulting and admission write their fields again."""
    own = {"key": "gpu", "operator": "Exists"}
    sim = stuck(node("a", cpu="1"), pod("p", cpu="4", tolerations=[own], terminationGracePeriodSeconds=5))
    printed = next(fix.kubectl for fix in find_fixes(sim, "default/p") if fix.kubectl.startswith("kubectl replace"))
    spec = yaml.safe_load(printed.partition("\n")[2].rpartition("EOF")[0])["spec"]
    assert spec["tolerations"] == [own]
    assert spec["terminationGracePeriodSeconds"] == 5
    assert not spec.keys() & {"priority", "preemptionPolicy", "restartPolicy", "dnsPolicy", "schedulerName"}
