"""Room on a node: requests lowered, pods deleted, or a node added."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from scheduler_core.framework.drafts import Change, Draft, Edit, Refusal
from scheduler_core.objects.pod import Pod
from scheduler_core.objects.quantity import nanos
from scheduler_core.plugins.helper.fixes import MOST_DELETED, add_node, delete_pods


def propose(draft: Draft, refusal: Refusal) -> Iterator[Draft]:
    """Ask for less, or delete the pods that are in the way."""
    nodes, row = refusal.nodes, refusal.row
    missing = _missing(refusal)
    yield from _asking_less(draft, refusal.pod, missing)
    if not draft.changes:
        full = int(nodes.pod_count[row]) >= int(nodes.allowed_pods[row])
        victims = _in_the_way(nodes.pods[row], missing, full)
        if victims:
            amounts = [f"{quantity(resource, n)} {resource}" for resource, n in missing.items()]
            yield delete_pods(draft, nodes.names[row], victims, amounts)
    yield from add_node(draft, refusal)


def _missing(refusal: Refusal) -> dict[str, int]:
    """Resource -> how much the node lacks for the pod."""
    missing = {}
    requests = refusal.pod.requests
    for name in ("cpu", "memory", "ephemeral-storage", *(scalar for scalar, _ in requests.scalar)):
        lacking = requests.get(name) - _free(refusal, name)
        if requests.get(name) and lacking > 0:
            missing[name] = lacking
    return missing


def _free(refusal: Refusal, resource: str) -> int:
    nodes, row = refusal.nodes, refusal.row
    column = nodes.resources.columns.get(resource)
    if column is None or column >= nodes.allocatable.shape[1]:
        return 0
    return int(nodes.allocatable[row, column] - nodes.requested[row, column])


# Asking for less


def _asking_less(draft: Draft, pod: Pod, missing: dict[str, int]) -> Iterator[Draft]:
    for resource, lacking in missing.items():
        wanted = pod.requests.get(resource)
        place = _largest_container(pod, resource)
        if place is None or lacking >= wanted:
            return
        index, requested = place
        new = _rounded(resource, requested - lacking)
        if new <= 0:
            return
        text = quantity(resource, new)
        change = Change(
            "request",
            {"resource": resource, "from": quantity(resource, requested), "to": text},
            lacking / wanted,
        )
        draft = draft.with_pod(change, _request_edit(index, resource, text))
    if missing:
        yield draft


def _largest_container(pod: Pod, resource: str) -> tuple[int, int] | None:
    """(index, amount) of the container that asks for most; None where the pod as a whole or an init container decides."""
    spec = pod.spec.manifest  # without pod-level requests where their gate is off
    if ((spec.get("resources") or {}).get("requests") or {}).get(resource) is not None:
        return None
    amounts = [_request_of(raw, resource) for raw in spec["containers"]]
    best = max(range(len(amounts)), key=lambda i: (amounts[i], -i))
    return (best, amounts[best]) if amounts[best] else None


def _request_of(container: Any, resource: str) -> int:
    raw = ((container.get("resources") or {}).get("requests") or {}).get(resource)
    if raw is None:
        return 0
    return -(-nanos(raw) // (1_000_000 if resource == "cpu" else 1_000_000_000))


def _rounded(resource: str, amount: int) -> int:
    """Down to what people would write."""
    if resource in ("memory", "ephemeral-storage") and amount > 1 << 20:
        return amount >> 20 << 20
    return amount


def quantity(resource: str, amount: int) -> str:
    """An amount as a manifest has it; cpu comes in millis."""
    if resource == "cpu":
        return f"{amount}m" if amount % 1000 else str(amount // 1000)
    if resource in ("memory", "ephemeral-storage") and amount % (1 << 20) == 0:
        mebi = amount >> 20
        return f"{mebi}Mi" if mebi % 1024 else f"{mebi // 1024}Gi"
    return str(amount)


def _request_edit(index: int, resource: str, text: str) -> Edit:
    def edit(manifest: dict[str, Any]) -> None:
        amounts = manifest["spec"]["containers"][index]["resources"]
        amounts["requests"][resource] = text
        if "/" in resource and resource in (amounts.get("limits") or {}):
            amounts["limits"][resource] = text  # an extended resource can't be overcommitted

    return edit


# Deleting pods


def _in_the_way(pods: tuple[Pod, ...], missing: dict[str, int], full: bool) -> list[Pod]:
    """The one pod whose end leaves least unused, else the largest ones until there is room; none where that is not enough."""
    movable = [pod for pod in pods if not pod.deleting]
    enough = [pod for pod in movable if all(pod.requests.get(r) >= n for r, n in missing.items())]
    if enough and (missing or full):
        return [min(enough, key=lambda pod: (pod.priority, _size(pod, missing), pod.key))]
    left, chosen = dict(missing), []
    for pod in sorted(movable, key=lambda pod: (pod.priority, -_size(pod, missing), pod.key)):
        if not any(pod.requests.get(r) for r, n in left.items() if n > 0):
            continue
        chosen.append(pod)
        left = {resource: n - pod.requests.get(resource) for resource, n in left.items()}
        if all(n <= 0 for n in left.values()):
            return chosen
        if len(chosen) == MOST_DELETED:
            break
    return []


def _size(pod: Pod, missing: dict[str, int]) -> float:
    return sum(pod.requests.get(resource) / n for resource, n in missing.items())
