"""Which pods lack and which are too many, node by node.

kube: pkg/controller/daemon/daemon_controller.go (manage, podsShouldBeOnNode) @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Sequence

from scheduler_core.apimachinery.objects.node import Node
from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.controllers.workloads.amounts import resolve_percentage
from scheduler_core.controllers.workloads.daemonsets.daemons import Daemons
from scheduler_core.controllers.workloads.owners import Owner


def manage(daemons: Daemons) -> bool:
    """Gives every node that is to have one a pod, and takes away those that are not to be there. Whether anything was done. Refused."""
    lacking: list[str] = []
    gone: list[Pod] = []
    for node in daemons.nodes:
        needs, surplus = _on_node(daemons, node)
        if needs:
            lacking.append(node.name)
        gone += surplus
    names = {node.name for node in daemons.nodes}
    for name, pods in daemons.pods.items():
        if name not in names:
            gone += [pod for pod in pods if not pod.node_name]
    return daemons.change(gone, lacking, "not to be on their nodes, or ended")


def _on_node(daemons: Daemons, node: Node) -> tuple[bool, list[Pod]]:
    """Return whether a node lacks a pod, and the pods to delete."""
    should, may_stay = daemons.wanted_on(node)
    pods = daemons.pods.get(node.name)
    if should and pods is None:
        return True, []
    if not may_stay:
        return False, [pod for pod in pods or () if not pod.deleting]
    return _plan_node_pods(daemons, node, pods or (), should)


def _plan_node_pods(
    daemons: Daemons, node: Node, pods: Sequence[Pod], should: bool
) -> tuple[bool, list[Pod]]:
    gone: list[Pod] = []
    running: list[Pod] = []
    for pod in pods:
        if pod.deleting:
            continue
        if pod.phase == "Failed":
            gone += [pod] if daemons.may_replace(node.name, pod) else []
        elif pod.phase == "Succeeded":
            daemons.note_success(node.name, pod)
            gone.append(pod)
        else:
            running.append(pod)
    if not allows_surge(daemons.owner):
        return False, gone + running[1:]
    if len(running) <= 1:
        return not running and should, gone
    return False, gone + _surplus(daemons, running)


def _surplus(daemons: Daemons, running: Sequence[Pod]) -> list[Pod]:
    """Return all pods but the oldest old and the oldest new one; include the old one once it is not needed."""
    new = [pod for pod in running if daemons.is_new(pod)]
    old = [pod for pod in running if not daemons.is_new(pod)]
    kept = [*new[:1], *old[:1]]
    gone = [pod for pod in running if pod not in kept]
    if new and old and (not old[0].ready or daemons.is_available(new[0])):
        gone.append(old[0])
    return gone


def surge(owner: Owner, nodes: int) -> int:
    """Return how many nodes may have two pods in a rolling update."""
    return resolve_percentage(_rolling(owner).get("maxSurge"), nodes, up=True)


def unavailable(owner: Owner, nodes: int) -> int:
    """Return how many nodes may lack an available pod in a rolling update."""
    return resolve_percentage(_rolling(owner).get("maxUnavailable"), nodes, up=True)


def allows_surge(owner: Owner) -> bool:
    return surge(owner, 1) > 0


def _rolling(owner: Owner) -> dict[str, int | str]:
    strategy = owner.spec.get("updateStrategy") or {}
    return strategy.get("rollingUpdate") or {} if strategy.get("type") == "RollingUpdate" else {}
