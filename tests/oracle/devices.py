"""Random devices, classes, and claims for the random worlds.

Each node sees at most one pool: the order in which kube sees slices and pools is that of a Go map, and would decide what is found.
"""

from __future__ import annotations

import random
from typing import Any

Manifest = dict[str, Any]

DRA = "resource.k8s.io/v1"
DRIVER = "gpu.example.com"
HOSTNAME = "kubernetes.io/hostname"
RESOURCE = "example.com/accelerator"
EFFECTS = ("NoSchedule", "NoExecute")
GATES = (
    "DRAAdminAccess",
    "DRAConsumableCapacity",
    "DRADeviceBindingConditions",
    "DRADeviceTaints",
    "DRAExtendedResource",
    "DRAPartitionableDevices",
    "DRAPrioritizedList",
    "DRAResourceClaimDeviceStatus",
)


class DeviceMaker:
    """Draws the devices of a world, and lets its pods claim them."""

    def __init__(self, rng: random.Random, nodes: list[str], on: set[str]) -> None:
        self.rng = rng
        self.nodes = nodes
        self.on = on  # gates
        self.conditions: dict[str, list[Manifest]] = {}
        self.claims: list[Manifest] = []

    def often(self, share: float) -> bool:
        return self.rng.random() < share

    def objects(self) -> list[Manifest]:
        """Make classes and slices: a pool for each node, or one for all or some."""
        made = [self._class(name) for name in ("any", "big", "v2", "served")]
        if self.often(0.75):
            for node in self.nodes:
                if self.often(0.8):
                    made += self._pool(node, {"nodeName": node})
        elif self.often(0.5):
            made += self._pool("net", {"allNodes": True})
        else:
            some = {"key": HOSTNAME, "operator": "In", "values": self.rng.sample(self.nodes, len(self.nodes) // 2 + 1)}
            made += self._pool("net", {"nodeSelector": {"nodeSelectorTerms": [{"matchExpressions": [some]}]}})
        return made

    def _class(self, name: str) -> Manifest:
        text = {
            "any": f'device.driver == "{DRIVER}"',
            "big": f'device.capacity["{DRIVER}"].memory.compareTo(quantity("16Gi")) >= 0',
            "v2": f'device.attributes["{DRIVER}"].generation >= 2',
            "served": f'device.driver == "{DRIVER}"',
        }[name]
        spec: Manifest = {"selectors": [{"cel": {"expression": text}}]}
        if name == "served" and "DRAExtendedResource" in self.on:
            spec["extendedResourceName"] = RESOURCE
        if self.often(0.2):
            spec["config"] = [{"opaque": {"driver": DRIVER, "parameters": {"kind": name}}}]
        return {
            "apiVersion": DRA,
            "kind": "DeviceClass",
            "metadata": {"name": name, "uid": f"class-{name}"},
            "spec": spec,
        }

    def _pool(self, name: str, reach: Manifest) -> list[Manifest]:
        rng = self.rng
        pool = {"name": name, "generation": 1, "resourceSliceCount": 1}
        devices = [self._device(f"d{k}") for k in range(rng.choice([1, 2, 3, 4, 6]))]
        slices: list[Manifest] = [{"devices": devices}]
        if "DRAPartitionableDevices" in self.on and self.often(0.35):
            pool["resourceSliceCount"] = 2
            slices.append({"sharedCounters": [{"name": "chip", "counters": {"memory": {"value": "40Gi"}}}]})
            for device in devices:
                if self.often(0.8):
                    taken = {"memory": {"value": rng.choice(["10Gi", "20Gi", "40Gi"])}}
                    device["consumesCounters"] = [{"counterSet": "chip", "counters": taken}]
        if self.often(0.04):
            pool["resourceSliceCount"] = 3  # incomplete
        for device in devices:
            if device.get("bindingConditions"):
                self.conditions[f"{DRIVER}/{name}/{device['name']}"] = [
                    {
                        "type": rng.choice(["Ready", "Ready", "Ready", "Broken"]),
                        "status": "True",
                        "reason": "r",
                        "message": "m",
                        "lastTransitionTime": None,
                    }
                ]
        return [
            {
                "apiVersion": DRA,
                "kind": "ResourceSlice",
                "metadata": {"name": f"slice-{name}-{k}", "uid": f"slice-{name}-{k}"},
                "spec": {"driver": DRIVER, "pool": pool, **reach, **each},
            }
            for k, each in enumerate(slices)
        ]

    def _device(self, name: str) -> Manifest:
        rng = self.rng
        device: Manifest = {
            "name": name,
            "attributes": {
                "generation": {"int": rng.randint(1, 3)},
                "model": {"string": rng.choice(["a", "b"])},
                "numa": {"int": rng.randint(0, 1)},
            },
            "capacity": {"memory": {"value": rng.choice(["8Gi", "16Gi", "40Gi"])}},
        }
        if "DRADeviceTaints" in self.on and self.often(0.2):
            device["taints"] = [{"key": "broken", "value": rng.choice("ab"), "effect": rng.choice(EFFECTS)}]
        if "DRAConsumableCapacity" in self.on and self.often(0.4):
            device["allowMultipleAllocations"] = True
            if self.often(0.6):
                policy: Manifest = {"default": "2Gi", "validRange": {"min": "1Gi", "step": rng.choice(["1Gi", "2Gi"])}}
                if self.often(0.4):
                    policy = {"default": "2Gi", "validValues": ["2Gi", "4Gi", "8Gi"]}
                if self.often(0.3) and "validRange" in policy:
                    policy["validRange"]["max"] = "7Gi"
                device["capacity"]["memory"]["requestPolicy"] = policy
        if "DRADeviceBindingConditions" in self.on and self.often(0.08):
            device |= {"bindingConditions": ["Ready"], "bindingFailureConditions": ["Broken"]}
            if self.often(0.5):
                device["bindsToNode"] = True
        return device

    def let_claim(self, pod: Manifest) -> None:
        """Let a pending pod use devices: by claims of its own or shared ones, or by an extended resource."""
        rng = self.rng
        namespace, name = pod["metadata"]["namespace"], pod["metadata"]["name"]
        if "DRAExtendedResource" in self.on and self.often(0.25):
            resources = rng.choice(pod["spec"]["containers"])["resources"]
            amount = str(rng.choice([1, 1, 2]))
            for kind in ("requests", "limits"):
                resources.setdefault(kind, {})[RESOURCE] = amount
        entries: list[Manifest] = []
        for k in range(rng.choice([0, 0, 1, 1, 2])):
            shared = [c for c in self.claims if c["metadata"]["namespace"] == namespace]
            if shared and self.often(0.2):
                claim = rng.choice(shared)
            else:
                claim = self._claim(f"{name}-{k}", namespace)
                self.claims.append(claim)
            if any(entry["resourceClaimName"] == claim["metadata"]["name"] for entry in entries):
                continue
            entries.append({"name": f"e{k}", "resourceClaimName": claim["metadata"]["name"]})
        if entries:
            pod["spec"]["resourceClaims"] = entries

    def _claim(self, name: str, namespace: str) -> Manifest:
        rng = self.rng
        requests: list[Manifest] = []
        for k in range(rng.choice([1, 1, 1, 2])):
            if "DRAPrioritizedList" in self.on and self.often(0.3):
                tries = [{"name": f"s{j}", **self._asked(sub=True)} for j in range(rng.randint(1, 3))]
                requests.append({"name": f"r{k}", "firstAvailable": tries})
            else:
                requests.append({"name": f"r{k}", "exactly": self._asked()})
        devices: Manifest = {"requests": requests}
        if self.often(0.25):
            what = {"matchAttribute": f"{DRIVER}/{rng.choice(['model', 'numa', 'missing'])}"}
            if "DRAConsumableCapacity" in self.on and self.often(0.3):
                what = {"distinctAttribute": f"{DRIVER}/{rng.choice(['model', 'numa'])}"}
            devices["constraints"] = [{**what, **({"requests": ["r0"]} if self.often(0.3) else {})}]
        if self.often(0.15):
            devices["config"] = [{"requests": ["r0"], "opaque": {"driver": DRIVER, "parameters": {"a": 1}}}]
        uid = f"claim-{namespace}-{name}"
        metadata = {"name": name, "namespace": namespace, "uid": uid, "resourceVersion": "1"}
        return {"apiVersion": DRA, "kind": "ResourceClaim", "metadata": metadata, "spec": {"devices": devices}}

    def _asked(self, sub: bool = False) -> Manifest:
        rng = self.rng
        asked: Manifest = {"deviceClassName": rng.choice(["any", "any", "big", "v2"]), "allocationMode": "ExactCount"}
        if self.often(0.12):
            asked["allocationMode"] = "All"
        else:
            asked["count"] = rng.choice([1, 1, 1, 2, 3])
        if self.often(0.3):
            expression = rng.choice(
                [
                    f'device.attributes["{DRIVER}"].model == "a"',
                    f'device.attributes["{DRIVER}"].numa == 0',
                    f'device.capacity["{DRIVER}"].memory.isGreaterThan(quantity("8Gi"))',
                ]
            )
            asked["selectors"] = [{"cel": {"expression": expression}}]
        if "DRADeviceTaints" in self.on and self.often(0.3):
            asked["tolerations"] = [
                rng.choice(
                    [
                        {"operator": "Exists"},
                        {"key": "broken", "operator": "Equal", "value": "a", "effect": rng.choice(EFFECTS)},
                    ]
                )
            ]
        if "DRAConsumableCapacity" in self.on and self.often(0.3):
            asked["capacity"] = {"requests": {"memory": rng.choice(["1Gi", "3Gi", "4Gi", "9Gi"])}}
        if "DRAAdminAccess" in self.on and not sub and self.often(0.06):
            asked["adminAccess"] = True
        return asked
