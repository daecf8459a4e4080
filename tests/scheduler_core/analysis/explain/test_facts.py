"""The facts beside the reasons: sources of numbers, holders of what is short, and rules that did not keep a pod away."""

from __future__ import annotations

import json
from typing import Any

import pytest

from scheduler_core.analysis.explain import (
    Explanation,
    Role,
    State,
    explain,
    explain_uncreated,
    list_problems,
    record_events,
)
from scheduler_core.world.commands import (
    ApplyObjects,
    DeleteObjects,
    DrainNode,
    PatchObject,
    Ref,
    SetKubelet,
    SetPrograms,
    SetSettings,
)
from scheduler_core.world.simulation import Simulation, take_in
from tests.scheduler_core.clusters import cluster, make, wait
from tests.scheduler_core.worlds import node, pod, scheduler_alone, settle, world

ZONE, HOST = "topology.kubernetes.io/zone", "kubernetes.io/hostname"
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def asked(sim: Simulation, key: str) -> Explanation:
    found = explain(sim, key if "/" in key else f"default/{key}")
    assert found is not None
    json.dumps(found.to_json())
    return found


def values(found: Explanation, code: str) -> dict[str, Any]:
    return next((dict(fact.values) for fact in found.facts if fact.code == code), {})


def codes(found: Explanation, role: Role | None = None) -> list[str]:
    return [fact.code for fact in found.facts if role in (None, fact.role)]


def labeled(manifest: dict[str, Any], **labels: str) -> dict[str, Any]:
    return {**manifest, "metadata": {**manifest["metadata"], "labels": labels}}


def anti(**labels: str) -> dict[str, Any]:
    term = {"labelSelector": {"matchLabels": labels}, "topologyKey": HOST}
    return {"podAntiAffinity": {REQUIRED: [term]}}


# Sources


def test_a_request_names_the_containers_that_it_is_made_of() -> None:
    asks = pod("p", cpu="100m")
    asks["spec"]["initContainers"] = [
        {"name": "proxy", "image": "i", "restartPolicy": "Always", "resources": {"requests": {"cpu": "1500m"}}},
        {"name": "migrate", "image": "i", "resources": {"requests": {"cpu": "700m"}}},
    ]
    sim = world(node("a", cpu="2"), asks)
    settle(sim)
    told = values(asked(sim, "p"), "Containers")
    assert (told["amount"], [(each["kind"], each["name"], each["amount"]) for each in told["parts"]]) == (
        2200,
        [("sidecar", "proxy", 1500), ("init", "migrate", 700)],
    )


def test_the_maximum_of_a_limit_range_is_named_as_the_source_of_a_request() -> None:
    limits = [{"type": "Container", "max": {"cpu": "4"}}]
    bare = pod("p")
    del bare["spec"]["containers"][0]["resources"]
    sim = world(node("a", cpu="2"), make("LimitRange", "ceiling", spec={"limits": limits}))
    sim.apply(ApplyObjects((bare,)))
    settle(sim)
    told = values(asked(sim, "p"), "LimitRange")
    assert (told["limitRange"], told["field"], told["container"]) == ("ceiling", "max", "c")


def test_a_limit_without_a_request_is_named_by_what_was_sent() -> None:
    limit = pod("p")
    limit["spec"]["containers"][0]["resources"] = {"limits": {"cpu": "4"}}
    sim = world(node("a", cpu="2"), limit, pod("q", cpu="4"))
    settle(sim)
    assert values(asked(sim, "p"), "RequestFromLimit")["amount"] == 4000
    assert "RequestFromLimit" not in codes(asked(sim, "q"))


def test_an_overhead_names_its_runtime_class() -> None:
    runtime = {
        "apiVersion": "node.k8s.io/v1",
        "kind": "RuntimeClass",
        "metadata": {"name": "kata"},
        "handler": "kata",
        "overhead": {"podFixed": {"cpu": "500m"}},
    }
    sim = world(node("a", cpu="2"), runtime)
    sim.apply(ApplyObjects((pod("p", cpu="1800m", runtimeClassName="kata"),)))
    settle(sim)
    found = asked(sim, "p")
    assert values(found, "Overhead")["runtimeClass"] == "kata"
    assert [each["kind"] for each in values(found, "Containers")["parts"]] == ["container", "overhead"]


# Holders


def test_a_shortage_names_its_holders_and_their_end() -> None:
    sim = cluster(node("a", cpu="4"))
    wait(sim, 1)
    stubborn = {"onTerm": "ignore"}
    sim.apply(SetPrograms(({**stubborn},)))
    sim.apply(ApplyObjects((pod("old", cpu="3", terminationGracePeriodSeconds=7200),)))
    wait(sim, 10)
    sim.apply(DeleteObjects((Ref("Pod", "default", "old"),)))
    sim.apply(ApplyObjects((pod("p", cpu="2"),)))
    wait(sim, 20)
    found = asked(sim, "p")
    held = values(found, "HoldsCapacity")
    assert (held["pod"], held["node"], held["amount"], held["terminating"]) == ("default/old", "a", 3000, True)
    assert held["until"] == pytest.approx(7210 * 10**9, rel=0.01)
    assert values(found, "WokenByEndOf")["holders"] == ["default/old"]


def test_the_anti_affinity_of_another_pod_names_this_pod_and_that_its_end_wakes_nobody() -> None:
    first = labeled(pod("first", affinity=anti(app="second")), app="first")
    sim = world(node("a"), first)
    settle(sim)
    sim.apply(ApplyObjects((labeled(pod("second"), app="second"),)))
    wait(sim, 30)
    found = asked(sim, "second")
    assert (values(found, "Repels")["pod"], values(found, "NotWokenByEndOf")["holder"]) == (
        "default/first",
        "default/first",
    )


def test_a_deferred_resize_of_another_pod_is_named() -> None:
    grown = pod("grown", cpu="5", nodeName="a")
    grown["status"] = {
        "phase": "Running",
        "conditions": [{"type": "PodResizePending", "status": "True", "reason": "Deferred"}],
        "containerStatuses": [
            {"name": "c", "resources": {"requests": {"cpu": "2"}}, "allocatedResources": {"cpu": "2"}}
        ],
    }
    sim = scheduler_alone(node("a", cpu="6"), grown, pod("p", cpu="2"))
    told = values(asked(sim, "p"), "Resize")
    assert (told["pod"], told["to"], told["allocated"], told["reason"]) == ("default/grown", 5000, 2000, "Deferred")


def test_pending_pods_that_use_a_quota_up_come_first_among_its_holders() -> None:
    quota = make("ResourceQuota", "two", spec={"hard": {"pods": "2"}})
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    spec = {"replicas": 1, "selector": {"matchLabels": {"a": "b"}}, "template": template}
    sim = scheduler_alone(
        quota, node("a"), pod("runs", nodeName="a"), pod("waits", cpu="99"), make("Deployment", "web", spec=spec)
    )
    [found] = explain_uncreated(sim)
    assert (found.pod, found.state) == ("default/web-*", State.QUOTA_EXCEEDED)
    assert [fact.values["pod"] for fact in found.list_facts(Role.HOLDERS)] == ["default/waits", "default/runs"]
    assert codes(found, Role.HOLDERS)[0] == "HoldsQuotaWithoutNode"


# Preemption, and what came nearest


def test_a_pod_that_needs_its_victims_says_so() -> None:
    high = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high"}, "value": 9}
    term = {"labelSelector": {"matchLabels": {"app": "cache"}}, "topologyKey": HOST}
    asks = pod("p", cpu="3", priorityClassName="high", affinity={"podAffinity": {REQUIRED: [term]}})
    sim = world(node("a"), high, labeled(pod("cache", nodeName="a", cpu="1"), app="cache"), pod("b", nodeName="a"))
    sim.apply(ApplyObjects((asks,)))
    settle(sim)
    assert values(asked(sim, "p"), "NeedsItsVictims")["pods"] == ["default/cache"]


def test_the_nodes_that_fewest_plugins_refuse_come_first() -> None:
    taints = {"taints": [{"key": "k", "effect": "NoSchedule"}]}
    both = {**node("both", cpu="1"), "spec": taints}
    sim = world(
        both, labeled(pod("x", nodeName="free"), app="x"), node("free"), pod("p", cpu="2", affinity=anti(app="x"))
    )
    found = asked(sim, "p")
    assert [each.code for each in found.reasons] == ["InterPodAffinity/MatchingPod", "TaintToleration/UntoleratedTaint"]


# Placed pods


def test_a_placed_pod_says_what_the_filters_left_and_which_plugin_decided() -> None:
    sim = scheduler_alone(node("a", cpu="4"), node("b", cpu="8"), node("t", cpu="1"), pod("p", cpu="2"))
    settle(sim)
    found = asked(sim, "p")
    assert (found.state, found.node) == (State.SCHEDULED, "b")
    left, best = values(found, "FiltersLeft"), values(found, "HighestScore")
    assert (left["count"], left["total"], best["other"]) == (2, 3, "a")
    assert best["score"] - best["otherScore"] == sum(each["points"] - each["otherPoints"] for each in best["scores"])
    assert [each.code for each in found.reasons] == ["NodeResourcesFit/InsufficientCpu"]


def test_a_node_name_that_passes_a_taint_is_said_to_bypass_the_scheduler() -> None:
    tainted = {**node("cp"), "spec": {"taints": [{"key": "k", "effect": "NoSchedule"}]}}
    sim = cluster(tainted)
    sim.apply(ApplyObjects((pod("p", nodeName="cp"),)))
    wait(sim, 10)
    found = asked(sim, "p")
    assert found.state is State.SCHEDULED
    assert values(found, "RuleNotAsked")["plugin"] == "TaintToleration"
    assert codes(found)[0] == "BypassedScheduler"


def test_a_rule_that_came_after_the_pod_is_not_called_bypassed() -> None:
    sim = cluster(node("a"))
    sim.apply(ApplyObjects((pod("p"),)))
    wait(sim, 10)
    sim.apply(PatchObject(Ref("Node", "", "a"), {"spec": {"taints": [{"key": "k", "effect": "NoSchedule"}]}}))
    wait(sim, 20)
    found = asked(sim, "p")
    assert values(found, "RuleOfNewPods")["plugin"] == "TaintToleration"
    assert "BypassedScheduler" not in codes(found)


def test_an_anti_affinity_that_looks_into_one_namespace_names_what_it_does_not_see() -> None:
    sim = scheduler_alone(node("a"), make("Namespace", "other", namespace=""))
    there = labeled(pod("one", nodeName="a"), app="x")
    there["metadata"]["namespace"] = "other"
    sim.apply(ApplyObjects((there, labeled(pod("two", affinity=anti(app="x")), app="x"))))
    settle(sim)
    assert values(asked(sim, "two"), "TermLooksInNamespace")["pods"] == ["other/one"]


def test_a_spread_names_the_pods_that_a_policy_does_not_count() -> None:
    spread = {
        "maxSkew": 1,
        "topologyKey": ZONE,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "x"}},
    }
    only = {
        "nodeAffinity": {
            REQUIRED: {
                "nodeSelectorTerms": [{"matchExpressions": [{"key": "pool", "operator": "In", "values": ["new"]}]}]
            }
        }
    }
    old = labeled(pod("old", nodeName="b"), app="x")
    new = labeled(pod("new", affinity=only, topologySpreadConstraints=[spread]), app="x")
    sim = scheduler_alone(node("a", labels={ZONE: "z", "pool": "new"}), node("b", labels={ZONE: "z"}), old, new)
    settle(sim)
    told = values(asked(sim, "new"), "NotCounted")
    assert (told["pods"], told["nodes"], told["policies"]) == (["default/old"], ["b"], ["nodeAffinityPolicy"])


# Pods that do not run, terminate, or are gone


def test_a_claim_that_nobody_selects_a_node_for_is_explained() -> None:
    late = {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": "late"},
        "provisioner": "x.csi",
        "volumeBindingMode": "WaitForFirstConsumer",
    }
    spec = {"accessModes": ["ReadWriteOnce"], "storageClassName": "late", "resources": {"requests": {"storage": "1Gi"}}}
    uses = [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}]
    sim = cluster(late, node("a"), make("PersistentVolumeClaim", "data", spec=spec))
    sim.apply(ApplyObjects((pod("p", nodeName="a", volumes=uses),)))
    wait(sim, 30)
    found = asked(sim, "p")
    assert (found.state, found.problem) == (State.NOT_RUNNING, True)
    assert {"NobodySelectsNode", "BypassedScheduler"} <= set(codes(found))


def workload(kind: str, replicas: int, cpu: str = "1") -> dict[str, Any]:
    container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu}}}
    template = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [container]}}
    spec = {"replicas": replicas, "selector": {"matchLabels": {"app": "web"}}, "template": template}
    return {**make(kind, "web", spec=spec), "apiVersion": "apps/v1"}


def test_a_pod_on_a_dead_node_stays_and_its_stateful_set_waits_for_it() -> None:
    sim = cluster(node("a"), node("b"), workload("StatefulSet", 1))
    wait(sim, 10)
    placed = sim.store.pod_at("default/web-0")
    assert placed is not None
    sim.apply(SetKubelet(placed.node_name, False))
    wait(sim, 600)
    found = asked(sim, "web-0")
    assert (found.state, found.until, found.problem) == (State.TERMINATING, None, True)
    assert {"EndsNever", "SameNameWaits"} <= set(codes(found))
    whole = asked(sim, "StatefulSet/default/web")
    assert (whole.state, "SameNameWaits" in codes(whole)) == (State.STUCK, True)
    assert {each.pod for each in list_problems(sim)} == {"default/web-0", "StatefulSet/default/web"}


def test_most_nodes_of_a_zone_lost_says_why_nobody_is_evicted() -> None:
    sim = cluster(*(node(f"n{i}") for i in range(4)), workload("Deployment", 8))
    wait(sim, 10)
    for i in range(3):
        sim.apply(SetKubelet(f"n{i}", False))
    wait(sim, 600)
    lost = [each for each in list_problems(sim) if each.reasons and each.reasons[0].code == "Kubelet/NodeLost"]
    assert lost and all(values(each, "PartialDisruption")["lost"] == 3 for each in lost)


def test_a_stateful_set_in_order_names_the_pod_of_the_old_revision_that_it_waits_for() -> None:
    sim = cluster(node("a"), workload("StatefulSet", 3, cpu="64"))
    wait(sim, 10)
    mended = workload("StatefulSet", 3)["spec"]["template"]
    sim.apply(PatchObject(Ref("StatefulSet", "default", "web"), {"spec": {"template": mended}}))
    wait(sim, 60)
    assert {"TemplateIsNewer", "OldRevisionStays"} <= set(codes(asked(sim, "web-0")))
    born = asked(sim, "web-1")
    assert (born.state, values(born, "WaitsInOrder")["pod"]) == (State.NOT_CREATED, "default/web-0")
    assert asked(sim, "web-9").facts[0].code == "BeyondReplicas"


@pytest.mark.parametrize(
    ("budgets", "code"), [(("one",), "BudgetAllowsNone"), (("one", "two"), "SeveralBudgets")], ids=["one", "two"]
)
def test_a_drain_that_is_stuck_names_the_budgets(budgets: tuple[str, ...], code: str) -> None:
    made = [
        {
            "apiVersion": "policy/v1",
            "kind": "PodDisruptionBudget",
            "metadata": {"name": name, "namespace": "default"},
            "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "web"}}},
        }
        for name in budgets
    ]
    sim = cluster(node("a"), *made, workload("Deployment", 1))
    wait(sim, 20)
    sim.apply(DrainNode("a", ignore_daemon_sets=True))
    wait(sim, 40)
    found = next(each for each in list_problems(sim) if each.pod == "Node/a")
    assert (found.state, code in codes(found)) == (State.STUCK, True)


def test_a_budget_without_a_status_is_counted() -> None:
    spec = {"maxUnavailable": 0, "selector": {"matchLabels": {"app": "web"}}}
    budget = {**make("PodDisruptionBudget", "web", spec=spec), "apiVersion": "policy/v1"}
    placed = labeled(pod("p", nodeName="a"), app="web")
    running = {**placed, "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}}
    sim = scheduler_alone({**node("a"), "spec": {"unschedulable": True}}, budget, running)
    found = asked(sim, "Node/a")
    assert (found.state, codes(found)) == (State.STUCK, ["BudgetAllowsNone", "DrainWantsForce"])


def test_a_pod_with_another_image_than_its_daemon_set_updates_on_delete() -> None:
    daemons = {**workload("DaemonSet", 1), "apiVersion": "apps/v1"}
    daemons["spec"]["updateStrategy"] = {"type": "OnDelete"}
    daemons["spec"].pop("replicas", None)
    sim = cluster(node("a"), daemons)
    wait(sim, 10)
    image = {"spec": {"containers": [{"name": "c", "image": "app:v2"}]}}
    sim.apply(PatchObject(Ref("DaemonSet", "default", "web"), {"spec": {"template": image}}, type="strategic"))
    assert "UpdatedOnDelete" in codes(asked(sim, "DaemonSet/default/web"))


def test_a_level_of_pod_security_that_only_warns_is_named() -> None:
    labels = {"pod-security.kubernetes.io/warn": "restricted"}
    home = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "default", "labels": labels}}
    sim = cluster(node("a"), home, workload("Deployment", 1))
    assert values(asked(sim, "Deployment/default/web"), "SecurityWarns")["message"].startswith(
        'PodSecurity "restricted:latest"'
    )


def test_a_level_of_pod_security_on_the_pods_has_no_effect_and_one_that_is_enforced_does_not_only_warn() -> None:
    labels = {f"pod-security.kubernetes.io/{mode}": "restricted" for mode in ("enforce", "warn")}
    home = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "default", "labels": labels}}
    of_pods = {"app": "web", "pod-security.kubernetes.io/enforce": "privileged"}
    owner = workload("Deployment", 1)
    owner["spec"]["template"]["metadata"]["labels"] = of_pods
    sim = cluster(node("a"), home, owner)
    wait(sim, 10)
    found = asked(sim, "Deployment/default/web")
    assert values(found, "LabelIsOfNamespace")["label"] == "pod-security.kubernetes.io/enforce=privileged"
    assert "SecurityWarns" not in codes(found)


def test_nodes_that_report_no_disk_come_before_a_taint_of_another_node() -> None:
    asks = pod("p")
    asks["spec"]["containers"][0]["resources"]["requests"]["ephemeral-storage"] = "10Mi"
    tainted = {**node("cp"), "spec": {"taints": [{"key": "cp", "effect": "NoSchedule"}]}}
    sim = world(node("a"), tainted, asks)
    settle(sim)
    found = asked(sim, "p")
    assert [reason.plugin for reason in found.reasons] == ["NodeResourcesFit", "TaintToleration"]
    assert values(found, "DiskIsNotMeasured")["nodes"] == ["a"]


@pytest.mark.parametrize(("zones", "told"), [(("z1", "z1"), True), (("z1", "z2"), False)])
def test_an_anti_affinity_over_the_one_zone_of_all_nodes_says_so(zones: tuple[str, str], told: bool) -> None:
    avoids = {"podAntiAffinity": {REQUIRED: [{"labelSelector": {"matchLabels": {"app": "x"}}, "topologyKey": ZONE}]}}
    nodes = [node(name, labels={ZONE: zone}) for name, zone in zip("ab", zones, strict=True)]
    there = [labeled(pod(f"x-{name}", nodeName=name), app="x") for name in "ab"]
    sim = world(*nodes, *there, pod("p", affinity=avoids))
    settle(sim)
    assert ("AllInOneDomain" in codes(asked(sim, "p"))) == told


@pytest.mark.parametrize(("label", "found"), [("b", "b/x"), ("none", "")])
def test_the_avoided_pod_is_looked_for_in_the_namespaces_that_the_term_selects(label: str, found: str) -> None:
    term = {
        "labelSelector": {"matchLabels": {"app": "x"}},
        "namespaceSelector": {"matchLabels": {"team": label}},
        "topologyKey": ZONE,
    }
    spaces = [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": each, "labels": {"team": each}}} for each in "ab"
    ]
    there = [labeled(pod("x", nodeName="n"), app="x") for _ in spaces]
    for each, space in zip(there, spaces, strict=True):
        each["metadata"]["namespace"] = space["metadata"]["name"]
    nodes = [node(name, labels={ZONE: "z"}) for name in "nm"]
    sim = world(*spaces, *nodes, *there, pod("p", affinity={"podAntiAffinity": {REQUIRED: [term]}}))
    settle(sim)
    assert values(asked(sim, "p"), "AllInOneDomain").get("pod", "") == found


def test_the_node_of_a_volume_names_all_that_refuses_the_pod_there() -> None:
    term = {"matchExpressions": [{"key": HOST, "operator": "In", "values": ["a"]}]}
    modes = {"accessModes": ["ReadWriteOnce"], "storageClassName": ""}
    asked_for = {**modes, "resources": {"requests": {"storage": "1Gi"}}, "volumeName": "v"}
    bound = make("PersistentVolumeClaim", "data", spec=asked_for)
    bound["metadata"]["annotations"] = {"pv.kubernetes.io/bind-completed": "yes"}
    ref = {"namespace": "default", "name": "data"}
    local = {**modes, "capacity": {"storage": "1Gi"}, "claimRef": ref, "local": {"path": "/d"}}
    local["nodeAffinity"] = {"required": {"nodeSelectorTerms": [term]}}
    volume = {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "v"}, "spec": local}
    tainted = {**node("a"), "spec": {"taints": [{"key": "team", "effect": "NoSchedule"}]}}
    data = [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]
    asks = pod("p", volumes=data, nodeSelector={"role": "web"})
    sim = scheduler_alone(tainted, node("b", labels={"role": "web"}), volume, bound, asks)
    settle(sim)
    told = values(asked(sim, "p"), "TiedNodeRefuses")
    assert told["node"] == "a"
    assert told["messages"] == ["had untolerated taint {team: }", "didn't match Pod's node affinity/selector"]


def test_a_claim_of_an_older_template_names_the_class_of_the_new_one() -> None:
    asks = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    claims = [{"metadata": {"name": "data"}, "spec": {**asks, "storageClassName": "new"}}]
    owner = workload("StatefulSet", 1)
    owner["spec"] |= {"volumeClaimTemplates": claims, "serviceName": "web"}
    old = make("PersistentVolumeClaim", "data-web-0", spec={**asks, "storageClassName": "old"})
    sim = cluster(node("a"), old, owner)
    wait(sim, 10)
    told = values(asked(sim, "web-0"), "ClaimKeepsItsClass")
    assert (told["owner"], told["old"], told["storageClass"]) == ("web", "old", "new")


def test_a_pod_that_is_gone_is_told_of_by_its_last_events() -> None:
    sim = cluster(node("a"))
    sim.apply(ApplyObjects((pod("p"),)))
    wait(sim, 10)
    sim.apply(DeleteObjects((Ref("Pod", "default", "p"),)))
    wait(sim, 60)
    found = asked(sim, "p")
    assert (found.state, found.problem, "GoneSince" in codes(found)) == (State.GONE, False, True)
    assert explain(sim, "default/never") is None


# Imports


def test_an_import_stops_the_kubelets_of_lost_nodes_and_keeps_the_ends_of_its_pods() -> None:
    lost = node("lost")
    lost["status"]["conditions"] = [{"type": "Ready", "status": "Unknown"}]
    objects = []
    for name, where in (("held", "lost"), ("slow", "b")):
        each = pod(name, nodeName=where)
        each["metadata"] |= {
            "namespace": "default",
            "uid": f"u-{name}",
            "deletionTimestamp": "2026-01-02T00:00:00Z",
            "deletionGracePeriodSeconds": 86400,
        }
        each["status"] = {"phase": "Running"}
        objects.append(each)
    sim = cluster()
    sim.apply(ApplyObjects((lost, node("b"), *objects), stopped=("lost",)))
    wait(sim, 80_000)
    assert sim.store.pod_at("default/slow") is not None
    assert asked(sim, "held").until is None
    wait(sim, 86_500)
    assert sim.store.pod_at("default/slow") is None
    assert sim.store.pod_at("default/held") is not None


# Namespaces and claims


def claim(name: str, storage_class: str, **meta: Any) -> dict[str, Any]:
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    kind = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": name, "namespace": "default", **meta},
    }
    return {**kind, "spec": {**spec, "storageClassName": storage_class}}


def class_of(name: str, mode: str) -> dict[str, Any]:
    kind = {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": name}}
    return {**kind, "provisioner": "disk.example.com", "volumeBindingMode": mode}


@pytest.mark.parametrize(
    ("storage_class", "code"),
    [("late", "WaitsForFirstPod"), ("early", "WaitsForVolume"), ("absent", "ClassOfClaimIsMissing")],
)
def test_a_claim_without_a_volume_says_what_it_waits_for(storage_class: str, code: str) -> None:
    objects = (class_of("late", "WaitForFirstConsumer"), class_of("early", "Immediate"), claim("data", storage_class))
    sim = world(node("a"), *objects)
    found = asked(sim, "PersistentVolumeClaim/default/data")
    assert found.state is State.STUCK
    assert code in codes(found)


def test_a_claim_that_is_being_deleted_is_a_problem_and_names_who_holds_it() -> None:
    held = claim("data", "late", finalizers=["example.com/audit"])
    sim = world(node("a"), class_of("late", "WaitForFirstConsumer"), claim("other", "late"), held)
    sim.apply(DeleteObjects((Ref("PersistentVolumeClaim", "default", "data"),)))
    (found,) = [each for each in list_problems(sim) if each.pod.startswith("PersistentVolumeClaim/")]
    assert found.pod == "PersistentVolumeClaim/default/data"
    assert values(found, "KeepsFinalizers")["finalizers"] == ["example.com/audit"]
    assert "BeingDeleted" in codes(found)


def test_a_pod_that_is_bound_here_tells_that_its_own_cluster_refused_it() -> None:
    said = {
        "type": "PodScheduled",
        "status": "False",
        "reason": "Unschedulable",
        "message": "0/1 nodes are available: no.",
    }
    sim = world(node("a"), {**pod("p"), "status": {"phase": "Pending", "conditions": [said]}})
    for _ in range(100):
        if (found := asked(sim, "p")).state is State.BINDING:
            break
        sim.advance()
    assert values(found, "ClusterSaysOtherwise")["message"] == "0/1 nodes are available: no"
    assert found.problem


# What holds objects, nodes, and workloads


def ending(manifest: dict[str, Any], *finalizers: str) -> dict[str, Any]:
    gone = {"deletionTimestamp": "2025-12-31T23:00:00Z", "finalizers": [*finalizers]}
    return {**manifest, "metadata": {**manifest["metadata"], **gone}}


def report(sim: Simulation, reason: str, about: str, reporter: str, **more: Any) -> None:
    kind, _, name = about.partition("/")
    involved = {"kind": kind, "name": name, "namespace": "" if kind == "Node" else "default"}
    said = {"reason": reason, "message": reason, "involvedObject": involved, "source": {"component": reporter}, **more}
    record_events(sim, [{"metadata": {"name": "e"}, "lastTimestamp": "2025-12-31T23:30:00Z", "type": "Normal", **said}])


def test_a_volume_that_ends_names_its_claim_and_what_is_still_attached() -> None:
    spec = {
        "capacity": {"storage": "1Gi"},
        "accessModes": ["ReadWriteOnce"],
        "csi": {"driver": "d", "volumeHandle": "v"},
    }
    ref = {"claimRef": {"kind": "PersistentVolumeClaim", "namespace": "default", "name": "data", "uid": "1"}}
    volume = ending(
        make("PersistentVolume", "pv", spec=spec | ref), "kubernetes.io/pv-protection", "csi.example/attached"
    )
    asks = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}, "volumeName": "pv"}
    attached = {"attacher": "d", "nodeName": "a", "source": {"persistentVolumeName": "pv"}}
    attachment = {**make("VolumeAttachment", "va", spec=attached), "apiVersion": "storage.k8s.io/v1"}
    sim = scheduler_alone(node("a"), volume, make("PersistentVolumeClaim", "data", spec=asks), attachment)
    found = asked(sim, "PersistentVolume/pv")
    assert (found.state, values(found, "KeptByItsUnusedClaim")["claim"]) == (State.STUCK, "default/data")
    assert values(found, "StaysAttached")["node"] == "a"
    assert values(found, "KeepsFinalizers")["finalizers"] == ["csi.example/attached"]
    user = pod("db", volumes=[{"name": "d", "persistentVolumeClaim": {"claimName": "data"}}])
    used = scheduler_alone(node("a"), volume, make("PersistentVolumeClaim", "data", spec=asks), user)
    assert values(asked(used, "PersistentVolume/pv"), "KeptByItsClaim")["pods"] == ["default/db"]


def test_a_drain_of_a_cordoned_node_waits_for_a_pod_that_does_not_end() -> None:
    kept = ending(pod("p", nodeName="a"), "acme.io/audit")
    sim = scheduler_alone({**node("a"), "spec": {"unschedulable": True}}, kept)
    found = asked(sim, "Node/a")
    assert (found.state, values(found, "DrainWaitsFor")["pods"]) == (State.STUCK, ["default/p"])


def test_what_removed_a_pod_comes_before_how_its_kubelet_ended_it() -> None:
    sim = scheduler_alone(node("a"))
    report(sim, "ScaleDown", "Pod/p", "cluster-autoscaler", message="deleting pod for node scale down")
    report(sim, "Killing", "Pod/p", "kubelet")
    found = asked(sim, "p")
    assert [fact.values["reason"] for fact in found.facts if fact.code == "LastEvent"] == ["ScaleDown"]
    assert values(found, "Means")["meaning"] == "NodeWasScaledDown"


@pytest.mark.parametrize(("victim", "known"), [("SystemOOM", True), ("Rebooted", False)])
def test_a_killed_container_on_a_node_without_memory_left_is_explained_by_the_node(victim: str, known: bool) -> None:
    last = {"terminated": {"exitCode": 137, "reason": "Error"}}
    back = {"name": "c", "lastState": last, "state": {"waiting": {"reason": "CrashLoopBackOff"}}, "restartCount": 3}
    killed = {**pod("p", nodeName="a"), "status": {"phase": "Running", "containerStatuses": [back]}}
    sim = scheduler_alone(node("a"), killed)
    report(
        sim, victim, "Node/a", "kubelet", type="Warning", message="System OOM encountered, victim process: app, pid: 7"
    )
    assert (values(asked(sim, "p"), "Means")["meaning"] == "NodeRanOutOfMemory") is known


@pytest.mark.parametrize(("replicas", "told_of"), [(1, True), (4, False), (0, False)])
def test_an_autoscaler_and_somebody_else_set_the_replicas(replicas: int, told_of: bool) -> None:
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
    able = {"conditions": [{"type": "AbleToScale", "status": "True"}]}
    scaler = make("HorizontalPodAutoscaler", "web", spec={"scaleTargetRef": target, "minReplicas": 4, "maxReplicas": 9})
    made = {**workload("Deployment", replicas), "apiVersion": "apps/v1"}
    made["metadata"]["annotations"] = {"argocd.argoproj.io/tracking-id": "web"}
    sim = scheduler_alone(node("a"), made, {**scaler, "apiVersion": "autoscaling/v2", "status": able})
    assert values(asked(sim, "Deployment/default/web"), "ReplicasAreContested").get("by") == (
        "Argo CD" if told_of else None
    )


@pytest.mark.parametrize(("policy", "told_of"), [("OnFailure", True), ("Never", False)])
def test_a_failed_job_has_deleted_the_pod_that_still_ran(policy: str, told_of: bool) -> None:
    job = make(
        "Job",
        "etl",
        spec={"template": {"spec": {"restartPolicy": policy, "containers": [{"name": "c", "image": "i"}]}}},
    )
    failed = {"conditions": [{"type": "Failed", "status": "True", "reason": "BackoffLimitExceeded"}]}
    found = asked(scheduler_alone(node("a"), {**job, "apiVersion": "batch/v1", "status": failed}), "Job/default/etl")
    assert ("JobDeletesItsPods" in codes(found)) is told_of


@pytest.mark.parametrize(("taint", "workers", "told_of"), [(None, 1, True), ("NoSchedule", 1, False), (None, 0, False)])
def test_a_control_plane_node_without_a_taint_is_a_node_as_any_other(
    taint: str | None, workers: int, told_of: bool
) -> None:
    role = "node-role.kubernetes.io/control-plane"
    first = labeled(node("cp"), **{role: ""})
    first["spec"] = {"taints": [{"key": role, "effect": taint}]} if taint else {}
    sim = scheduler_alone(first, *(node(f"w{n}") for n in range(workers)), pod("p", nodeName="cp"))
    assert ("ControlPlaneIsOpen" in codes(asked(sim, "p"))) is told_of


@pytest.mark.parametrize(("since", "overdue"), [("2025-12-31T20:00:00Z", True), ("2025-12-31T23:59:50Z", False)])
def test_a_kubelet_that_came_back_a_moment_ago_still_has_time_to_end_a_pod(since: str, overdue: bool) -> None:
    ready = {"type": "Ready", "status": "True", "lastTransitionTime": since}
    first = {**node("a"), "status": {**node("a")["status"], "conditions": [ready]}}
    sim = scheduler_alone(first, ending(pod("p", nodeName="a")))
    assert ("EndsOverdue" in codes(asked(sim, "p"))) is overdue
    wait(sim, 60)
    assert (sim.store.pod_at("default/p") is not None) is overdue


def test_a_volume_that_its_driver_does_not_delete_is_a_problem() -> None:
    spec = {
        "capacity": {"storage": "1Gi"},
        "accessModes": ["ReadWriteOnce"],
        "csi": {"driver": "d", "volumeHandle": "v"},
    }
    volume = {**make("PersistentVolume", "pv", spec=spec), "status": {"phase": "Failed"}}
    assert [each.pod for each in list_problems(scheduler_alone(node("a"), volume))] == ["PersistentVolume/pv"]


def test_the_exit_code_of_an_evicted_pod_says_nothing_more() -> None:
    ended = {"name": "c", "state": {"terminated": {"exitCode": 137, "reason": "Error"}}}
    status = {"phase": "Failed", "reason": "Evicted", "message": "Usage of EmptyDir", "containerStatuses": [ended]}
    found = asked(scheduler_alone(node("a"), {**pod("p", nodeName="a"), "status": status}), "p")
    assert "Means" not in codes(found)


# Times


def test_a_cluster_that_was_brought_is_told_of_in_its_own_time() -> None:
    cron = {
        "apiVersion": "batch/v1",
        "kind": "CronJob",
        "metadata": {"name": "weekly", "namespace": "default", "creationTimestamp": "2025-11-20T08:00:00Z"},
        "spec": {
            "schedule": "0 12 * * 5",
            "jobTemplate": {"spec": {"template": {"spec": {**pod("p")["spec"], "restartPolicy": "Never"}}}},
        },
    }
    ends = {**pod("ends"), "status": {"phase": "Running", "startTime": "2025-11-26T09:00:00Z"}}
    ends["spec"]["nodeName"] = "n1"
    ends["metadata"] |= {"deletionTimestamp": "2025-11-26T10:00:30Z", "deletionGracePeriodSeconds": 30}
    sim = Simulation()
    sim.apply(SetSettings({"cluster": {"controllers": []}}))
    taken = take_in(sim.store, sim.now, [node("n1"), cron, ends])
    sim.apply(ApplyObjects(tuple(taken.objects), stopped=(), taken=taken.taken))
    assert values(asked(sim, "CronJob/default/weekly"), "NextStart")["until"] == "2025-11-28T12:00:00Z"
    assert "ScheduleIsInUTC" in codes(asked(sim, "CronJob/default/weekly"))
    zone = {"spec": {"timeZone": "America/Los_Angeles"}}
    sim.apply(PatchObject(Ref("CronJob", "default", "weekly"), zone))
    assert values(asked(sim, "CronJob/default/weekly"), "NextStart")["until"] == "2025-11-28T20:00:00Z"
    assert "ScheduleIsInUTC" not in codes(asked(sim, "CronJob/default/weekly"))
    assert asked(sim, "ends").due == "2025-11-26T10:00:30Z"


def test_a_world_without_a_calendar_is_told_of_in_virtual_time() -> None:
    sim = world(node("n1"), pod("ends"))
    settle(sim)
    sim.apply(DeleteObjects((Ref("Pod", "default", "ends"),)))
    assert asked(sim, "ends").until is not None
    assert asked(sim, "ends").due is None


@pytest.mark.parametrize(("status", "missing"), [({"failed": 1}, ["default/sync-*"]), ({"succeeded": 1}, [])])
def test_a_job_that_has_ended_lacks_no_pod(status: dict[str, Any], missing: list[str]) -> None:
    quota = {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "none", "namespace": "default"},
        "spec": {"hard": {"pods": "0"}},
        "status": {"hard": {"pods": "0"}, "used": {"pods": "0"}},
    }
    done = [{"type": "Complete", "status": "True"}] if "succeeded" in status else []
    job = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "sync", "namespace": "default", "uid": "u"},
        "spec": {"template": {"spec": {**pod("t")["spec"], "restartPolicy": "Never"}}},
        "status": {**status, "conditions": done},
    }
    sim = scheduler_alone(quota, job)
    assert [each.pod for each in explain_uncreated(sim)] == missing
