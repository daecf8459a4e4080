"""Amounts of resources as containers ask for them, and as manifests have them."""

from __future__ import annotations

from typing import Any

from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.apimachinery.objects.quantity import nanos

Place = tuple[str, int, int]  # field of the pod's spec, index in it, amount
AS_A_WHOLE = "resources"  # the field of what the pod as a whole asks for


def largest_container(pod: Pod, resource: str) -> Place | None:
    """The container that asks for most, or the init container where that decides; None where the pod as a whole does."""
    spec = pod.spec.manifest  # without pod-level requests where their gate is off
    if ((spec.get("resources") or {}).get("requests") or {}).get(resource) is not None:
        return None
    amounts = [request_of(raw, resource) for raw in spec["containers"]]
    first = [request_of(raw, resource) for raw in spec.get("initContainers") or ()]
    if max(first, default=0) > sum(amounts):
        return "initContainers", first.index(max(first)), max(first)
    best = max(range(len(amounts)), key=lambda i: (amounts[i], -i))
    return ("containers", best, amounts[best]) if amounts[best] else None


def of_the_whole(pod: Pod, resource: str) -> tuple[int, int]:
    """Return the pod-level request and the sum of the containers' requests, which is its minimum."""
    spec = pod.spec.manifest
    return request_of(spec, resource), sum(request_of(raw, resource) for raw in spec["containers"])


def request_of(container: Any, resource: str) -> int:
    raw = ((container.get("resources") or {}).get("requests") or {}).get(resource)
    if raw is None:
        return 0
    return -(-nanos(raw) // (1_000_000 if resource == "cpu" else 1_000_000_000))


def round_down(resource: str, amount: int) -> int:
    """Down to what people would write."""
    if resource in ("memory", "ephemeral-storage") and amount > 1 << 20:
        return amount >> 20 << 20
    if resource == "cpu" and amount > 1000:
        return amount // 100 * 100
    return amount


def quantity(resource: str, amount: int) -> str:
    """An amount as a manifest has it; cpu comes in millis."""
    if resource == "cpu":
        return f"{amount}m" if amount % 1000 else str(amount // 1000)
    of_bytes = resource in ("memory", "ephemeral-storage") or resource.startswith("hugepages-")
    if amount and of_bytes and amount % (1 << 20) == 0:
        mebi = amount >> 20
        return f"{mebi}Mi" if mebi % 1024 else f"{mebi // 1024}Gi"
    return str(amount)
