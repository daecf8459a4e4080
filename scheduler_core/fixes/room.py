"""Room on a node: requests lowered, pods deleted, host ports given up, or a node added like one that exists."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from scheduler_core.commands import Ref
from scheduler_core.fixes.diagnosis import Diagnosis
from scheduler_core.fixes.draft import Draft, Edit
from scheduler_core.fixes.fix import Change
from scheduler_core.objects.pod import Pod
from scheduler_core.objects.quantity import nanos
from scheduler_core.plugins.node_ports import taken_ports

MOST_DELETED = 5
_OF_THE_MACHINE = ("podCIDR", "podCIDRs", "providerID", "unschedulable")
_OF_ITS_STATE = ("capacity", "allocatable", "conditions", "images")


def resources(draft: Draft, found: Diagnosis, row: int) -> Iterator[Draft]:
    """Ask for less, or delete the pods that are in the way."""
    missing = missing_on(found, row)
    yield from _asking_less(draft, found, row, missing)
    if not draft.changes:
        full = int(found.nodes.pod_count[row]) >= int(found.nodes.allowed_pods[row])
        victims = _in_the_way(found.nodes.pods[row], missing, full)
        if victims:
            yield _freed(draft, found.nodes.names[row], victims, missing)


def missing_on(found: Diagnosis, row: int) -> dict[str, int]:
    """Resource -> how much the node lacks for the pod."""
    out = {}
    requests = found.pod.requests
    for name in ("cpu", "memory", "ephemeral-storage", *(scalar for scalar, _ in requests.scalar)):
        lacking = requests.get(name) - _free(found, row, name)
        if requests.get(name) and lacking > 0:
            out[name] = lacking
    return out


def _free(found: Diagnosis, row: int, resource: str) -> int:
    column = found.nodes.resources.columns.get(resource)
    if column is None or column >= found.nodes.allocatable.shape[1]:
        return 0
    return int(found.nodes.allocatable[row, column] - found.nodes.requested[row, column])


# Asking for less


def _asking_less(draft: Draft, found: Diagnosis, row: int, missing: dict[str, int]) -> Iterator[Draft]:
    for resource, lacking in missing.items():
        wanted = found.pod.requests.get(resource)
        place = _largest_container(found.pod, resource)
        if place is None or lacking >= wanted:
            return
        index, asked = place
        new = _rounded(resource, asked - lacking)
        if new <= 0:
            return
        text = quantity(resource, new)
        change = Change(
            "request",
            {"resource": resource, "from": quantity(resource, asked), "to": text},
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
    amounts = [_asked(raw, resource) for raw in spec["containers"]]
    best = max(range(len(amounts)), key=lambda i: (amounts[i], -i))
    return (best, amounts[best]) if amounts[best] else None


def _asked(container: Any, resource: str) -> int:
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


def _freed(draft: Draft, node: str, pods: list[Pod], missing: dict[str, int]) -> Draft:
    amounts = [f"{quantity(resource, n)} {resource}" for resource, n in missing.items()]
    values = {"node": node, "amounts": amounts, "pods": [pod.key for pod in pods]}
    refs = tuple(Ref("Pod", pod.namespace, pod.name) for pod in pods)
    return draft.without_pods(Change("free", values, float(len(pods))), refs)


def delete_pods(draft: Draft, node: str, pods: list[Pod]) -> Draft:
    """Pods that are in the way for another reason than their size."""
    return _freed(draft, node, pods, {})


# Host ports


def ports(draft: Draft, found: Diagnosis, row: int) -> Iterator[Draft]:
    """Give the host ports up, or delete who has them."""

    def edit(manifest: dict[str, Any]) -> None:
        for container in manifest["spec"]["containers"]:
            for port in container.get("ports") or ():
                port.pop("hostPort", None)
                port.pop("hostIP", None)

    if not found.pod.spec.host_network:
        yield draft.with_pod(Change("port", {"ports": taken_ports(found.pod, found.nodes.ports[row])}), edit)
    wanted = {(port.protocol, port.port) for port in found.pod.spec.host_ports}
    holders = [
        pod
        for pod in found.nodes.pods[row]
        if any((port.protocol, port.port) in wanted for port in pod.spec.host_ports)
    ]
    if holders and not draft.changes and len(holders) <= MOST_DELETED:
        yield delete_pods(draft, found.nodes.names[row], holders)


# Another node


def another_node(draft: Draft, found: Diagnosis, row: int) -> Iterator[Draft]:
    """A new node like an existing one that would be large enough when empty."""
    for resource in ("cpu", "memory", "ephemeral-storage", *(s for s, _ in found.pod.requests.scalar)):
        column = found.nodes.resources.columns.get(resource)
        wanted = found.pod.requests.get(resource)
        has = column is not None and column < found.nodes.allocatable.shape[1]
        if wanted and (not has or wanted > int(found.nodes.allocatable[row, column or 0])):
            return
    like = found.nodes.nodes[row]
    name = _free_name(found, like.name)

    def edit(manifest: dict[str, Any]) -> None:
        labels = dict(manifest["metadata"].get("labels") or {})
        if "kubernetes.io/hostname" in labels:
            labels["kubernetes.io/hostname"] = name
        spec = {k: v for k, v in (manifest.get("spec") or {}).items() if k not in _OF_THE_MACHINE}
        status = {k: v for k, v in (manifest.get("status") or {}).items() if k in _OF_ITS_STATE}
        manifest["metadata"] = {"name": name, "labels": labels}
        manifest["spec"], manifest["status"] = spec, status

    yield draft.with_node(Change("node", {"node": name, "like": like.name}), like.manifest, edit).aimed_at(
        name
    )


def _free_name(found: Diagnosis, like: str) -> str:
    number = 2
    while found.nodes.row(f"{like[:240]}-copy{number}") is not None:
        number += 1
    return f"{like[:240]}-copy{number}"
