"""The nominator: the nominated pending pods by node.

Its contents may differ from the pods' status for a while. A list under the node name "" is kube's own handling of cleared nominations.

kube: backend/queue/nominator.go @ v1.34.1
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.base.state import Copied, Derived, State
from scheduler_core.scheduler.queue.types import QueuedPod

Find = Callable[[str], Pod | None]  # pod key -> the API server's version of the pod
FindQueued = Callable[[str], QueuedPod | None]  # pod key -> its entry in the queue


@dataclass(slots=True, eq=False)
class Nominator(State):
    """Pods by nominated node, in the order of nomination. Pods are replaced by newer versions of themselves as these arrive."""

    find: Derived[Find | None] = None  # set by the scheduler that it belongs to
    keeps_cleared: bool = True  # until 1.37 a cleared nomination stays in the list under ""
    queued: Derived[FindQueued | None] = None  # set by the queue that it belongs to
    _by_node: Copied[dict[str, tuple[Pod, ...]]] = field(default_factory=dict)
    _node_of: Copied[dict[str, str]] = field(default_factory=dict)  # uid -> node

    def on(self, node: str) -> tuple[Pod, ...]:
        """Return the pods nominated to a node."""
        return self._by_node.get(node, ())

    def counted(self, node: str) -> tuple[Pod, ...]:
        """Return the pods nominated to a node, in the queue's version.

        A pod in no queue counts without requests, such as a terminating pod that was skipped.

        kube: scheduling_queue.go (NominatedPodsForNode, nominatedPodToInfo)
        """
        pods, queued = self._by_node.get(node, ()), self.queued
        if not pods or queued is None:
            return pods
        return tuple([_bare(pod) if (entry := queued(pod.key)) is None else entry.pod for pod in pods])

    def nodes(self) -> list[str]:
        """Return the names of the nodes with nominated pods."""
        return [node for node in self._by_node if node]

    def everything(self) -> dict[str, tuple[str, ...]]:
        """Return the keys of nominated pods by node, with the list under ""."""
        return {node: tuple(pod.key for pod in pods) for node, pods in self._by_node.items()}

    def add(self, pod: Pod, node: str | None) -> None:
        """Nominate a pod; None nominates it as its status says. A deleted or bound pod is not nominated."""
        self.delete(pod)
        if node is None:
            if not pod.nominated_node_name:
                return
            node = pod.nominated_node_name
        if not node and not self.keeps_cleared:
            return
        # The caller's version may be outdated; a bound pod must not be counted again as a nominated one.
        if self.find is not None:
            live = self.find(pod.key)
            if live is None or live.node_name:
                return
        self._node_of[pod.uid] = node
        self._by_node[node] = (*self._by_node.get(node, ()), pod)

    def update(self, old: Pod, new: Pod) -> None:
        """Update a waiting pod. A nomination that its status does not show yet is kept."""
        keep: str | None = None
        if not old.nominated_node_name and not new.nominated_node_name:
            keep = self._node_of.get(old.uid)
        self.delete(old)
        self.add(new, keep)

    def delete(self, pod: Pod) -> None:
        node = self._node_of.pop(pod.uid, None)
        if node is None:
            return
        left = tuple(other for other in self._by_node[node] if other.uid != pod.uid)
        if left:
            self._by_node[node] = left
        else:
            del self._by_node[node]


def _bare(pod: Pod) -> Pod:
    """Return a pod with only the name and the uid."""
    return Pod.from_manifest({"metadata": {"namespace": pod.namespace, "name": pod.name, "uid": pod.uid}})
