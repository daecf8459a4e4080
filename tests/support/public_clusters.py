"""Ten clusters in the shape of public setups, with names and values of our own, for the preview of an upgrade.

`python -m tests.support.public_clusters FOLDER` writes each as a List that kubectl would print. Rows are as short as they can be: a node
is (name, cpu, memory, pods, labels), a pod (name, how many, cpu, memory, node or "", more of its spec).
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

Manifest = dict[str, Any]
ZONE, HOST = "topology.kubernetes.io/zone", "kubernetes.io/hostname"


def make(kind: str, name: str, version: str = "v1", namespace: str = "", **fields: Any) -> Manifest:
    metadata = {"name": name, **({"namespace": namespace} if namespace else {}), **fields.pop("metadata", {})}
    return {"apiVersion": version, "kind": kind, "metadata": metadata, **fields}


def node(name: str, cpu: str, memory: str, pods: int = 110, taints: str = "", **more: Any) -> Manifest:
    amounts = {"cpu": cpu, "memory": memory, "pods": str(pods), **more.pop("extra", {})}
    labels = {HOST: name, "kubernetes.io/arch": "amd64", **more.pop("labels", {})}
    parts = [each.replace(":", "=").split("=") for each in taints.split()]
    spec = {"taints": [{"key": k, "value": v, "effect": e} for k, v, e in parts]} if parts else {}
    status = {"capacity": amounts, "allocatable": amounts, **more}
    return make("Node", name, metadata={"labels": labels}, spec=spec, status=status)


def pods(name: str, count: int, cpu: str, memory: str = "", on: Iterable[str] = (), **spec: Any) -> Iterator[Manifest]:
    """`on`: the nodes of the first pods; the others wait. `labels`, `requests` and `image` are not of the spec."""
    labels, places = {"app": name, **spec.pop("labels", {})}, [*on]
    requests = {"cpu": cpu, **({"memory": memory} if memory else {}), **spec.pop("requests", {})}
    extended = {key: value for key, value in requests.items() if "/" in key}
    resources = {"requests": requests, **({"limits": extended} if extended else {}), **spec.pop("resources", {})}
    container = {"name": "main", "image": spec.pop("image", f"registry.test/{name}:1"), "resources": resources}
    for number in range(count):
        bound = {"nodeName": places[number]} if number < len(places) else {}
        whole = {"containers": [container], **bound, **spec}
        yield make("Pod", f"{name}-{number}", namespace="default", metadata={"labels": labels}, spec=whole)


def make_spread(key: str, app: str, hard: bool = False) -> list[Manifest]:
    when = "DoNotSchedule" if hard else "ScheduleAnyway"
    selector = {"matchLabels": {"app": app}}
    return [{"maxSkew": 1, "topologyKey": key, "whenUnsatisfiable": when, "labelSelector": selector}]


def tolerate(*keys: str) -> list[Manifest]:
    return [{"key": key, "operator": "Exists"} for key in keys]


def daemons(name: str, nodes: list[str], cpu: str, memory: str) -> Iterator[Manifest]:
    yield from pods(name, len(nodes), cpu, memory, nodes, tolerations=[{"operator": "Exists"}])


def disk(name: str, zone: str, node: str) -> Iterator[Manifest]:
    """A claim that is bound to a volume of a zone, on a CSI driver."""
    reach = {
        "required": {"nodeSelectorTerms": [{"matchExpressions": [{"key": ZONE, "operator": "In", "values": [zone]}]}]}
    }
    common = {"accessModes": ["ReadWriteOnce"], "storageClassName": "fast"}
    source = {"csi": {"driver": "disk.test", "volumeHandle": name}, "nodeAffinity": reach}
    claim = {"claimRef": {"namespace": "default", "name": name}, "capacity": {"storage": "20Gi"}}
    yield make("PersistentVolume", name, spec={**common, **source, **claim})
    wanted = {"volumeName": name, "resources": {"requests": {"storage": "20Gi"}}}
    yield make("PersistentVolumeClaim", name, namespace="default", spec={**common, **wanted})


def kubeadm() -> Iterator[Manifest]:
    yield node("cp-1", "4", "7872Mi", taints="node-role.kubernetes.io/control-plane=:NoSchedule")
    workers = [f"worker-{n}" for n in "abcd"]
    yield from (node(name, "4", "15900Mi") for name in workers)
    yield from daemons("net", ["cp-1", *workers], "100m", "50Mi")
    yield from pods(
        "dns", 2, "100m", "70Mi", ["cp-1", "worker-a"], tolerations=tolerate("node-role.kubernetes.io/control-plane")
    )
    yield from pods("shop", 9, "500m", "512Mi", workers)
    yield from pods("report", 2, "3900m", "1Gi")


def eks() -> Iterator[Manifest]:
    names = [f"ip-10-0-{n}" for n in range(9)]
    for n, name in enumerate(names):
        yield node(
            name,
            "1930m",
            "7220184Ki",
            29,
            labels={ZONE: f"eu-1{'abc'[n % 3]}", "node.kubernetes.io/instance-type": "m5.large"},
        )
    yield from daemons("cni", names, "50m", "64Mi")
    yield from pods("api", 12, "400m", "700Mi", names[:6], topologySpreadConstraints=make_spread(ZONE, "api"))
    yield from pods("cache", 3, "200m", "2Gi", names[6:8])


def gke() -> Iterator[Manifest]:
    names = [f"pool-e2-{n}" for n in range(6)]
    yield from (node(name, "3920m", "13635712Ki", labels={"cloud.google.com/gke-nodepool": "e2"}) for name in names)
    yield from (
        node(f"spot-{n}", "3920m", "13635712Ki", taints="cloud.google.com/gke-spot=true:NoSchedule") for n in range(3)
    )
    yield from daemons("log", [*names, "spot-0", "spot-1", "spot-2"], "100m", "200Mi")
    yield from pods("front", 8, "250m", "1Gi", names[:4])
    yield from pods("crunch", 6, "1500m", "1Gi", tolerations=tolerate("cloud.google.com/gke-spot"))
    yield from pods("whole", 1, "5")


def aks() -> Iterator[Manifest]:
    names = [f"aks-user-vmss00000{n}" for n in range(5)]
    yield node("aks-system-vmss000000", "1900m", "4670384Ki", 110, "CriticalAddonsOnly=true:NoSchedule")
    yield from (
        node(name, "3860m", "12881200Ki", 30, labels={ZONE: f"west-{n % 3 + 1}"}) for n, name in enumerate(names)
    )
    yield from daemons("csi-disk", names, "30m", "60Mi")
    yield from pods(
        "orders", 6, "300m", "900Mi", names[:3], topologySpreadConstraints=make_spread(HOST, "orders", True)
    )


def gpu() -> Iterator[Manifest]:
    cards = {"extra": {"nvidia.com/gpu": "8"}, "taints": "nvidia.com/gpu=present:NoSchedule"}
    names = [f"dgx-{n}" for n in range(6)]
    yield from (node(name, "224", "2016Gi", labels={"nvidia.com/gpu.product": "H100"}, **cards) for name in names)
    yield from (node(f"cpu-{n}", "32", "125Gi") for n in range(2))
    may = tolerate("nvidia.com/gpu")
    yield from pods("train", 4, "96", "900Gi", names[:2], requests={"nvidia.com/gpu": "8"}, tolerations=may)
    yield from pods("infer", 7, "16", "64Gi", names[3:5], requests={"nvidia.com/gpu": "1"}, tolerations=may)
    yield from pods("notebook", 2, "4", "40Gi", requests={"nvidia.com/gpu": "9"}, tolerations=may)


def console() -> Iterator[Manifest]:
    """Masters, infra nodes with two taints, and workers."""
    infra = "node-role.kubernetes.io/infra=reserved:NoSchedule node-role.kubernetes.io/infra=reserved:NoExecute"
    yield from (
        node(f"master-{n}", "3500m", "14Gi", 250, "node-role.kubernetes.io/master=:NoSchedule") for n in range(3)
    )
    yield from (node(f"infra-{n}", "7500m", "30Gi", 250, infra, labels={"role": "infra"}) for n in range(2))
    yield from (node(f"work-{n}", "3500m", "14Gi", 250) for n in range(4))
    yield from pods(
        "router",
        2,
        "100m",
        "256Mi",
        nodeSelector={"role": "infra"},
        tolerations=tolerate("node-role.kubernetes.io/infra"),
    )
    yield from pods("registry", 1, "1", "2Gi", nodeSelector={"role": "infra"})
    yield from pods("tenant", 6, "700m", "1500Mi", ["work-0", "work-1"])


def edge() -> Iterator[Manifest]:
    yield from (node(f"pi-{n}", "4", "3794Mi", labels={"kubernetes.io/arch": "arm64"}) for n in range(4))
    yield node("server", "8", "32Gi", images=[{"names": ["registry.test/camera:1"], "sizeBytes": 900000000}])
    yield from daemons("lb", [*(f"pi-{n}" for n in range(4)), "server"], "10m", "20Mi")
    yield from pods("sensor", 5, "200m", "128Mi", ["pi-0", "server"])
    yield from pods("camera", 2, "500m", "700Mi")


def batch() -> Iterator[Manifest]:
    names = [f"spark-{n}" for n in range(8)]
    yield from (node(name, "16", "60Gi") for name in names)
    yield make("PriorityClass", "urgent", "scheduling.k8s.io/v1", value=1000)
    yield from pods("driver", 2, "1", "2Gi", names[:2])
    yield from pods("executor", 24, "4", "10Gi", [*names, *names], priority=0)
    yield from pods("nightly", 3, "14", "20Gi", priorityClassName="urgent")


def databases() -> Iterator[Manifest]:
    names = [f"db-node-{n}" for n in range(6)]
    for n, name in enumerate(names):
        yield node(name, "8", "31Gi", labels={ZONE: f"z{n % 3}"})
        yield make(
            "CSINode",
            name,
            "storage.k8s.io/v1",
            spec={"drivers": [{"name": "disk.test", "nodeID": name, "allocatable": {"count": 25}}]},
        )
    binding = {"provisioner": "disk.test", "volumeBindingMode": "WaitForFirstConsumer"}
    yield make("StorageClass", "fast", "storage.k8s.io/v1", **binding)
    yield make("CSIDriver", "disk.test", "storage.k8s.io/v1", spec={"attachRequired": True, "storageCapacity": True})
    for zone, size in (("z0", "40Gi"), ("z1", "900Gi"), ("z2", "60Gi")):
        where = {"nodeTopology": {"matchLabels": {ZONE: zone}}, "storageClassName": "fast", "capacity": size}
        yield make("CSIStorageCapacity", f"room-{zone}", "storage.k8s.io/v1", "kube-system", **where)
    size = {"resources": {"requests": {"storage": "20Gi"}}}
    yield make(
        "PersistentVolumeClaim",
        "new",
        namespace="default",
        spec={"accessModes": ["ReadWriteOnce"], "storageClassName": "fast", **size},
    )
    volumes = [{"name": "data", "persistentVolumeClaim": {"claimName": "new"}}]
    yield from pods("fresh", 1, "1", "1Gi", volumes=volumes)
    apart = {
        "requiredDuringSchedulingIgnoredDuringExecution": [
            {"topologyKey": HOST, "labelSelector": {"matchLabels": {"app": "pg"}}}
        ]
    }
    for number, made in enumerate(pods("pg", 5, "2", "8Gi", names[:2], affinity={"podAntiAffinity": apart})):
        yield from disk(f"data-{number}", f"z{number % 3}", names[number])
        made["spec"]["volumes"] = [{"name": "data", "persistentVolumeClaim": {"claimName": f"data-{number}"}}]
        yield made
    budget = {"minAvailable": 2, "selector": {"matchLabels": {"app": "pg"}}}
    yield make("PodDisruptionBudget", "pg", "policy/v1", "default", spec=budget)
    yield from pods("pool", 4, "500m", "6Gi", names[4:5])


def devices() -> Iterator[Manifest]:
    driver = "gpu.test"
    selector = [{"cel": {"expression": f'device.driver == "{driver}"'}}]
    yield make("DeviceClass", "gpu", "resource.k8s.io/v1", spec={"selectors": selector})
    for n, sizes in enumerate((["small"] * 2, ["small"] * 2, ["large"] * 2)):
        name = f"accel-{n}"
        yield node(name, "32", "125Gi")
        each = [{"name": f"gpu-{i}", "attributes": {"size": {"string": size}}} for i, size in enumerate(sizes)]
        pool = {"name": name, "generation": 1, "resourceSliceCount": 1}
        yield make(
            "ResourceSlice",
            name,
            "resource.k8s.io/v1",
            spec={"driver": driver, "nodeName": name, "pool": pool, "devices": each},
        )
    yield from pods("loader", 2, "8", "40Gi", ["accel-2", "accel-2"])
    large = {
        "name": "large",
        "deviceClassName": "gpu",
        "selectors": [{"cel": {"expression": f'device.attributes["{driver}"].size == "large"'}}],
    }
    for number, made in enumerate(pods("model", 5, "2", "4Gi")):
        first = [large, {"name": "small", "deviceClassName": "gpu"}]
        yield make(
            "ResourceClaim",
            f"gpu-{number}",
            "resource.k8s.io/v1",
            "default",
            spec={"devices": {"requests": [{"name": "gpu", "firstAvailable": first}]}},
        )
        made["spec"]["resourceClaims"] = [{"name": "gpu", "resourceClaimName": f"gpu-{number}"}]
        made["spec"]["containers"][0]["resources"]["claims"] = [{"name": "gpu"}]
        yield made


CLUSTERS: Mapping[str, Any] = {
    each.__name__: each for each in (kubeadm, eks, gke, aks, gpu, console, edge, batch, databases, devices)
}


def objects_of(name: str) -> list[Manifest]:
    return [*CLUSTERS[name]()]


if __name__ == "__main__":
    for name in CLUSTERS:
        items = {"apiVersion": "v1", "kind": "List", "items": objects_of(name)}
        Path(sys.argv[1], f"{name}.json").write_text(json.dumps(items))
