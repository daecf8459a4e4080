"""The state of a DaemonSet in one sync: its nodes, its pods by node, and changes of them.

kube: pkg/controller/daemon/daemon_controller.go @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from scheduler_core.apimachinery.objects import NO_EXECUTE, NO_SCHEDULE, Manifest, Node
from scheduler_core.apimachinery.objects.pod import Pod, PodSpec
from scheduler_core.apiserver import NORMAL, WARNING, Refused
from scheduler_core.apiserver.admission.plugins.tolerations import are_alike
from scheduler_core.controllers.contract import Controller, World
from scheduler_core.controllers.workloads.history import POD_HASH
from scheduler_core.controllers.workloads.owners import Owner
from scheduler_core.controllers.workloads.pods import Work, create_pods, delete_pod, from_template

# The nodes on which a DaemonSet's pods should run, and the target node of a pod.
# kube: pkg/controller/daemon/util/daemonset_util.go, pkg/controller/daemon/daemon_controller.go (NodeShouldRunDaemonPod) @ v1.34.1

_SUFFERED = (
    ("not-ready", NO_EXECUTE),
    ("unreachable", NO_EXECUTE),
    ("disk-pressure", NO_SCHEDULE),
    ("memory-pressure", NO_SCHEDULE),
    ("pid-pressure", NO_SCHEDULE),
    ("unschedulable", NO_SCHEDULE),
)
_NETWORK = ("network-unavailable", NO_SCHEDULE)


@dataclass(frozen=True, slots=True)
class Placement:
    """The parts of a DaemonSet's template that determine its nodes."""

    spec: PodSpec
    node_name: str

    @classmethod
    def of(cls, owner: Owner) -> Placement:
        spec = owner.template.get("spec") or {}
        tolerant = {**spec, "tolerations": tolerations(spec)}
        return cls(PodSpec.of(tolerant), spec.get("nodeName") or "")

    def on(self, node: Node) -> tuple[bool, bool]:
        """Return whether a node should have a pod, and whether an existing pod may stay."""
        if self.node_name not in ("", node.name) or not self._matches(node):
            return False, False
        refused = {taint.effect for taint in node.taints if not self.spec.tolerates(taint)}
        return not refused & {NO_SCHEDULE, NO_EXECUTE}, NO_EXECUTE not in refused

    def _matches(self, node: Node) -> bool:
        wanted, selector = self.spec.node_affinity_required, self.spec.node_selector
        return (not selector or selector.items() <= node.labels.items()) and (
            wanted is None or wanted.matches(node.labels, node.name)
        )


def tolerations(spec: Manifest) -> list[Manifest]:
    """Return a template's tolerations with those that every daemon pod has."""
    found: list[Manifest] = list(spec.get("tolerations") or ())
    for name, effect in (*_SUFFERED, *([_NETWORK] if spec.get("hostNetwork") else [])):
        own = {"key": f"node.kubernetes.io/{name}", "operator": "Exists", "effect": effect}
        if not any(are_alike(one, own) for one in found):
            found.append(own)
        else:
            found = [own if are_alike(one, own) else one for one in found]
    return found


def pin_to_node(spec: Manifest, node: str) -> dict[str, Any]:
    """Return a pod's spec for exactly one node. Its required node affinity is replaced, not merged."""
    affinity = dict(spec.get("affinity") or {})
    wanted = dict(affinity.get("nodeAffinity") or {})
    field = {"key": "metadata.name", "operator": "In", "values": [node]}
    wanted["requiredDuringSchedulingIgnoredDuringExecution"] = {"nodeSelectorTerms": [{"matchFields": [field]}]}
    return {**spec, "affinity": {**affinity, "nodeAffinity": wanted}}


def target(pod: Pod) -> str:
    """Return the node that a daemon pod is on or is pinned to, or ""."""
    if pod.node_name:
        return pod.node_name
    required = pod.spec.node_affinity_required
    for term in required.terms if required is not None else ():
        for field in term.fields:
            if field.key == "metadata.name" and field.op == "In":
                return field.values[0] if len(field.values) == 1 else ""
    return ""


def by_node(pods: Iterable[Pod]) -> dict[str, list[Pod]]:
    """Return pods by their target node, sorted by node; bound pods first, then older ones."""
    found: dict[str, list[Pod]] = {}
    for pod in sorted(pods, key=lambda pod: (not pod.node_name, pod.creation_time or 0, pod.name)):
        if name := target(pod):
            found.setdefault(name, []).append(pod)
    return {name: found[name] for name in sorted(found)}


BURST = 250
FAILED, SUCCEEDED = "FailedDaemonPod", "SucceededDaemonPod"


class Daemons(Work):
    """The state of one sync. `pods`: by node, in order; without those that have ended and are being deleted."""

    def __init__(self, controller: Controller, world: World, owner: Owner, pods: Sequence[Pod], code: str) -> None:
        super().__init__(controller, world, owner)
        self.hash = code
        self.placement = Placement.of(owner)
        self.nodes = world.store.nodes()
        self.pods = by_node(pod for pod in pods if not (pod.terminal and pod.deleting))

    def wanted_on(self, node: Node | None) -> tuple[bool, bool]:
        """Return whether a node should have a pod, and whether an existing pod may stay."""
        return (False, False) if node is None else self.placement.on(node)

    def is_new(self, pod: Pod) -> bool:
        """Return whether a pod has the current template."""
        return pod.labels.get(POD_HASH) == self.hash

    def may_replace(self, node: str, pod: Pod) -> bool:
        """Return whether to replace a failed pod now; if not, enqueue its DaemonSet for the end of the back-off."""
        memory = self.world.surroundings.workloads
        key = f"{self.owner.uid}/{self.owner.counted('observedGeneration')}/{node}"
        until = memory.waits_until(key, self.world.now)
        if until is not None:
            self.controller.enqueue_at(self.world, self.owner.key, until)
            return False
        memory.fail(key, self.world.now)
        self.event(WARNING, FAILED, f"Found failed daemon pod {pod.key} on node {node}, will try to kill it")
        return True

    def note_success(self, node: str, pod: Pod) -> None:
        self.event(NORMAL, SUCCEEDED, f"Found succeeded daemon pod {pod.key} on node {node}, will try to delete it")

    def change(self, gone: Sequence[Pod], lacking: Sequence[str], why: str) -> bool:
        """Create pods in batches of 1, 2, 4, ... and delete pods. Return whether there was anything to do. Raise Refused at the end."""
        first = self._create(lacking[:BURST])
        for pod in gone[:BURST]:
            try:
                delete_pod(self, pod)
            except Refused as refused:
                first = first or refused
        if gone:
            self.said.append(f"deleted {_names([pod.name for pod in gone[:BURST]])}: {why}")
        if first is not None:
            raise first
        return bool(gone or lacking)

    def _create(self, nodes: Sequence[str]) -> Refused | None:
        made, first = create_pods(self, map(self._pod, nodes))
        if made:
            self.said.append(f"created pods for {_names([target(Pod.from_manifest(pod)) for pod in made])}")
        return first

    def _pod(self, node: str) -> Mapping[str, Any]:
        pod = from_template(self.owner, self.owner.template)
        spec = pin_to_node({**pod["spec"], "tolerations": tolerations(pod["spec"])}, node)
        labels = {**pod["metadata"]["labels"], POD_HASH: self.hash}
        return {**pod, "metadata": {**pod["metadata"], "labels": labels}, "spec": spec}


def _names(names: Sequence[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
