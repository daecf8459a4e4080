"""Node: a node's manifest with the parts that the scheduler reads.

kube: framework/types.go (NodeInfo), component-helpers/node/topology/helpers.go @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from scheduler_core.apimachinery.objects.quantity import value
from scheduler_core.apimachinery.objects.resources import PODS, Resources
from scheduler_core.apimachinery.objects.times import optional_time

NO_SCHEDULE, PREFER_NO_SCHEDULE, NO_EXECUTE = "NoSchedule", "PreferNoSchedule", "NoExecute"


@dataclass(frozen=True, slots=True)
class Taint:
    key: str
    value: str = ""
    effect: str = ""

    def text(self) -> str:
        """Return the taint as kube-scheduler's messages print it: `{key: value}`, with the blank even if the value is empty."""
        return f"{{{self.key}: {self.value}}}"

    def __str__(self) -> str:
        """Return the taint as kubectl prints it: `key=value:Effect`."""
        return f"{self.key}={self.value}:{self.effect}" if self.value else f"{self.key}:{self.effect}"


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """A node. Immutable; two Nodes are equal only if they are the same object.

    `allowed_pods` is allocatable.pods (0 if absent). `images` are (names, size in bytes) in the node's order. `zone_key` is kube's key of
    the zone ("" if the node has none), `ready` the status of the Ready condition ("" if there is none).
    """

    manifest: Mapping[str, Any]
    name: str
    uid: str
    labels: Mapping[str, str]
    annotations: Mapping[str, str]
    taints: tuple[Taint, ...]
    unschedulable: bool
    allocatable: Resources
    allowed_pods: int
    images: tuple[tuple[tuple[str, ...], int], ...]
    zone_key: str
    ready: str
    creation_time: int | None

    @classmethod
    def from_manifest(cls, manifest: Mapping[str, Any]) -> Node:
        """Create a node from a valid manifest (see scheduler_core.apiserver.validation)."""
        metadata = manifest.get("metadata") or {}
        spec = manifest.get("spec") or {}
        status = manifest.get("status") or {}
        labels = metadata.get("labels") or {}
        allocatable = status.get("allocatable") or {}
        return cls(
            manifest,
            metadata.get("name") or "",
            metadata.get("uid") or "",
            labels,
            metadata.get("annotations") or {},
            tuple(
                Taint(raw.get("key") or "", raw.get("value") or "", raw.get("effect") or "")
                for raw in spec.get("taints") or ()
            ),
            bool(spec.get("unschedulable")),
            Resources.of_list(allocatable),
            value(allocatable.get(PODS, 0)),
            tuple((tuple(raw.get("names") or ()), raw.get("sizeBytes") or 0) for raw in status.get("images") or ()),
            zone_key(labels),
            _ready(status),
            optional_time(metadata.get("creationTimestamp")),
        )


def zone_key(labels: Mapping[str, str]) -> str:
    """kube: GetZoneKey; the deprecated labels win where they are present."""
    zone = labels.get("failure-domain.beta.kubernetes.io/zone", labels.get("topology.kubernetes.io/zone", ""))
    region = labels.get("failure-domain.beta.kubernetes.io/region", labels.get("topology.kubernetes.io/region", ""))
    return f"{region}:\x00:{zone}" if region or zone else ""


def _ready(status: Mapping[str, Any]) -> str:
    for condition in status.get("conditions") or ():
        if condition.get("type") == "Ready":
            return str(condition.get("status") or "")
    return ""
