"""Volumes and resizes for the random worlds."""

from __future__ import annotations

import random
from typing import Any

Manifest = dict[str, Any]

HOSTNAME, ZONE = "kubernetes.io/hostname", "topology.kubernetes.io/zone"
_OTHER = {"cpu": ("200m", "1", "2500m"), "memory": ("128Mi", "1Gi", "3Gi")}


def _cluster_wide(version: str, kind: str, name: str, **rest: Any) -> Manifest:
    return {"apiVersion": version, "kind": kind, "metadata": {"name": name, "uid": f"{kind}-{name}"}, **rest}


class ExtraMaker:
    """Adds volumes and resizes to a world that is made."""

    def __init__(self, rng: random.Random, knows_scaling: bool) -> None:
        self.rng = rng
        self.knows_scaling = knows_scaling  # the gate VolumeLimitScaling

    def often(self, share: float) -> bool:
        return self.rng.random() < share

    def add_volumes(self, world: Manifest) -> None:
        """Let pods use bound volumes of drivers that may be missing or full, and images; the last pod an unbound volume."""
        rng = self.rng
        names = [each["metadata"]["name"] for each in world["objects"] if each["kind"] == "Node"]
        made: list[Manifest] = []
        for driver in ("disk.example.com", "net.example.com"):
            spec: Manifest = {"attachRequired": True, "storageCapacity": True}
            if self.knows_scaling and self.often(0.4):
                spec["preventPodSchedulingIfMissing"] = True
            made.append(_cluster_wide("storage.k8s.io/v1", "CSIDriver", driver, spec=spec))
        for name in names:
            if self.often(0.85):
                limits = [(driver, rng.choice([1, 2, 5])) for driver in ("disk.example.com", "net.example.com")]
                drivers = [
                    {"name": driver, "nodeID": name, "topologyKeys": [HOSTNAME], "allocatable": {"count": count}}
                    for driver, count in rng.sample(limits, rng.randint(0, 2))
                ]
                made.append(_cluster_wide("storage.k8s.io/v1", "CSINode", name, spec={"drivers": drivers}))
        late = {"provisioner": "disk.example.com", "volumeBindingMode": "WaitForFirstConsumer"}
        made.append(_cluster_wide("storage.k8s.io/v1", "StorageClass", "late", **late))
        for pod in [each for each in world["objects"] if each["kind"] == "Pod"] + world["pending"]:
            if self.often(0.35):
                made += self._add_volume(pod)
            if self.often(0.15):
                volume = {"name": "image", "image": {"reference": f"img{rng.randint(1, 9)}:1"}}
                pod["spec"].setdefault("volumes", []).append(volume)
        if self.often(0.6):
            last = world["pending"][-1]
            made.append(self._claim_volume(last, "late", {"storageClassName": "late"}, {"phase": "Pending"}))
            for name in names:
                if self.often(0.8):
                    topology = {"matchLabels": {HOSTNAME: name}}
                    capacity = {
                        "storageClassName": "late",
                        "nodeTopology": topology,
                        "capacity": f"{rng.randint(1, 60)}Gi",
                    }
                    metadata = {"name": f"capacity-{name}", "namespace": "kube-system"}
                    kind = {"apiVersion": "storage.k8s.io/v1", "kind": "CSIStorageCapacity"}
                    made.append({**kind, "metadata": metadata, **capacity})
        world["objects"] = [*made, *world["objects"]]

    def _claim_volume(self, pod: Manifest, name: str, spec: Manifest, status: Manifest) -> Manifest:
        """Make a claim for a pod, which mounts it."""
        name = f"{pod['metadata']['name']}-{name}"
        pod["spec"].setdefault("volumes", []).append({"name": name, "persistentVolumeClaim": {"claimName": name}})
        namespace = pod["metadata"]["namespace"]
        size = {"requests": {"storage": f"{self.rng.randint(1, 30)}Gi"}}
        return {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": {
                "name": name,
                "namespace": namespace,
                "uid": f"pvc-{namespace}-{name}",
                "annotations": {"pv.kubernetes.io/bind-completed": "yes"} if "volumeName" in spec else {},
            },
            "spec": {"accessModes": ["ReadWriteOnce"], "resources": size, "volumeMode": "Filesystem", **spec},
            "status": status,
        }

    def _add_volume(self, pod: Manifest) -> list[Manifest]:
        """Bind a volume to a claim of a pod."""
        rng = self.rng
        volume = f"pv-{pod['metadata']['namespace']}-{pod['metadata']['name']}"
        claim = self._claim_volume(pod, "data", {"volumeName": volume, "storageClassName": ""}, {"phase": "Bound"})
        key = {
            "namespace": claim["metadata"]["namespace"],
            "name": claim["metadata"]["name"],
            "uid": claim["metadata"]["uid"],
        }
        driver = rng.choice(["disk.example.com", "net.example.com"])
        spec = {
            "accessModes": ["ReadWriteOnce"],
            "capacity": claim["spec"]["resources"]["requests"],
            "csi": {"driver": driver, "volumeHandle": volume},
            "claimRef": {"kind": "PersistentVolumeClaim", **key},
            "volumeMode": "Filesystem",
        }
        if self.often(0.2):
            zone = {"key": ZONE, "operator": "In", "values": [rng.choice(["za", "zb", "zc"])]}
            spec["nodeAffinity"] = {"required": {"nodeSelectorTerms": [{"matchExpressions": [zone]}]}}
        made = _cluster_wide("v1", "PersistentVolume", volume, spec=spec, status={"phase": "Bound"})
        return [claim, made]

    def add_resizes(self, world: Manifest) -> None:
        """Let running pods be resized: containers and, where they request as a whole, the pod."""
        for pod in [each for each in world["objects"] if each["kind"] == "Pod"]:
            if self.often(0.5):
                statuses = []
                for container in pod["spec"]["containers"]:
                    requests = container["resources"].get("requests", {})
                    status: Manifest = {"name": container["name"]}
                    for field in ("allocatedResources", "resources"):
                        if self.often(0.7):
                            drawn = {
                                name: self.rng.choice([amount, *_OTHER.get(name, ())])
                                for name, amount in requests.items()
                            }
                            status[field] = drawn if field == "allocatedResources" else {"requests": drawn}
                    statuses.append(status)
                pod["status"]["containerStatuses"] = statuses
            if "resources" in pod["spec"] and self.often(0.7):
                pod["status"]["resources"] = {"requests": {"cpu": self.rng.choice(["1", "3"]), "memory": "5Gi"}}
                if self.often(0.5):
                    pod["status"]["allocatedResources"] = {"cpu": self.rng.choice(["1", "7"]), "memory": "6Gi"}
            if self.often(0.3):
                reason = self.rng.choice(["Infeasible", "Deferred"])
                condition = {"type": "PodResizePending", "status": "True", "reason": reason}
                pod["status"]["conditions"] = [condition]
