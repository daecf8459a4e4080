"""Devices without hardware: presets with a DeviceClass, and the ResourceSlices that a driver would publish for some nodes.

The drivers are examples: no process runs them, and nothing removes the slices of a deleted node.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from playground.common.catalogs import read_yaml
from playground.workbench.builder.manifests import pod_manifests
from scheduler_core.apimachinery.objects.manifest import MutableManifest

API = "resource.k8s.io/v1"
GPU, NIC, FPGA = "gpu.example.com", "nic.example.com", "fpga.example.com"
PCIE_ROOT = "resource.kubernetes.io/pcieRoot"
MOST_DEVICES = 128  # of a slice
_PER_DOMAIN = 4  # GPUs that NVLink connects
_GPUS_PER_SLICE = 3  # partitioned ones: each has 9 of the 32 counters that a slice may have
_COMPUTE, _MEMORY_PARTS = 7, 8
# The smallest first: the search takes the first that suits, and a claim that names no size is to leave room for others.
_PROFILES = (  # name, parts of compute, parts of memory, where it may begin
    ("1g-10gb", 1, 1, (0, 1, 2, 3, 4, 5, 6)),
    ("2g-20gb", 2, 2, (0, 2, 4)),
    ("3g-40gb", 3, 4, (0, 4)),
    ("7g-80gb", 7, 8, (0,)),
)


@dataclass(frozen=True)
class Preset:
    """Devices of one kind. `make`: the slices of one node. `settings`: the required gates. `most`: the maximum of a node."""

    slug: str
    driver: str
    selector: str
    make: Callable[[str, int], Iterator[MutableManifest]]
    settings: Mapping[str, bool]
    title: str | Promise
    summary: str | Promise
    count: int
    most: int

    @property
    def device_class(self) -> str:
        """The name of the class that selects these devices."""
        return f"{self.slug}.example.com"

    def pool(self, node: str) -> str:
        """Return the pool of a node's devices. Presets have separate pools, because their devices might have the same names."""
        return node if self.device_class == self.driver else f"{node}/{self.slug}"


def device_manifests(preset: Preset, nodes: Sequence[str], count: int) -> list[MutableManifest]:
    """The class, and the slices of each node: one pool a node, of generation 1."""
    return [
        {
            "apiVersion": API,
            "kind": "DeviceClass",
            "metadata": {"name": preset.device_class},
            "spec": {"selectors": [{"cel": {"expression": preset.selector}}]},
        },
        *(manifest for node in nodes for manifest in _slices(preset, node, count)),
    ]


def _slices(preset: Preset, node: str, count: int) -> list[MutableManifest]:
    parts = list(preset.make(node, count))
    return [
        {
            "apiVersion": API,
            "kind": "ResourceSlice",
            "metadata": {"name": f"{node}-{preset.device_class}" + (f"-{index}" if len(parts) > 1 else "")},
            "spec": {
                "driver": preset.driver,
                "nodeName": node,
                "pool": {"name": preset.pool(node), "generation": 1, "resourceSliceCount": len(parts)},
                **part,
            },
        }
        for index, part in enumerate(parts)
    ]


def _whole_gpus(node: str, count: int) -> Iterator[MutableManifest]:
    """GPUs, of which each four are connected by NVLink."""
    yield from _pack_devices([_gpu(node, index) for index in range(count)])


def _gpu(node: str, index: int) -> MutableManifest:
    return {
        "name": f"gpu-{index}",
        "attributes": {
            "type": {"string": "gpu"},
            "model": {"string": "Example G80"},
            "index": {"int": index},
            "numaNode": {"int": index // _PER_DOMAIN},
            "nvlinkDomain": {"string": f"{node}-{index // _PER_DOMAIN}"},
            "driverVersion": {"version": "1.2.0"},
            PCIE_ROOT: {"string": f"pci0000:{index // 2:02x}"},
        },
        "capacity": {"memory": {"value": "80Gi"}},
    }


def _build_partitionable_gpus(node: str, count: int) -> Iterator[MutableManifest]:
    """GPUs that can be taken whole or in parts: the parts draw on counters of compute, and on places in the memory."""
    for first in range(0, count, _GPUS_PER_SLICE):
        gpus = range(first, min(first + _GPUS_PER_SLICE, count))
        counters = [
            {
                "name": f"gpu-{gpu}",
                "counters": {
                    "compute": {"value": str(_COMPUTE)},
                    **{f"memory-{place}": {"value": "1"} for place in range(_MEMORY_PARTS)},
                },
            }
            for gpu in gpus
        ]
        devices = [
            _partition(gpu, name, compute, memory, place)
            for gpu in gpus
            for name, compute, memory, places in _PROFILES
            for place in places
        ]
        yield {"sharedCounters": counters, "devices": devices}


def _partition(gpu: int, profile: str, compute: int, memory: int, place: int) -> MutableManifest:
    taken = {f"memory-{each}": {"value": "1"} for each in range(place, place + memory)}
    return {
        "name": f"gpu-{gpu}-{profile}-{place}",
        "attributes": {
            "type": {"string": "mig"},
            "model": {"string": "Example G80"},
            "profile": {"string": profile},
            "parentIndex": {"int": gpu},
        },
        "capacity": {"memory": {"value": f"{memory * 10}Gi"}, "compute": {"value": str(compute)}},
        "consumesCounters": [{"counterSet": f"gpu-{gpu}", "counters": {"compute": {"value": str(compute)}, **taken}}],
    }


def _nics(node: str, count: int) -> Iterator[MutableManifest]:
    yield from _pack_devices([_nic(index) for index in range(count)])


def _nic(index: int) -> MutableManifest:
    return {
        "name": f"nic-{index}",
        "attributes": {
            "type": {"string": "nic"},
            "rdma": {"bool": index % 2 == 0},
            "numaNode": {"int": index // 2},
            PCIE_ROOT: {"string": f"pci0000:{index:02x}"},
        },
        "capacity": {"bandwidth": {"value": "100G"}},
    }


def _build_shareable_nics(node: str, count: int) -> Iterator[MutableManifest]:
    """NICs that several claims may share, each with some of the bandwidth."""
    range_ = {"min": "1G", "max": "100G", "step": "1G"}
    bandwidth = {"value": "100G", "requestPolicy": {"default": "10G", "validRange": range_}}
    yield from _pack_devices(
        [
            {**_nic(index), "allowMultipleAllocations": True, "capacity": {"bandwidth": bandwidth}}
            for index in range(count)
        ]
    )


def _fpgas(node: str, count: int) -> Iterator[MutableManifest]:
    yield from _pack_devices(
        [
            {
                "name": f"fpga-{index}",
                "attributes": {
                    "type": {"string": "fpga"},
                    "family": {"string": "alpha" if index % 2 == 0 else "beta"},
                    "shell": {"version": f"2.{index}.0"},
                    "numaNode": {"int": index % 2},
                },
                "capacity": {"logic": {"value": "900k"}, "memory": {"value": "16Gi"}},
            }
            for index in range(count)
        ]
    )


def _pack_devices(devices: list[MutableManifest]) -> Iterator[MutableManifest]:
    for first in range(0, len(devices), MOST_DEVICES):
        yield {"devices": devices[first : first + MOST_DEVICES]}


def _of(driver: str, *types: str) -> str:
    """The expression that selects devices of a driver, and of some types."""
    known = ", ".join(f"'{each}'" for each in types)
    return f"device.driver == '{driver}' && device.attributes['{driver}'].type in [{known}]"


def read_offered(part: str) -> dict[str, dict[str, Any]]:
    """Return the words of offered.yaml on all devices or clusters, by their slugs; texts are translated where they are shown."""
    rows: dict[str, dict[str, Any]] = read_yaml(Path(__file__).with_name("offered.yaml"))[part]
    return {
        slug: {name: _(value) if isinstance(value, str) else value for name, value in row.items()}
        for slug, row in rows.items()
    }


_DEVICES: dict[str, tuple[Any, ...]] = {
    "gpu": (GPU, _of(GPU, "gpu"), _whole_gpus, {}),
    "mig": (GPU, _of(GPU, "mig"), _build_partitionable_gpus, {"dra_partitionable_devices": True}),
    "nic": (NIC, _of(NIC, "nic"), _nics, {}),
    "shared-nic": (NIC, _of(NIC, "nic"), _build_shareable_nics, {"dra_consumable_capacity": True}),
    "fpga": (FPGA, _of(FPGA, "fpga"), _fpgas, {}),
}
PRESETS = {slug: Preset(slug, *_DEVICES[slug], **words) for slug, words in read_offered("devices").items()}


REQUEST = ENTRY = "devices"


def claim_manifests(
    *,
    name: str,
    namespace: str = "default",
    shared: bool = False,
    device_class: str = "gpu.example.com",
    count: int | None = 1,
    selectors: Sequence[str] = (),
    match_attribute: str = "",
    capacity: Mapping[str, str] | None = None,
    tolerations: Sequence[Mapping[str, Any]] = (),
    admin: bool = False,
    pods: int = 1,
    pod_name: str = "",
    first: int = 1,
    requests: Mapping[str, str] | None = None,
) -> list[MutableManifest]:
    """Return a template and `pods` pods that each get a claim of their own; with `shared`, one claim that all pods use.

    `count` None: all matching devices. Raise PatternError.
    """
    exactly: MutableManifest = {"deviceClassName": device_class}
    if selectors:
        exactly["selectors"] = [{"cel": {"expression": text}} for text in selectors]
    if count is None:
        exactly["allocationMode"] = "All"
    elif count != 1:
        exactly["count"] = count
    if admin:
        exactly["adminAccess"] = True
    if tolerations:
        exactly["tolerations"] = [dict(each) for each in tolerations]
    if capacity:
        exactly["capacity"] = {"requests": dict(capacity)}
    devices: MutableManifest = {"requests": [{"name": REQUEST, "exactly": exactly}]}
    if match_attribute:
        devices["constraints"] = [{"matchAttribute": match_attribute}]
    kind, spec = (
        ("ResourceClaim", {"devices": devices}) if shared else ("ResourceClaimTemplate", {"spec": {"devices": devices}})
    )
    claim: MutableManifest = {
        "apiVersion": API,
        "kind": kind,
        "metadata": {"name": name, "namespace": namespace},
        "spec": spec,
    }
    field = "resourceClaimName" if shared else "resourceClaimTemplateName"
    entry = {"name": ENTRY, field: name}
    pattern = pod_name or f"{name}-{{i}}"
    made = (
        []
        if not pods
        else pod_manifests(replicas=pods, name=pattern, first=first, namespace=namespace, requests=requests or {})
    )
    return [claim, *(_using(pod, entry) for pod in made)]


def _using(pod: MutableManifest, entry: MutableManifest) -> MutableManifest:
    """Return a pod whose container uses the claim."""
    spec = dict(pod["spec"])
    containers = [dict(each) for each in spec["containers"]]
    resources = dict(containers[0].get("resources") or {})
    containers[0]["resources"] = {**resources, "claims": [{"name": entry["name"]}]}
    return {**pod, "spec": {**spec, "containers": containers, "resourceClaims": [entry]}}
