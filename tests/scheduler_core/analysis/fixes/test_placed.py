"""Fixes for pods that have a node: rules made strict, pods that ended, pods of nodes that are gone; and who writes what a fix changes."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_core.analysis.fixes import Fix, find_fixes
from scheduler_core.analysis.fixes.fix import rank_fixes
from scheduler_core.scheduler.framework.drafts import HARMS, KINDS, Change
from scheduler_core.world.commands import ApplyObjects, SetConfiguration
from scheduler_core.world.simulation import Simulation
from tests.scheduler_core.worlds import configuration, node, pod, scheduler_alone

ZONE, HOSTNAME = "topology.kubernetes.io/zone", "kubernetes.io/hostname"
REQUIRED, PREFERRED = (f"{how}DuringSchedulingIgnoredDuringExecution" for how in ("required", "preferred"))
WEB = {"matchLabels": {"app": "web"}}
RUNNING = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}


def labelled(manifest: dict[str, Any], **labels: str) -> dict[str, Any]:
    return {**manifest, "metadata": {**manifest["metadata"], "labels": labels}}


def web(name: str, **spec: Any) -> dict[str, Any]:
    return {**labelled(pod(name, cpu="100m", **spec), app="web"), "status": RUNNING}


def spread(key: str = HOSTNAME, **fields: Any) -> dict[str, Any]:
    given = {"maxSkew": 1, "topologyKey": key, "whenUnsatisfiable": "ScheduleAnyway", "labelSelector": WEB}
    return {"topologySpreadConstraints": [{**given, **fields}]}


def apart(**rules: Any) -> dict[str, Any]:
    return {"affinity": {"podAntiAffinity": rules}}


def near(**rules: Any) -> dict[str, Any]:
    return {"affinity": {"nodeAffinity": rules}}


def term(key: str, op: str, *values: str) -> dict[str, Any]:
    return {"matchExpressions": [{"key": key, "operator": op, **({"values": [*values]} if values else {})}]}


def zoned(name: str, **labels: str) -> dict[str, Any]:
    made = node(name)
    made["metadata"]["labels"] |= labels
    return made


def tainted(name: str, key: str, **labels: str) -> dict[str, Any]:
    made = zoned(name, **labels)
    return {**made, "spec": {"taints": [{"key": key, "effect": "NoSchedule"}]}}


OWNER: dict[str, Any] = {
    "apiVersion": "apps/v1",
    "kind": "ReplicaSet",
    "name": "web",
    "uid": "u-web",
    "controller": True,
}
TEMPLATE: dict[str, Any] = {
    "metadata": {"labels": {"app": "web"}},
    "spec": {"containers": [{"name": "c", "image": "x"}]},
}


def own(kind: str = "ReplicaSet", **spec: Any) -> dict[str, Any]:
    """The workload web with one replica."""
    meta = {"name": "web", "namespace": "default", "uid": "u-web"}
    given = {"replicas": 1, "selector": WEB, "template": TEMPLATE, **spec}
    return {"apiVersion": "apps/v1", "kind": kind, "metadata": meta, "spec": given}


def fixes_of(*objects: dict[str, Any], key: str = "default/web-2") -> list[Fix]:
    return find_fixes(scheduler_alone(*objects), key)


def hardened(*objects: dict[str, Any]) -> dict[str, Fix]:
    """The stricter rules by what they make strict."""
    found = (each for each in fixes_of(*objects) if each.kind == "harden")
    return {str(fix.changes[0].values["what"]): fix for fix in found}


FIRST = web("web-1", nodeName="a")
CASES: dict[str, tuple[tuple[dict[str, Any], ...], str, str]] = {
    "a spread that only weighs": ((node("a"), node("b"), FIRST, web("web-2", nodeName="a", **spread())), "spread", "b"),
    "a spread that only weighs, and allows too much": (
        (node("a"), node("b"), pod("full", "3", nodeName="b"), FIRST, web("web-2", nodeName="a", **spread(maxSkew=5))),
        "skew",
        "b",
    ),
    "a spread that finds one domain": (
        (node("a"), FIRST, web("web-2", nodeName="a", **spread(whenUnsatisfiable="DoNotSchedule"))),
        "min-domains",
        "",
    ),
    "a spread that selects by a label which the pod has not got": (
        (
            node("a"),
            node("b"),
            FIRST,
            web(
                "web-2",
                nodeName="a",
                **spread(
                    whenUnsatisfiable="DoNotSchedule", labelSelector={"matchLabels": {"app": "web", "tier": "front"}}
                ),
            ),
        ),
        "own-labels",
        "b",
    ),
    "an anti-affinity that only weighs": (
        (
            node("a"),
            node("b"),
            FIRST,
            web(
                "web-2",
                nodeName="a",
                **apart(
                    **{
                        PREFERRED: [
                            {"weight": 1, "podAffinityTerm": {"labelSelector": WEB, "topologyKey": HOSTNAME}}
                        ]
                    }
                ),
            ),
        ),
        "podAntiAffinity",
        "b",
    ),
    "a preferred node affinity": (
        (
            node("a"),
            zoned("b", disk="ssd"),
            web("web-2", nodeName="a", **near(**{PREFERRED: [{"weight": 1, "preference": term("disk", "In", "ssd")}]})),
        ),
        "nodeAffinity",
        "b",
    ),
    "a label that is not there is not in a list": (
        (
            node("a"),
            zoned("b", pool="web"),
            web("web-2", nodeName="a", **near(**{REQUIRED: {"nodeSelectorTerms": [term("pool", "NotIn", "batch")]}})),
        ),
        "exists",
        "b",
    ),
    "two terms of which one is enough": (
        (
            zoned("a", disk="ssd"),
            zoned("b", disk="ssd", pool="web"),
            web(
                "web-2",
                nodeName="a",
                **near(**{REQUIRED: {"nodeSelectorTerms": [term("disk", "Exists"), term("pool", "Exists")]}}),
            ),
        ),
        "terms",
        "b",
    ),
    "a toleration of everything": (
        (tainted("a", "dedicated", dedicated="db"), node("b"), web("web-2", nodeName="a", tolerations=[{"operator": "Exists"}])),
        "nodeAffinity",
        "b",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_a_rule_that_let_a_pod_pass_is_made_strict(case: str) -> None:
    objects, what, place = CASES[case]
    fix = hardened(*objects)[what]
    assert fix.node == place
    assert fix.kubectl.startswith("kubectl replace --force")


def test_a_node_gets_the_label_over_which_pods_are_kept_apart() -> None:
    rule = apart(**{REQUIRED: [{"labelSelector": WEB, "topologyKey": ZONE}]})
    objects = node("a"), zoned("b", **{ZONE: "west"}), FIRST, web("web-2", nodeName="a", **rule)
    [fix] = [each for each in fixes_of(*objects) if each.kind == "label"]
    assert fix.kubectl.startswith(f"kubectl label node a {ZONE}=west --overwrite\nkubectl replace --force")
    assert fix.node != "a"


def test_a_plugin_that_the_profile_leaves_out_is_enabled() -> None:
    profile = {"plugins": {"multiPoint": {"disabled": [{"name": "PodTopologySpread"}]}}}
    strict = web("web-2", nodeName="a", **spread(whenUnsatisfiable="DoNotSchedule"))
    sim = Simulation(seed=1)
    sim.apply(SetConfiguration(configuration(profiles=[profile])))
    sim.apply(ApplyObjects((node("a"), node("b"), FIRST, strict)))
    [fix] = [each for each in find_fixes(sim, "default/web-2") if each.kind == "enable+recreate"]
    assert fix.node == "b"
    assert fix.changes[0].values == {"plugin": "PodTopologySpread", "profile": "default-scheduler"}


# Pods that ended


def ended(name: str = "p", message: str = "", reason: str = "", **state: Any) -> dict[str, Any]:
    terminated = [{"name": "main", "state": {"terminated": state}}] if state else []
    made = pod(name, cpu="100m", nodeName="a")
    return {
        **made,
        "status": {"phase": "Failed", "reason": reason, "message": message, "containerStatuses": terminated},
    }


def test_what_mends_the_cause_comes_before_the_same_pod_again() -> None:
    made = ended(exitCode=137)
    made["status"]["containerStatuses"][0]["state"]["terminated"]["reason"] = "OOMKilled"
    made["spec"]["containers"][0] |= {"name": "main", "resources": {"limits": {"memory": "64Mi"}}}
    assert [each.kind for each in fixes_of(node("a"), made, key="default/p") if each.proven] == ["limits", "recreate"]


def test_a_pod_that_ran_for_as_long_as_it_may_may_run_for_longer() -> None:
    made = ended(reason="DeadlineExceeded", message="Pod was active on the node longer than the specified deadline")
    made["spec"]["activeDeadlineSeconds"] = 600
    first, *_ = fixes_of(node("a"), made, key="default/p")
    assert first.changes[0].values == {"field": "activeDeadlineSeconds", "to": 1200}


def test_an_ended_pod_whose_place_another_has_taken_is_deleted() -> None:
    both = [labelled(ended("old", reason="Evicted"), app="web"), web("new", nodeName="a")]
    for each in both:
        each["metadata"]["ownerReferences"] = [OWNER]
    assert [each.kind for each in fixes_of(node("a"), own(), *both, key="default/old") if each.proven] == ["delete"]


def test_a_daemon_for_a_node_that_is_gone_is_deleted() -> None:
    made = pod(
        "log-c",
        **near(
            **{
                REQUIRED: {
                    "nodeSelectorTerms": [
                        {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["c"]}]}
                    ]
                }
            }
        ),
    )
    made["metadata"]["ownerReferences"] = [
        {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "log", "uid": "u", "controller": True}
    ]
    assert [each.kubectl for each in fixes_of(node("a"), made, key="default/log-c")] == [
        "kubectl delete pod log-c -n default"
    ]


def test_a_finalizer_of_a_deletion_goes_with_the_next_deletion() -> None:
    made = pod("p", cpu="100m", nodeName="a")
    made["metadata"] |= {"finalizers": ["foregroundDeletion"], "deletionTimestamp": "2026-03-01T09:00:00Z"}
    first, *_ = fixes_of(node("a"), {**made, "status": {"phase": "Succeeded"}}, key="default/p")
    assert (first.kind, first.kubectl.count("\n")) == ("finalizer", 0)


# Who writes what a fix changes


BY: dict[str, Any] = {
    "apiVersion": "db.example.com/v1",
    "kind": "Cluster",
    "name": "main",
    "uid": "u-c",
    "controller": True,
}


def test_the_template_of_a_custom_resource_is_changed_there_first() -> None:
    waits = labelled(pod("web-0", cpu="5"), app="web")
    waits["metadata"]["ownerReferences"] = [{**OWNER, "kind": "StatefulSet"}]
    made = own("StatefulSet", serviceName="web", template={"metadata": TEMPLATE["metadata"], "spec": waits["spec"]})
    made["metadata"]["ownerReferences"] = [BY]
    first, *_ = fixes_of(node("a", "4"), made, waits, key="default/web-0")
    assert first.kubectl.startswith("# First kubectl edit cluster.db.example.com main -n default")


def test_what_else_a_custom_resource_writes_is_changed_there_first() -> None:
    made = own("Deployment", replicas=0)
    made["metadata"]["ownerReferences"] = [BY]
    step, scale = fixes_of(node("a"), made, key="Deployment/default/web")
    assert (step.kubectl, step.proven) == ("kubectl get Cluster.db.example.com main -n default -o yaml", False)
    assert (scale.kind, scale.proven) == ("replicas", True)


# Drains


@pytest.mark.parametrize(
    ("spec", "owned", "flags"),
    [({}, False, "--force"), ({"volumes": [{"name": "cache", "emptyDir": {}}]}, True, "--delete-emptydir-data")],
)
def test_a_drain_gets_the_flags_without_which_kubectl_gives_up(spec: dict[str, Any], owned: bool, flags: str) -> None:
    made = web("web-1", nodeName="a", **spec)
    if owned:
        made["metadata"]["ownerReferences"] = [OWNER]
    cordoned = {**node("a"), "spec": {"unschedulable": True}}
    [fix] = fixes_of(cordoned, node("b"), made, *([own()] if owned else []), key="Node/a")
    assert fix.kubectl == f"kubectl drain a {flags}"
    assert fix.changes[0].values["pods"] == ([] if owned else ["default/web-1"])


def test_a_node_that_is_not_cordoned_is_not_drained() -> None:
    sim: Simulation = scheduler_alone(node("a"), web("web-1", nodeName="a"))
    assert not find_fixes(sim, "Node/a")


# Workloads and pools that lack something


def test_a_stateful_set_whose_first_pod_is_not_ready_may_create_the_others() -> None:
    first = labelled(pod("web-0", cpu="100m", nodeName="a"), app="web")
    first["metadata"]["ownerReferences"] = [{**OWNER, "kind": "StatefulSet"}]
    first["status"] = {"phase": "Running", "conditions": [{"type": "Ready", "status": "False"}]}
    found = fixes_of(node("a"), own("StatefulSet", replicas=2, serviceName="web"), first, key="StatefulSet/default/web")
    assert "parallel" in [each.kind for each in found]


def test_a_job_with_more_left_than_it_runs_may_run_more_at_once() -> None:
    runs = web("web-1", nodeName="a")
    runs["metadata"]["ownerReferences"] = [{**OWNER, "apiVersion": "batch/v1", "kind": "Job"}]
    template = {**TEMPLATE, "spec": {**TEMPLATE["spec"], "restartPolicy": "Never"}}
    spec = {"parallelism": 1, "completions": 3, "selector": WEB, "template": template}
    made = {**own("Job"), "apiVersion": "batch/v1", "spec": {**spec, "manualSelector": True}}
    [fix] = fixes_of(node("a"), made, runs, key="Job/default/web")
    assert (fix.kind, fix.changes[0].values["to"]) == ("field", 2)


def test_a_pool_that_lacks_a_slice_gets_it() -> None:
    kind = {"apiVersion": "resource.k8s.io/v1"}
    select = [{"cel": {"expression": "device.driver == 'gpu'"}}]
    pool = {"name": "a", "generation": 1, "resourceSliceCount": 2}
    devices = {"driver": "gpu", "nodeName": "a", "pool": pool, "devices": [{"name": "gpu-0"}]}
    every = {"name": "r", "exactly": {"deviceClassName": "gpu", "allocationMode": "All"}}
    waits = pod("p", resourceClaims=[{"name": "gpu", "resourceClaimName": "all"}])
    found = fixes_of(
        node("a"),
        {**kind, "kind": "DeviceClass", "metadata": {"name": "gpu"}, "spec": {"selectors": select}},
        {**kind, "kind": "ResourceSlice", "metadata": {"name": "a-0"}, "spec": devices},
        {**kind, "kind": "ResourceClaim", "metadata": {"name": "all"}, "spec": {"devices": {"requests": [every]}}},
        waits,
        key="default/p",
    )
    assert [each.kind for each in found] == ["slices"]
    assert found[0].changes[0].values["there"] == 1


def test_a_pod_whose_node_lacks_its_driver_goes_to_one_that_has_it() -> None:
    claim = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "data"},
        "status": {"phase": "Bound"},
    }
    terms = {"accessModes": ["ReadWriteOnce"], "storageClassName": ""}
    claim["spec"] = {**terms, "volumeName": "pv", "resources": {"requests": {"storage": "1Gi"}}}
    volume = {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "pv"}, "status": {"phase": "Bound"}}
    csi = {"driver": "disk.csi.example", "volumeHandle": "v"}
    volume["spec"] = {
        **terms,
        "capacity": {"storage": "1Gi"},
        "csi": csi,
        "claimRef": {"namespace": "default", "name": "data"},
    }
    drivers = {"a": [], "b": [{"name": "disk.csi.example", "nodeID": "b"}]}
    nodes = [
        {"apiVersion": "storage.k8s.io/v1", "kind": "CSINode", "metadata": {"name": name}, "spec": {"drivers": each}}
        for name, each in drivers.items()
    ]
    mount = [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]
    waits = {**pod("p", nodeName="a", volumes=mount), "status": {"phase": "Pending"}}
    found = fixes_of(node("a"), node("b"), *nodes, claim, volume, waits, key="default/p")
    assert [(each.kind, each.node) for each in found] == [("node-selector", "b")]


# The order of fixes


def ranked(*changes: tuple[str, dict[str, Any]], disturbances: tuple[str, ...] = ()) -> list[str]:
    """The kinds of fixes of one change each in the order in which they are listed."""
    worst = dict(enumerate(disturbances))
    made = [
        Fix((Change(kind, values),), (), "a", 1, recreated=False, disturbance=worst.get(number) or "nothing")
        for number, (kind, values) in enumerate(changes)
    ]
    return [each.kind for each in rank_fixes(made)]


def test_a_node_takes_more_pods_after_one_that_is_cordoned_takes_any() -> None:
    assert ranked(("capacity", {"resource": "pods"}), ("uncordon", {})) == ["uncordon", "capacity"]
    assert ranked(("capacity", {"resource": "example.com/x"}), ("uncordon", {})) == ["capacity", "uncordon"]


def test_a_taint_of_a_node_in_trouble_is_tolerated_after_what_else_helps() -> None:
    other: tuple[str, dict[str, Any]] = ("policy", {})
    assert ranked(("toleration", {"taint": "node-role.kubernetes.io/control-plane:NoSchedule"}), other)[0] == "policy"
    assert ranked(("toleration", {"taint": "dedicated:NoSchedule"}), other)[0] == "toleration"


NODE: tuple[str, dict[str, Any]] = ("node", {"like": "a"})
HALF: tuple[str, dict[str, Any]] = ("request", {"to": "1"})
RESIZE = {"pod": "default/q", "resource": "cpu", "from": "11", "to": "8"}
ORDERS: dict[str, list[tuple[str, dict[str, Any]]]] = {
    "a taint that keeps nodes for others is tolerated after a node more and smaller requests": [
        NODE,
        ("node", {"like": ""}),
        ("toleration", {"taint": "team=b:NoSchedule", "others": True}),
    ],
    "a taint of the nodes that the pod is for is tolerated before a node more": [
        ("toleration", {"taint": "gpu:NoSchedule"}),
        NODE,
    ],
    "a resize that waits is taken back before a node more": [("resize", {**RESIZE, "pending": True}), NODE],
    "a pod that has its amount gives it up after a node more": [NODE, ("resize", RESIZE)],
    "a kubelet is configured after a cordon is taken off": [("uncordon", {}), ("capacity", {"resource": "pods"}), NODE],
}


@pytest.mark.parametrize("order", ORDERS)
def test_fixes_are_listed_by_harm_and_effort(order: str) -> None:
    kinds = [kind for kind, _ in ORDERS[order]]
    assert ranked(*reversed(ORDERS[order])) == kinds
    assert ranked(*ORDERS[order]) == kinds


@pytest.mark.parametrize("kind", HARMS["displaces"] + HARMS["defeats"])
def test_what_takes_something_away_comes_after_what_gives(kind: str) -> None:
    values = {"resource": "cpu", "taint": "a", "to": "1", "like": "a"}
    if kind != "force-delete":  # of a pod that ends anyway
        assert ranked((kind, values), ("node", values), ("wait", values)) == ["wait", "node", kind]


@pytest.mark.parametrize("kind", KINDS)
def test_no_kind_comes_before_a_harmless_one_once_it_evicts_a_sibling(kind: str) -> None:
    values = {"resource": "cpu", "taint": "a", "to": "1", "like": "a"}
    assert ranked((kind, values), ("selector", {}), disturbances=("evicts-sibling", "")) == ["selector", kind]


def test_data_is_left_behind_after_a_pod_is_deleted() -> None:
    assert ranked(("claim-beside", {}), ("free", {}), disturbances=("", "displaces")) == ["free", "claim-beside"]


def test_a_budget_is_lowered_after_a_pod_that_does_not_work_is_deleted() -> None:
    assert ranked(("budget", {}), ("delete", {}), disturbances=("", "restarts")) == ["delete", "budget"]


def test_the_record_of_an_end_is_deleted_after_its_cause_is_mended() -> None:
    assert ranked(("delete", {"ended": True}), ("limits", {}), disturbances=("", "restarts")) == ["limits", "delete"]
