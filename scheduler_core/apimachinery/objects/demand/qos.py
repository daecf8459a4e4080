"""A pod's quality of service class, as it follows from its requests and limits of cpu and memory.

kube: pkg/apis/core/helper/qos/qos.go @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduler_core.apimachinery.objects.quantity import nanos
from scheduler_core.apimachinery.objects.resources import CPU, MEMORY

GUARANTEED, BURSTABLE, BEST_EFFORT = "Guaranteed", "Burstable", "BestEffort"
Nanos = dict[str, int]


def qos_class(spec: Mapping[str, Any]) -> str:
    """Guaranteed, Burstable or BestEffort; what is said of the pod as a whole counts in place of its containers'. BadQuantity."""
    requests: Nanos = {}
    limits: Nanos = {}
    whole = spec.get("resources")
    parts = [whole] if whole else _containers(spec)
    fully_limited = not whole or bool(whole.get("limits"))
    for resources in parts:
        _add(requests, resources.get("requests"))
        found = _add(limits, resources.get("limits"))
        fully_limited = fully_limited and found == 2
    if not requests and not limits:
        return BEST_EFFORT
    return GUARANTEED if fully_limited and requests == limits else BURSTABLE


def _containers(spec: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    containers = (*(spec.get("containers") or ()), *(spec.get("initContainers") or ()))
    return [container.get("resources") or {} for container in containers]


def _add(total: Nanos, resources: Mapping[str, Any] | None) -> int:
    """Adds what is above zero; returns how many of cpu and memory that were."""
    found = 0
    for name in (CPU, MEMORY):
        amount = nanos((resources or {}).get(name) or 0)
        if amount > 0:
            total[name] = total.get(name, 0) + amount
            found += 1
    return found
