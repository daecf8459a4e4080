"""What a kubelet that starts again does with the pods that it finds: each is asked in anew, the oldest first.

A pod that the node would not take now, as its labels or taints are others, fails for good, though it ran.

DEVIATION: critical pods, mirror pods and those that are being deleted keep their place without being asked.

kube: pkg/kubelet/kubelet.go (HandlePodAdditions), pkg/kubelet/allocation/allocation_manager.go (AddPod) @ v1.34.1
"""

from __future__ import annotations

from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.controllers.contract import World
from scheduler_core.controllers.kubelet.admission import refusals
from scheduler_core.controllers.kubelet.critical import is_critical
from scheduler_core.controllers.kubelet.pods import active, refuse


def readmit(world: World, name: str) -> None:
    """Has those pods fail that a node does not take any more."""
    memory, node = world.surroundings.kubelet, world.store.node(name)
    if node is None:
        return
    kept: list[Pod] = []
    for pod in sorted(active(world, name), key=lambda pod: pod.creation_time or 0):
        found = [] if pod.deleting or is_critical(pod) else refusals(pod, node, kept)
        if found:
            refuse(world, pod, found[0])
            memory.drop(pod.key)
        else:
            kept.append(pod)
