"""Proposals that make room without ending a pod: a pod resized to lower requests, or pods moved to other nodes."""

import copy
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from scheduler_core.apimachinery.objects import NO_EXECUTE, NO_SCHEDULE, Pod
from scheduler_core.apimachinery.objects.affinity import misses
from scheduler_core.scheduler.framework.drafts import Change, Draft, Refusal
from scheduler_core.scheduler.plugins.noderesources.amounts import largest_container, quantity, round_down

MOST_MOVED = 3
SHARE = 2  # a pod keeps at least 1/SHARE of its request
_RESIZABLE = ("cpu", "memory")


def propose_resize(draft: Draft, pods: tuple[Pod, ...], missing: Mapping[str, int]) -> Iterator[Draft]:
    """Propose to resize the pod with the largest request in place, by the missing amount."""
    if len(missing) != 1:
        return
    ((resource, lacking),) = missing.items()
    if resource not in _RESIZABLE:
        return
    able = [(pod, place) for pod in pods if not pod.deleting and (place := _running(pod, resource))]
    able = [(pod, place) for pod, place in able if place[1] - lacking >= -(-place[1] // SHARE)]
    if not able:
        return
    pod, (index, amount) = max(able, key=lambda each: (each[1][1], -each[0].priority, each[0].key))
    text = quantity(resource, round_down(resource, amount - lacking))
    containers = copy.deepcopy(list(pod.manifest["spec"]["containers"]))
    resources = containers[index]["resources"]
    resources["requests"][resource] = text
    values: dict[str, Any] = {"pod": pod.key, "resource": resource, "from": quantity(resource, amount), "to": text}
    if (pod.condition("PodResizePending") or {}).get("status") == "True":
        values["pending"] = True  # the resize is in progress: the pod does not have the difference yet
    target = ("Pod", pod.namespace, pod.name, "resize")
    yield draft.with_patch(Change("resize", values, lacking / amount), target, {"spec": {"containers": containers}})


def _running(pod: Pod, resource: str) -> tuple[int, int] | None:
    """Return (index, amount) of the container with the largest request; init containers have completed."""
    place = largest_container(pod, resource)
    return None if place is None or place[0] != "containers" else place[1:]


def propose_moves(draft: Draft, refusal: Refusal, missing: Mapping[str, int]) -> Iterator[Draft]:
    """Propose to move the fewest pods that fit on other nodes and leave enough room: each is recreated on another node."""
    nodes, row = refusal.nodes, refusal.row
    free = (nodes.allocatable - nodes.requested).astype(np.int64)
    room = np.asarray(nodes.allowed_pods) - np.asarray(nodes.pod_count)
    movable = [pod for pod in nodes.pods[row] if _movable(pod) and _helps(pod, missing)]
    left, chosen = dict(missing), []
    for pod in sorted(movable, key=lambda pod: (-_share(pod, missing), pod.priority, pod.key)):
        target = _target(refusal, pod, free, room)
        if target is None:
            continue
        _take(refusal, pod, free, room, target)
        chosen.append((pod, target))
        left = {resource: n - pod.requests.get(resource) for resource, n in left.items()}
        if all(n <= 0 for n in left.values()):
            yield _draft(draft, refusal, chosen)
            return
        if len(chosen) == MOST_MOVED:
            return


def _draft(draft: Draft, refusal: Refusal, chosen: list[tuple[Pod, int]]) -> Draft:
    values = {
        "node": refusal.node.name,
        "pods": [pod.key for pod, _ in chosen],
        "to": [refusal.nodes.names[row] for _, row in chosen],
    }
    manifests = []
    for pod, row in chosen:
        manifest = copy.deepcopy(dict(pod.manifest))
        manifest["spec"]["nodeName"] = refusal.nodes.names[row]
        manifests.append(manifest)
    for manifest in manifests[:-1]:
        draft = draft.beside_anew(manifest)
    return draft.with_object(Change("move", values, float(len(chosen))), manifests[-1]).taking_time()


def _movable(pod: Pod) -> bool:
    """Return whether nothing ties the pod to its node or to other pods, so that only room, taints, and labels count."""
    spec, references = pod.spec, pod.manifest["metadata"].get("ownerReferences") or ()
    tied = spec.volumes and any("persistentVolumeClaim" in volume or "ephemeral" in volume for volume in spec.volumes)
    affine = any(
        "requiredDuringSchedulingIgnoredDuringExecution" in (side or {})
        for side in (spec.pod_affinity, spec.pod_anti_affinity)
    )
    return not (
        pod.deleting
        or pod.terminal
        or tied
        or affine
        or spec.host_ports
        or spec.topology_spread
        or spec.resource_claims
        or any(ref.get("kind") in ("DaemonSet", "Node") for ref in references)
    )


def _helps(pod: Pod, missing: Mapping[str, int]) -> bool:
    return not missing or any(pod.requests.get(resource) for resource in missing)


def _share(pod: Pod, missing: Mapping[str, int]) -> float:
    return sum(min(pod.requests.get(resource) / n, 1.0) for resource, n in missing.items())


def _target(refusal: Refusal, pod: Pod, free: Any, room: Any) -> int | None:
    """Return the row with the least room among those where the pod fits, or None."""
    nodes = refusal.nodes
    fits = room > 0
    fits[refusal.row] = False
    size = np.zeros(len(nodes), np.float64)
    for name in ("cpu", "memory", "ephemeral-storage", *(scalar for scalar, _ in pod.requests.scalar)):
        wanted, column = pod.requests.get(name), nodes.resources.columns.get(name)
        if not wanted:
            continue
        if column is None or column >= free.shape[1]:
            return None
        fits &= free[:, column] >= wanted
        size += free[:, column] / wanted
    for row in np.argsort(size, kind="stable").tolist():
        if fits[row] and not nodes.unschedulable[row] and _admits(nodes.nodes[row], pod):
            return int(row)
    return None


def _admits(node: Any, pod: Pod) -> bool:
    hard = (taint for taint in node.taints if taint.effect in (NO_SCHEDULE, NO_EXECUTE))
    return not misses(pod, node) and all(pod.spec.tolerates(taint) for taint in hard)


def _take(refusal: Refusal, pod: Pod, free: Any, room: Any, row: int) -> None:
    room[row] -= 1
    for name in ("cpu", "memory", "ephemeral-storage", *(scalar for scalar, _ in pod.requests.scalar)):
        column = refusal.nodes.resources.columns.get(name)
        if column is not None and pod.requests.get(name):
            free[row, column] -= pod.requests.get(name)
