"""Fixes for resources: lower requests, higher allocatable, moved, resized, or deleted pods, or a new node."""

from collections.abc import Iterator, Mapping
from typing import Any

from scheduler_core.apimachinery.objects import Node, Pod
from scheduler_core.scheduler.framework.drafts import Change, Draft, Edit, Refusal
from scheduler_core.scheduler.plugins.helper.arguments import alike, likeness
from scheduler_core.scheduler.plugins.helper.fixes import MOST_DELETED, add_node, delete_pods, group_of, is_virtual
from scheduler_core.scheduler.plugins.noderesources.amounts import (
    AS_A_WHOLE,
    Place,
    largest_container,
    of_the_whole,
    quantity,
    round_down,
)
from scheduler_core.scheduler.plugins.noderesources.moving import propose_moves, propose_resize

# Requests that are likely typos: another name of a resource that the node has, and cores in place of millicores.

MOST = 2
CPU = "cpu"
HUGE_PAGES = "hugepages-"
STEP = 50  # customary millicores are a multiple; real machines have 96 or 128 cores


def propose_renaming(draft: Draft, refusal: Refusal, missing: Mapping[str, int]) -> Iterator[Draft]:
    """Propose a resource that the node has enough of in place of the one resource that no node offers."""
    for resource in missing:
        if len(missing) > 1 or not _is_extended(resource) or _is_offered(refusal, resource):
            continue
        wanted = refusal.pod.requests.get(resource)
        others = [other for other in _here(refusal, wanted) if _is_similar(resource, other)]
        for other in sorted(others, key=lambda name: (-likeness(resource, name), name))[:MOST]:
            values = {"from": resource, "to": other, "amount": quantity(resource, wanted)}
            yield draft.with_pod(Change("resource-name", values), _edit(resource, other))


def in_millicores(draft: Draft, refusal: Refusal, missing: Mapping[str, int]) -> Iterator[Draft]:
    """Propose millicores for a container's number of whole cores that no node has and that looks like millicores."""
    place = largest_container(refusal.pod, CPU) if CPU in missing else None
    if place is None:
        return
    field, index, cores = place[0], place[1], place[2] // 1000
    most = int(refusal.nodes.allocatable[:, refusal.nodes.resources.columns[CPU]].max())
    if cores >= 2 * STEP and cores % STEP == 0 and place[2] == cores * 1000 > 2 * most:
        change = Change("unit", {"from": str(cores), "to": f"{cores}m"})

        def edit(manifest: dict[str, Any]) -> None:
            for amounts in manifest["spec"][field][index]["resources"].values():
                if isinstance(amounts, dict) and CPU in amounts:
                    amounts[CPU] = f"{cores}m"

        yield draft.with_pod(change, edit)


def _is_offered(refusal: Refusal, resource: str) -> bool:
    column = refusal.nodes.resources.columns.get(resource)
    amounts = refusal.nodes.allocatable
    return column is not None and column < amounts.shape[1] and bool(amounts[:, column].any())


def _here(refusal: Refusal, wanted: int) -> Iterator[str]:
    """Yield the extended resources of which the node has enough free."""
    nodes, row = refusal.nodes, refusal.row
    asked = {name for name, _ in refusal.pod.requests.scalar}
    for name, column in nodes.resources.columns.items():
        if _is_extended(name) and name not in asked and column < nodes.allocatable.shape[1]:
            free = int(nodes.allocatable[row, column] - nodes.requested[row, column])
            if free >= wanted:
                yield name


def _is_extended(resource: str) -> bool:
    return "/" in resource or resource.startswith(HUGE_PAGES)


def _is_similar(resource: str, other: str) -> bool:
    """Return whether one resource may stand for the other: same vendor, same resource, pages of another size, or a typo."""
    if resource.startswith(HUGE_PAGES) or other.startswith(HUGE_PAGES):
        return resource.startswith(HUGE_PAGES) == other.startswith(HUGE_PAGES)
    return any(a == b for a, b in zip(resource.split("/"), other.split("/"), strict=False)) or alike(resource, other)


def _edit(resource: str, other: str = "") -> Edit:
    """Return an edit that renames a resource in all containers, or removes the resource if `other` is ""."""

    def edit(manifest: dict[str, Any]) -> None:
        spec = manifest["spec"]
        for container in (*spec["containers"], *(spec.get("initContainers") or ())):
            for amounts in (container.get("resources") or {}).values():
                if isinstance(amounts, dict) and resource in amounts:
                    amount = amounts.pop(resource)
                    amounts |= {other: amount} if other else {}

    return edit


MOST_PODS = 110  # of a node, unless its kubelet says otherwise


def propose(draft: Draft, refusal: Refusal) -> Iterator[Draft]:
    """Propose smaller requests, or to move, resize, or delete pods on the node."""
    nodes, row = refusal.nodes, refusal.row
    # Resource -> the amount that the node lacks for the pod.
    missing = {}
    requests = refusal.pod.requests
    for name in ("cpu", "memory", "ephemeral-storage", *(scalar for scalar, _ in requests.scalar)):
        lacking = requests.get(name) - _free(refusal, name)
        if requests.get(name) and lacking > 0:
            missing[name] = lacking
    yield from _propose_offers(draft, refusal, missing)
    yield from propose_renaming(draft, refusal, missing)
    yield from in_millicores(draft, refusal, missing)
    yield from _in_another_order(draft, refusal.pod)
    yield from ask_less(draft, refusal.pod, missing)
    if not draft.changes and not (is_virtual(refusal.node) and int(nodes.allowed_pods[row]) == 1):
        full = int(nodes.pod_count[row]) >= int(nodes.allowed_pods[row])
        yield from propose_resize(draft, nodes.pods[row], missing)
        yield from propose_moves(draft, refusal, missing)
        ending = [pod for pod in nodes.pods[row] if pod.deleting and _size(pod, missing or {"pods": 1})]
        if ending and len(ending) <= MOST_DELETED:
            yield delete_pods(draft, nodes.names[row], ending)
        lesser = tuple(pod for pod in nodes.pods[row] if pod.priority <= refusal.pod.priority)
        victims = _in_the_way(lesser, missing, full) or _in_the_way(nodes.pods[row], missing, full)
        if victims:
            amounts = [f"{quantity(resource, n)} {resource}" for resource, n in missing.items()]
            yield delete_pods(draft, nodes.names[row], victims, amounts)
    yield from add_node(draft, refusal)


def _free(refusal: Refusal, resource: str) -> int:
    nodes, row = refusal.nodes, refusal.row
    column = nodes.resources.columns.get(resource)
    if column is None or column >= nodes.allocatable.shape[1]:
        return 0
    return int(nodes.allocatable[row, column] - nodes.requested[row, column])


# Offering more


def _propose_offers(draft: Draft, refusal: Refusal, missing: dict[str, int]) -> Iterator[Draft]:
    """Propose resources that a device plugin could offer on a node without them, and more pods if the pod limit is reached."""
    node, nodes, row = refusal.node, refusal.nodes, refusal.row
    for resource, lacking in missing.items():
        others = [other for other in refusal.nodes.resources.columns if other != resource]
        rows = [row] if resource.startswith(HUGE_PAGES) else range(len(nodes))
        misspelt = any(
            alike(resource, other)
            or (_is_similar(resource, other) and any(_has_any(refusal, other, each) for each in rows))
            for other in others
        )
        if not (misspelt or _has_any(refusal, resource, row) or _others_have(refusal, resource)):
            yield _offering(draft, node, resource, 0, lacking)
    count, allowed = int(nodes.pod_count[row]), int(nodes.allowed_pods[row])
    if count >= allowed and not missing and not is_virtual(node):
        yield _offering(draft, node, "pods", allowed, max(MOST_PODS, count + 1))


def _has_any(refusal: Refusal, resource: str, row: int) -> bool:
    """Return whether a node offers the resource."""
    column = refusal.nodes.resources.columns.get(resource)
    if column is None or column >= refusal.nodes.allocatable.shape[1]:
        return False
    return bool(refusal.nodes.allocatable[row, column])


def _others_have(refusal: Refusal, resource: str) -> bool:
    """Return whether only nodes of other groups have the resource, so that the node is of another kind."""
    if _is_in(refusal.node, resource):
        return False
    nodes, group = refusal.nodes, group_of(refusal.node)
    offering = [n for row, n in enumerate(nodes.nodes) if _has_any(refusal, resource, row) or _is_in(n, resource)]
    return bool(offering) and not (group and any(group_of(node) == group for node in offering))


def _is_in(node: Node, resource: str) -> bool:
    """Return whether the node's capacity lists a resource, which allocatable may lack."""
    return resource in ((node.manifest.get("status") or {}).get("capacity") or {})


def _offering(draft: Draft, node: Node, resource: str, was: int, amount: int) -> Draft:
    def edit(manifest: dict[str, Any]) -> None:
        status = manifest.setdefault("status", {})
        for field in ("capacity", "allocatable"):
            status[field] = {**(status.get(field) or {}), resource: quantity(resource, amount)}

    values = {"node": node.name, "resource": resource, "from": str(was), "to": quantity(resource, amount)}
    return draft.with_node(Change("capacity", values), node.manifest, edit)


# Asking for less


def ask_less(draft: Draft, pod: Pod, missing: dict[str, int]) -> Iterator[Draft]:
    """Propose smaller requests of the missing resources."""
    if "vpaUpdates" in pod.annotations:  # the Vertical Pod Autoscaler would set the request again
        return
    for resource, lacking in missing.items():
        wanted = pod.requests.get(resource)
        place = _place(pod, resource, lacking)
        extended = "/" in resource or resource == "ephemeral-storage"  # without cpu or memory no pod runs
        if place is None or (lacking >= wanted and not extended):
            return
        field, index, requested = place
        if lacking >= wanted > requested and field != AS_A_WHOLE:  # of several containers
            values = {"resource": resource, "from": quantity(resource, wanted), "to": "0"}
            draft = draft.with_pod(Change("request", values, 1), _edit(resource))
            continue
        new = round_down(resource, requested - lacking)
        if new < 0 or (new == 0 and not extended):
            return
        text = quantity(resource, new)
        values = {"resource": resource, "from": quantity(resource, requested), "to": text}
        if field != AS_A_WHOLE:
            values["container"] = str(pod.manifest["spec"][field][index]["name"])
        change = Change("request", values, lacking / wanted)
        draft = draft.with_pod(change, _request_edit(field, index, resource, text))
    if missing:
        yield draft


def _in_another_order(draft: Draft, pod: Pod) -> Iterator[Draft]:
    """Propose sidecars after the other init containers: a sidecar counts together with the init containers that follow."""
    first = list(pod.manifest["spec"].get("initContainers") or ())
    last = sorted(first, key=lambda each: each.get("restartPolicy") == "Always")
    if [each["name"] for each in first] != [each["name"] for each in last]:

        def edit(manifest: dict[str, Any]) -> None:
            spec = manifest["spec"]
            spec["initContainers"] = sorted(
                spec["initContainers"], key=lambda each: each.get("restartPolicy") == "Always"
            )

        yield draft.with_pod(Change("order", {"containers": [each["name"] for each in last]}), edit)


def _place(pod: Pod, resource: str, lacking: int) -> Place | None:
    """Return the place to request less: the pod as a whole if it has a request, else the largest container."""
    whole, least = of_the_whole(pod, resource)
    if whole:
        return (AS_A_WHOLE, 0, whole) if whole - lacking >= least else None
    return largest_container(pod, resource)


def _request_edit(field: str, index: int, resource: str, text: str) -> Edit:
    def edit(manifest: dict[str, Any]) -> None:
        spec = manifest["spec"]
        amounts = spec[field] if field == AS_A_WHOLE else spec[field][index]["resources"]
        amounts["requests"][resource] = text
        if "/" in resource and resource in (amounts.get("limits") or {}):
            amounts["limits"][resource] = text  # an extended resource can't be overcommitted
        if text == "0":
            for each in ("requests", "limits"):
                (amounts.get(each) or {}).pop(resource, None)

    return edit


# Deleting pods


def _in_the_way(pods: tuple[Pod, ...], missing: dict[str, int], full: bool) -> list[Pod]:
    """Return the one pod whose deletion leaves least unused, else the largest pods until there is room; empty if not enough."""
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
