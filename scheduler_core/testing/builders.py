"""Builders of manifests and of what the scheduler reads of them.

```python
node = make_node("a").capacity(cpu="4", memory="8Gi").taint("dedicated", "NoSchedule", "gpu")
pod = make_pod("web").requests(cpu="100m").tolerates("dedicated")
table = make_table([node], [make_pod("old").requests(cpu="1").on("a")])
```

A builder is never changed: each call answers with a new one, so a base can be shared by many tests.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from typing import Any

from scheduler_core.apimachinery.objects import MutableManifest, Node, Pod
from scheduler_core.scheduler.cache.cache import Cache
from scheduler_core.scheduler.cache.table import NodeTable

Requirement = tuple[str, str, tuple[str, ...]]  # key, operator, values


def make_pod(name: str, namespace: str = "default") -> PodBuilder:
    """Return a pending pod with one container and no requests."""
    return PodBuilder(
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": name, "namespace": namespace, "uid": f"{namespace}-{name}"},
            "spec": {
                "containers": [{"name": "c", "image": "app:v1"}],
                "priority": 0,
                "preemptionPolicy": "PreemptLowerPriority",
                "schedulerName": "default-scheduler",
            },
            "status": {"phase": "Pending"},
        }
    )


def make_node(name: str) -> NodeBuilder:
    """A node with 4 cpus, 8Gi of memory and room for 110 pods."""
    node = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "uid": name, "labels": {"kubernetes.io/hostname": name}},
        "spec": {},
        "status": {},
    }
    return NodeBuilder(node).capacity(cpu="4", memory="8Gi", pods="110")


def make_cache(nodes: Iterable[NodeBuilder], pods: Iterable[PodBuilder] = ()) -> Cache:
    """Return a scheduler's cache after adding these nodes and then these bound pods."""
    cache = Cache()
    for node in nodes:
        cache.add_node(node.node())
    for pod in pods:
        cache.add_pod(pod.pod())
    return cache


def make_table(nodes: Iterable[NodeBuilder], pods: Iterable[PodBuilder] = ()) -> NodeTable:
    """Return the snapshot of a cache with these nodes and pods."""
    return make_cache(nodes, pods).update_snapshot(NodeTable())


def term(*expressions: Requirement, fields: Iterable[Requirement] = ()) -> MutableManifest:
    """A node selector term: `term(("zone", "In", ("a", "b")))`."""
    return {
        "matchExpressions": [_requirement(requirement) for requirement in expressions],
        "matchFields": [_requirement(requirement) for requirement in fields],
    }


def _requirement(requirement: Requirement) -> MutableManifest:
    key, operator, values = requirement
    return {"key": key, "operator": operator, "values": list(values)}


class PodBuilder:
    """Builds a pod step by step. Quantities are texts as in a manifest."""

    def __init__(self, manifest: MutableManifest) -> None:
        self._manifest = manifest

    def manifest(self) -> MutableManifest:
        """Return a copy of the current manifest."""
        return copy.deepcopy(self._manifest)

    def pod(self) -> Pod:
        return Pod.from_manifest(self.manifest())

    def with_spec(self, **fields: Any) -> PodBuilder:
        """Set fields of the spec by their JSON names."""
        manifest = self.manifest()
        manifest["spec"].update(copy.deepcopy(fields))
        return PodBuilder(manifest)

    def with_metadata(self, **fields: Any) -> PodBuilder:
        manifest = self.manifest()
        manifest["metadata"].update(copy.deepcopy(fields))
        return PodBuilder(manifest)

    def labels(self, labels: Mapping[str, str]) -> PodBuilder:
        return self.with_metadata(labels=dict(labels))

    def annotations(self, annotations: Mapping[str, str]) -> PodBuilder:
        return self.with_metadata(annotations=dict(annotations))

    def requests(self, resources: Mapping[str, str] | None = None, **named: str) -> PodBuilder:
        """The first container's requests; names with a slash or a dash go into the mapping."""
        return self._first_container(resources={"requests": {**(resources or {}), **named}})

    def image(self, image: str) -> PodBuilder:
        return self._first_container(image=image)

    def host_port(self, port: int, protocol: str = "TCP", ip: str | None = None) -> PodBuilder:
        """Add a host port to the first container."""
        entry = {"containerPort": port, "hostPort": port, "protocol": protocol}
        entry |= {} if ip is None else {"hostIP": ip}
        ports = self._manifest["spec"]["containers"][0].get("ports", [])
        return self._first_container(ports=[*ports, entry])

    def container(self, name: str, image: str = "app:v1", **requests: str) -> PodBuilder:
        """Add a container."""
        return self._append("containers", {"name": name, "image": image, "resources": {"requests": requests}})

    def init_container(self, name: str, image: str = "app:v1", **requests: str) -> PodBuilder:
        entry = {"name": name, "image": image, "resources": {"requests": requests}}
        return self._append("initContainers", entry)

    def sidecar(self, name: str, image: str = "app:v1", **requests: str) -> PodBuilder:
        """Add an init container that keeps running."""
        entry = {"name": name, "image": image, "restartPolicy": "Always", "resources": {"requests": requests}}
        return self._append("initContainers", entry)

    def overhead(self, **resources: str) -> PodBuilder:
        return self.with_spec(overhead=resources)

    def pod_level(self, **requests: str) -> PodBuilder:
        """Set pod-level requests."""
        return self.with_spec(resources={"requests": requests})

    def selector(self, labels: Mapping[str, str]) -> PodBuilder:
        """Set spec.nodeSelector."""
        return self.with_spec(nodeSelector=dict(labels))

    def requires(self, *terms: MutableManifest) -> PodBuilder:
        """Required node affinity: any of the terms."""
        return self._node_affinity("requiredDuringSchedulingIgnoredDuringExecution", {"nodeSelectorTerms": list(terms)})

    def prefers(self, *weighted: tuple[int, MutableManifest]) -> PodBuilder:
        """Preferred node affinity: (weight, term) each."""
        terms = [{"weight": weight, "preference": preference} for weight, preference in weighted]
        return self._node_affinity("preferredDuringSchedulingIgnoredDuringExecution", terms)

    def tolerates(self, key: str = "", effect: str = "", value: str = "", operator: str = "Exists") -> PodBuilder:
        """Add a toleration. Empty fields are left out."""
        toleration = {"key": key, "operator": operator, "value": value, "effect": effect}
        return self._append("tolerations", {name: text for name, text in toleration.items() if text})

    def claims(self, *names: str) -> PodBuilder:
        """Add a volume for each of these claims."""
        had = len(self._manifest["spec"].get("volumes", []))
        sources = [{"persistentVolumeClaim": {"claimName": name}} for name in names]
        return self.volumes(*({"name": f"v{had + i}", **source} for i, source in enumerate(sources)))

    def volumes(self, *volumes: MutableManifest) -> PodBuilder:
        """Add volumes in the form of a manifest."""
        return self.with_spec(volumes=[*self._manifest["spec"].get("volumes", []), *volumes])

    def gates(self, *names: str) -> PodBuilder:
        return self.with_spec(schedulingGates=[{"name": name} for name in names])

    def priority(self, priority: int) -> PodBuilder:
        return self.with_spec(priority=priority)

    def scheduler(self, name: str) -> PodBuilder:
        return self.with_spec(schedulerName=name)

    def on(self, node: str) -> PodBuilder:
        """Bind the pod to a node, where it runs."""
        bound = self.with_spec(nodeName=node)
        bound._manifest["status"]["phase"] = "Running"
        return bound

    def _first_container(self, **fields: Any) -> PodBuilder:
        manifest = self.manifest()
        manifest["spec"]["containers"][0].update(copy.deepcopy(fields))
        return PodBuilder(manifest)

    def _append(self, field: str, entry: MutableManifest) -> PodBuilder:
        return self.with_spec(**{field: [*self._manifest["spec"].get(field, []), entry]})

    def _node_affinity(self, field: str, value: Any) -> PodBuilder:
        affinity = self._manifest["spec"].get("affinity", {})
        node_affinity = {**affinity.get("nodeAffinity", {}), field: value}
        return self.with_spec(affinity={**affinity, "nodeAffinity": node_affinity})


class NodeBuilder:
    """Builds a node step by step."""

    def __init__(self, manifest: MutableManifest) -> None:
        self._manifest = manifest

    def manifest(self) -> MutableManifest:
        """Return a copy of the current manifest."""
        return copy.deepcopy(self._manifest)

    def node(self) -> Node:
        return Node.from_manifest(self.manifest())

    def capacity(self, resources: Mapping[str, str] | None = None, **named: str) -> NodeBuilder:
        """Set capacity and allocatable. Other resources stay unchanged."""
        manifest = self.manifest()
        amounts = {**manifest["status"].get("allocatable", {}), **(resources or {}), **named}
        manifest["status"].update(capacity=dict(amounts), allocatable=amounts)
        return NodeBuilder(manifest)

    def label(self, key: str, value: str) -> NodeBuilder:
        manifest = self.manifest()
        manifest["metadata"]["labels"][key] = value
        return NodeBuilder(manifest)

    def zone(self, zone: str, region: str = "region") -> NodeBuilder:
        return self.label("topology.kubernetes.io/zone", zone).label("topology.kubernetes.io/region", region)

    def taint(self, key: str, effect: str, value: str = "") -> NodeBuilder:
        """Add a taint."""
        manifest = self.manifest()
        taint = {"key": key, "effect": effect, **({"value": value} if value else {})}
        manifest["spec"]["taints"] = [*manifest["spec"].get("taints", []), taint]
        return NodeBuilder(manifest)

    def cordoned(self) -> NodeBuilder:
        manifest = self.manifest()
        manifest["spec"]["unschedulable"] = True
        return NodeBuilder(manifest)
