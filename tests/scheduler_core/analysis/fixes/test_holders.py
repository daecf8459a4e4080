"""Fixes by what holds a pod: a kubelet's limit, a node without a machine, admission, an adopting owner, a driver, a more important pod."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_core.analysis.explain.ended import record_events
from scheduler_core.analysis.fixes import Fix, find_fixes
from scheduler_core.analysis.fixes.refused_pods import list_disallowed
from scheduler_core.scheduler.config.cluster import ClusterSettings
from scheduler_core.scheduler.config.settings import WorldSettings
from scheduler_core.world.commands import ApplyObjects
from scheduler_core.world.simulation import Simulation
from tests.scheduler_core.worlds import node, pod

FARGATE = "eks.amazonaws.com/compute-type"
NAMED = "requiredDuringSchedulingIgnoredDuringExecution"


def snapshot(
    *objects: dict[str, Any], events: tuple[tuple[str, str, str, str], ...] = (), steps: int = 500
) -> Simulation:
    """A cluster as it was: no controller acts. `events`: kind, name, reason, and message."""
    sim = Simulation(5, WorldSettings(cluster=ClusterSettings(controllers=())))
    sim.apply(ApplyObjects(objects))
    about = [{"kind": kind, "namespace": "default", "name": name} for kind, name, *_ in events]
    said = [{"type": "Warning", "reason": reason, "message": text} for *_, reason, text in events]
    record_events(sim, [{"metadata": {}, "involvedObject": a, **s} for a, s in zip(about, said, strict=True)])
    sim.run(steps=steps)
    return sim


def kinds(found: list[Fix]) -> list[str]:
    return [fix.kind for fix in found]


def small(name: str, pods: int, **metadata: Any) -> dict[str, Any]:
    made = node(name, **metadata)
    status = {**made["status"]["capacity"], "pods": str(pods)}
    return {**made, "status": {"capacity": status, "allocatable": status}}


def on(where: str, name: str, cpu: str = "1", priority: int = 0, **spec: Any) -> dict[str, Any]:
    return {**pod(name, cpu, nodeName=where, priority=priority, **spec), "status": {"phase": "Running"}}


def owned(manifest: dict[str, Any], kind: str, name: str, **labels: str) -> dict[str, Any]:
    owner = {"apiVersion": "apps/v1", "kind": kind, "name": name, "uid": f"uid-{name}", "controller": True}
    meta = {**manifest["metadata"], "namespace": "default", "labels": labels, "ownerReferences": [owner]}
    return {**manifest, "metadata": meta}


def workload(kind: str, name: str, labels: dict[str, str], status: dict[str, Any], **spec: Any) -> dict[str, Any]:
    template = {"metadata": {"labels": labels}, "spec": spec.pop("template")}
    meta = {"name": name, "namespace": "default", "uid": f"uid-{name}", "generation": 4}
    spec = {"selector": {"matchLabels": labels}, "template": template, **spec}
    made = {"apiVersion": "apps/v1", "kind": kind, "metadata": meta, "spec": spec}
    return {**made, "status": {"observedGeneration": 4, **status}}


def daemons(name: str, count: int, **spec: Any) -> dict[str, Any]:
    counts = ("currentNumberScheduled", "desiredNumberScheduled", "numberMisscheduled", "numberReady")
    template = {**pod("x")["spec"], **spec}
    return workload("DaemonSet", name, {"app": name}, dict.fromkeys(counts, count), template=template)


def pinned(where: str) -> dict[str, Any]:
    field = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [where]}]}
    return {"nodeAffinity": {NAMED: {"nodeSelectorTerms": [field]}}}


def daemon(where: str, name: str, running: bool = False, **spec: Any) -> dict[str, Any]:
    made = on(where, name, affinity=pinned(where), **spec) if running else pod(name, affinity=pinned(where), **spec)
    return owned(made, "DaemonSet", "watcher", **{"app": "watcher", "controller-revision-hash": "abc"})


# Limits of nodes


def test_the_limit_of_a_kubelet_is_raised_at_the_kubelet_before_a_priority() -> None:
    fillers = [on("full", f"batch-{number}", "100m") for number in range(4)]
    there = (small("full", 4), small("free", 4), daemons("watcher", 2))
    sim = snapshot(*there, *fillers, daemon("free", "watcher-b", True), daemon("full", "watcher-a"))
    found = find_fixes(sim, "default/watcher-a")
    assert kinds(found)[0] == "capacity"
    assert {"free", "priority"} <= {*kinds(found)}
    assert found[0].kubectl.startswith("# First set maxPods to 110 for the kubelet of full")
    assert kinds(found).index("free") < kinds(found).index("priority")


def test_a_template_of_a_daemon_set_that_changes_makes_its_pods_anew() -> None:
    sim = snapshot(node("n", "2"), daemons("watcher", 1), on("n", "idle", "1500m"), daemon("n", "watcher-a"))
    found = {fix.kind: fix for fix in find_fixes(sim, "default/watcher-a")}
    assert found["request"].kubectl == "kubectl set resources daemonset watcher -n default -c c --requests=cpu=500m"
    assert found["request"].pod != "default/watcher-a"


def test_nobody_raises_the_limit_of_a_node_without_a_machine() -> None:
    taint = {"taints": [{"key": FARGATE, "value": "fargate", "effect": "NoSchedule"}]}
    made = {**small("fargate-1", 1, labels={FARGATE: "fargate"}), "spec": taint}
    found = find_fixes(snapshot(made, on("fargate-1", "site", "500m"), pod("dns")), "default/dns")
    assert kinds(found) == ["toleration+node", "node"]
    assert found[0].changes[1].values["virtual"]


@pytest.mark.parametrize(("labels", "offered"), [({"type": "virtual-kubelet"}, False), ({"type": "metal"}, True)])
def test_a_limit_is_raised_where_a_kubelet_has_one(labels: dict[str, str], offered: bool) -> None:
    sim = snapshot(small("n", 1, labels=labels), on("n", "site", "500m"), pod("dns", "100m"))
    assert ("capacity" in kinds(find_fixes(sim, "default/dns"))) == offered


# Important pods


def test_a_more_important_pod_is_never_deleted_first_nor_alone() -> None:
    sim = snapshot(node("n", "2"), on("n", "bank", "1500m", priority=900), pod("chart", "2"))
    found = find_fixes(sim, "default/chart")
    assert kinds(found)[-1] == "free"
    assert found[-1].disturbance == "evicts-superior"
    assert "priority" in kinds(found)
    assert all(fix.disturbance != "evicts-superior" for fix in found[:-1])


def test_less_important_pods_go_before_one_that_is_more_important() -> None:
    lesser = [on("n", f"small-{number}", "500m") for number in range(2)]
    sim = snapshot(node("n", "3"), on("n", "bank", "2", priority=900), *lesser, pod("chart", "1"))
    (found,) = [fix for fix in find_fixes(sim, "default/chart") if fix.kind == "free"]
    assert {each.pod for each in found.effects} == {"default/small-0", "default/small-1"}
    assert found.disturbance == "displaces"


# Admission and adoption


@pytest.mark.parametrize(("own", "offered"), [({}, True), ({"ring": "outer"}, False)])
def test_a_daemon_set_selects_what_its_namespace_selects(own: dict[str, str], offered: bool) -> None:
    wanted, there = {"nodeSelector": {"ring": "outer"}}, node("in", labels={"ring": "outer"})
    pods = (daemon("in", "watcher-b", True, **wanted), daemon("shed", "watcher-a", **wanted))
    sim = snapshot(there, node("shed"), daemons("watcher", 2, nodeSelector=own), *pods)
    found = {fix.kind: fix for fix in find_fixes(sim, "default/watcher-a")}
    assert ("daemon-selector" in found) == offered
    if offered:
        assert found["daemon-selector"].changes[0].values["labels"] == ["ring=outer"]
        assert found["daemon-selector"].node == ""


@pytest.mark.parametrize(("name", "offered"), [("guest", True), ("crew-x7k", False)])
def test_a_pod_that_was_adopted_is_made_anew_with_another_label(name: str, offered: bool) -> None:
    template = pod("x", "100m")["spec"]
    crew = workload("ReplicaSet", "crew", {"job": "row"}, {"replicas": 2}, replicas=2, template=template)
    mine = [owned(on("n", f"crew-{i}", "100m"), "ReplicaSet", "crew", job="row") for i in range(2)]
    going = owned(on("n", name, "100m"), "ReplicaSet", "crew", job="row")
    going["metadata"] |= {"deletionTimestamp": "2026-01-01T00:00:10Z", "deletionGracePeriodSeconds": 10}
    found = find_fixes(snapshot(node("n"), crew, *mine, going, steps=1), f"default/{name}")
    assert ("other-labels" in kinds(found)) == offered
    if offered:
        assert kinds(found)[0] == "other-labels"
        assert "job: guest" in found[0].kubectl


# Volumes

LACKS = "MountDevice failed: driver name disk.example not found in the list of registered CSI drivers"


def mounting(where: str, message: str, taints: tuple[dict[str, str], ...] = (), **spec: Any) -> list[Fix]:
    """Fixes for a pod on `where` of which its kubelet says something; the driver's DaemonSet runs on `old`."""
    new = {**node("new"), "spec": {"taints": list(taints)}}
    driver = workload(
        "DaemonSet", "disk-csi-node", {"app": "disk"}, {"numberReady": 1}, template={**pod("x", "50m")["spec"], **spec}
    )
    plugin = owned(on("old", "disk-csi-node-1", "50m"), "DaemonSet", "disk-csi-node", app="disk")
    template = pod("x", "100m", tolerations=[{"operator": "Exists"}])["spec"]
    web = workload("ReplicaSet", "web", {"app": "web"}, {"replicas": 1}, replicas=1, template=template)
    waiting = owned(
        pod("web-1", "100m", nodeName=where, tolerations=[{"operator": "Exists"}]), "ReplicaSet", "web", app="web"
    )
    waiting["status"] = {
        "phase": "Pending",
        "containerStatuses": [{"name": "c", "state": {"waiting": {"reason": "ContainerCreating"}}}],
    }
    old = node("old", labels={"disks": "ssd"})
    sim = snapshot(old, new, driver, plugin, web, waiting, events=(("Pod", "web-1", "FailedMount", message),))
    return find_fixes(sim, "default/web-1")


def test_the_daemon_set_of_a_driver_comes_to_the_node_or_the_pod_goes_where_it_is() -> None:
    terms = {"nodeSelectorTerms": [{"matchExpressions": [{"key": "disks", "operator": "Exists"}]}]}
    found = {fix.kind: fix for fix in mounting("new", LACKS, affinity={"nodeAffinity": {NAMED: terms}})}
    assert found["driver-nodes"].node == "old"
    assert found["label"].kubectl == "kubectl label node new disks=ssd --overwrite"
    assert found["label"].node == "new"


def test_the_daemon_set_of_a_driver_tolerates_the_taint_of_the_node() -> None:
    found = mounting("new", LACKS, ({"key": "gpu", "effect": "NoSchedule"},))
    assert "toleration" in kinds(found)
    assert "driver-nodes" not in kinds(found)


def test_no_driver_is_brought_for_another_reason_to_wait() -> None:
    assert not {"label", "driver-nodes", "toleration"} & {
        *kinds(mounting("new", "no such device", nodeSelector={"disks": "ssd"}))
    }


NOT_SHARED = "failed to provision: access mode MULTI_NODE_MULTI_WRITER is not supported"


@pytest.mark.parametrize(
    ("message", "mode", "others", "expected"),
    [
        (NOT_SHARED, "ReadWriteMany", (), ["claim-mode"]),
        (NOT_SHARED, "ReadWriteMany", ("nfs.csi.k8s.io",), ["claim-class", "claim-mode"]),
        ("NodePath only supports ReadWriteOnce and ReadWriteOncePod access modes", "ReadOnlyMany", (), ["claim-mode"]),
        ("quota of the project is used up", "ReadWriteMany", (), []),
        (NOT_SHARED, "ReadWriteOnce", (), []),
    ],
)
def test_a_claim_that_its_driver_refuses_for_its_access_mode(
    message: str, mode: str, others: tuple[str, ...], expected: list[str]
) -> None:
    classes = [
        {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": each.partition(".")[0]}}
        | {"provisioner": each, "volumeBindingMode": "WaitForFirstConsumer"}
        for each in ("disk.example", *others)
    ]
    spec = {"accessModes": [mode], "resources": {"requests": {"storage": "3Gi"}}, "storageClassName": "disk"}
    claim = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "papers", "namespace": "default"},
    }
    asks = pod("desk", volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": "papers"}}])
    event = ("PersistentVolumeClaim", "papers", "ProvisioningFailed", message)
    sim = snapshot(node("n"), *classes, {**claim, "spec": spec}, asks, events=(event,))
    assert [each for each in kinds(find_fixes(sim, "default/desk")) if each.startswith("claim-")] == expected


@pytest.mark.parametrize(
    ("annotation", "names"),
    [
        ('[{"key": "spot", "operator": "Exists"}]', {"node.kubernetes.io/not-ready:NoExecute"}),
        ("no list", set()),
        ("{}", set()),
    ],
)
def test_tolerations_that_a_namespace_does_not_allow_are_named_where_its_annotation_can_be_read(
    annotation: str, names: set[str]
) -> None:
    meta = {"name": "mill", "annotations": {"scheduler.alpha.kubernetes.io/tolerationsWhitelist": annotation}}
    sim = Simulation()
    sim.apply(ApplyObjects(({"apiVersion": "v1", "kind": "Namespace", "metadata": meta},)))
    named = set(list_disallowed(sim, pod("p"), "mill")[1])
    assert names <= named
    assert bool(names) is bool(named)


@pytest.mark.parametrize(("kind", "offered"), [("StatefulSet", True), ("DaemonSet", False)])
def test_the_pod_that_a_pod_has_to_be_beside_is_deleted_where_it_comes_again_elsewhere(
    kind: str, offered: bool
) -> None:
    near = {"labelSelector": {"matchLabels": {"app": "help"}}, "topologyKey": "kubernetes.io/hostname"}
    waits = pod("p", affinity={"podAffinity": {NAMED: [near]}})
    template = {"containers": [{"name": "c", "image": "i"}]}
    owner = workload(kind, "help", {"app": "help"}, {}, template=template, **({"replicas": 1} if offered else {}))
    partner = owned(on("a", "help-0"), kind, "help", app="help")
    sim = snapshot({**node("a"), "spec": {"unschedulable": True}}, node("b"), owner, partner, waits)
    fixes = [fix for fix in find_fixes(sim, "default/p") if fix.kind == "delete"]
    assert [fix.node for fix in fixes] == (["b"] if offered else [])


GONE = {"deletionTimestamp": "2025-12-31T23:00:00Z", "finalizers": ["acme.io/cleanup"]}


def test_a_namespace_is_let_go_by_its_own_finalizer() -> None:
    home = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team", **GONE}}
    (found,) = find_fixes(snapshot(node("a"), pod("q"), home), "Namespace/team")
    assert (found.kind, found.proven) == ("finalizer", True)


def test_a_volume_is_let_go_by_what_is_still_attached() -> None:
    source = {
        "csi": {"driver": "d", "volumeHandle": "v"},
        "capacity": {"storage": "1Gi"},
        "accessModes": ["ReadWriteOnce"],
    }
    volume = {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "pv", **GONE}, "spec": source}
    spec = {"attacher": "d", "nodeName": "a", "source": {"persistentVolumeName": "pv"}}
    meta = {"name": "va", **GONE}
    attached = {"apiVersion": "storage.k8s.io/v1", "kind": "VolumeAttachment", "metadata": meta, "spec": spec}
    found = find_fixes(snapshot(node("a"), pod("q"), volume, attached), "PersistentVolume/pv")
    assert "volumeattachment va" in found[0].kubectl


def test_a_drain_goes_on_when_the_pod_that_does_not_end_is_let_go() -> None:
    kept = on("a", "p")
    kept["metadata"] |= GONE
    found = find_fixes(snapshot({**node("a"), "spec": {"unschedulable": True}}, kept), "Node/a")
    assert kinds(found) == ["finalizer"]


def test_a_failed_job_is_made_anew_so_that_its_pods_stay() -> None:
    template = {"restartPolicy": "OnFailure", "containers": [{"name": "c", "image": "i"}]}
    failed = {"conditions": [{"type": "Failed", "status": "True", "reason": "BackoffLimitExceeded"}]}
    meta, spec = {"name": "etl", "namespace": "default"}, {"template": {"spec": template}, "backoffLimit": 3}
    job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": meta, "spec": spec, "status": failed}
    found = find_fixes(snapshot(node("a"), job), "Job/default/etl")
    assert [fix.changes[0].values["to"] for fix in found if fix.kind == "job-anew"] == ["Never"]


def test_a_pod_is_kept_off_a_control_plane_node_without_a_taint() -> None:
    first = node("cp", labels={"node-role.kubernetes.io/control-plane": ""})
    found = find_fixes(snapshot(first, node("b"), on("cp", "p")), "default/p")
    assert [fix.node for fix in found if fix.kind == "harden"] == ["b"]


CLAIMED = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "data", "namespace": "default"}}
ASKS = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}, "storageClassName": "fast"}


def test_a_claim_that_has_lost_its_volume_is_made_anew() -> None:
    lost = {**CLAIMED, "spec": {**ASKS, "volumeName": "pv"}, "status": {"phase": "Lost"}}
    (found,) = find_fixes(snapshot(node("a"), pod("q"), lost), "PersistentVolumeClaim/default/data")
    assert (found.kind, found.proven, "volumeName" in found.kubectl) == ("claim-anew", True, False)


@pytest.mark.parametrize(("used", "offered"), [(False, ["detach"]), (True, [])])
def test_a_volume_that_its_driver_does_not_delete_is_detached_where_no_pod_uses_it(
    used: bool, offered: list[str]
) -> None:
    ref = {"kind": "PersistentVolumeClaim", "namespace": "default", "name": "data", "uid": "1"}
    source = {
        "csi": {"driver": "d", "volumeHandle": "v"},
        "capacity": {"storage": "1Gi"},
        "accessModes": ["ReadWriteOnce"],
    }
    policy = {"persistentVolumeReclaimPolicy": "Delete", "claimRef": ref, "storageClassName": "fast"}
    volume = {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "pv"}, "spec": {**source, **policy}}
    spec = {"attacher": "d", "nodeName": "a", "source": {"persistentVolumeName": "pv"}}
    made = {"apiVersion": "storage.k8s.io/v1", "kind": "VolumeAttachment", "metadata": {"name": "va"}, "spec": spec}
    uses = [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}]
    user = [on("a", "p", volumes=uses)] if used else [pod("q")]
    sim = snapshot(node("a"), {**volume, "status": {"phase": "Released"}}, made, *user)
    assert kinds(find_fixes(sim, "PersistentVolume/pv")) == []
    place = {"involvedObject": {"kind": "PersistentVolume", "name": "pv"}, "metadata": {}}
    record_events(sim, [{**place, "type": "Warning", "reason": "VolumeFailedDelete", "message": "still attached"}])
    assert kinds(find_fixes(sim, "PersistentVolume/pv")) == offered


@pytest.mark.parametrize(("others", "offered"), [(("b",), ["b"]), ((), [])])
def test_a_pod_that_its_node_cannot_start_is_made_again_on_another_node(
    others: tuple[str, ...], offered: list[str]
) -> None:
    template = {"containers": [{"name": "c", "image": "i"}]}
    owner = workload("ReplicaSet", "web", {"app": "web"}, {}, template=template, replicas=1)
    held = owned(pod("web-1", nodeName="a"), "ReplicaSet", "web", app="web")
    waiting = {"reason": "CreateContainerError", "message": "no space left on device"}
    states = [{"name": "c", "state": {"waiting": waiting}}]
    held["status"] = {"phase": "Pending", "containerStatuses": states}
    sim = snapshot(node("a"), *map(node, others), owner, held, steps=0)
    found = [fix for fix in find_fixes(sim, "default/web-1") if "kubectl cordon a" in fix.kubectl]
    assert [fix.node for fix in found] == offered


def test_the_new_pod_of_a_deleted_one_competes_in_a_snapshot() -> None:
    labels = {"app": "batch"}
    made = workload("ReplicaSet", "batch", labels, {"replicas": 1}, replicas=1, template=pod("t", "1")["spec"])
    rest = workload("ReplicaSet", "lost", {"app": "lost"}, {"replicas": 3}, replicas=3, template=pod("t", "1")["spec"])
    holder = owned(on("a", "batch-x", "1"), "ReplicaSet", "batch", **labels)
    sim = snapshot(node("a", cpu="1"), made, rest, holder, pod("p", "1"))
    found = next(fix for fix in find_fixes(sim, "default/p") if fix.kind == "free")
    # The ReplicaSet makes its pod anew, which waits; the other one, whose pods the dump has lost, makes none.
    assert [(effect.kind, effect.pod, effect.to) for effect in found.effects] == [("replaced", "default/batch-x", "")]
    assert found.disturbance == "displaces"


TAINTED = {"spec": {"taints": [{"key": "team", "value": "b", "effect": "NoSchedule"}]}}


def test_a_resize_that_waits_is_taken_back_and_another_teams_nodes_are_left_to_it() -> None:
    grown, has = on("a", "grown", "5"), {"cpu": "3"}
    grown["status"] |= {
        "conditions": [{"type": "PodResizePending", "status": "True", "reason": "Deferred"}],
        "containerStatuses": [{"name": "c", "allocatedResources": has, "resources": {"requests": has}}],
    }
    theirs = {**node("b", cpu="8"), **TAINTED}
    found = find_fixes(snapshot(node("a", cpu="6"), theirs, grown, on("a", "rest", "2"), pod("p", "1")), "default/p")
    kinds = [fix.kind for fix in found]
    assert kinds[0] == "resize"
    assert kinds.index("node") < kinds.index("toleration")


def test_nodes_that_the_pod_selects_are_its_own_in_spite_of_their_taint() -> None:
    ours = {**node("b", cpu="8", labels={"pool": "b"}), **TAINTED}
    found = find_fixes(snapshot(node("a"), ours, pod("p", "1", nodeSelector={"pool": "b"})), "default/p")
    assert found[0].kind == "toleration"


def test_what_waits_for_a_deletion_may_be_rolled_out_by_another_strategy() -> None:
    labels = {"app": "agent"}
    status = {"desiredNumberScheduled": 1, "currentNumberScheduled": 1, "updatedNumberScheduled": 0}
    template = pod("t", "1")["spec"]
    template["containers"][0]["image"] = "app:v2"
    made = workload("DaemonSet", "agent", labels, status, template=template, updateStrategy={"type": "OnDelete"})
    old = owned(on("a", "agent-x", "1"), "DaemonSet", "agent", **labels)
    found = find_fixes(snapshot(node("a"), made, old), "DaemonSet/default/agent")
    assert [fix.kind for fix in found] == ["next-revision", "update-strategy"]
    assert found[1].kubectl.endswith("""-p '{"spec": {"updateStrategy": {"type": "RollingUpdate"}}}'""")


def test_a_taint_that_nobody_puts_back_is_taken_off_the_only_node() -> None:
    control = {"spec": {"taints": [{"key": "node-role.kubernetes.io/control-plane", "effect": "NoSchedule"}]}}
    found = find_fixes(snapshot({**node("a"), **control}, pod("p", "1")), "default/p")
    assert {"toleration", "taint"} <= set(kinds(found))
    silent = {"spec": {"taints": [{"key": "node.kubernetes.io/unreachable", "effect": "NoSchedule"}]}}
    found = find_fixes(snapshot({**node("a"), **silent}, pod("p", "1")), "default/p")
    assert "taint" not in kinds(found)
