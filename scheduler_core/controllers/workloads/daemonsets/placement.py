"""On which nodes a DaemonSet's pods are to run, and how a pod says which node is its own.

kube: pkg/controller/daemon/util/daemonset_util.go, pkg/controller/daemon/daemon_controller.go (NodeShouldRunDaemonPod) @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apimachinery.objects.node import NO_EXECUTE, NO_SCHEDULE, Node
from scheduler_core.apimachinery.objects.pod import Pod, PodSpec
from scheduler_core.controllers.workloads.owners import Owner

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
    """A template's tolerations with those that every daemon pod has, for ever."""
    found: list[Manifest] = list(spec.get("tolerations") or ())
    for name, effect in (*_SUFFERED, *([_NETWORK] if spec.get("hostNetwork") else [])):
        own = {"key": f"node.kubernetes.io/{name}", "operator": "Exists", "effect": effect}
        if not any(_alike(one, own) for one in found):
            found.append(own)
        else:
            found = [own if _alike(one, own) else one for one in found]
    return found


def _alike(one: Manifest, other: Manifest) -> bool:
    return all((one.get(field) or "") == (other.get(field) or "") for field in ("key", "effect", "operator", "value"))


def pin_to_node(spec: Manifest, node: str) -> dict[str, Any]:
    """A pod's spec that fits a node alone: its required node affinity is replaced, not merged."""
    affinity = dict(spec.get("affinity") or {})
    wanted = dict(affinity.get("nodeAffinity") or {})
    field = {"key": "metadata.name", "operator": "In", "values": [node]}
    wanted["requiredDuringSchedulingIgnoredDuringExecution"] = {"nodeSelectorTerms": [{"matchFields": [field]}]}
    return {**spec, "affinity": {**affinity, "nodeAffinity": wanted}}


def target(pod: Pod) -> str:
    """The node that a daemon pod is on, or is meant for; "" where it does not say."""
    if pod.node_name:
        return pod.node_name
    required = pod.spec.node_affinity_required
    for term in required.terms if required is not None else ():
        for field in term.fields:
            if field.key == "metadata.name" and field.op == "In":
                return field.values[0] if len(field.values) == 1 else ""
    return ""


def by_node(pods: Iterable[Pod]) -> dict[str, list[Pod]]:
    """Pods by the node that they are meant for, in the order of nodes; those first that are bound, then the older."""
    found: dict[str, list[Pod]] = {}
    for pod in sorted(pods, key=lambda pod: (not pod.node_name, pod.creation_time or 0, pod.name)):
        if name := target(pod):
            found.setdefault(name, []).append(pod)
    return {name: found[name] for name in sorted(found)}
