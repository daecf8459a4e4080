"""Node manifests from the node form."""

from collections.abc import Mapping, Sequence
from typing import Any

from playground.workbench.builder.names import expand
from scheduler_core.apimachinery.objects.manifest import MutableManifest

ZONE = "topology.kubernetes.io/zone"
HOSTNAME = "kubernetes.io/hostname"


def node_manifests(
    *,
    count: int = 1,
    name: str = "node-{i}",
    first: int = 1,
    zones: Sequence[str] = (),
    cpu: str = "4",
    memory: str = "16Gi",
    pods: int = 110,
    resources: Mapping[str, str] | None = None,
    labels: Mapping[str, str] | None = None,
    taints: Sequence[Mapping[str, str]] = (),
    unschedulable: bool = False,
) -> list[MutableManifest]:
    """`count` nodes alike but for name, hostname label and zone; zones take turns. Raises PatternError."""
    capacity = {"cpu": cpu, "memory": memory, "pods": str(pods), **(resources or {})}
    return [
        _node(each, zones[index % len(zones)] if zones else "", capacity, labels or {}, taints, unschedulable)
        for index, each in enumerate(expand(name, count, first, zones))
    ]


def _node(
    name: str,
    zone: str,
    capacity: Mapping[str, str],
    labels: Mapping[str, str],
    taints: Sequence[Mapping[str, str]],
    unschedulable: bool,
) -> MutableManifest:
    own = {HOSTNAME: name, **({ZONE: zone} if zone else {}), **labels}
    spec: dict[str, Any] = {}
    if taints:
        spec["taints"] = [dict(taint) for taint in taints]
    if unschedulable:
        spec["unschedulable"] = True
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": own},
        **({"spec": spec} if spec else {}),
        "status": {"capacity": dict(capacity), "allocatable": dict(capacity)},
    }
