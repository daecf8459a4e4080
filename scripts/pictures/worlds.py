"""The worlds that are shown: a shop, pods that must go for another, binding cycles side by side, five thousand nodes, a rollout."""

from __future__ import annotations

import json
import lzma
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from playground.workbench.builder.manifests import HOSTNAME, ZONE
from scheduler_core.apimachinery.objects.manifest import MutableManifest

OPENB = Path(__file__).resolve().parents[2] / "examples/openb"
INFRA = {"key": "dedicated", "value": "infra", "effect": "NoSchedule"}
SPOT = {"key": "spot", "value": "true", "effect": "PreferNoSchedule"}


def node(
    name: str, cpu: str = "8", memory: str = "32Gi", taint: MutableManifest | None = None, **labels: str
) -> MutableManifest:
    """A node; its zone is the letter in its name."""
    capacity = {"cpu": cpu, "memory": memory, "pods": "110"}
    zone = f"zone-{name.split('-')[1][0]}"
    spec = {"taints": [taint]} if taint else {}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {HOSTNAME: name, ZONE: zone, **labels}},
        "spec": spec,
        "status": {"capacity": capacity, "allocatable": capacity},
    }


def pod(name: str, cpu: str = "1", memory: str = "1Gi", priority: int = 0, **spec: Any) -> MutableManifest:
    """A pod; its app is its name up to the last hyphen. `on` is the node that it runs on, `claim` the claim that it mounts."""
    on, claim, begun = spec.pop("on", ""), spec.pop("claim", ""), spec.pop("begun", 1)
    metadata = {"name": name, "labels": {"app": name.rpartition("-")[0] or name, **spec.pop("labels", {})}}
    metadata["annotations"] = spec.pop("annotations", {})
    container = {"name": "main", "image": "app:v1", "resources": {"requests": {"cpu": cpu, "memory": memory}}}
    if claim:
        container["volumeMounts"] = [{"name": "data", "mountPath": "/data"}]
        spec["volumes"] = [{"name": "data", "persistentVolumeClaim": {"claimName": claim}}]
    made: MutableManifest = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata,
        "spec": {"containers": [container], "priority": priority, **spec},
    }
    if on:
        made["spec"]["nodeName"] = on
        made["metadata"]["uid"] = f"ran-before-{name}"
        made["status"] = {"phase": "Running", "startTime": f"2026-01-01T00:00:{begun:02}Z"}
    return made


def shop() -> list[MutableManifest]:
    """Twelve nodes in three zones, each with something to say about api-4, and what runs on them."""
    small = {"pool": "general"}
    fast = {**small, "disktype": "ssd"}
    cordoned = node("node-a3", **small)
    cordoned["spec"] = {"unschedulable": True}
    return [
        node("node-a1", **small),
        node("node-a2", **small),
        cordoned,
        node("node-a4", **small),
        node("node-b1", **fast),
        node("node-b2", **fast),
        node("node-b3", taint=INFRA, **small),
        node("node-b4", **fast),
        node("node-c1", **fast),
        node("node-c2", taint=SPOT, **fast),
        node("node-c3", pool="batch"),
        node("node-c4", **small),
        pod("web-1", "2500m", "6Gi", on="node-a1"),
        pod("web-2", "4", "8Gi", on="node-a2"),
        pod("batch-1", "3", "8Gi", on="node-a2"),
        pod("batch-2", "5", "12Gi", on="node-a4"),
        pod("web-3", "2500m", "6Gi", on="node-b1"),
        pod("web-4", "3", "12Gi", on="node-b2"),
        pod("metrics-1", "2", "4Gi", on="node-b3"),
        pod("batch-3", "2500m", "6Gi", on="node-b4"),
        pod("api-3", "1500m", "3Gi", on="node-c1"),
        pod("web-6", "2", "4Gi", on="node-c1"),
        pod("cache-1", "2", "16Gi", on="node-c2"),
        pod("batch-4", "7", "20Gi", on="node-c4"),
    ]


def api(name: str) -> MutableManifest:
    """A pod of the shop that keeps away from others of its kind and would like a fast disk."""
    mine = {"labelSelector": {"matchLabels": {"app": "api"}}, "topologyKey": HOSTNAME}
    general = {"matchExpressions": [{"key": "pool", "operator": "In", "values": ["general"]}]}
    fast = {"matchExpressions": [{"key": "disktype", "operator": "In", "values": ["ssd"]}]}
    return pod(
        name,
        "1500m",
        "3Gi",
        100,
        affinity={
            "podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [mine]},
            "nodeAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [general]},
                "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 10, "preference": fast}],
            },
        },
        topologySpreadConstraints=[
            {
                "maxSkew": 1,
                "topologyKey": ZONE,
                "whenUnsatisfiable": "ScheduleAnyway",
                "labelSelector": {"matchLabels": {"app": "api"}},
            }
        ],
    )


def failing() -> MutableManifest:
    """A pod whose binding is to fail."""
    return pod("db-3", "1", "4Gi", 500)


def waiting() -> list[MutableManifest]:
    """Pods that nothing can be done for, and one that is gated."""
    return [
        *(pod(name, "1", "48Gi") for name in ("batch-5", "batch-6", "batch-11")),
        pod("train-2", "2", "4Gi", nodeSelector={"accelerator": "gpu"}),
        pod("report-1", schedulingGates=[{"name": "example.com/quota"}]),
    ]


def coming() -> list[MutableManifest]:
    """Pods that come when those wait."""
    return [
        pod("web-5", "1", "2Gi", 200),
        api("api-4"),
        pod("web-9", "1", "2Gi", 50),
        pod("batch-9", "2", "4Gi"),
        pod("batch-10", "2", "4Gi"),
    ]


def contested() -> list[MutableManifest]:
    """An urgent pod that four nodes could make room for, each at another price."""
    general = {"pool": "general"}
    return [
        _priority("critical", 2000),
        _priority("urgent", 1000),
        *(node(name, **general) for name in ("node-a1", "node-a2", "node-b1", "node-c2")),
        *(node(name, taint=INFRA, **general) for name in ("node-a3", "node-b3")),
        *(node(name, pool="batch") for name in ("node-b2", "node-c1", "node-c3")),
        pod("db-0", "4", priority=500, on="node-a1"),
        pod("cache-0", "2", priority=200, on="node-a1"),
        pod("batch-1", "1500m", on="node-a1"),
        pod("db-1", "6", priority=500, on="node-a2"),
        pod("batch-2", "1500m", on="node-a2"),
        pod("monitor-1", "1", priority=2000, on="node-b1"),
        pod("web-1", "2", priority=100, on="node-b1"),
        pod("batch-3", "2", on="node-b1"),
        pod("batch-4", "2", on="node-b1", begun=2),
        pod("web-2", "3", priority=100, on="node-c2"),
        pod("batch-5", "2", on="node-c2"),
        pod("batch-6", "2", on="node-c2", begun=7),
        {
            "apiVersion": "policy/v1",
            "kind": "PodDisruptionBudget",
            "metadata": {"name": "db", "namespace": "default"},
            "spec": {"minAvailable": 2, "selector": {"matchLabels": {"app": "db"}}},
            "status": {"disruptionsAllowed": 0},
        },
        pod("urgent", "3", "4Gi", 1000, nodeSelector=general),
    ]


def _priority(name: str, value: int) -> MutableManifest:
    return {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": name}, "value": value}


GANGS = {
    "apiVersion": "kubescheduler.config.k8s.io/v1",
    "kind": "KubeSchedulerConfiguration",
    "profiles": [
        {
            "schedulerName": "default-scheduler",
            "plugins": {"multiPoint": {"enabled": [{"name": "Coscheduling"}]}},
            "pluginConfig": [{"name": "Coscheduling", "args": {"permitWaitingTimeSeconds": 30}}],
        }
    ],
}


def bindings() -> list[MutableManifest]:
    """Pods whose binding cycles stand at different places: bound, failed, on their way, waiting for the rest of a gang."""
    gang = {"labels": {"scheduling.x-k8s.io/pod-group": "gang"}, "annotations": {"playground.dev/min-member": "3"}}
    return [
        *(node(name, "8") for name in ("node-a1", "node-b1", "node-b2", "node-b4", "node-c2")),
        pod("web-8", "2", priority=60),
        pod("api-9", "1500m", priority=50),
        pod("db-3", "4", priority=40),
        pod("gang-0", "1", priority=30, **gang),
        pod("gang-1", "1", priority=20, **gang),
        pod("api-4", "1500m", priority=10),
        pod("batch-9", "2", priority=5),
        pod("gang-2", "1", **gang),
    ]


def crowded() -> list[MutableManifest]:
    """Three nodes too small for one of four pods."""
    nodes = [node(name, cpu) for name, cpu in (("small-a", "2"), ("small-b", "2"), ("mid-c", "4"))]
    return [*nodes, *(pod(name, cpu) for name, cpu in (("web-1", "1"), ("big-1", "6"), ("web-2", "1"), ("web-3", "1")))]


def racks() -> list[MutableManifest]:
    """Three racks of three nodes, partly in use, and a group of five pods that has to be in one rack."""
    group = {"schedulingPolicy": {"gang": {"minCount": 5}}, "schedulingConstraints": {"topology": [{"key": "rack"}]}}
    free = {"a": (4, 2, 4), "b": (8, 8, 4), "c": (8, 4, 6)}
    return [
        *(node(f"node-{rack}{i}", "8", rack=f"rack-{rack}") for rack, cpus in free.items() for i in range(len(cpus))),
        *(
            pod(f"etl-{rack}{i}", str(8 - cpu), on=f"node-{rack}{i}")
            for rack, cpus in free.items()
            for i, cpu in enumerate(cpus)
            if cpu < 8
        ),
        {
            "apiVersion": "scheduling.k8s.io/v1beta1",
            "kind": "PodGroup",
            "metadata": {"name": "train", "namespace": "default"},
            "spec": group,
        },
        *(pod(f"train-{i}", "3", schedulingGroup={"podGroupName": "train"}) for i in range(5)),
    ]


def rollout(version: int) -> list[MutableManifest]:
    """A Deployment of four, at a version of its image."""
    return [
        *(node(name, "4") for name in ("node-a1", "node-b1", "node-c1")),
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": "web", "namespace": "default"},
            "spec": {
                "replicas": 4,
                "strategy": {"rollingUpdate": {"maxSurge": 1, "maxUnavailable": 1}},
                "selector": {"matchLabels": {"app": "web"}},
                "template": {
                    "metadata": {"labels": {"app": "web"}},
                    "spec": {
                        "containers": [
                            {
                                "name": "main",
                                "image": f"web:{version}",
                                "resources": {"requests": {"cpu": "1", "memory": "1Gi"}},
                            }
                        ]
                    },
                },
            },
        },
    ]


def large() -> Iterator[MutableManifest]:
    """Five thousand nodes in five zones and racks of 40, most of them in use, and pods that wait."""
    for i in range(5000):
        zone, rack, place = "abcde"[i // 1000], i // 40 % 25, i % 40
        name = f"node-{zone}{rack:02}-{place:02}"
        taint = INFRA if i % 13 == 5 else None
        yield node(name, "16", "64Gi", taint, rack=f"{zone}{rack:02}", pool="general" if i % 7 else "batch")
        cpu = (i * 7919) % 16
        if cpu:
            yield pod(f"web-{i}", str(cpu), f"{(i * 104729) % 48 + 1}Gi", on=name)
    for i in range(2000, 2300):
        yield pod(f"etl-{i}", "6", "12Gi", 100 * (i % 3), nodeSelector={"pool": "general"})


def openb(pods: int) -> Iterator[MutableManifest]:
    """The nodes of a real cluster, and the first of its pods as they came (examples/openb)."""
    for file, kind, most in (("nodes", "", 10_000), ("pods", "Pod", pods)):
        items = json.loads(lzma.decompress((OPENB / f"openb-{file}.json.xz").read_bytes()))["items"]
        counted = [each for each in items if not kind or each["kind"] == kind][:most]
        yield from [each for each in items if kind and each["kind"] != kind] + counted


PACKED = {
    "apiVersion": "kubescheduler.config.k8s.io/v1",
    "kind": "KubeSchedulerConfiguration",
    "profiles": [
        {
            "schedulerName": "default-scheduler",
            "pluginConfig": [
                {
                    "name": "NodeResourcesFit",
                    "args": {
                        "scoringStrategy": {
                            "type": "MostAllocated",
                            "resources": [{"name": "cpu", "weight": 1}, {"name": "memory", "weight": 1}],
                        }
                    },
                }
            ],
        }
    ],
}
