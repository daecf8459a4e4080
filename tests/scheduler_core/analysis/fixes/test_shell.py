"""The shell of proofs: what a fix prints is what was run, and each call does what kubectl does."""

from __future__ import annotations

import json
from typing import Any

import pytest

from scheduler_core.analysis.fixes import Fix, find_fixes
from scheduler_core.analysis.fixes.kubectl import carry_over
from scheduler_core.analysis.fixes.shell import read_calls, run_call
from scheduler_core.apiserver.status import Refused
from scheduler_core.world.commands import ApplyObjects
from scheduler_core.world.simulation import Simulation
from tests.scheduler_core.worlds import node, pod, settle, world


def workload(kind: str, name: str, replicas: int = 1, cpu: str = "6", **spec: Any) -> dict[str, Any]:
    labels = {"app": name}
    template = {"metadata": {"labels": labels}, "spec": pod("any", cpu=cpu)["spec"]}
    return {
        "apiVersion": "apps/v1",
        "kind": kind,
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"replicas": replicas, "selector": {"matchLabels": labels}, "template": template, **spec},
    }


def run(sim: Simulation, text: str) -> None:
    for call in read_calls(text):
        for command, _ in run_call(sim, call):
            sim.apply(command)


def brought_to_rest(*objects: dict[str, Any]) -> Simulation:
    sim = world(*objects)
    settle(sim)
    return sim


def fixes_of(sim: Simulation, prefix: str) -> dict[str, Fix]:
    key = next(p.key for p in sim.store.pods() if p.name.startswith(prefix) and not p.node_name)
    return {fix.kind: fix for fix in find_fixes(sim, key)}


CALLS = {
    "kubectl label node a disk=ssd": lambda sim: sim.store.node("a").labels["disk"] == "ssd",
    "kubectl label node a rack-": lambda sim: "rack" not in sim.store.node("a").labels,
    "kubectl taint node a gpu=yes:NoSchedule": lambda sim: str(sim.store.node("a").taints[0]) == "gpu=yes:NoSchedule",
    "kubectl cordon a": lambda sim: sim.store.node("a").manifest["spec"]["unschedulable"],
    "kubectl scale deployment web -n default --replicas=3": lambda sim: (
        sim.store.get("Deployment", "default", "web")["spec"]["replicas"] == 3
    ),
    "kubectl delete node a --wait=false": lambda sim: sim.store.node("a") is None,
    "kubectl annotate deployment web -n default note=x --overwrite": lambda sim: (
        sim.store.get("Deployment", "default", "web")["metadata"]["annotations"]["note"] == "x"
    ),
}


@pytest.mark.parametrize("text", CALLS)
def test_a_call_does_what_kubectl_does(text: str) -> None:
    sim = brought_to_rest(node("a", labels={"rack": "1"}), workload("Deployment", "web"))
    run(sim, text)
    assert CALLS[text](sim)


@pytest.mark.parametrize(
    "text", ["kubectl delete pod nobody -n default", "kubectl taint node a gpu=yes:NoSchedule-", "kubectl frob node a"]
)
def test_a_call_fails_as_kubectl_fails(text: str) -> None:
    with pytest.raises(Refused):
        run(brought_to_rest(node("a")), text)


def test_amounts_are_set_one_by_one_and_a_limit_that_stays_behind_is_found() -> None:
    asks = workload("Deployment", "web", cpu="1")
    asks["spec"]["template"]["spec"]["containers"][0]["resources"]["limits"] = {"cpu": "1", "memory": "1Gi"}
    sim = brought_to_rest(node("a"), asks)
    with pytest.raises(Refused, match="must be less than or equal to cpu limit"):
        run(sim, "kubectl set resources deployment web -n default -c c --requests=cpu=2")
    run(sim, "kubectl set resources deployment web -n default -c c --requests=cpu=2 --limits=cpu=2")
    made = sim.store.get("Deployment", "default", "web")["spec"]["template"]["spec"]["containers"][0]
    assert made["resources"] == {"requests": {"cpu": "2"}, "limits": {"cpu": "2", "memory": "1Gi"}}


def test_what_is_printed_is_what_was_run() -> None:
    sim = brought_to_rest(node("a"), workload("StatefulSet", "db", serviceName="db"), pod("q"))
    for fix in fixes_of(sim, "db").values():
        twin = sim.fork()
        commands = []
        for call in read_calls(fix.kubectl):
            for command, _ in run_call(twin, call):
                twin.apply(command)
                commands.append(command)
                for _ in range(fix.pauses[len(commands) - 1]):
                    twin.advance()
        assert tuple(commands) == fix.commands


@pytest.mark.parametrize("kind", ["StatefulSet", "Deployment", "ReplicaSet"])
def test_a_template_is_changed_and_the_pod_deleted_where_its_controller_would_wait_for_it(kind: str) -> None:
    spec = {"serviceName": "db"} if kind == "StatefulSet" else {}
    fix = fixes_of(brought_to_rest(node("a"), workload(kind, "db", **spec)), "db")["request"]
    calls = fix.kubectl.splitlines()
    assert calls[0] == f"kubectl set resources {kind.lower()} db -n default -c c --requests=cpu=4"
    assert (len(calls) == 2 and calls[1].startswith("kubectl delete pod db-")) is (kind != "Deployment")
    assert fix.node == "a"


def test_a_volume_that_a_claim_template_writes_over_is_not_changed_in_the_template() -> None:
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}, "storageClassName": "slow"}
    slow = {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": "slow"}}
    slow |= {"provisioner": "kubernetes.io/no-provisioner", "volumeBindingMode": "WaitForFirstConsumer"}
    other = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "spec": spec}
    template = {"metadata": {"name": "data"}, "spec": spec}
    database = workload("StatefulSet", "db", cpu="1", serviceName="db", volumeClaimTemplates=[template])
    sim = brought_to_rest(
        node("a"), slow, {**other, "metadata": {"name": "data-db-9", "namespace": "default"}}, database
    )
    assert all("volumes" not in fix.kubectl for fix in fixes_of(sim, "db").values())


def test_a_change_of_a_pod_is_carried_over_to_a_template_that_says_less() -> None:
    pod_before = {"tolerations": [{"key": "default"}], "containers": [{"name": "a", "image": "x", "env": [1]}]}
    pod_after = {
        "tolerations": [{"key": "default"}, {"key": "new"}],
        "containers": [{"name": "a", "image": "y", "env": [1]}],
    }
    carried = carry_over(pod_before, pod_after, {"containers": [{"name": "a", "image": "x"}]})
    assert carried == {"containers": [{"name": "a", "image": "y"}], "tolerations": pod_after["tolerations"]}
    assert json.dumps(carry_over(pod_before, pod_before, {"x": 1})) == '{"x": 1}'


def test_a_call_waits_until_what_it_deletes_is_gone() -> None:
    sim = brought_to_rest(node("a", cpu="2"), pod("q"), pod("p", cpu="1500m"))
    fix = fixes_of(sim, "p")["free"]
    assert fix.pauses[-1] > 0
    sim.apply(ApplyObjects((pod("other"),)))
