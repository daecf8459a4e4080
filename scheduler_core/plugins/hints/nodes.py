"""Hints of the plugins that compare a pod with nodes.

kube: plugins/{noderesources/fit,nodeports/node_ports,nodeunschedulable/node_unschedulable,tainttoleration/taint_toleration}.go,
plugins/{schedulinggates/scheduling_gates,defaultpreemption/default_preemption}.go @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from scheduler_core.objects.node import NO_EXECUTE, NO_SCHEDULE, Node, Taint
from scheduler_core.objects.pod import HostPort, Pod, whole_requests
from scheduler_core.objects.resources import Resources

CORDON = Taint("node.kubernetes.io/unschedulable", "", NO_SCHEDULE)


def was_placed(pod: Pod) -> bool:
    """Whether a pod that is gone took room, or had room kept for it."""
    return bool(pod.node_name or pod.nominated_node_name)


# NodeResourcesFit


def after_pod_freed_resources(plugin: Any, pod: Pod, old: Pod, new: Pod | None) -> bool:
    """kube: isSchedulableAfterPodEvent"""
    if new is None:
        return was_placed(old)
    if new.uid == pod.uid:
        return True
    if not new.node_name:
        return False
    return _frees_wanted(whole_requests(pod), whole_requests(old), whole_requests(new))


def _frees_wanted(wanted: Resources, old: Resources, new: Resources) -> bool:
    names = ["cpu", "memory", "ephemeral-storage", *(name for name, _ in wanted.scalar)]
    return any(wanted.get(name) and old.get(name) > new.get(name) for name in names)


def after_node_resources_change(plugin: Any, pod: Pod, old: Node | None, new: Node) -> bool:
    """kube: isSchedulableAfterNodeChange. What runs on the node, and its taints, are not looked at."""
    if not _fits_empty(pod.spec.requests, new):
        return False
    return old is None or _offers_more(pod.spec.requests, old, new)


def _wanted(requests: Resources) -> list[str]:
    names = ("cpu", "memory", "ephemeral-storage")
    scalar = [name for name, amount in requests.scalar if amount]
    return [*(name for name in names if requests.get(name)), *scalar]


def _fits_empty(requests: Resources, node: Node) -> bool:
    if node.allowed_pods < 1:
        return False
    return all(requests.get(name) <= node.allocatable.get(name) for name in _wanted(requests))


def _offers_more(requests: Resources, old: Node, new: Node) -> bool:
    if new.allowed_pods > old.allowed_pods:
        return True
    return any(new.allocatable.get(name) > old.allocatable.get(name) for name in _wanted(requests))


# NodePorts


def after_ports_freed(clash: Callable[[HostPort, Iterable[HostPort]], bool]) -> Callable[..., bool]:
    """Of NodePorts, which knows when two ports clash. kube: isSchedulableAfterPodDeleted"""

    def after_pod_with_ports_deleted(plugin: Any, pod: Pod, old: Pod, new: None) -> bool:
        used = old.spec.host_ports
        if not was_placed(old) or not used:
            return False
        return any(clash(port, used) for port in pod.spec.host_ports)

    return after_pod_with_ports_deleted


# NodeUnschedulable


def after_node_schedulable(plugin: Any, pod: Pod, old: Node | None, new: Node) -> bool:
    """kube: isSchedulableAfterNodeChange"""
    return not new.unschedulable and (old is None or old.unschedulable)


def after_cordon_tolerated(plugin: Any, pod: Pod, old: Pod, new: Pod) -> bool:
    """kube: isSchedulableAfterPodTolerationChange"""
    return new.uid == pod.uid and new.spec.tolerates(CORDON)


# TaintToleration


def after_node_taints_change(plugin: Any, pod: Pod, old: Node | None, new: Node) -> bool:
    """kube: isSchedulableAfterNodeChange"""
    return (old is None or _untolerated(pod, old)) and not _untolerated(pod, new)


def _untolerated(pod: Pod, node: Node) -> bool:
    hard = (taint for taint in node.taints if taint.effect in (NO_SCHEDULE, NO_EXECUTE))
    return any(not pod.spec.tolerates(taint) for taint in hard)


def after_own_change(plugin: Any, pod: Pod, old: Pod, new: Pod) -> bool:
    """A change of the waiting pod itself, and of no other, may help. kube: isSchedulableAfterPodTolerationChange and others"""
    return new.uid == pod.uid


# DefaultPreemption


def never(plugin: Any, pod: Pod, old: Pod, new: None) -> bool:
    """The event only lets a pod out of its gate. kube: isPodSchedulableAfterPodDeletion"""
    return False
