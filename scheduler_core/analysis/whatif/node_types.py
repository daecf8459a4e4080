"""Node types: machines that a cluster may get, according to existing nodes, a list, autoscalers' annotations, or NodePools.

kube: autoscaler/cluster-autoscaler/cloudprovider/clusterapi (annotations of node groups), karpenter.sh/v1 (NodePool)
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any

import msgspec

from scheduler_core.apimachinery.objects import InvalidObject, Manifest, Node
from scheduler_core.apimachinery.objects.labels import NodeSelectorTerm
from scheduler_core.apimachinery.objects.loading import load_manifests
from scheduler_core.apimachinery.objects.quantity import BadQuantity, format_quantity, parse_quantity
from scheduler_core.apiserver.store import Store
from scheduler_core.scheduler.plugins.dynamicresources.fixes import slice_like
from scheduler_core.scheduler.plugins.helper.fixes import HOSTNAME, as_new_node, group_of

ZONE = "topology.kubernetes.io/zone"
INSTANCE_TYPE = "node.kubernetes.io/instance-type"
PODS = "110"  # kubelet's default maxPods
_CAPACITY = "capacity.cluster-autoscaler.kubernetes.io/"
_TEMPLATE = "k8s.io/cluster-autoscaler/node-template/"
_GROUP_MAX = "cluster.x-k8s.io/cluster-api-autoscaler-node-group-max-size"
_AMOUNTS = {"cpu": "cpu", "memory": "memory", "ephemeral-disk": "ephemeral-storage", "maxPods": "pods"}
_PROPAGATED = ("node-role.kubernetes.io", "node-restriction.kubernetes.io", "node.cluster.x-k8s.io")

_MISFITS = (AttributeError, KeyError, TypeError)  # from a field of a wrong type, such as a number instead of an object
_EXPECTED = "received a field of another type; expected nodeTypes: [...], a NodePool, or an object with annotations of a node group"

Amounts = dict[str, str | int | float]


class BadTypes(ValueError):
    """An error in a text of node types, with the received value, the expected value, and the place."""


class Taint(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A taint of a node."""

    key: str
    effect: str
    value: str = ""


class ListedType(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """An entry of a list of node types. Without `capacity` it sets the price and the limit of a type of that name.

    `allocatable` wins over `capacity` minus `kubeReserved`. `csi`: volumes by driver. `devices`: devices of resource.k8s.io/v1 by driver.
    `price`: for each hour. `most`: the number of such nodes that can be had.
    """

    name: Annotated[str, msgspec.Meta(pattern=r"^[a-z0-9A-Z]([-a-zA-Z0-9._/]{0,118}[a-z0-9A-Z])?$")]
    capacity: Amounts = {}
    allocatable: Amounts = {}
    kube_reserved: Amounts = {}
    labels: dict[str, str] = {}
    taints: list[Taint] = []
    zones: list[str] = []
    csi: dict[str, Annotated[int, msgspec.Meta(ge=0)] | None] = {}
    devices: dict[str, list[dict[str, Any]]] = {}
    price: Annotated[float, msgspec.Meta(ge=0)] | None = None
    most: Annotated[int, msgspec.Meta(ge=0, le=5_000)] | None = None


@dataclass(frozen=True)
class NodeType:
    """`manifest` is a new node without a name; `csi` a CSINode's drivers; `slices` the ResourceSlices of a node named "".

    A type with `zones` represents one type in each zone.
    """

    name: str
    manifest: Manifest
    csi: tuple[Manifest, ...] = ()
    slices: tuple[Manifest, ...] = ()
    zones: tuple[str, ...] = ()
    price: float | None = None
    most: int | None = None

    @property
    def node(self) -> Node:
        return Node.from_manifest(self.manifest)

    @property
    def cost(self) -> float:
        """The price, or 1 if unknown, so that the number of nodes counts."""
        return 1.0 if self.price is None else self.price

    def in_zones(self) -> Iterator[NodeType]:
        """Yield the type itself, or one for each of its zones."""
        if not self.zones:
            yield self
        for zone in self.zones:
            made = copy.deepcopy(dict(self.manifest))
            made["metadata"]["labels"][ZONE] = zone
            yield replace(self, name=f"{self.name}/{zone}", manifest=made, zones=())

    def objects(self, name: str) -> Iterator[dict[str, Any]]:
        """Yield the objects of one node: the Node, and its CSINode and ResourceSlices if it has any."""
        node = copy.deepcopy(dict(self.manifest))
        node["metadata"] = {**node["metadata"], "name": name}
        node["metadata"]["labels"][HOSTNAME] = name
        yield node
        if self.csi:
            drivers = [{**driver, "nodeID": name} for driver in self.csi]
            meta = {"name": name}
            yield {"apiVersion": "storage.k8s.io/v1", "kind": "CSINode", "metadata": meta, "spec": {"drivers": drivers}}
        for number, each in enumerate(self.slices):
            yield dict(slice_like(each, name, "", number))


def list_unpriced(types: Iterable[NodeType]) -> list[str]:
    """Return the names of types without a price. Return none if no type has a price, because then prices are not used."""
    found = list(types)
    return [each.name for each in found if each.price is None] if any(each.price is not None for each in found) else []


def make_nodes(store: Store, types: Iterable[tuple[NodeType, int]]) -> tuple[dict[str, Any], ...]:
    """Return the objects of new nodes of types and counts, under free names. Zones alternate."""
    made: list[dict[str, Any]] = []
    for each, count in types:
        zones = list(each.in_zones())
        names = _free_names(store, each.name)
        for i in range(count):
            made += zones[i % len(zones)].objects(next(names))
    return tuple(made)


def _free_names(store: Store, stem: str) -> Iterator[str]:
    stem = "".join(c if c.isalnum() or c == "." else "-" for c in stem.lower())[:240]
    number = 0
    while True:
        number += 1
        if store.get("Node", "", f"{stem}-new-{number}") is None:
            yield f"{stem}-new-{number}"


def type_of(store: Store, name: str) -> NodeType:
    """Return the type of an existing node, with the node's name."""
    manifest: dict[str, Any] = copy.deepcopy(dict(store.get("Node", "", name) or {}))
    as_new_node(manifest, "")
    csi = store.get("CSINode", "", name) or {}
    slices = [slice_like(s, "", name, 0) for s in store.list("ResourceSlice") if s["spec"].get("nodeName") == name]
    return NodeType(name, manifest, tuple((csi.get("spec") or {}).get("drivers") or ()), tuple(slices))


def types_of_nodes(store: Store) -> list[NodeType]:
    """Return the types of existing nodes: equal except for names and zones. Types are named by their group or instance type."""
    found: dict[str, NodeType] = {}
    zones: dict[str, dict[str, None]] = {}
    for node in sorted(store.nodes(), key=lambda node: node.name):
        made = type_of(store, node.name)
        made.manifest["status"].pop("images", None)
        labels = made.manifest["metadata"]["labels"]
        zone = labels.pop(ZONE, "")
        alike = repr((sorted(labels.items() - {(HOSTNAME, "")}), made.manifest["spec"], node.allocatable, made.csi))
        found.setdefault(alike, made)
        if zone:
            zones.setdefault(alike, {})[zone] = None
    named: dict[str, NodeType] = {}
    for alike, made in found.items():
        stem = made.node.labels.get(INSTANCE_TYPE) or group_of(made.node) or made.name
        name = stem if stem not in named else made.name
        named[name] = replace(made, name=name, zones=tuple(zones.get(alike, ())))
    return list(named.values())


def read_types(text: str, known: Sequence[NodeType] = ()) -> tuple[list[NodeType], list[str]]:
    """Return the known types and those of a text, and notes on incomplete entries. Raise BadTypes.

    The text is `nodeTypes: [...]`, or objects: MachineDeployments and others with cluster-autoscaler's annotations, NodePools.
    """
    types = {each.name: each for each in known}
    notes: list[str] = []
    pools: list[Manifest] = []
    try:
        documents = [loaded.manifest for loaded in load_manifests(text)]
    except InvalidObject as error:
        raise BadTypes(str(error)) from None
    for number, document in enumerate(documents, 1):
        try:
            if document.get("kind") == "NodePool":
                pools.append(document)
            elif "nodeTypes" in document:
                for each in _convert(document["nodeTypes"], list[ListedType], "nodeTypes"):
                    types[each.name] = _of_entry(each, types)
            else:
                made = _of_annotations(document)
                types[made.name] = made
        except _MISFITS:
            raise BadTypes(f"document {number}: {_EXPECTED}") from None
    for pool in pools:
        try:
            found = list(_of_pool(pool, tuple(types.values())))
        except _MISFITS:
            raise BadTypes(f"NodePool: {_EXPECTED}") from None
        types |= {each.name: each for each in found}
        if not found:
            name = (pool.get("metadata") or {}).get("name")
            notes.append(f"NodePool {name}: no known type meets its requirements; name its machines")
    return list(types.values()), notes


def _convert(value: Any, kind: Any, where: str) -> Any:
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        raise BadTypes(f"{where}: {error}") from None


def _of_entry(entry: ListedType, types: Mapping[str, NodeType]) -> NodeType:
    if not entry.capacity and not entry.allocatable:
        same = types.get(entry.name)
        if same is None:
            raise BadTypes(f"nodeTypes: {entry.name} has no capacity, and no node is of a type of that name")
        return replace(same, price=entry.price, most=entry.most)
    slices = [
        {
            "apiVersion": "resource.k8s.io/v1",
            "kind": "ResourceSlice",
            "spec": {
                "driver": driver,
                "pool": {"name": "", "generation": 1, "resourceSliceCount": 1},
                "devices": devices,
            },
        }
        for driver, devices in entry.devices.items()
    ]
    csi = [
        {"name": driver, "topologyKeys": [], **({} if count is None else {"allocatable": {"count": count}})}
        for driver, count in entry.csi.items()
    ]
    manifest = _manifest(entry, entry.name.split("/")[0])
    return NodeType(entry.name, manifest, tuple(csi), tuple(slices), tuple(entry.zones), entry.price, entry.most)


def _manifest(entry: ListedType, instance_type: str) -> Manifest:
    capacity = {"pods": PODS, **entry.capacity} if entry.capacity else dict(entry.allocatable)
    try:
        rest = {
            name: format_quantity(
                parse_quantity(amount) - parse_quantity(entry.kube_reserved.get(name, 0)), name == "memory"
            )
            for name, amount in capacity.items()
        }
        rest |= {name: format_quantity(parse_quantity(amount)) for name, amount in entry.allocatable.items()}
    except BadQuantity as error:
        raise BadTypes(f"nodeTypes: {entry.name}: {error}") from None
    spec = {"taints": [msgspec.to_builtins(taint) for taint in entry.taints]} if entry.taints else {}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"labels": {INSTANCE_TYPE: instance_type, **entry.labels}},
        "spec": spec,
        "status": {"capacity": {name: str(amount) for name, amount in capacity.items()}, "allocatable": rest},
    }


# Node groups of cluster-autoscaler and Cluster API


def _of_annotations(group: Manifest) -> NodeType:
    """Return the type that a node group's annotations describe. Raise BadTypes if cpu or memory is missing."""
    meta = group.get("metadata") or {}
    given: dict[str, str] = {str(k): str(v) for k, v in (meta.get("annotations") or {}).items()}
    name = f"{meta.get('name') or ''}"
    said = {key.removeprefix(_CAPACITY): value for key, value in given.items() if key.startswith(_CAPACITY)}
    capacity: Amounts = {_AMOUNTS[key]: value for key, value in said.items() if key in _AMOUNTS}
    template = {key.removeprefix(_TEMPLATE): value for key, value in given.items() if key.startswith(_TEMPLATE)}
    capacity |= {key.partition("/")[2]: value for key, value in template.items() if key.startswith("resources/")}
    if not name or not {"cpu", "memory"} <= capacity.keys():
        raise BadTypes(
            f"{group.get('kind')} {name}: received no {_CAPACITY}cpu and memory; expected these annotations, a NodePool, "
            "or nodeTypes: [...]"
        )
    if "gpu-count" in said and "dra-driver" not in said:
        capacity[said.get("gpu-type", "nvidia.com/gpu")] = said["gpu-count"]
    machine = ((group.get("spec") or {}).get("template") or {}).get("spec") or {}
    own = (((group.get("spec") or {}).get("template") or {}).get("metadata") or {}).get("labels") or {}
    labels = {key: value for key, value in own.items() if key.split("/")[0].endswith(_PROPAGATED)}
    labels |= dict(_pairs(said.get("labels", ""), "="))
    labels |= {key.removeprefix("label/"): value for key, value in template.items() if key.startswith("label/")}
    taints = [f"{key}={value}" for key, value in _pairs(said.get("taints", ""), "=")]
    taints += [f"{key.removeprefix('taint/')}={value}" for key, value in template.items() if key.startswith("taint/")]
    zone = labels.get(ZONE) or machine.get("failureDomain")
    entry = {
        "name": name,
        "capacity": capacity,
        "labels": labels,
        "taints": [
            *map(_taint, taints),
            *({k: t.get(k, "") for k in ("key", "value", "effect")} for t in machine.get("taints") or ()),
        ],
        "zones": [zone] if zone else [],
        "csi": {driver: int(count) for driver, count in _pairs(said.get("csi-driver", ""), "=") if count.isdecimal()},
        "devices": _gpus(said),
        "most": int(given[_GROUP_MAX]) if given.get(_GROUP_MAX, "").isdecimal() else None,
    }
    return _of_entry(_convert(entry, ListedType, f"{group.get('kind')} {name}"), {})


def _gpus(said: Mapping[str, str]) -> dict[str, list[dict[str, Any]]]:
    count = said.get("gpu-count", "")
    if "dra-driver" not in said or not count.isdecimal():
        return {}
    return {said["dra-driver"]: [{"name": f"gpu-{i}"} for i in range(min(int(count), 128))]}


def _pairs(text: str, sign: str) -> Iterator[tuple[str, str]]:
    for part in filter(None, (part.strip() for part in text.split(","))):
        key, _, value = part.partition(sign)
        yield key, value


def _taint(text: str) -> dict[str, str]:
    rest, _, effect = text.rpartition(":")
    key, _, value = rest.partition("=")
    return {"key": key, "value": value, "effect": effect}


# Karpenter


def _of_pool(pool: Manifest, known: Sequence[NodeType]) -> Iterator[NodeType]:
    """Yield the known types that meet a NodePool's requirements, with its labels and taints. Its limits bound their number."""
    spec = pool.get("spec") or {}
    template = spec.get("template") or {}
    inner = template.get("spec") or {}
    requirements = [r for r in inner.get("requirements") or () if isinstance(r, Mapping)]
    first = {r["key"]: str(r["values"][0]) for r in requirements if r.get("operator") == "In" and r.get("values")}
    zones = next((tuple(r["values"]) for r in requirements if r.get("key") == ZONE and r.get("operator") == "In"), ())
    term = NodeSelectorTerm.of({"matchExpressions": [r for r in requirements if r.get("key") != ZONE]})
    name = str((pool.get("metadata") or {}).get("name") or "")
    for each in known:
        has = {**first, INSTANCE_TYPE: each.name, **each.node.labels}
        if not term.empty and not term.matches(has, ""):
            continue
        manifest = copy.deepcopy(dict(each.manifest))
        own = (template.get("metadata") or {}).get("labels") or {}
        manifest["metadata"]["labels"] = {
            **{k: v for k, v in has.items() if k != ZONE},
            **own,
            "karpenter.sh/nodepool": name,
        }
        manifest["spec"]["taints"] = [*(manifest["spec"].get("taints") or ()), *(inner.get("taints") or ())]
        places = tuple(zone for zone in each.zones if zone in zones) if each.zones and zones else zones or each.zones
        most = _limit(spec.get("limits") or {}, each.manifest["status"]["capacity"])
        yield replace(each, name=f"{name}/{each.name}", manifest=manifest, zones=places, most=most)


def _limit(limits: Mapping[str, Any], capacity: Mapping[str, Any]) -> int | None:
    most: Callable[[str], int] = lambda name: int(parse_quantity(limits[name]) / parse_quantity(capacity[name]))  # noqa: E731
    try:
        return min((most(name) for name in limits if parse_quantity(capacity.get(name, 0))), default=None)
    except BadQuantity as error:
        raise BadTypes(f"limits: {error}") from None
