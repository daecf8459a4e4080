"""What an eviction says of itself, in kube's words.

kube: pkg/kubelet/eviction/helpers.go (evictionMessage) @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from scheduler_core.apimachinery.objects.quantity import format_quantity, value
from scheduler_core.apimachinery.objects.resources import EPHEMERAL_STORAGE, MEMORY
from scheduler_core.controllers.kubelet.eviction.observations import Observation, Observations, PodStats
from scheduler_core.controllers.kubelet.eviction.ranking import RESOURCES
from scheduler_core.scheduler.config.kubelet import Threshold

_BINARY = (MEMORY, EPHEMERAL_STORAGE)


def canonical(text: str | int) -> str:
    """A quantity as kube prints it: binary where it was written so."""
    return format_quantity(text, binary=isinstance(text, str) and text.endswith("i"))


def amount(number: int, resource: str) -> str:
    """Bytes, inodes or pids as kube prints them."""
    return format_quantity(number, binary=resource in _BINARY)


def threshold_text(threshold: Threshold, observation: Observation) -> str:
    """Format a threshold as a quantity."""
    if threshold.amount.quantity is not None and threshold.amount.text:
        return canonical(threshold.amount.text)
    return format_quantity(threshold.amount.of(observation.capacity), binary=True)


def eviction_message(
    resource: str, stats: PodStats, thresholds: Sequence[Threshold], observations: Observations
) -> str:
    """Return the eviction message, with the containers that use more than they request."""
    message = f"The node was low on resource: {resource}. "
    for threshold in thresholds:
        observation = observations.signals.get(threshold.signal)
        if RESOURCES[threshold.signal] == resource and observation is not None:
            left = amount(observation.available, resource)
            message += f"Threshold quantity: {threshold_text(threshold, observation)}, available: {left}. "
            break
    if not stats.found:
        return message
    spec = stats.pod.manifest["spec"]
    whole = ((spec.get("resources") or {}).get("requests") or {}).get(resource)
    if resource == MEMORY and whole is not None:
        used = amount(stats.get("memory"), resource)
        message += _larger("Pod", stats.pod.name, used, canonical(whole), resource)
    for container in (*(spec.get("containers") or ()), *(spec.get("initContainers") or ())):
        message += _of_container(container, resource, stats)
    return message


def _of_container(container: Mapping[str, Any], resource: str, stats: PodStats) -> str:
    name = str(container.get("name"))
    if resource not in _BINARY or name not in stats.containers:
        return ""
    parts = ("memory",) if resource == MEMORY else ("rootfs", "logs")
    used = sum(stats.share(part, name) for part in parts)
    request = ((container.get("resources") or {}).get("requests") or {}).get(resource, 0)
    if used <= value(request):
        return ""
    return _larger("Container", name, amount(used, resource), canonical(request), resource)


def _larger(what: str, name: str, used: str, request: str, resource: str) -> str:
    return f"{what} {name} was using {used}, request is {request}, has larger consumption of {resource}. "
