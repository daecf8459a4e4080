"""Nodes to add: nodes of an existing group, or the smallest node that meets all of the pod's terms."""

from collections.abc import Iterator, Mapping
from typing import Any

from scheduler_core.analysis.fixes.diagnosis import Diagnosis
from scheduler_core.apimachinery.objects import Manifest, Node, Pod
from scheduler_core.apimachinery.objects.affinity import misses
from scheduler_core.apimachinery.objects.labels import EXISTS, GT, IN, LT, NodeSelectorTerm
from scheduler_core.apimachinery.objects.storage.volumes import CLAIM, VOLUME, class_of, volume_name, volumes_of
from scheduler_core.apiserver.store import Store
from scheduler_core.scheduler.framework.drafts import Change, Draft
from scheduler_core.scheduler.plugins.dynamicresources.fixes import slice_like
from scheduler_core.scheduler.plugins.helper.fixes import HOSTNAME, free_name, list_refusing_taints, node_like
from scheduler_core.scheduler.plugins.noderesources.amounts import quantity

MOST_GROUPS = 4
MOST_DOMAINS = 5
LOOKED_AT = 50  # nodes whose daemons count
PODS = 110
GI = 1 << 30
_ZONES = ("topology.kubernetes.io/zone", "topology.kubernetes.io/region")

Labels = dict[str, str]


def of_groups(draft: Draft, diagnosis: Diagnosis, store: Store) -> Iterator[Draft]:
    """Propose a node like an existing one, with the same devices if the pod requests devices."""
    slices = _slices(store) if diagnosis.pod.spec.resource_claims else {}
    for like in _groups(diagnosis, slices)[:MOST_GROUPS]:
        new = node_like(draft, like, diagnosis.nodes)
        for i, each in enumerate(slices.get(like.name, ())):
            new = new.beside(slice_like(each, new.target, like.name, i))
        yield new


def _slices(store: Store) -> dict[str, list[Manifest]]:
    """Return ResourceSlices by the node of their devices."""
    found: dict[str, list[Manifest]] = {}
    for each in store.list("ResourceSlice"):
        found.setdefault(str(each["spec"].get("nodeName") or ""), []).append(each)
    return found


def _groups(diagnosis: Diagnosis, slices: Mapping[str, Any]) -> list[Node]:
    """Return one node of each group whose empty node fits the pod, the smallest machines first."""
    groups: dict[tuple[Any, ...], Node] = {}
    for node in diagnosis.nodes.nodes:
        labels = tuple(pair for pair in sorted(node.labels.items()) if pair[1] != node.name)
        groups.setdefault((labels, node.taints, node.allocatable, node.name in slices), node)
    fitting = [node for node in groups.values() if _takes(node, diagnosis.pod)]
    return sorted(
        fitting,
        key=lambda node: (node.name not in slices, node.allocatable.milli_cpu, node.allocatable.memory, node.name),
    )


def _takes(node: Node, pod: Pod) -> bool:
    wanted, has = pod.requests, node.allocatable
    names = ("cpu", "memory", "ephemeral-storage", *(name for name, _ in wanted.scalar))
    enough = all(wanted.get(name) <= has.get(name) for name in names if wanted.get(name))
    return enough and not list_refusing_taints(node, pod) and not misses(pod, node)


def smallest(draft: Draft, diagnosis: Diagnosis, store: Store) -> Iterator[Draft]:
    """Propose a node of no group: the amounts that the pod and the daemons request, and the labels that the pod's terms require."""
    pod = diagnosis.pod
    of_volumes = _volume_labels(store, pod)
    if HOSTNAME in of_volumes:  # a new machine of that name does not have the old one's disk
        return
    labels = {**of_volumes, **_find_required_labels(pod)}
    zones = {value for key, value in labels.items() if key.rpartition("/")[2] == "zone"}
    if len(zones) > 1:  # no machine is in two of them
        return
    name = labels.get(HOSTNAME) or find_required_name(pod) or free_name(diagnosis.nodes, "new-node-")
    if diagnosis.nodes.row(name) is not None:
        return
    amounts = _amounts(diagnosis)
    for domain in _domains(diagnosis):
        mine = {**domain, **labels, HOSTNAME: name}
        shown = {key: value for key, value in mine.items() if key != HOSTNAME or key in labels}
        values = {"node": name, "like": "", "group": "", "amounts": amounts, "labels": shown}
        manifest = {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": name, "labels": mine},
            "spec": {},
            "status": {"capacity": dict(amounts), "allocatable": dict(amounts)},
        }
        change = Change("node", values, 0.5 + len(shown) / 100)
        yield draft.with_node(change, manifest, lambda manifest: None).aimed_at(name)


def _amounts(diagnosis: Diagnosis) -> dict[str, str]:
    """Return the allocatable amounts: whole cores and gibibytes for the pod and for the daemons of every node."""
    pod, nodes = diagnosis.pod, diagnosis.nodes
    cpu, memory = pod.requests.milli_cpu, pod.requests.memory
    daemons = [_daemons(pods) for pods in nodes.pods[:LOOKED_AT]]
    cpu += max((amount for amount, _ in daemons), default=0)
    memory += max((amount for _, amount in daemons), default=0)
    amounts = {"cpu": str(max(-(-cpu // 1000), 1)), "memory": f"{max(-(-memory // GI), 1)}Gi"}
    if pod.requests.ephemeral_storage:
        amounts["ephemeral-storage"] = f"{-(-pod.requests.ephemeral_storage // GI)}Gi"
    return {**amounts, **{name: quantity(name, amount) for name, amount in pod.requests.scalar}, "pods": str(PODS)}


def _daemons(pods: tuple[Pod, ...]) -> tuple[int, int]:
    mine = [
        pod.requests
        for pod in pods
        if any(ref.get("kind") == "DaemonSet" for ref in pod.manifest["metadata"].get("ownerReferences") or ())
    ]
    return sum(r.milli_cpu for r in mine), sum(r.memory for r in mine)


def _find_required_labels(pod: Pod) -> Labels:
    """Return the labels that the node selector and the first term of the required affinity require."""
    labels = dict(sorted(pod.spec.node_selector.items()))
    terms = pod.spec.node_affinity_required
    if terms is not None and terms.terms:
        labels |= _labels_for(terms.terms[0])
    return labels


def find_required_name(pod: Pod) -> str:
    terms = pod.spec.node_affinity_required
    fields = terms.terms[0].fields if terms is not None and terms.terms else ()
    return next((field.values[0] for field in fields if field.op == IN and field.values), "")


def _labels_for(term: NodeSelectorTerm) -> Labels:
    labels = {}
    for requirement in term.expressions:
        if requirement.op == IN and requirement.values:
            labels[requirement.key] = requirement.values[0]
        elif requirement.op == EXISTS:
            labels[requirement.key] = "true"
        elif requirement.op in (GT, LT) and requirement.values:
            labels[requirement.key] = str(int(requirement.values[0]) + (1 if requirement.op == GT else -1))
    return labels


def _volume_labels(store: Store, pod: Pod) -> Labels:
    """Return the labels of the nodes that can reach the pod's bound volumes."""
    labels: Labels = {}
    for use in volumes_of(pod.spec).claims:
        claim = store.get(CLAIM, pod.namespace, use.name(pod))
        volume = None if claim is None else store.get(VOLUME, "", volume_name(claim))
        if volume is None:
            labels |= {} if claim is None else _class_labels(store, claim)
            continue
        own: Mapping[str, str] = volume["metadata"].get("labels") or {}
        labels |= {key: own[key].split("__")[0] for key in _ZONES if key in own}
        required = ((volume.get("spec") or {}).get("nodeAffinity") or {}).get("required") or {}
        terms = required.get("nodeSelectorTerms") or ()
        if terms:
            labels |= _labels_for(NodeSelectorTerm.of(terms[0]))
    return labels


def _class_labels(store: Store, claim: Manifest) -> Labels:
    """Return the labels of the first domain in which the claim's class may provision volumes."""
    found = store.get("StorageClass", "", class_of(claim)) if class_of(claim) else None
    allowed = (found or {}).get("allowedTopologies") or ()
    expressions = (allowed[0].get("matchLabelExpressions") or ()) if allowed else ()
    return {each["key"]: each["values"][0] for each in expressions if each.get("values")}


def _domains(diagnosis: Diagnosis) -> list[Labels]:
    """Return the node's possible domains for the pod's terms: each existing domain, and a new one."""
    keys = list(dict.fromkeys(_topology_keys(diagnosis.pod)))
    if not keys:
        return [{}]
    found: dict[tuple[str, ...], None] = {}
    for node in diagnosis.nodes.nodes:
        if all(key in node.labels for key in keys):
            found.setdefault(tuple(node.labels[key] for key in keys), None)
    domains = [dict(zip(keys, values, strict=True)) for values in sorted(found)[:MOST_DOMAINS]]
    return [*domains, dict.fromkeys(keys, "new")]


def _topology_keys(pod: Pod) -> Iterator[str]:
    spec = pod.manifest["spec"]
    for constraint in spec.get("topologySpreadConstraints") or ():
        yield from _unless_host(constraint.get("topologyKey") or "")
    affinity = spec.get("affinity") or {}
    for side in ("podAffinity", "podAntiAffinity"):
        terms = (affinity.get(side) or {}).get("requiredDuringSchedulingIgnoredDuringExecution") or ()
        for term in terms:
            yield from _unless_host(term.get("topologyKey") or "")


def _unless_host(key: str) -> Iterator[str]:
    if key and key != HOSTNAME:
        yield key
