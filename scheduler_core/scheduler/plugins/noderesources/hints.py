"""Which events may help a pod that NodeResourcesFit refused.

kube: plugins/noderesources/fit.go @ v1.34.1
"""

from __future__ import annotations

from typing import Any

from scheduler_core.apimachinery.objects.node import Node
from scheduler_core.apimachinery.objects.pod import Pod, whole_requests
from scheduler_core.apimachinery.objects.resources import Resources
from scheduler_core.scheduler.cache.table import FIXED_RESOURCES
from scheduler_core.scheduler.plugins.helper.hints import was_placed
from scheduler_core.scheduler.plugins.noderesources.devices import has_scalar


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
    devices: bool = plugin.handle.features.dra_extended_resource
    if not _fits_empty(pod.spec.requests, new, devices):
        return False
    return old is None or _offers_more(pod.spec.requests, old, new, devices)


def _list_requested(requests: Resources) -> list[str]:
    names = ("cpu", "memory", "ephemeral-storage")
    scalar = [name for name, amount in requests.scalar if amount]
    return [*(name for name in names if requests.get(name)), *scalar]


def _fits_empty(requests: Resources, node: Node, devices: bool) -> bool:
    """`devices`: a scalar resource that the node lacks may be had of devices."""
    if node.allowed_pods < 1:
        return False
    return all(
        requests.get(name) <= node.allocatable.get(name) or (devices and _lacks(node, name))
        for name in _list_requested(requests)
    )


def _offers_more(requests: Resources, old: Node, new: Node, devices: bool) -> bool:
    if new.allowed_pods > old.allowed_pods:
        return True
    return any(
        new.allocatable.get(name) > old.allocatable.get(name) or (devices and _lacks(new, name))
        for name in _list_requested(requests)
    )


def _lacks(node: Node, name: str) -> bool:
    return name not in FIXED_RESOURCES and not has_scalar(node, name)
