"""Manifests of nodes and pods from forms, and their YAML in the style of a person."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import yaml

from playground.workbench.builder.grammar import expand
from scheduler_core.apimachinery.objects.manifest import MutableManifest


class _Dumper(yaml.SafeDumper):
    """No aliases: a part that two objects share is written out twice."""

    def ignore_aliases(self, data: Any) -> bool:
        return True

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, False)


def to_yaml(manifests: Iterable[Mapping[str, Any]], most: int | None = None) -> str:
    """Return the manifests as documents separated by `---`, at most `most`."""
    documents = list(manifests)
    return "---\n".join(fragment(dict(each)) for each in documents[:most])


def fragment(value: Any) -> str:
    """Return a part of a manifest in the same style."""
    return str(yaml.dump(value, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=110))


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
    """Return `count` nodes that differ in name, hostname label, and zone; zones rotate. Raise PatternError."""
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
    spec: dict[str, Any] = {}
    if taints:
        spec["taints"] = [dict(taint) for taint in taints]
    if unschedulable:
        spec["unschedulable"] = True
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {HOSTNAME: name, **({ZONE: zone} if zone else {}), **labels}},
        **({"spec": spec} if spec else {}),
        "status": {"capacity": dict(capacity), "allocatable": dict(capacity)},
    }


Terms = Sequence[Mapping[str, Any]]
Weighted = Sequence[tuple[int, Any]]


def pod_manifests(
    *,
    replicas: int = 1,
    name: str = "web-{i}",
    first: int = 1,
    namespace: str = "default",
    labels: Mapping[str, str] | None = None,
    annotations: Mapping[str, str] | None = None,
    image: str = "",
    requests: Mapping[str, str] | None = None,
    limits: Mapping[str, str] | None = None,
    host_ports: Terms = (),
    **spec: Any,
) -> list[MutableManifest]:
    """Return `replicas` pods that differ in their name. `spec` goes to pod_spec. Raise PatternError."""
    container: dict[str, Any] = {"name": "main", "image": image or "registry.k8s.io/pause:3.10"}
    resources = {word: dict(amounts) for word, amounts in (("requests", requests), ("limits", limits)) if amounts}
    if resources:
        container["resources"] = resources
    if host_ports:
        container["ports"] = [dict(port) for port in host_ports]
    body = pod_spec(container, **spec)
    meta: dict[str, Any] = {"namespace": namespace or "default"}
    if labels:
        meta["labels"] = dict(labels)
    if annotations:
        meta["annotations"] = dict(annotations)
    return [
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": each, **meta}, "spec": body}
        for each in expand(name, replicas, first)
    ]


def pod_spec(
    container: Mapping[str, Any],
    *,
    scheduler_name: str = "",
    priority_class: str = "",
    priority: int | None = None,
    node_selector: Mapping[str, str] | None = None,
    node_required: Sequence[Terms] = (),
    node_preferred: Weighted = (),
    pod_required: Terms = (),
    pod_preferred: Weighted = (),
    pod_anti_required: Terms = (),
    pod_anti_preferred: Weighted = (),
    tolerations: Terms = (),
    spread: Mapping[str, Any] | None = None,
    gates: Sequence[str] = (),
    node_name: str = "",
) -> dict[str, Any]:
    """Return a pod spec with the given fields; empty ones are left out."""
    spec: dict[str, Any] = {"containers": [dict(container)]}
    affinity = {
        **_node_affinity(node_required, node_preferred),
        **_pod_affinity("podAffinity", pod_required, pod_preferred),
        **_pod_affinity("podAntiAffinity", pod_anti_required, pod_anti_preferred),
    }
    wishes: dict[str, Any] = {
        "schedulerName": scheduler_name,
        "priorityClassName": priority_class,
        "priority": priority,
        "nodeSelector": dict(node_selector or {}),
        "affinity": affinity,
        "tolerations": [dict(each) for each in tolerations],
        "topologySpreadConstraints": [dict(spread)] if spread else [],
        "schedulingGates": [{"name": gate} for gate in gates],
        "nodeName": node_name,
    }
    return {**spec, **{key: value for key, value in wishes.items() if value not in ("", None, {}, [])}}


def _node_affinity(required: Sequence[Terms], preferred: Weighted) -> dict[str, Any]:
    """Return a node affinity. `required`: terms of which one must match. `preferred`: (weight, term)."""
    affinity: dict[str, Any] = {}
    if required:
        affinity["requiredDuringSchedulingIgnoredDuringExecution"] = {
            "nodeSelectorTerms": [{"matchExpressions": list(term)} for term in required]
        }
    if preferred:
        affinity["preferredDuringSchedulingIgnoredDuringExecution"] = [
            {"weight": weight, "preference": {"matchExpressions": list(term)}} for weight, term in preferred
        ]
    return {"nodeAffinity": affinity} if affinity else {}


def _pod_affinity(kind: str, required: Terms, preferred: Weighted) -> dict[str, Any]:
    affinity: dict[str, Any] = {}
    if required:
        affinity["requiredDuringSchedulingIgnoredDuringExecution"] = [dict(term) for term in required]
    if preferred:
        affinity["preferredDuringSchedulingIgnoredDuringExecution"] = [
            {"weight": weight, "podAffinityTerm": dict(term)} for weight, term in preferred
        ]
    return {kind: affinity} if affinity else {}
