"""PodSpec: a pod's spec, compiled once and shared by all pods with an equal spec.

kube: framework/types.go (PodInfo), scheduler/util/utils.go (GetHostPorts) @ v1.34.1
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from scheduler_core.apimachinery.objects.labels import NodeSelector, NodeSelectorTerm
from scheduler_core.apimachinery.objects.resources import Resources, is_sidecar, nonzero_requests, pod_requests

if TYPE_CHECKING:
    from scheduler_core.apimachinery.objects.node import Taint

DEFAULT_SCHEDULER = "default-scheduler"
DEFAULT_GRACE_SECONDS = 30
_CACHE_SIZE = 20_000


@dataclass(frozen=True, slots=True)
class HostPort:
    """A port taken on the node; an absent address is 0.0.0.0, an absent protocol TCP."""

    ip: str
    protocol: str
    port: int


@dataclass(frozen=True, slots=True)
class Toleration:
    """kube: api/core/v1/toleration.go. `seconds` is tolerationSeconds (None: for ever)."""

    key: str = ""
    operator: str = ""
    value: str = ""
    effect: str = ""
    seconds: int | None = None

    def tolerates(self, taint: Taint) -> bool:
        if self.effect and self.effect != taint.effect:
            return False
        if self.key and self.key != taint.key:
            return False
        if self.operator in ("", "Equal"):
            return self.value == taint.value
        if self.operator in COMPARISONS:
            return _compare(self.operator, self.value, taint.value)
        return self.operator == "Exists"


COMPARISONS = (
    "Gt",
    "Lt",
)  # since 1.35, where the gate is on; `Pod.from_manifest` leaves such tolerations out otherwise
_DECIMAL = re.compile(r"0|-?[1-9]\d*")


def _compare(operator: str, value: str, taint: str) -> bool:
    """Compare a taint's value with a toleration's as int64, both without a plus, leading zeros, and blanks."""
    if not all(_DECIMAL.fullmatch(each) and -(1 << 63) <= int(each) < 1 << 63 for each in (value, taint)):
        return False
    return int(taint) > int(value) if operator == "Gt" else int(taint) < int(value)


@dataclass(frozen=True, slots=True, eq=False)
class PodSpec:
    """A compiled spec; equal specs are the same object while they stay in the cache.

    `manifest` is the part of the spec that scheduling reads (nodeName is none of it). `requests` is what the Fit
    filter and a node's sums count; `nonzero` the (milli-CPUs, bytes) a bound pod adds to its node's non-zero sums.
    `node_affinity_preferred` leaves out weights of 0 and empty terms. `images` are init containers' then containers',
    normalized to have a tag. `fingerprint` identifies a spec within this process and decides nothing. `memo` is for
    what plugins derive from the spec alone, under keys that start with the plugin's name.
    """

    manifest: Mapping[str, Any]
    requests: Resources
    nonzero: tuple[int, int]
    tolerations: tuple[Toleration, ...]
    node_selector: Mapping[str, str]
    node_affinity_required: NodeSelector | None
    node_affinity_preferred: tuple[tuple[int, NodeSelectorTerm], ...]
    host_ports: tuple[HostPort, ...]
    images: tuple[str, ...]
    num_image_containers: int
    scheduling_gates: tuple[str, ...]
    scheduler_name: str
    priority: int
    preemption_policy: str
    termination_grace_seconds: int
    topology_spread: tuple[Mapping[str, Any], ...]
    pod_affinity: Mapping[str, Any]
    pod_anti_affinity: Mapping[str, Any]
    volumes: tuple[Mapping[str, Any], ...]
    resource_claims: tuple[Mapping[str, Any], ...]
    group: str  # spec.schedulingGroup.podGroupName, since 1.37
    fingerprint: int
    memo: dict[Any, Any] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, manifest: Mapping[str, Any]) -> PodSpec:
        """Return the compiled form of a spec. Equal specs share one object while the cache holds it."""
        part = scheduling_part(manifest)
        key = canonical(part)
        compiled = _cache.get(key)
        if compiled is None:
            compiled = _compile(part)
            if len(_cache) >= _CACHE_SIZE:
                _cache.pop(next(iter(_cache)), None)
            _cache[key] = compiled
        return compiled

    def tolerates(self, taint: Taint) -> bool:
        return any(toleration.tolerates(taint) for toleration in self.tolerations)


_cache: dict[str, PodSpec] = {}
_fingerprints = itertools.count(1)
canonical = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode


_FIELDS = (
    *("affinity", "hostNetwork", "nodeSelector", "overhead", "preemptionPolicy", "priority", "resourceClaims"),
    *("resources", "schedulerName", "schedulingGroup", "schedulingGates", "terminationGracePeriodSeconds"),
    *("hostUsers", "tolerations", "topologySpreadConstraints"),
)
_CONTAINER_FIELDS = ("name", "image", "resources", "ports", "restartPolicy", "restartPolicyRules")
# Volumes that no plugin looks at; the token volume among them has another name in every pod.
_LOCAL_VOLUMES = ("configMap", "downwardAPI", "emptyDir", "gitRepo", "hostPath", "image", "nfs", "projected", "secret")


def scheduling_part(spec: Mapping[str, Any]) -> dict[str, Any]:
    """Return the part of a spec that scheduling reads.

    Pods of one template have the same part, though other parts differ from pod to pod.
    """
    part = {name: spec[name] for name in _FIELDS if name in spec}
    for name in ("containers", "initContainers"):
        if spec.get(name):
            part[name] = [_container_part(raw) for raw in spec[name]]
    debugging = [
        each for raw in spec.get("ephemeralContainers") or () if "volumeMounts" in (each := _container_part(raw))
    ]
    if debugging:
        part["ephemeralContainers"] = debugging
    volumes = [raw for raw in spec.get("volumes") or () if not any(kind in raw for kind in _LOCAL_VOLUMES)]
    if volumes:
        part["volumes"] = volumes
    return part


def _container_part(raw: Mapping[str, Any]) -> dict[str, Any]:
    part = {name: raw[name] for name in _CONTAINER_FIELDS if name in raw}
    # Other mounts decide nothing; the token's has another name in every pod.
    mounts = [each for each in raw.get("volumeMounts") or () if each.get("bindMountOptions")]
    if mounts:
        part["volumeMounts"] = mounts
    return part


def _compile(spec: Mapping[str, Any]) -> PodSpec:
    containers = tuple(spec.get("containers") or ())
    init = tuple(spec.get("initContainers") or ())
    affinity = spec.get("affinity") or {}
    node_affinity = affinity.get("nodeAffinity") or {}
    required = node_affinity.get("requiredDuringSchedulingIgnoredDuringExecution")
    grace = spec.get("terminationGracePeriodSeconds")
    return PodSpec(
        manifest=spec,
        requests=pod_requests(spec),
        nonzero=nonzero_requests(spec),
        tolerations=tuple(_toleration(raw) for raw in spec.get("tolerations") or ()),
        node_selector=spec.get("nodeSelector") or {},
        node_affinity_required=None if required is None else NodeSelector.of(required),
        node_affinity_preferred=_build_preferred_terms(
            node_affinity.get("preferredDuringSchedulingIgnoredDuringExecution") or ()
        ),
        host_ports=_host_ports((*(c for c in init if is_sidecar(c)), *containers)),
        images=tuple(normalize_image_name(c.get("image") or "") for c in (*init, *containers)),
        num_image_containers=len(init) + len(containers),
        scheduling_gates=tuple(gate.get("name", "") for gate in spec.get("schedulingGates") or ()),
        scheduler_name=spec.get("schedulerName") or DEFAULT_SCHEDULER,
        priority=spec.get("priority") or 0,
        preemption_policy=spec.get("preemptionPolicy") or "PreemptLowerPriority",
        termination_grace_seconds=DEFAULT_GRACE_SECONDS if grace is None else grace,
        topology_spread=tuple(spec.get("topologySpreadConstraints") or ()),
        pod_affinity=affinity.get("podAffinity") or {},
        pod_anti_affinity=affinity.get("podAntiAffinity") or {},
        volumes=tuple(spec.get("volumes") or ()),
        resource_claims=tuple(spec.get("resourceClaims") or ()),
        group=(spec.get("schedulingGroup") or {}).get("podGroupName") or "",
        fingerprint=next(_fingerprints),
    )


def _toleration(raw: Mapping[str, Any]) -> Toleration:
    return Toleration(
        raw.get("key") or "",
        raw.get("operator") or "",
        raw.get("value") or "",
        raw.get("effect") or "",
        raw.get("tolerationSeconds"),
    )


def _build_preferred_terms(raw: Iterable[Mapping[str, Any]]) -> tuple[tuple[int, NodeSelectorTerm], ...]:
    terms = (
        (entry.get("weight") or 0, NodeSelectorTerm.of(entry.get("preference") or {}, f"[{i}]"))
        for i, entry in enumerate(raw)
    )
    return tuple((weight, term) for weight, term in terms if weight and not term.empty)


def _host_ports(containers: Iterable[Mapping[str, Any]]) -> tuple[HostPort, ...]:
    return tuple(
        HostPort(port.get("hostIP") or "0.0.0.0", port.get("protocol") or "TCP", port["hostPort"])  # noqa: S104
        for container in containers
        for port in container.get("ports") or ()
        if (port.get("hostPort") or 0) > 0
    )


def normalize_image_name(name: str) -> str:
    """The image with a tag. kube: plugins/imagelocality/image_locality.go"""
    return name if name.rfind(":") > name.rfind("/") else f"{name}:latest"
