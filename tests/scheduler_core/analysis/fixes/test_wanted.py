"""Fixes of what is around a pod: topology keys, replicas, classes, slices, bounds, names, webhooks, in small clusters."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest

from scheduler_core.analysis.explain import list_problems
from scheduler_core.analysis.fixes import Budget, Findings, Fix, find_fixes, search_fixes
from scheduler_core.analysis.fixes.fix import HARMLESS
from scheduler_core.analysis.fixes.shell import read_calls, run_call
from scheduler_core.world.commands import ApplyObjects, DeleteObjects, PatchObject, Ref
from scheduler_core.world.simulation import Simulation
from tests.scheduler_core.analysis.fixes.test_missing import DRIVER, claim
from tests.scheduler_core.analysis.fixes.test_shell import workload
from tests.scheduler_core.worlds import node, pod, scheduler_alone, settle, world

ZONE, HOSTNAME = "topology.kubernetes.io/zone", "kubernetes.io/hostname"
WAITS = "WaitForFirstConsumer"
HOUR = 3600 * 10**9
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def make(kind: str, name: str, version: str = "v1", namespace: str = "", **body: Any) -> dict[str, Any]:
    meta = {"name": name, **({"namespace": namespace} if namespace else {})}
    return {"apiVersion": version, "kind": kind, "metadata": meta, **body}


def deployed(replicas: int = 1, cpu: str = "1", **spec: Any) -> dict[str, Any]:
    deployment = workload("Deployment", "web", replicas, cpu)
    deployment["spec"]["template"]["spec"] |= spec
    return deployment


def apart(key: str, what: str = "podAntiAffinity", app: str = "web") -> dict[str, Any]:
    return {what: {REQUIRED: [{"labelSelector": {"matchLabels": {"app": app}}, "topologyKey": key}]}}


def make_spread(key: str) -> list[dict[str, Any]]:
    selector = {"matchLabels": {"app": "web"}}
    return [{"maxSkew": 1, "topologyKey": key, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": selector}]


def zoned(name: str, zone: str, cpu: str = "4") -> dict[str, Any]:
    return node(name, cpu, labels={ZONE: zone})


def running(name: str, app: str, on: str, cpu: str = "1", **spec: Any) -> dict[str, Any]:
    manifest = pod(name, cpu, nodeName=on, **spec)
    return {**manifest, "metadata": {**manifest["metadata"], "labels": {"app": app}}}


def in_namespace(namespace: str, manifest: dict[str, Any]) -> dict[str, Any]:
    return {**manifest, "metadata": {**manifest["metadata"], "namespace": namespace}}


def near_in_namespaces(labels: dict[str, str]) -> dict[str, Any]:
    affinity = apart(HOSTNAME, "podAffinity", "db")
    affinity["podAffinity"][REQUIRED][0]["namespaceSelector"] = {"matchLabels": labels}
    return affinity


def watching() -> dict[str, Any]:
    (request,) = claim("any")["spec"]["devices"]["requests"]
    every = {"deviceClassName": "gpu", "allocationMode": "All", "adminAccess": True}
    return {"devices": {"requests": [{**request, "exactly": every}]}}


def tainted(taint: dict[str, Any]) -> dict[str, Any]:
    return {**node("a"), "spec": {"taints": [taint]}}


def offering(name: str, resource: str) -> dict[str, Any]:
    manifest = node(name)
    for each in manifest["status"].values():
        each[resource] = "4Gi"
    return manifest


def asking(resource: str) -> dict[str, Any]:
    amounts = {"cpu": "100m", resource: "2Gi"}
    return {"name": "c", "image": "x", "resources": {"requests": amounts, "limits": amounts}}


TAINT = {"key": "dedicated", "value": "ml", "effect": "NoSchedule"}
ELSEWHERE = {"selectors": [{"cel": {"expression": "device.driver == 'other.driver.io'"}}]}
KATA = make("RuntimeClass", "kata", "node.k8s.io/v1", handler="kata", overhead={"podFixed": {"cpu": "3"}})
OTHER_DRIVER = {"selectors": [{"cel": {"expression": "device.driver == 'gpu.exmaple.com'"}}]}
HOST_PORT = [{"name": "c", "image": "x", "ports": [{"containerPort": 443, "hostPort": 443}]}]
GPU = [{"name": "gpu", "resourceClaimName": "one"}]

# The objects, the kind of fix that is wanted, and a part of its calls.
WAITING: dict[str, tuple[list[dict[str, Any]], str, str]] = {
    "a key that is misspelt": (
        [zoned("a", "za"), deployed(topologySpreadConstraints=make_spread(f"{ZONE}s"))],
        "topology-key",
        f'"topologyKey": "{ZONE}"',
    ),
    "a key by its old name": (
        [
            zoned("a", "za"),
            running("db", "db", "a"),
            deployed(affinity=apart("failure-domain.beta.kubernetes.io/zone", "podAffinity", "db")),
        ],
        "topology-key",
        f'"topologyKey": "{ZONE}"',
    ),
    "near, and not on the very node": (
        [
            zoned("a", "za", "2"),
            zoned("b", "za"),
            running("db", "db", "a", "2"),
            deployed(affinity=apart(HOSTNAME, "podAffinity", "db")),
        ],
        "topology",
        f'"topologyKey": "{ZONE}"',
    ),
    "kept apart by old pods of its own": (
        [zoned("a", "za"), zoned("b", "za"), deployed(2, affinity=apart(ZONE))],
        "topology+recreate-strategy",
        '"type": "Recreate"',
    ),
    "more replicas than nodes": (
        [node("a"), deployed(2, affinity=apart(HOSTNAME))],
        "fewer-replicas",
        "scale deployment web -n default --replicas=1",
    ),
    "more replicas than host ports": ([node("a"), deployed(2, containers=HOST_PORT)], "fewer-replicas", "--replicas=1"),
    "more overhead than room": (
        [node("a"), KATA, deployed(cpu="2", runtimeClassName="kata")],
        "overhead",
        'patch runtimeclass kata --type=merge -p \'{"overhead": {"podFixed": {"cpu": "2"}}}\'\nkubectl delete pod web-',
    ),
    "a class of a driver that is misspelt": (
        [node("a"), {**DRIVER[0], "spec": OTHER_DRIVER}, DRIVER[1], claim("one"), deployed(resourceClaims=GPU)],
        "driver-name",
        "device.driver == '\"'\"'gpu.example.com",
    ),
    "a class of a driver that is not there": (
        [node("a"), {**DRIVER[0], "spec": ELSEWHERE}, DRIVER[1], claim("one"), deployed(resourceClaims=GPU)],
        "driver-name",
        "device.driver == '\"'\"'gpu.example.com",
    ),
    "a toleration of another effect": (
        [tainted(TAINT), deployed(tolerations=[{**TAINT, "effect": "NoExecute"}])],
        "toleration-effect",
        '"effect": "NoSchedule"',
    ),
    "a namespace without the label that is asked for": (
        [
            make("Namespace", "data"),
            node("a"),
            in_namespace("data", running("db", "db", "a")),
            deployed(affinity=near_in_namespaces({"team": "data"})),
        ],
        "namespace-label",
        "kubectl label namespace data team=data",
    ),
    "huge pages of another size": (
        [offering("a", "hugepages-2Mi"), deployed(containers=[asking("hugepages-1Gi")])],
        "resource-name",
        '"hugepages-2Mi": "2Gi"',
    ),
    "a taint of a maintenance that is over": (
        [tainted({"key": "example.com/maintenance", "effect": "NoSchedule"}), deployed()],
        "taint-left",
        "kubectl taint node a example.com/maintenance:NoSchedule-",
    ),
    "a node without slices": (
        [node("a", "2"), node("b"), *DRIVER, running("q", "q", "a", "2"), claim("one"), deployed(resourceClaims=GPU)],
        "slices",
        "nodeName: b",
    ),
}


@pytest.mark.parametrize("case", WAITING)
def test_what_is_around_a_pod_that_waits_is_changed(case: str) -> None:
    objects, kind, text = WAITING[case]
    sim = world(*objects)
    settle(sim)
    key = next(each.key for each in sim.store.pods() if not each.node_name)
    fix = {each.kind: each for each in find_fixes(sim, key)}[kind]
    assert text in fix.kubectl
    assert bool(fix.node) is (kind != "fewer-replicas")


HOOK = {
    "clientConfig": {"url": "https://hooks.example.com"},
    "sideEffects": "None",
    "admissionReviewVersions": ["v1"],
    "failurePolicy": "Fail",
}
WEBHOOK = make(
    "ValidatingWebhookConfiguration",
    "policy",
    "admissionregistration.k8s.io/v1",
    webhooks=[{"name": f"{name}.example.com", **HOOK} for name in ("policy", "other")],
)
REFUSED = {
    "type": "ReplicaFailure",
    "status": "True",
    "reason": "FailedCreate",
    "message": 'Internal error occurred: failed calling webhook "policy.example.com": connection refused',
}
LONG = "n" * 60


def missing(*objects: dict[str, Any]) -> Simulation:
    sim = world(*objects)
    sim.run(steps=300)
    return sim


def never_created() -> Simulation:
    replicas = workload("ReplicaSet", "web", 1, "1")
    return scheduler_alone(node("a"), WEBHOOK, {**replicas, "status": {"replicas": 0, "conditions": [REFUSED]}})


PER_POD = make("LimitRange", "pods", namespace="default", spec={"limits": [{"type": "Pod", "max": {"cpu": "2"}}]})
TWO = [
    {"name": n, "image": "x", "resources": {"requests": {"cpu": c}, "limits": {"cpu": c}}}
    for n, c in (("x", "500m"), ("y", "2"))
]


def test_a_runtime_class_that_is_missing_is_made_or_left_out() -> None:
    sim = missing(node("a"), deployed(runtimeClassName="gvisor"))
    found = [fix.kind for fix in find_fixes(sim, "default/web-*")]
    assert found == ["runtime-class-made", "runtime-class-left"]


def test_a_limit_range_of_pods_gives_way_or_the_largest_container_does() -> None:
    sim = missing(node("a"), PER_POD, deployed(containers=TWO))
    bound, limits = find_fixes(sim, "default/web-*")[::-1]
    assert bound.changes[0].values | {"limitRange": "pods", "from": "2", "to": "2500m"} == bound.changes[0].values
    assert limits.kubectl.endswith("-c y --limits=cpu=1500m --requests=cpu=1500m")


def test_a_stateful_set_with_a_long_name_gets_a_shorter_one() -> None:
    sim = missing(node("a"), workload("StatefulSet", LONG, cpu="1", serviceName="db"))
    (fix,) = find_fixes(sim, f"default/{LONG}-*")
    assert (fix.kind, fix.changes[0].values["to"], fix.pod) == ("name", LONG[:52], f"default/{LONG[:52]}-0")


def test_a_webhook_that_does_not_answer_is_passed_by_and_others_stay() -> None:
    (fix,) = find_fixes(never_created(), "default/web-*")
    assert (fix.kind, fix.node) == ("failure-policy", "a")
    policies = re.findall(r'"name": "(\w+)\.example\.com".*?"failurePolicy": "(\w+)"', fix.kubectl)
    assert policies == [("policy", "Ignore"), ("other", "Fail")]


def ranked(*objects: dict[str, Any]) -> list[Fix]:
    sim = world(*objects)
    settle(sim)
    return find_fixes(sim, next(each.key for each in sim.store.pods() if not each.node_name))


def test_a_machine_of_a_new_kind_comes_after_less_and_one_of_a_kind_that_is_there_before() -> None:
    kinds = [fix.kind for fix in ranked(node("a"), deployed(cpu="12"))]
    assert kinds.index("request") < kinds.index("node")
    kinds = [fix.kind for fix in ranked(node("a"), deployed(2, cpu="3"))]
    assert kinds.index("node") < kinds.index("request")


def test_fewer_replicas_come_after_all_that_keeps_them() -> None:
    fixes = ranked(node("a"), deployed(2, affinity=apart(HOSTNAME)))
    first, fewer = fixes[0], next(fix for fix in fixes if fix.kind == "fewer-replicas")
    assert (first.kind, first.disturbance in HARMLESS, fewer.disturbance) == ("node", True, "displaces")


def test_a_zone_that_is_not_there_is_the_last_resort() -> None:
    fixes = ranked(zoned("a", "za"), deployed(2, topologySpreadConstraints=[{**make_spread(ZONE)[0], "minDomains": 2}]))
    assert "min-domains" in {fix.kind for fix in fixes}
    assert all(fix.kind != "node" or fix.changes[0].values["like"] for fix in fixes)


def test_a_bound_claim_of_a_dump_without_uids_is_not_lost_in_a_proof() -> None:
    once = ["ReadWriteOncePod"]
    volume = {"capacity": {"storage": "1Gi"}, "accessModes": once, "storageClassName": "x", "hostPath": {"path": "/x"}}
    reference = {"claimRef": {"kind": "PersistentVolumeClaim", "namespace": "default", "name": "solo"}}
    asked = {"accessModes": once, "resources": {"requests": {"storage": "1Gi"}}, "storageClassName": "x"}
    bound = make("PersistentVolumeClaim", "solo", namespace="default", spec={**asked, "volumeName": "v"})
    bound["metadata"]["annotations"] = {"pv.kubernetes.io/bind-completed": "yes"}
    uses = [{"name": "data", "persistentVolumeClaim": {"claimName": "solo"}}]
    sim = scheduler_alone(
        node("a"),
        make("StorageClass", "x", "storage.k8s.io/v1", provisioner="csi.example.com", volumeBindingMode=WAITS),
        {**make("PersistentVolume", "v", spec={**volume, **reference}), "status": {"phase": "Bound"}},
        {**bound, "status": {"phase": "Bound"}},
        running("first", "q", "a", volumes=uses),
        pod("second", volumes=uses),
    )
    settle(sim)
    found = {fix.kind: fix for fix in find_fixes(sim, "default/second")}
    assert (found["free"].node, found["free"].kubectl) == ("a", "kubectl delete pod first -n default")
    assert "solo-2" in found["claim-beside"].kubectl


def test_what_admission_writes_itself_is_taken_out_of_the_template() -> None:
    high = make("PriorityClass", "high", "scheduling.k8s.io/v1", value=1000)
    found = [fix.kubectl for fix in find_fixes(missing(node("a"), high, deployed(priority=1000)), "default/web-*")]
    assert any('{"priority": null}' in text for text in found)
    assert any('{"priority": null, "priorityClassName": "high"}' in text for text in found)
    sim = missing(node("a"), KATA, deployed(runtimeClassName="kata", overhead={"cpu": "1"}))
    assert '{"overhead": null}' in find_fixes(sim, "default/web-*")[0].kubectl


def test_a_job_without_parallelism_gets_some() -> None:
    job = make("Job", "sweep", "batch/v1", "default", spec={"parallelism": 0, "template": pod("any")})
    job["spec"]["template"] = {"spec": {**pod("any")["spec"], "restartPolicy": "Never"}}
    (fix,) = [each for each in find_fixes(missing(node("a"), job), "Job/default/sweep") if each.kind == "replicas"]
    assert (fix.node, '"parallelism": 1' in fix.kubectl) == ("a", True)


def test_a_number_that_holds_a_workload_back_is_changed() -> None:
    template = {"spec": {**pod("any")["spec"], "restartPolicy": "Never"}}
    often = {"schedule": "* * * * *", "startingDeadlineSeconds": 5, "jobTemplate": {"spec": {"template": template}}}
    sim = scheduler_alone(node("a"), make("CronJob", "ping", "batch/v1", "default", spec=often))
    (fix,) = find_fixes(sim, "CronJob/default/ping")
    assert (fix.kind, '"startingDeadlineSeconds": 60' in fix.kubectl) == ("field", True)
    numbered = workload("StatefulSet", "db", 1, "1")
    numbered["spec"] |= {"serviceName": "db", "ordinals": {"start": 5}}
    sim = missing(node("a"), numbered)
    for key, call, where in (("db-0", '"ordinals": {"start": 0}', "a"), ("db-6", '"replicas": 2', "a")):
        (fix,) = find_fixes(sim, f"default/{key}")
        assert (fix.kind, call in fix.kubectl, fix.node) == ("field", True, where)
    slow = deployed()
    slow["spec"] |= {"minReadySeconds": 300}
    sim = world(node("a"), slow)
    while sim.due(60_000_000_000):
        sim.advance()
    found = {fix.kind: fix for fix in find_fixes(sim, "Deployment/default/web")}
    assert '"minReadySeconds": 0' in found["field"].kubectl


def test_a_pod_of_another_operating_system_gets_a_selector_and_a_node() -> None:
    (fix,) = ranked_placed(node("a", labels={"kubernetes.io/os": "linux"}), pod("p", os={"name": "windows"}))
    assert (fix.kind, "kubernetes.io/os: windows" in fix.kubectl) == ("os+node", True)
    both = [node(name, labels={"kubernetes.io/os": system}) for name, system in (("a", "linux"), ("w", "windows"))]
    fixes = ranked_placed(*both, pod("p", os={"name": "windows"}, nodeName="a"))
    assert (fixes[0].kind, fixes[0].node) == ("os", "w")


def ranked_placed(*objects: dict[str, Any]) -> list[Fix]:
    sim = scheduler_alone(*objects)
    sim.run(steps=60)
    return find_fixes(sim, "default/p")


def test_memory_in_thousandths_of_a_byte_becomes_mebibytes() -> None:
    tiny = pod("p")
    tiny["spec"]["containers"][0]["resources"] = {"limits": {"memory": "512m"}}
    fix = {each.kind: each for each in ranked_placed(node("a"), tiny)}["unit"]
    assert (fix.node, "memory: 512Mi" in fix.kubectl, "512m" in fix.kubectl) == ("a", True, False)


def test_a_pod_older_than_its_class_gets_the_value_of_the_class_when_it_is_made_anew() -> None:
    high = make("PriorityClass", "high", "scheduling.k8s.io/v1", value=10)
    sim = scheduler_alone(node("a"), high, running("q", "q", "a", "3"), pod("p", "2", priorityClassName="high"))
    settle(sim)
    sim.apply(DeleteObjects((Ref("PriorityClass", "", "high"),)))
    sim.apply(ApplyObjects(({**high, "value": 1000},)))
    fix = {each.kind: each for each in find_fixes(sim, "default/p")}.get("recreate")
    assert fix is None or "priority: 10" not in fix.kubectl


def test_what_a_webhook_denies_is_not_retried() -> None:
    said = {**REFUSED, "message": 'admission webhook "policy.example.com" denied the request: no such registry'}
    replicas = workload("ReplicaSet", "web", 1, "1")
    sim = scheduler_alone(node("a"), {**replicas, "status": {"replicas": 0, "conditions": [said]}})
    (only,) = find_fixes(sim, "default/web-*")
    assert (only.kind, only.proven, only.commands) == ("outside", False, ())


def test_a_request_given_up_comes_after_what_keeps_it() -> None:
    kinds = [fix.kind for fix in ranked(gpus("a", 1), gpus("b", 1), *numbered_gpus())]
    assert kinds.index("selector") < kinds.index("request")


def gpus(name: str, count: int) -> dict[str, Any]:
    manifest = node(name, labels={HOSTNAME: name})
    for each in manifest["status"].values():
        each["example.com/gpu"] = str(count)
    return manifest


def numbered_gpus() -> list[dict[str, Any]]:
    amounts = {"cpu": "1", "example.com/gpu": "1"}
    box = [{"name": "c", "image": "x", "resources": {"requests": amounts, "limits": amounts}}]
    return [pod("first", containers=box, nodeName="a"), pod("second", containers=box, nodeSelector={HOSTNAME: "a"})]


def test_a_device_is_let_go_although_a_file_by_hand_lacks_the_finalizer() -> None:
    held = claim("held")
    result = {"request": "gpu", "driver": "gpu.example.com", "pool": "a", "device": "gpu-0"}
    user = {"resource": "pods", "name": "q", "uid": "u-q"}
    held["status"] = {"allocation": {"devices": {"results": [result]}}, "reservedFor": [user]}
    holder = running("q", "q", "a", resourceClaims=[{"name": "gpu", "resourceClaimName": "held"}])
    holder = {**holder, "metadata": {**holder["metadata"], "uid": "u-q"}, "status": {"phase": "Running"}}
    sim = scheduler_alone(node("a"), *DRIVER, held, holder, claim("one"), pod("p", resourceClaims=GPU))
    settle(sim)
    found = {fix.kind: fix for fix in find_fixes(sim, "default/p")}
    assert (found["free"].node, found["free"].kubectl) == ("a", "kubectl delete pod q -n default")


def test_a_namespace_gets_the_label_that_a_claim_with_admin_access_wants() -> None:
    key = "resource.kubernetes.io/admin-access"
    namespace = make("Namespace", "mon")
    labelled = {**namespace, "metadata": {"name": "mon", "labels": {key: "true"}}}
    template = make("ResourceClaimTemplate", "watch", "resource.k8s.io/v1", "mon", spec={"spec": watching()})
    probe = pod("probe", resourceClaims=[{"name": "gpu", "resourceClaimTemplateName": "watch"}])
    sim = world(labelled, node("a"), *DRIVER, template)
    sim.apply(PatchObject(Ref("Namespace", "", "mon"), {"metadata": {"labels": {key: None}}}, type="merge"))
    sim.apply(ApplyObjects((in_namespace("mon", probe),)))
    settle(sim)
    fix = {each.kind: each for each in find_fixes(sim, "mon/probe")}["namespace-label"]
    assert (fix.node, fix.kubectl) == ("a", f"kubectl label namespace mon {key}=true --overwrite")


def test_labels_that_a_template_and_its_runtime_class_select_differently_by_leave_one_of_them() -> None:
    kata = make("RuntimeClass", "kata", "node.k8s.io/v1", handler="kata", scheduling={"nodeSelector": {"box": "kata"}})
    sim = missing(
        node("a", labels={"box": "kata"}), kata, deployed(runtimeClassName="kata", nodeSelector={"box": "no"})
    )
    fix = find_fixes(sim, "default/web-*")[0]
    assert (fix.kind, '{"nodeSelector": {"box": null}}' in fix.kubectl) == ("left-to-admission", True)


def test_node_selectors_of_a_template_and_its_namespace_that_contradict_each_other_leave_one_of_them() -> None:
    text = "pod node label selector conflicts with its namespace node label selector"
    space = make("Namespace", "default")
    space["metadata"]["annotations"] = {"scheduler.alpha.kubernetes.io/node-selector": "env=dev, box=a"}
    replicas = workload("ReplicaSet", "web", 1, "1")
    replicas["spec"]["template"]["spec"]["nodeSelector"] = {"env": "prod", "box": "a"}
    status = {"replicas": 0, "conditions": [{**REFUSED, "message": text}]}
    sim = scheduler_alone(node("a", labels={"env": "prod", "box": "a"}), space, {**replicas, "status": status})
    found = {fix.kind: fix.kubectl for fix in find_fixes(sim, "default/web-*")}
    assert "node-selector=env=prod, box=a'" in found["field"]
    assert '{"nodeSelector": {"env": null}}' in found["selector"]
    (told,) = [fact for each in list_problems(sim) for fact in each.facts if fact.code == "SelectorsConflict"]
    assert (told.values["own"], told.values["theirs"]) == ("env=prod", "env=dev")


def test_a_daemon_set_asks_for_a_label_as_the_nodes_have_it() -> None:
    daemons = {**deployed(nodeSelector={"role/cp": ""}), "kind": "DaemonSet"}
    del daemons["spec"]["replicas"]
    sim = missing(node("a", labels={"role/cp": "true"}), daemons)
    first = find_fixes(sim, "DaemonSet/default/web")[0]
    assert (first.kind, first.changes[0].values["to"]) == ("selector-value", "role/cp=true")
    assert any(each.pod == "DaemonSet/default/web" for each in list_problems(sim))


def test_no_machine_is_in_two_zones() -> None:
    term = {"matchExpressions": [{"key": "topology.disk.example/zone", "operator": "In", "values": ["z2"]}]}
    source = {"csi": {"driver": "disk.example", "volumeHandle": "v"}, "claimRef": {"namespace": "default", "name": "c"}}
    shape = {"accessModes": ["ReadWriteOnce"], "storageClassName": ""}
    volume = make("PersistentVolume", "v", spec={**shape, **source, "capacity": {"storage": "1Gi"}})
    volume["spec"]["nodeAffinity"] = {"required": {"nodeSelectorTerms": [term]}}
    asked = {**shape, "resources": {"requests": {"storage": "1Gi"}}, "volumeName": "v"}
    data = [{"name": "data", "persistentVolumeClaim": {"claimName": "c"}}]
    zones = (("a", "z1"), ("b", "z2"))
    nodes = [node(name, labels={ZONE: zone, "topology.disk.example/zone": zone}) for name, zone in zones]
    asks = pod("p", volumes=data, nodeSelector={ZONE: "z1"})
    sim = missing(*nodes, volume, make("PersistentVolumeClaim", "c", namespace="default", spec=asked), asks)
    assert "node" not in {fix.kind for fix in find_fixes(sim, "default/p")}


def test_a_stateful_set_gets_the_images_of_its_old_revision_back() -> None:
    new = workload("StatefulSet", "db", 2, "1")
    new["metadata"]["uid"], new["spec"]["serviceName"] = "u-db", "db"
    new["spec"]["template"]["spec"]["containers"][0]["image"] = "typo"
    waiting = [{"name": "c", "state": {"waiting": {"reason": "ImagePullBackOff"}}}]
    owner = [{"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "db", "uid": "u-db", "controller": True}]
    pods = []
    for number, (revision, image, ready) in enumerate((("old", "app:v1", "True"), ("new", "typo", "False"))):
        each = running(f"db-{number}", "web", "a")
        labels = {**new["spec"]["selector"]["matchLabels"], "controller-revision-hash": revision}
        each["metadata"] |= {"ownerReferences": owner, "uid": f"u-{number}", "labels": labels}
        each["spec"]["containers"][0]["image"] = image
        each["status"] = {"phase": "Running", "conditions": [{"type": "Ready", "status": ready}]}
        each["status"] |= {"containerStatuses": waiting} if ready == "False" else {}
        pods.append(each)
    (fix,) = find_fixes(scheduler_alone(node("a"), new, *pods), "StatefulSet/default/db")
    assert (fix.kind, '"image": "app:v1"' in fix.kubectl, "delete pod db-1" in fix.kubectl) == ("undo", True, True)


def test_a_claim_that_a_quota_refuses_is_foreseen_and_the_quota_raised() -> None:
    quota = make("ResourceQuota", "disk", namespace="default", spec={"hard": {"requests.storage": "8Gi"}})
    quota["status"] = {"hard": {"requests.storage": "8Gi"}, "used": {"requests.storage": "5Gi"}}
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "5Gi"}}, "storageClassName": "x"}
    other = make("PersistentVolumeClaim", "other", namespace="default", spec={**spec, "volumeName": "v"})
    other["status"] = {"phase": "Bound"}
    owner = workload("StatefulSet", "db", 1, "1")
    owner["spec"] |= {"serviceName": "db", "volumeClaimTemplates": [{"metadata": {"name": "data"}, "spec": spec}]}
    owner["status"] = {"replicas": 0}
    made = make("StorageClass", "x", "storage.k8s.io/v1", provisioner="csi.example.com", volumeBindingMode=WAITS)
    sim = scheduler_alone(node("a"), made, quota, other, owner)
    told = {each.pod: each.state for each in list_problems(sim)}
    assert told["default/db-*"] == "QuotaExceeded"
    assert '"requests.storage": "10Gi"' in find_fixes(sim, "StatefulSet/default/db")[0].kubectl


def test_a_surge_that_a_quota_refuses_gives_way_as_well_as_the_quota() -> None:
    quota = make("ResourceQuota", "one", namespace="default", spec={"hard": {"pods": "1"}})
    sim = missing(node("a"), quota, deployed())
    image = {"spec": {"containers": [{"name": "c", "image": "new"}]}}
    sim.apply(PatchObject(Ref("Deployment", "default", "web"), {"spec": {"template": image}}, type="strategic"))
    sim.run(steps=300)
    newest = sim.store.list("ReplicaSet")[-1]["metadata"]["name"]
    names = {each["metadata"]["name"] for each in sim.store.list("ReplicaSet")}
    found = [
        fix.kind
        for name in sorted(names, key=lambda each: each != newest)
        for fix in find_fixes(sim, f"default/{name}-*")
    ]
    assert {"quota", "rollout"} <= set(found)


def ending_in(minutes: int) -> Simulation:
    """A world read from a dump, in which q is ending and p waits for its place."""
    slow = running("q", "q", "a", "4", terminationGracePeriodSeconds=60 * minutes)
    hours, rest = divmod(minutes, 60)
    ends = {"deletionTimestamp": f"2026-01-01T{hours:02}:{rest:02}:00Z", "deletionGracePeriodSeconds": 60 * minutes}
    meta = {**slow["metadata"], **ends, "uid": "u-q", "creationTimestamp": "2026-01-01T00:00:00Z"}
    sim = scheduler_alone(node("a"))
    ending = {**slow, "metadata": meta, "status": {"phase": "Running"}}
    sim.apply(ApplyObjects((ending, pod("p", "4")), stopped=()))
    while sim.due(1_000_000_000):
        sim.advance()
    return sim


def search(sim: Simulation, budget: Budget) -> Findings:
    running = search_fixes(sim, "default/p", budget, found=(told := []).append)
    while True:
        try:
            next(running)
        except StopIteration as end:
            findings: Findings = end.value
            assert len(told) >= len(findings.fixes)
            return findings


def test_what_takes_hours_is_proven_on_request() -> None:
    sim = ending_in(245)
    short = search(sim, Budget())
    assert short.cut
    assert "wait" not in {fix.kind for fix in short.fixes}
    fix = {each.kind: each for each in search(sim, replace(Budget().lengthen(), proof_time=6 * HOUR)).fixes}["wait"]
    assert 240 < fix.time / 60e9 < 255


def test_an_end_that_is_known_is_waited_for_without_a_request() -> None:
    fix = search(ending_in(90), Budget()).fixes[0]
    assert fix.kind == "wait"
    assert 80 < fix.time / 60e9 < 100


def test_a_wait_of_an_hour_is_proven_after_what_takes_less() -> None:
    found: list[Fix] = []
    for _ in search_fixes(ending_in(90), "default/p", Budget(), lambda: False, found.append):
        pass
    assert [fix.kind for fix in found].index("wait") > 0


@pytest.mark.parametrize(("since", "kind"), [("20:00", "force-delete"), ("23:00", "force-delete"), ("23:59", "wait")])
def test_a_pod_that_a_kubelet_could_not_end_so_far_does_not_end_by_itself(since: str, kind: str) -> None:
    slow, there = running("q", "q", "a", "4"), node("a")
    ready = {"type": "Ready", "status": "True", "lastTransitionTime": f"2025-12-31T{since}:45Z"}
    there["status"] = {**there["status"], "conditions": [ready]}
    ends = {"deletionTimestamp": "2025-12-31T22:00:00Z", "deletionGracePeriodSeconds": 30, "uid": "u-q"}
    ending = {**slow, "metadata": {**slow["metadata"], **ends}, "status": {"phase": "Running"}}
    sim = scheduler_alone()
    sim.apply(ApplyObjects((there, ending, pod("p", "4")), stopped=()))
    assert find_fixes(sim, "default/p")[0].kind == kind


def test_a_search_ends_at_its_first_fix_where_that_is_all_that_is_asked_for() -> None:
    found: list[Fix] = []
    for _ in search_fixes(ending_in(1), "default/p", Budget(), lambda: bool(found), found.append):
        pass
    assert len(found) == 1


def place_of(sim: Simulation, key: str) -> str:
    """The node of a pod's last attempt, or its own."""
    found, index = sim.store.pod_at(key), sim.journal.last_attempt.get(key)
    if found is None or found.node_name or index is None:
        return "" if found is None else found.node_name
    return sim.journal.attempts[index].node


@pytest.mark.parametrize("case", WAITING)
def test_what_a_fix_prints_has_the_outcome_that_it_promises(case: str) -> None:
    sim = world(*WAITING[case][0])
    settle(sim)
    key = next(each.key for each in sim.store.pods() if not each.node_name)
    fixes = [fix for fix in find_fixes(sim, key) if not fix.held_back]
    assert fixes
    for fix in fixes:
        twin, commands = sim.fork(), []
        for call in read_calls(fix.kubectl):
            for command, _ in run_call(twin, call):
                twin.apply(command)
                commands.append(command)
                for _ in range(fix.pauses[len(commands) - 1]):
                    twin.advance()
        for _ in range(fix.steps):
            twin.advance()
        assert tuple(commands) == fix.commands, fix.kind
        assert place_of(twin, fix.pod) == fix.node, fix.kind
