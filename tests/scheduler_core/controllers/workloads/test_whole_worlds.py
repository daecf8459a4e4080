"""Workloads among all other components: worlds as the corpus writes them."""

import pytest

from scheduler_core.testing.conformance.worlds.run import run_world

ALIVE = {"metadata.deletionTimestamp": {"absent": True}}
CLASS = {
    "apiVersion": "storage.k8s.io/v1",
    "kind": "StorageClass",
    "metadata": {"name": "fast"},
    "provisioner": "example.com/csi",
    "volumeBindingMode": "WaitForFirstConsumer",
}
CLAIM = {
    "metadata": {"name": "data"},
    "spec": {
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": "fast",
        "resources": {"requests": {"storage": "1Gi"}},
    },
}
QUOTA = {
    "apiVersion": "v1",
    "kind": "ResourceQuota",
    "metadata": {"name": "q", "namespace": "default"},
    "spec": {"hard": {"pods": "2"}},
}


def node(name):
    amounts = {"cpu": "4", "memory": "8Gi", "pods": "110"}
    labels = {"kubernetes.io/hostname": name}
    status = {"capacity": amounts, "allocatable": amounts}
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}, "status": status}


def workload(kind, name="a", **spec):
    pod = {"containers": [{"name": "c", "image": "i"}]}
    selected = {"selector": {"matchLabels": {"app": "a"}}}
    version = "apps/v1"
    if kind == "Job":
        pod, selected, version = {**pod, "restartPolicy": "Never"}, {}, "batch/v1"
    template = {"metadata": {"labels": {"app": "a"}}, "spec": pod}
    metadata = {"name": name, "namespace": "default"}
    return {
        "apiVersion": version,
        "kind": kind,
        "metadata": metadata,
        "spec": {**selected, "template": template, **spec},
    }


def at(time, *expect, **do):
    return {"at": f"{time}s", **({"do": do} if do else {}), "expect": list(expect)}


def count(kind, number, where=None):
    of = {"kind": kind, **({"labelSelector": "app=a"} if kind == "Pod" else {})}
    return {"count": {**of, **({"where": where} if where else {})}, "is": number}


def is_(target, path, value):
    return {"object": target, "path": path, "is": value}


def runs(seconds, code=0, pods="app=a"):
    return {"pods": pods, "runs": [{"for": f"{seconds}s", "exit": code}]}


FIRST, SECOND = (f"batch.kubernetes.io/job-completion-index={index}" for index in (0, 1))
JOB, DEPLOYMENT = "Job/default/a", "Deployment/default/a"
WORLDS = {
    "claims go with the pods that are too many, and with their StatefulSet": (
        [
            node("n1"),
            CLASS,
            workload(
                "StatefulSet",
                serviceName="a",
                replicas=3,
                volumeClaimTemplates=[CLAIM],
                persistentVolumeClaimRetentionPolicy={"whenScaled": "Delete", "whenDeleted": "Delete"},
            ),
        ],
        [],
        [
            at(60, count("PersistentVolumeClaim", 3)),
            at(61, scale={"object": "StatefulSet/default/a", "replicas": 1}),
            at(150, count("PersistentVolumeClaim", 1), count("Pod", 1)),
            at(151, delete={"object": "StatefulSet/default/a"}),
            at(260, count("PersistentVolumeClaim", 0), count("Pod", 0)),
        ],
    ),
    "a quota holds pods up, which is told, until it is raised": (
        [node("n1"), QUOTA, workload("Deployment", replicas=5)],
        [],
        [
            at(30, count("Pod", 2), is_(DEPLOYMENT, "status.conditions[type=ReplicaFailure].reason", "FailedCreate")),
            at(31, patch={"object": "ResourceQuota/default/q", "patch": {"spec": {"hard": {"pods": "9"}}}}),
            at(130, count("Pod", 5)),
        ],
    ),
    "orphans are adopted by another ReplicaSet": (
        [node("n1"), workload("ReplicaSet", replicas=3)],
        [],
        [
            at(20, delete={"object": "ReplicaSet/default/a", "propagationPolicy": "Orphan"}),
            at(40, count("Pod", 3), count("ReplicaSet", 0)),
            at(41, create=workload("ReplicaSet", "b", replicas=2)),
            at(90, count("Pod", 2), count("Pod", 2, {"metadata.ownerReferences[0].name": "b"})),
        ],
    ),
    "a Job that is deleted while it runs goes with its pods": (
        [node("n1"), workload("Job", parallelism=2, completions=2)],
        [runs(500)],
        [at(20, delete={"object": JOB, "propagationPolicy": "Foreground"}), at(90, count("Job", 0), count("Pod", 0))],
    ),
    "an evicted pod of a Job is replaced and counts as failed": (
        [node("n1"), workload("Job", backoffLimit=3)],
        [runs(30)],
        [
            at(10, evict={"pod": {"labelSelector": "app=a"}}),
            at(25, is_(JOB, "status.failed", 1)),
            at(100, is_(JOB, "status.conditions[type=Complete].status", "True")),
        ],
    ),
    "pods of a lost node are replaced by a Deployment": (
        [node("n1"), node("n2"), node("n3"), workload("Deployment", replicas=6)],
        [],
        [at(20, stopKubelet="n1"), at(480, count("Pod", 6, {"status.phase": "Running", **ALIVE}))],
    ),
    "an index that fails too often fails the Job once the others are done": (
        [node("n1"), workload("Job", parallelism=3, completions=3, completionMode="Indexed", backoffLimitPerIndex=1)],
        [runs(2, 1, SECOND), runs(5)],
        [
            at(
                100,
                is_(JOB, "status.failedIndexes", "1"),
                is_(JOB, "status.completedIndexes", "0,2"),
                is_(JOB, "status.conditions[type=Failed].reason", "FailedIndexes"),
            )
        ],
    ),
    "a success policy ends the other pods": (
        [
            node("n1"),
            workload(
                "Job",
                parallelism=3,
                completions=3,
                completionMode="Indexed",
                successPolicy={"rules": [{"succeededIndexes": "0"}]},
            ),
        ],
        [runs(5, 0, FIRST), runs(500)],
        [
            at(
                60,
                is_(JOB, "status.conditions[type=Complete].reason", "SuccessPolicy"),
                count("Pod", 0, {"status.phase": "Running"}),
            )
        ],
    ),
    "a deleted Deployment takes its ReplicaSets and pods along": (
        [node("n1"), workload("Deployment", replicas=3)],
        [],
        [at(20, delete={"object": DEPLOYMENT}), at(60, count("ReplicaSet", 0), count("Pod", 0))],
    ),
}


@pytest.mark.parametrize("name", WORLDS)
def test_a_world(name):
    objects, programs, steps = WORLDS[name]
    settings = {"provisioners": ["example.com/csi"]}
    scenario = {"name": name, "settings": settings, "objects": objects, "programs": programs, "steps": steps}
    assert run_world(scenario) is None
