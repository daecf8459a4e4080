"""Fixes of what is around a pod: topology keys, replicas, classes, slices, bounds, names, webhooks, in small clusters."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_core.analysis.fixes import Budget, Findings, Fix, find_fixes, search_fixes
from scheduler_core.analysis.fixes.fix import HARMLESS
from scheduler_core.analysis.fixes.shell import read_calls, run_call
from scheduler_core.world.commands import ApplyObjects, PatchObject, Ref
from scheduler_core.world.simulation import Simulation
from tests.scheduler_core.analysis.fixes.test_missing import DRIVER, claim
from tests.scheduler_core.analysis.fixes.test_shell import workload
from tests.scheduler_core.worlds import node, pod, scheduler_alone, settle, world

ZONE, HOSTNAME = "topology.kubernetes.io/zone", "kubernetes.io/hostname"
WAITS = "WaitForFirstConsumer"
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


WEBHOOK = make(
    "ValidatingWebhookConfiguration",
    "policy",
    "admissionregistration.k8s.io/v1",
    webhooks=[{"name": "policy.example.com", "failurePolicy": "Fail"}, {"name": "other", "failurePolicy": "Fail"}],
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
    assert '"policy.example.com", "failurePolicy": "Ignore"}, {"name": "other", "failurePolicy": "Fail"}' in fix.kubectl


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
    sim = ending_in(90)
    short = search(sim, Budget())
    assert short.cut
    assert "wait" not in {fix.kind for fix in short.fixes}
    fix = {each.kind: each for each in search(sim, Budget().lengthen()).fixes}["wait"]
    assert 80 < fix.time / 60e9 < 100


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
