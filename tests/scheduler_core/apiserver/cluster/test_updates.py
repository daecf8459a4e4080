"""What may not be changed in objects of other kinds, and what some kinds must not say."""

from __future__ import annotations

from typing import Any

import pytest

from tests.scheduler_core.apiserver.cluster.requests import api_server, make, pod, refusal

TEMPLATE = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "app"}]}}
WORKLOAD = {"selector": {"matchLabels": {"a": "b"}}, "template": TEMPLATE}
JOB = {"template": {**TEMPLATE, "spec": {**TEMPLATE["spec"], "restartPolicy": "Never"}}}
CLAIM = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}, "storageClassName": "x"}
VOLUME = {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/a"}}

OWNER = {"apiVersion": "v1", "kind": "Pod", "uid": "u", "controller": True}


def budget(**spec: Any) -> dict[str, Any]:
    return make("PodDisruptionBudget", "o", "default", "policy/v1", spec={"selector": {}, **spec})


def deployment(**spec: Any) -> dict[str, Any]:
    return make("Deployment", "o", "default", "apps/v1", spec={**WORKLOAD, **spec})


STATEFUL_SET = make("StatefulSet", "o", "default", "apps/v1", spec={**WORKLOAD, "serviceName": "s"})
FROZEN = make("ConfigMap", "o", "default", data={"a": "b"}, immutable=True)
STORAGE_CLASS = make("StorageClass", "o", api="storage.k8s.io/v1", provisioner="p")


@pytest.mark.parametrize(
    ("manifest", "change", "problem"),
    [
        (deployment(), {"spec": {"selector": {"matchLabels": {"c": "d"}}}}, "field is immutable"),
        (deployment(), {"spec": {"replicas": 3}}, ""),
        (STATEFUL_SET, {"spec": {"serviceName": "t"}}, "updates to statefulset spec for fields other than 'replicas'"),
        (STATEFUL_SET, {"spec": {"replicas": 2}}, ""),
        (make("Job", "o", "default", "batch/v1", spec=JOB), {"spec": {"completions": 4}}, "field is immutable"),
        (make("Job", "o", "default", "batch/v1", spec=JOB), {"spec": {"parallelism": 4}}, ""),
        (
            make("PersistentVolumeClaim", "o", "default", spec=CLAIM),
            {"spec": {"accessModes": []}},
            "spec is immutable after",
        ),
        (make("PersistentVolumeClaim", "o", "default", spec=CLAIM), {"spec": {"volumeName": "v"}}, ""),
        (
            make("PersistentVolume", "o", spec=VOLUME),
            {"spec": {"hostPath": {"path": "/b"}}},
            "is immutable after creation",
        ),
        (make("PersistentVolume", "o", spec=VOLUME), {"spec": {"capacity": {"storage": "2Gi"}}}, ""),
        (FROZEN, {"data": {"a": "c"}}, "data: Forbidden: field is immutable when `immutable` is set"),
        (FROZEN, {"immutable": None}, "immutable: Forbidden: field is immutable when `immutable` is set"),
        (FROZEN, {"metadata": {"labels": {"a": "b"}}}, ""),
        (make("Secret", "o", "default", type="a"), {"type": "b"}, "type: Invalid value"),
        (STORAGE_CLASS, {"provisioner": "q"}, "updates to provisioner are forbidden."),
        (
            make("Node", "o", spec={"providerID": "a"}),
            {"spec": {"providerID": "b"}},
            "node updates may not change providerID",
        ),
    ],
)
def test_changes(manifest: dict[str, Any], change: dict[str, Any], problem: str) -> None:
    api = api_server(manifest)
    key = (manifest["kind"], manifest["metadata"].get("namespace", ""), "o")
    message = refusal(lambda: api.patch(key, change)).message
    assert (problem in message) if problem else message == ""


@pytest.mark.parametrize(
    ("manifest", "problem"),
    [
        (budget(minAvailable=1, maxUnavailable=1), "minAvailable and maxUnavailable cannot be both set"),
        (budget(minAvailable="101%"), "must not be greater than 100%"),
        (budget(minAvailable=-1), "must be greater than or equal to 0"),
        (budget(maxUnavailable="half"), "a valid percent string"),
        (
            budget(minAvailable=1, unhealthyPodEvictionPolicy="Never"),
            'supported values: "AlwaysAllow", "IfHealthyBudget"',
        ),
        (deployment(selector={}), "empty selector is invalid for deployment"),
        (deployment(minReadySeconds=9, progressDeadlineSeconds=9), "must be greater than minReadySeconds"),
        (deployment(strategy={"type": "Recreate", "rollingUpdate": {"maxSurge": 1}}), "may not be specified when"),
        (
            deployment(strategy={"rollingUpdate": {"maxSurge": 0, "maxUnavailable": 0}}),
            "may not be 0 when `maxSurge` is 0",
        ),
        (make("RuntimeClass", "o", api="node.k8s.io/v1", handler="Kata_FC"), "handler: Invalid value"),
        (
            make("Lease", "o", "default", "coordination.k8s.io/v1", spec={"leaseDurationSeconds": 0}),
            "must be greater than 0",
        ),
        (
            make(
                "LimitRange", "o", "default", spec={"limits": [{"type": "Pod", "maxLimitRequestRatio": {"cpu": "0.5"}}]}
            ),
            "ratio 500m is less than 1",
        ),
        (
            make("CronJob", "o" * 53, "default", "batch/v1", spec={"schedule": "@daily", "jobTemplate": {"spec": JOB}}),
            "must be no more than 52 characters",
        ),
        (
            make(
                "CronJob",
                "o",
                "default",
                "batch/v1",
                spec={"schedule": "@daily", "timeZone": "local", "jobTemplate": {"spec": JOB}},
            ),
            "timeZone must be an explicit time zone",
        ),
    ],
)
def test_what_kube_refuses(manifest: dict[str, Any], problem: str) -> None:
    answer = refusal(lambda: api_server().create(manifest))
    assert (answer.code, problem in answer.message) == (422, True)


def test_an_object_that_is_going_gets_no_new_finalizers() -> None:
    api = api_server(make("ConfigMap", "c", "default", metadata={"finalizers": ["a.io/x"]}))
    key = ("ConfigMap", "default", "c")
    api.delete(key)
    change = {"metadata": {"finalizers": ["a.io/x", "a.io/y"]}}
    assert "no new finalizers can be added" in refusal(lambda: api.patch(key, change)).message


@pytest.mark.parametrize(
    ("meta", "problem"),
    [
        (
            {"ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "p"}]},
            "metadata.ownerReferences.uid: Invalid value",
        ),
        (
            {"ownerReferences": [{**OWNER, "name": "a"}, {**OWNER, "name": "b"}]},
            "Only one reference can have Controller set to true",
        ),
        ({"finalizers": ["a b"]}, "metadata.finalizers: Invalid value"),
        ({"finalizers": ["plain"]}, "name is neither a standard finalizer name nor is it fully qualified"),
        ({"finalizers": ["orphan", "foregroundDeletion"]}, "cannot be both set"),
        ({"annotations": {"a": "x" * 300_000}}, "metadata.annotations: Too long"),
    ],
)
def test_metadata_that_kube_refuses(meta: dict[str, Any], problem: str) -> None:
    answer = refusal(lambda: api_server().create(make("ConfigMap", "c", "default", metadata=meta)))
    assert (answer.code, problem in answer.message) == (422, True)


@pytest.mark.parametrize(("cost", "code"), [("-5", 200), ("2147483648", 422), ("1.5", 422), ("+1", 422), ("08", 422)])
def test_a_deletion_cost_is_a_32_bit_integer(cost: str, code: int) -> None:
    note = {"annotations": {"controller.kubernetes.io/pod-deletion-cost": cost}}
    assert refusal(lambda: api_server().create({**pod(), "metadata": {"name": "p", **note}})).code == code


def test_a_mirror_pod_is_on_a_node() -> None:
    mirror = {**pod(), "metadata": {"name": "p", "annotations": {"kubernetes.io/config.mirror": "x"}}}
    assert "must set spec.nodeName" in refusal(lambda: api_server().create(mirror)).message


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"name": "b"}, "the name of the object (b) does not match the name on the URL (a)"),
        ({"namespace": "b"}, "the namespace of the provided object does not match the namespace sent on the request"),
    ],
)
def test_a_patch_renames_nothing(change: dict[str, Any], problem: str) -> None:
    api = api_server(make("ConfigMap", "a", "default"))
    answer = refusal(lambda: api.patch(("ConfigMap", "default", "a"), {"metadata": change}))
    assert (answer.code, answer.message) == (400, problem)


def test_a_name_is_taken_until_its_object_is_gone() -> None:
    api = api_server(make("ConfigMap", "a", "default", metadata={"finalizers": ["a.io/x"]}))
    api.delete(("ConfigMap", "default", "a"))
    answer = refusal(lambda: api.create(make("ConfigMap", "a", "default")))
    assert answer.message == 'object is being deleted: configmaps "a" already exists'
