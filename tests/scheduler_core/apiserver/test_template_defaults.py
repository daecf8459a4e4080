"""Pod templates get the API's defaults when a workload is stored, whichever kind it is."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_core.apiserver.object_defaults import _OF_TYPES, with_template_defaults, without_template_defaults
from scheduler_core.apiserver.schema.table import fields
from scheduler_core.world.commands import ApplyObjects, PatchObject, Ref
from scheduler_core.world.simulation import Simulation
from tests.scheduler_core.worlds import node, settle

LABELS = {"app": "web"}
SELECTOR = {"matchLabels": LABELS}
CLAIM = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}, "storageClassName": "fast"}
CONTAINER = {
    "name": "c",
    "image": "registry:5000/web",
    "ports": [{"containerPort": 80}],
    "env": [{"name": "NODE", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}}],
    "readinessProbe": {"httpGet": {"port": 80}},
    "livenessProbe": {"grpc": {"port": 81}, "periodSeconds": 5},
    "lifecycle": {"preStop": {"httpGet": {"port": 80, "path": "/bye"}}},
    "resources": {"limits": {"cpu": "1"}},
}
VOLUMES = {
    "nothing": {},
    "host": {"hostPath": {"path": "/data"}},
    "secret": {"secret": {"secretName": "s", "defaultMode": 0}},
    "config": {"configMap": {"name": "c"}},
    "token": {"projected": {"sources": [{"serviceAccountToken": {"path": "token"}}]}},
    "own": {"ephemeral": {"volumeClaimTemplate": {"spec": CLAIM}}},
}
TEMPLATE = {
    "metadata": {"labels": LABELS},
    "spec": {"containers": [CONTAINER], "volumes": [{"name": name, **source} for name, source in VOLUMES.items()]},
}
OF_A_SPEC = {
    "dnsPolicy": "ClusterFirst",
    "restartPolicy": "Always",
    "securityContext": {},
    "terminationGracePeriodSeconds": 30,
    "schedulerName": "default-scheduler",
}
PROBE = {"timeoutSeconds": 1, "periodSeconds": 10, "successThreshold": 1, "failureThreshold": 3}


def job(spec: dict[str, Any]) -> dict[str, Any]:
    return {"template": {**spec["template"], "spec": {**spec["template"]["spec"], "restartPolicy": "Never"}}}


def daemons(spec: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in spec.items() if name != "replicas"}


SPEC = {"replicas": 1, "selector": SELECTOR, "template": TEMPLATE}
WORKLOADS = {
    ("apps/v1", "Deployment"): (SPEC, ("spec", "template")),
    ("apps/v1", "ReplicaSet"): (SPEC, ("spec", "template")),
    ("apps/v1", "StatefulSet"): ({**SPEC, "serviceName": "s"}, ("spec", "template")),
    ("apps/v1", "DaemonSet"): (daemons(SPEC), ("spec", "template")),
    ("v1", "ReplicationController"): ({**SPEC, "selector": LABELS}, ("spec", "template")),
    ("batch/v1", "Job"): (job(SPEC), ("spec", "template")),
    ("batch/v1", "CronJob"): (
        {"schedule": "0 0 1 1 *", "jobTemplate": {"spec": job(SPEC)}},
        ("spec", "jobTemplate", "spec", "template"),
    ),
}


def world(*objects: dict[str, Any]) -> Simulation:
    sim = Simulation(seed=1)
    sim.apply(ApplyObjects(objects))
    return sim


def template_of(sim: Simulation, kind: str, way: tuple[str, ...]) -> dict[str, Any]:
    value: Any = sim.store.get(kind, "default", "web")
    for name in way:
        value = value[name]
    return dict(value)


def workload(version: str, kind: str, spec: dict[str, Any]) -> dict[str, Any]:
    return {"apiVersion": version, "kind": kind, "metadata": {"name": "web"}, "spec": spec}


@pytest.mark.parametrize(("of", "told"), WORKLOADS.items(), ids=[kind for _, kind in WORKLOADS])
def test_every_workload_s_template_is_stored_with_the_api_s_defaults(
    of: tuple[str, str], told: tuple[Any, Any]
) -> None:
    spec, way = told
    found = template_of(world(workload(*of, spec)), of[1], way)["spec"]
    given = spec["jobTemplate"]["spec"] if of[1] == "CronJob" else spec
    expected = OF_A_SPEC | {name: value for name, value in given["template"]["spec"].items() if name in OF_A_SPEC}
    assert {name: found[name] for name in OF_A_SPEC} == expected
    (container,) = found["containers"]
    assert container["imagePullPolicy"] == "Always"
    assert container["terminationMessagePath"] == "/dev/termination-log"
    assert container["terminationMessagePolicy"] == "File"
    assert container["ports"] == [{"containerPort": 80, "protocol": "TCP"}]
    assert container["env"][0]["valueFrom"]["fieldRef"] == {"fieldPath": "spec.nodeName", "apiVersion": "v1"}
    assert container["readinessProbe"] == {"httpGet": {"port": 80, "path": "/", "scheme": "HTTP"}, **PROBE}
    assert container["livenessProbe"] == {"grpc": {"port": 81, "service": ""}, **PROBE, "periodSeconds": 5}
    assert container["lifecycle"]["preStop"]["httpGet"] == {"port": 80, "path": "/bye", "scheme": "HTTP"}
    volumes = {volume["name"]: volume for volume in found["volumes"]}
    assert volumes["nothing"] == {"name": "nothing", "emptyDir": {}}
    assert volumes["host"]["hostPath"] == {"path": "/data", "type": ""}
    assert volumes["secret"]["secret"]["defaultMode"] == 0
    assert volumes["config"]["configMap"]["defaultMode"] == 0o644
    (source,) = volumes["token"]["projected"]["sources"]
    assert source["serviceAccountToken"] == {"path": "token", "expirationSeconds": 3600}
    assert volumes["own"]["ephemeral"]["volumeClaimTemplate"]["spec"]["volumeMode"] == "Filesystem"


def test_requests_do_not_follow_from_limits_in_a_template_but_in_its_pods() -> None:
    sim = world(node("a"), workload("apps/v1", "Deployment", SPEC))
    kept = template_of(sim, "Deployment", ("spec", "template"))
    assert kept["spec"]["containers"][0]["resources"] == {"limits": {"cpu": "1"}}
    settle(sim)
    (made,) = [pod for pod in sim.store.pods() if pod.labels.get("app") == "web"]
    assert made.manifest["spec"]["containers"][0]["resources"]["requests"] == {"cpu": "1"}
    assert made.manifest["spec"]["dnsPolicy"] == "ClusterFirst"


@pytest.mark.parametrize(
    ("image", "policy"),
    [
        ("web", "Always"),
        ("web:latest", "Always"),
        ("registry:5000/web", "Always"),
        ("registry:5000/web:v1", "IfNotPresent"),
        ("web@sha256:" + 64 * "0", "IfNotPresent"),
        ("web:latest@sha256:" + 64 * "0", "Always"),
        ("", "IfNotPresent"),
    ],
)
def test_an_image_is_pulled_each_time_if_its_tag_is_latest(image: str, policy: str) -> None:
    full = with_template_defaults({"template": {"spec": {"containers": [{"name": "c", "image": image}]}}})
    assert full["template"]["spec"]["containers"][0]["imagePullPolicy"] == policy


def test_what_is_written_stays_as_it_is() -> None:
    own = {
        "dnsPolicy": "Default",
        "restartPolicy": "OnFailure",
        "securityContext": {"runAsUser": 0},
        "terminationGracePeriodSeconds": 0,
        "schedulerName": "mine",
    }
    container = {
        "imagePullPolicy": "Never",
        "terminationMessagePath": "/log",
        "terminationMessagePolicy": "FallbackToLogsOnError",
    }
    spec = {"template": {"spec": {**own, "containers": [{"name": "c", "image": "i", **container}]}}}
    assert with_template_defaults(spec) == spec


def test_a_template_with_all_defaults_is_the_same_object() -> None:
    full = with_template_defaults(SPEC)
    assert with_template_defaults(full) is full and full != SPEC


def test_the_claims_of_a_stateful_set_are_defaulted_too() -> None:
    claims = [{"metadata": {"name": "data"}, "spec": CLAIM}]
    sim = world(workload("apps/v1", "StatefulSet", {**SPEC, "serviceName": "s", "volumeClaimTemplates": claims}))
    (claim,) = sim.store.get("StatefulSet", "default", "web")["spec"]["volumeClaimTemplates"]
    assert (claim["apiVersion"], claim["kind"]) == ("v1", "PersistentVolumeClaim")
    assert (claim["spec"]["volumeMode"], claim["status"]) == ("Filesystem", {"phase": "Pending"})


def test_a_patch_of_a_template_is_defaulted_too_and_defaults_roll_nothing_out() -> None:
    sim = world(node("a"), workload("apps/v1", "Deployment", SPEC))
    settle(sim)
    before = [each["metadata"]["name"] for each in sim.store.list("ReplicaSet")]
    sim.apply(PatchObject(Ref("Deployment", "default", "web"), {"spec": {"template": {"spec": OF_A_SPEC}}}))
    settle(sim)
    assert [each["metadata"]["name"] for each in sim.store.list("ReplicaSet")] == before
    more = {"spec": {"template": {"spec": {"volumes": None, "dnsPolicy": None}}}}
    sim.apply(PatchObject(Ref("Deployment", "default", "web"), more))
    assert template_of(sim, "Deployment", ("spec", "template"))["spec"]["dnsPolicy"] == "ClusterFirst"


def test_a_template_without_its_defaults_is_as_it_was_written() -> None:
    given = {"template": {"metadata": {"labels": LABELS}, "spec": {"containers": [CONTAINER]}}}
    assert without_template_defaults(with_template_defaults(given)) == {
        "template": {"metadata": {"labels": LABELS}, "spec": {"containers": [CONTAINER]}}
    }


def test_the_defaults_are_of_fields_that_there_are() -> None:
    assert all(name in fields(type_) for type_, defaults in _OF_TYPES.items() for name in defaults)
