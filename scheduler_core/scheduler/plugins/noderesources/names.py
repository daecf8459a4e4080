"""What was meant by other words: a resource by the name that the node has for it, and cores that were to be millicores."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from scheduler_core.scheduler.framework.drafts import Change, Draft, Edit, Refusal
from scheduler_core.scheduler.plugins.helper.spelling import alike, likeness
from scheduler_core.scheduler.plugins.noderesources.amounts import largest_container, quantity

MOST = 2
CPU = "cpu"
STEP = 50  # millicores that people ask for are a multiple of it; machines of 96 or 128 cores there are


def propose_renaming(draft: Draft, refusal: Refusal, missing: Mapping[str, int]) -> Iterator[Draft]:
    """The pod asks for what the node has enough of, in place of the one resource that nobody offers."""
    for resource in missing:
        if len(missing) > 1 or "/" not in resource or _is_offered(refusal, resource):
            continue
        wanted = refusal.pod.requests.get(resource)
        others = [other for other in _here(refusal, wanted) if _is_similar(resource, other)]
        for other in sorted(others, key=lambda name: (-likeness(resource, name), name))[:MOST]:
            values = {"from": resource, "to": other, "amount": quantity(resource, wanted)}
            yield draft.with_pod(Change("resource-name", values), _edit(resource, other))


def in_millicores(draft: Draft, refusal: Refusal, missing: Mapping[str, int]) -> Iterator[Draft]:
    """Whole cores, far more than any node has, as so many millicores, where one container asks for them and the number looks like it."""
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
    """Extended resources of which the node has as much free."""
    nodes, row = refusal.nodes, refusal.row
    asked = {name for name, _ in refusal.pod.requests.scalar}
    for name, column in nodes.resources.columns.items():
        if "/" in name and name not in asked and column < nodes.allocatable.shape[1]:
            free = int(nodes.allocatable[row, column] - nodes.requested[row, column])
            if free >= wanted:
                yield name


def _is_similar(resource: str, other: str) -> bool:
    return resource.partition("/")[0] == other.partition("/")[0] or alike(resource, other)


def _edit(resource: str, other: str) -> Edit:
    def edit(manifest: dict[str, Any]) -> None:
        spec = manifest["spec"]
        for container in (*spec["containers"], *(spec.get("initContainers") or ())):
            for amounts in (container.get("resources") or {}).values():
                if isinstance(amounts, dict) and resource in amounts:
                    amounts[other] = amounts.pop(resource)

    return edit
