"""The selector that a pod without spread constraints is spread by: that of its Services and of its controller.

kube: plugins/helper/spread.go @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduler_core.apimachinery.objects.labels import IN, LabelSelector, Requirement
from scheduler_core.apimachinery.objects.ownership import controller_of
from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.scheduler.framework.plugin import Handle

CONTROLLERS = {
    ("v1", "ReplicationController"): "ReplicationController",
    ("apps/v1", "ReplicaSet"): "ReplicaSet",
    ("apps/v1", "StatefulSet"): "StatefulSet",
}


def default_selector(pod: Pod, handle: Handle) -> LabelSelector:
    """Empty where nothing selects the pod."""
    labels: dict[str, str] = {}
    for service in handle.list("Service"):
        selector = (service.get("spec") or {}).get("selector")
        if selector is None or (service["metadata"].get("namespace") or "") != pod.namespace:
            continue
        if all(pod.labels.get(key) == value for key, value in selector.items()):
            labels.update(selector)
    controller = _controller(pod, handle)
    if controller is None:
        return _of_labels(labels)
    kind, spec = controller
    if kind == "ReplicationController":
        return _of_labels(labels | (spec.get("selector") or {}))
    own, other = _of_labels(labels), LabelSelector.of(spec.get("selector"))
    if other.nothing:
        return own
    return LabelSelector(tuple(sorted((*own.requirements, *other.requirements), key=lambda r: r.key)))


def _of_labels(labels: Mapping[str, str]) -> LabelSelector:
    return LabelSelector(tuple(Requirement(key, IN, (value,)) for key, value in sorted(labels.items())))


def _controller(pod: Pod, handle: Handle) -> tuple[str, Mapping[str, Any]] | None:
    """Kind and spec of the owner that is the pod's controller, where it exists and is of a kind that has a selector."""
    owner = controller_of(pod.manifest) or {}
    kind = CONTROLLERS.get((owner.get("apiVersion") or "", owner.get("kind") or ""))
    controller = None if kind is None else handle.get(kind, pod.namespace, owner.get("name") or "")
    return None if kind is None or controller is None else (kind, controller.get("spec") or {})
