"""Changes that several plugins propose: deleted pods, node labels, and nodes like an existing one."""

import copy
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from shlex import quote
from typing import Any

from scheduler_core.apimachinery.objects import NO_EXECUTE, NO_SCHEDULE, Node, Pod, Taint, optional_time
from scheduler_core.apimachinery.objects.spec import Toleration
from scheduler_core.scheduler.cache.table import NodeTable
from scheduler_core.scheduler.framework.drafts import Change, Draft, Edit, Refusal
from scheduler_core.scheduler.plugins.helper.arguments import alike

HOSTNAME = "kubernetes.io/hostname"
MOST_KEYS = 2
_ZONE, _REGION = "topology.kubernetes.io/zone", "topology.kubernetes.io/region"
_WIDER = {HOSTNAME: _ZONE, _ZONE: _REGION}
_NEW_ENDS = {"failure-domain.beta.kubernetes.io/zone": "zone", "failure-domain.beta.kubernetes.io/region": "region"}
MOST_DELETED = 5
_ROLES = ("node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master")
OF_CONTROLLERS = "node.kubernetes.io/"  # taints that controllers set and remove with a node's conditions
GROUP_LABELS = (
    *("karpenter.sh/nodepool", "eks.amazonaws.com/nodegroup", "cloud.google.com/gke-nodepool"),
    *("kubernetes.azure.com/agentpool", "agentpool", "alpha.eksctl.io/nodegroup-name"),
    *("kops.k8s.io/instancegroup", "node.kubernetes.io/instance-type"),
)

# Finalizers that another deletion removes: each deletion sets the propagation policy again.
_OF_DELETION = {"foregroundDeletion", "orphan"}

# Labels of nodes without a machine: their provider sets the number of pods, and creates nodes for new pods.
_VIRTUAL = {"eks.amazonaws.com/compute-type": "fargate", "type": "virtual-kubelet"}
_OF_THE_MACHINE = ("podCIDR", "podCIDRs", "providerID", "unschedulable")
_OF_ITS_STATE = ("capacity", "allocatable", "conditions", "images")


def list_refusing_taints(node: Node, pod: Pod) -> list[Taint]:
    """Return the taints that reject a pod, without those that controllers set and remove with the node's conditions."""
    hard = [each for each in node.taints if each.effect in (NO_SCHEDULE, NO_EXECUTE)]
    return [each for each in hard if not each.key.startswith(OF_CONTROLLERS) and not pod.spec.tolerates(each)]


def list_own_tolerations(pod: Pod) -> list[Toleration]:
    """Return the tolerations of a pod for single taints, without those for conditions of nodes."""
    return [each for each in pod.spec.tolerations if each.key and not each.key.startswith(OF_CONTROLLERS)]


def find_open_role(pod: Pod, node: Node, nodes: Sequence[Node]) -> str:
    """Return the role label of a control-plane node that has no hard taints although there are workers; "" for other nodes and for pods
    that belong on the control plane.
    """
    role = next((each for each in _ROLES if each in node.labels), "")
    closed = [taint for taint in node.taints if taint.effect in (NO_SCHEDULE, NO_EXECUTE)]
    meant = pod.namespace == "kube-system" or any(each.key in _ROLES for each in pod.spec.tolerations)
    return "" if closed or meant or all(role in each.labels for each in nodes) else role


def find_delay(node: Node, pod: Pod) -> int:
    """Return how long (ns) a pod had been placed when the node became ready; 0 if the node was ready before or the times are unknown."""
    conditions = (node.manifest.get("status") or {}).get("conditions") or ()
    times = [each.get("lastTransitionTime") for each in conditions if each.get("type") == "Ready"]
    since = max(optional_time(at) or 0 for at in (*times, node.manifest["metadata"].get("creationTimestamp")))
    placed = (pod.condition("PodScheduled") or {}).get("lastTransitionTime")
    return max(since - (optional_time(placed or pod.manifest["metadata"].get("creationTimestamp")) or since), 0)


def delete_pods(draft: Draft, node: str, pods: Sequence[Pod], amounts: Iterable[str] = ()) -> Draft:
    """Propose to delete pods. `amounts`: the resources of the node that this frees; none if the pods conflict for another reason.

    If all the pods are terminating, propose to end them at once.
    """
    if pods and all(pod.deleting for pod in pods):
        for pod in pods:
            draft = end_pod(draft, pod)
        return draft
    values = {"node": node, "amounts": list(amounts), "pods": [pod.key for pod in pods]}
    named = tuple((pod.namespace, pod.name) for pod in pods)
    return draft.without_pods(Change("free", values, float(len(pods))), named)


def delete_pod(draft: Draft, pod: Pod, *more: str) -> Draft:
    """Add a change that deletes a pod. `more`: later commands."""
    call = f"kubectl delete pod {pod.name} -n {pod.namespace}"
    return draft.typing(Change("delete", {"pod": pod.key}), call, *more)


def end_pod(draft: Draft, pod: Pod) -> Draft:
    """Propose to end a terminating pod at once: without its finalizers, and without waiting for its containers."""
    finalizers = list(pod.manifest["metadata"].get("finalizers") or ())
    where = f"{pod.name} -n {pod.namespace}"
    values = {"pod": pod.key, "node": pod.node_name, "finalizers": finalizers}
    of_deletion = {*finalizers} <= _OF_DELETION
    forced = pod.node_name and (of_deletion or not pod.terminal)
    calls = [f"kubectl delete pod {where} --grace-period=0 --force --wait=false"] if forced else []
    if finalizers and not (of_deletion and forced):
        patch = '{"metadata": {"finalizers": null}}'
        calls.append(f"kubectl patch pod {where} --type=merge -p '{patch}'")
    return draft.typing(Change("finalizer" if finalizers else "force-delete", values), *calls)


def label_node(draft: Draft, node: Node, labels: Iterable[tuple[str, str | None]]) -> Draft:
    """Propose to set labels of a node, or to remove labels whose value is None."""
    for key, value in labels:
        kind = "unlabel" if value is None else "label"
        change = Change(kind, {"node": node.name, "key": key, "value": value, "was": node.labels.get(key)})
        draft = draft.with_node(change, node.manifest, _label_edit(key, value))
    return draft


def label_namespace(draft: Draft, namespace: str, labels: Mapping[str, str]) -> Draft:
    """Propose to set labels of a namespace, such as those that a selector requires."""
    pairs = [f"{key}={value}" for key, value in labels.items()]
    change = Change("namespace-label", {"namespace": namespace, "labels": pairs})
    return draft.typing(change, f"kubectl label namespace {namespace} {' '.join(map(quote, pairs))} --overwrite")


def in_domain(draft: Draft, refusal: Refusal, key: str, domains: Iterable[str]) -> Iterator[Draft]:
    """Propose to label a node without the topology key into one of the domains, or into a first domain if no node has the key."""
    if key == HOSTNAME or key in refusal.node.labels:
        return
    names = list(domains)
    if not names and not any(key in node.labels for node in refusal.nodes.nodes):
        names = [f"{key.rpartition('/')[2][:60]}-1"]
    for name in names:
        yield label_node(draft, refusal.node, [(key, name)])


def other_keys(refusal: Refusal, key: str) -> list[str]:
    """Return existing topology keys that a key without nodes may stand for: a similar spelling, or the key's present name."""
    there = {each: None for node in refusal.nodes.nodes for each in node.labels}
    if key in there:
        return []
    last = _NEW_ENDS.get(key, key.rpartition("/")[2])
    return sorted(each for each in there if alike(each, key) or each.rpartition("/")[2] == last)[:MOST_KEYS]


def wider_key(refusal: Refusal, key: str) -> str:
    """Return the next wider topology key than the hostname or the zone, if the node has that label, or ""."""
    wider = _WIDER.get(key, "")
    return wider if wider in refusal.node.labels else ""


def _label_edit(key: str, value: str | None) -> Edit:
    def edit(manifest: dict[str, Any]) -> None:
        labels = manifest["metadata"]["labels"] = manifest["metadata"].get("labels") or {}
        if value is None:
            labels.pop(key, None)
        else:
            labels[key] = value

    return edit


def add_node(draft: Draft, refusal: Refusal) -> Iterator[Draft]:
    """Propose a node like the rejecting one if that has room when empty; for a machine, only without other changes."""
    if (not draft.changes or (is_virtual(refusal.node) and draft.is_of_pod_alone)) and _large_enough(refusal):
        yield node_like(draft, refusal.node, refusal.nodes)


def node_like(draft: Draft, like: Node, nodes: NodeTable) -> Draft:
    """Propose a new node of the same group as an existing node."""
    name = free_name(nodes, f"{like.name[:240]}-copy")
    values = {"node": name, "like": like.name, "group": group_of(like)}
    change = Change("node", {**values, "virtual": True} if is_virtual(like) else values)
    return draft.with_node(change, like.manifest, lambda manifest: as_new_node(manifest, name)).aimed_at(name)


def as_new_node(manifest: dict[str, Any], name: str) -> None:
    """Turn a node's manifest into that of a new node of its kind, without the machine's identity and its state."""
    labels = dict(manifest["metadata"].get("labels") or {})
    if HOSTNAME in labels:
        labels[HOSTNAME] = name
    spec = {k: v for k, v in (manifest.get("spec") or {}).items() if k not in _OF_THE_MACHINE}
    if spec.get("taints"):
        spec["taints"] = [t for t in spec["taints"] if not t.get("key", "").startswith(OF_CONTROLLERS)]
    status = {k: v for k, v in (manifest.get("status") or {}).items() if k in _OF_ITS_STATE}
    conditions = status.get("conditions") or ()
    if any(each.get("type") == "Ready" and each.get("status") != "True" for each in conditions):
        del status["conditions"]
    manifest["metadata"] = {"name": name, "labels": labels}
    manifest["spec"], manifest["status"] = spec, status


def is_virtual(node: Node) -> bool:
    """Return whether a node represents no machine, so that its limits are not configurable."""
    return any(node.labels.get(key) == value for key, value in _VIRTUAL.items())


def group_of(node: Node) -> str:
    """Return the name of the node's group, pool, or class of machines, or ""."""
    return next((node.labels[key] for key in GROUP_LABELS if key in node.labels), "")


def _large_enough(refusal: Refusal) -> bool:
    nodes, requests = refusal.nodes, refusal.pod.requests
    for resource in ("cpu", "memory", "ephemeral-storage", *(name for name, _ in requests.scalar)):
        column, wanted = nodes.resources.columns.get(resource), requests.get(resource)
        has = column is not None and column < nodes.allocatable.shape[1]
        if wanted and (not has or wanted > int(nodes.allocatable[refusal.row, column or 0])):
            return False
    return True


def free_name(nodes: NodeTable, stem: str) -> str:
    number = 2
    while nodes.row(f"{stem}{number}") is not None:
        number += 1
    return f"{stem}{number}"


def with_argument(
    draft: Draft, refusal: Refusal, change: Change, plugin: str, edit: Callable[[dict[str, Any]], None]
) -> Draft:
    """Propose a configuration of the rejecting scheduler with other arguments of a plugin in the pod's profile."""
    asked = refusal.asked
    configuration = copy.deepcopy(dict(asked.configuration or {}))
    configuration.setdefault("apiVersion", "kubescheduler.config.k8s.io/v1")
    configuration.setdefault("kind", "KubeSchedulerConfiguration")
    profiles = configuration.setdefault("profiles", [{"schedulerName": asked.profile}])
    profile = next((p for p in profiles if p.get("schedulerName", asked.profile) == asked.profile), None)
    if profile is None:
        return draft
    entries = profile.setdefault("pluginConfig", [])
    entry = next((e for e in entries if e["name"] == plugin), None)
    if entry is None:
        entry = {"name": plugin, "args": {}}
        entries.append(entry)
    edit(entry["args"])
    return draft.with_configuration(change, asked.scheduler, configuration)
