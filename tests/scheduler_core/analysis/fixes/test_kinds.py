"""What can be done about a pod that waits, is placed, ends, or is never made: each kind in the smallest cluster that needs it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from scheduler_core.analysis.fixes import Fix, find_fixes
from scheduler_core.analysis.fixes.fix import WARNED, rank_fixes
from scheduler_core.world.commands import ApplyObjects, DeleteObjects, DrainNode, PatchObject, Ref, SetKubelet
from scheduler_core.world.simulation import Simulation
from tests.scheduler_core.analysis.fixes.test_shell import workload
from tests.scheduler_core.worlds import node, pod, settle, world

MINUTE = 60 * 1_000_000_000


def rested(*objects: dict[str, Any]) -> Simulation:
    sim = world(*objects)
    settle(sim)
    return sim


def wait(sim: Simulation, minutes: int) -> None:
    end = sim.now + minutes * MINUTE
    while sim.due(end):
        sim.advance()


def by_kind(sim: Simulation, key: str) -> dict[str, Fix]:
    return {fix.kind: fix for fix in reversed(find_fixes(sim, key))}


def labelled(manifest: dict[str, Any], **labels: str) -> dict[str, Any]:
    return {**manifest, "metadata": {**manifest["metadata"], "labels": labels}}


def budget(name: str, **spec: Any) -> dict[str, Any]:
    selector = {"matchLabels": {"app": "web"}}
    meta = {"name": name, "namespace": "default"}
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": meta,
        "spec": {"selector": selector, **spec},
    }


def test_a_sidecar_is_listed_after_the_init_container_that_it_would_run_beside() -> None:
    asks = pod("p", cpu="100m")
    request = {"resources": {"requests": {"cpu": "3"}}, "image": "x"}
    asks["spec"]["initContainers"] = [
        {"name": "proxy", "restartPolicy": "Always", **request}, {"name": "migrate", **request}
    ]  # fmt: skip
    found = by_kind(rested(node("a"), asks), "default/p")
    assert found["order"].changes[0].values == {"containers": ["migrate", "proxy"]}
    assert found["request"].changes[0].values["container"] in ("proxy", "migrate")


def test_an_old_pod_that_its_stateful_set_waits_for_is_deleted() -> None:
    sim = rested(node("a"), workload("StatefulSet", "db", serviceName="db"))
    containers = [{"name": "c", "resources": {"requests": {"cpu": "1"}}}]
    patch = {"spec": {"template": {"spec": {"containers": containers}}}}
    sim.apply(PatchObject(Ref("StatefulSet", "default", "db"), patch, type="strategic"))
    wait(sim, 1)
    fix = find_fixes(sim, "default/db-0")[0]
    assert (fix.kind, fix.kubectl, fix.node) == ("old-revision", "kubectl delete pod db-0 -n default", "a")


def test_a_pod_that_nothing_wakes_is_made_anew_or_waited_for() -> None:
    term = {"labelSelector": {"matchLabels": {"app": "web"}}, "topologyKey": "kubernetes.io/hostname"}
    affinity = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    deployment = workload("Deployment", "web", cpu="1")
    deployment["spec"]["template"]["spec"]["affinity"] = affinity
    sim = rested(node("a"), node("b"), deployment)
    (first,) = sim.store.pods()
    sim.apply(PatchObject(Ref("Node", "", first.node_name), {"spec": {"unschedulable": True}}))
    sim.apply(DeleteObjects((Ref("Pod", "default", first.name),)))
    wait(sim, 2)
    (second,) = sim.store.pods()
    assert not second.node_name
    found = by_kind(sim, second.key)
    assert set(found) == {"recreate", "wait"}
    assert found["recreate"].time < found["wait"].time < 6 * MINUTE


def test_a_pod_that_waits_for_one_that_ends_may_wait_or_end_it() -> None:
    sim = rested(
        node("a", cpu="1"), {**pod("q"), "spec": {**pod("q")["spec"], "terminationGracePeriodSeconds": 120}}, pod("p")
    )
    held = PatchObject(Ref("Pod", "default", "q"), {"metadata": {"finalizers": ["example.com/audit"]}})
    sim.apply(held)
    sim.apply(DeleteObjects((Ref("Pod", "default", "q"),)))
    found = by_kind(sim, "default/p")
    assert "finalizers" in found["finalizer"].kubectl
    assert found["finalizer"].node == "a"
    assert found["wait"].kubectl.startswith("kubectl wait ")


def test_a_claim_that_others_share_is_made_the_pods_own() -> None:
    slices = [
        {
            "apiVersion": "resource.k8s.io/v1",
            "kind": "ResourceSlice",
            "metadata": {"name": f"{name}-nics"},
            "spec": {
                "driver": "nic.example.com",
                "nodeName": name,
                "pool": {"name": name, "generation": 1, "resourceSliceCount": 1},
                "devices": [{"name": "nic-0"}],
            },
        }
        for name in "ab"
    ]
    ask = {"name": "nic", "exactly": {"deviceClassName": "nic", "allocationMode": "ExactCount", "count": 1}}
    claim = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {"name": "shared", "namespace": "default"},
        "spec": {"devices": {"requests": [ask]}},
    }
    classes = {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": "nic"}, "spec": {}}
    uses = [{"name": "nic", "resourceClaimName": "shared"}]
    sim = rested(node("a"), node("b"), classes, *slices, claim, pod("one", cpu="3", resourceClaims=uses))
    sim.apply(ApplyObjects((pod("two", cpu="3", resourceClaims=uses),)))
    settle(sim)
    fix = find_fixes(sim, "default/two")[0]
    one = sim.store.pod_at("default/one")
    assert one is not None
    assert (fix.kind, {fix.node, one.node_name}) == ("own-claim", {"a", "b"})


def test_a_pod_on_a_node_that_is_lost_is_let_go() -> None:
    sim = rested(node("a"), node("b"), workload("StatefulSet", "db", cpu="1", serviceName="db"))
    (lost,) = sim.store.pods()
    sim.apply(SetKubelet(lost.node_name, running=False))
    wait(sim, 10)
    assert sim.store.pod_at(lost.key).deleting  # type: ignore[union-attr]
    found = by_kind(sim, lost.key)
    assert {"force-delete", "out-of-service", "ready", "remove-node"} <= set(found)
    assert all(fix.node not in ("", lost.node_name) for kind, fix in found.items() if kind == "out-of-service")


def test_two_budgets_for_a_pod_leave_one_and_unready_pods_may_be_evicted() -> None:
    web = workload("Deployment", "web", 2, "1")
    sim = rested(node("a"), web, budget("one", minAvailable=1), budget("two", maxUnavailable=1))
    sim.apply(ApplyObjects((node("b"),)))
    sim.apply(DrainNode("a"))
    wait(sim, 1)
    key = next(p.key for p in sim.store.pods() if p.node_name == "a")
    assert by_kind(sim, key)["one-budget"].kubectl.startswith("kubectl delete poddisruptionbudget ")


def test_a_pod_that_its_manifest_put_past_a_taint_is_given_to_the_scheduler() -> None:
    taint = {"key": "control-plane", "effect": "NoSchedule"}
    sim = rested({**node("a"), "spec": {"taints": [taint]}}, node("b"), pod("p", nodeName="a"))
    found = by_kind(sim, "default/p")
    assert (found["node-name"].node, found["node-selector"].node) == ("b", "")
    assert found["no-execute"].kubectl == "kubectl taint node a control-plane:NoExecute"


def test_a_term_that_looks_at_one_namespace_looks_at_all_of_them() -> None:
    term = {"labelSelector": {"matchLabels": {"app": "web"}}, "topologyKey": "kubernetes.io/hostname"}
    affinity = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    other = labelled(pod("first", nodeName="a"), app="web")
    other["metadata"]["namespace"] = "there"
    there = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "there"}}
    sim = rested(node("a", cpu="64"), there, other, labelled(pod("p", affinity=affinity), app="web"))
    assert by_kind(sim, "default/p")["namespace-selector"].node == ""


ADMISSION: dict[str, tuple[list[dict[str, Any]], dict[str, Any], str, str]] = {
    "no such class": ([], {"priorityClassName": "high"}, "priority-class", "value: 1000"),
    "a class by its handler": (
        [{"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "metadata": {"name": "native"}, "handler": "runc"}],
        {"runtimeClassName": "runc"},
        "runtime-class-name",
        '"native"',
    ),
    "more than a LimitRange allows": (
        [
            {
                "apiVersion": "v1",
                "kind": "LimitRange",
                "metadata": {"name": "ceiling", "namespace": "default"},
                "spec": {"limits": [{"type": "Container", "max": {"cpu": "500m"}}]},
            }
        ],
        {},
        "limits",
        "cpu=500m",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", ADMISSION)
def test_what_admission_asks_for_is_done(case: str) -> None:
    objects, spec, kind, text = ADMISSION[case]
    deployment = workload("Deployment", "web", cpu="1")
    deployment["spec"]["template"]["spec"] |= spec
    fix = by_kind(rested(node("a"), *objects, deployment), "default/web-*")[kind]
    assert text in fix.kubectl
    assert fix.node == "a"


def test_pods_that_wait_themselves_are_deleted_where_a_quota_counts_them() -> None:
    quota = {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "one", "namespace": "default"},
        "spec": {"hard": {"pods": "1"}},
    }
    sim = rested(node("a"), quota, pod("stuck", nodeSelector={"no": "node"}))
    sim.apply(ApplyObjects((workload("Deployment", "web", cpu="1"),)))
    wait(sim, 1)
    found = by_kind(sim, "default/web-*")
    assert found["free-quota"].kubectl == "kubectl delete pod stuck -n default"
    assert json.dumps({"spec": {"hard": {"pods": "2"}}}) in found["quota"].kubectl
    assert find_fixes(sim, "default/web-*")[0].kind == "quota"


def test_a_harmful_fix_is_never_first_and_none_is_listed_twice() -> None:
    spread = [
        {
            "maxSkew": 1,
            "topologyKey": "kubernetes.io/hostname",
            "whenUnsatisfiable": "DoNotSchedule",
            "labelSelector": {"matchLabels": {"app": "web"}},
        }
    ]
    web = workload("Deployment", "web", 3, "2")
    web["spec"]["template"]["spec"]["topologySpreadConstraints"] = spread
    sim = rested(node("a", cpu="2"), node("b", cpu="2"), web)
    key = next(p.key for p in sim.store.pods() if not p.node_name)
    fixes = find_fixes(sim, key)
    assert fixes[0].disturbance not in WARNED
    assert len({fix.outcome for fix in fixes}) == len(fixes)
    harmful = [fix for fix in fixes if fix.disturbance in WARNED]
    assert rank_fixes(harmful) == ()
