"""The search for devices on a node, inside a worker: repeated at Filter's step, never stored."""

from typing import Any

from playground.features.device_search.presenter import describe_search
from playground.features.device_search.query import DeviceSearch, FoundSearch, SearchedNode
from playground.presenters.scene import short
from playground.sessions.worker.engine import Engine
from playground.sessions.worker.time_sharing import Steps, answers
from scheduler_core.analysis.inspection import device_search as search_again
from scheduler_core.analysis.inspection import device_step

MOST_NODES = 40


@answers(DeviceSearch)
def device_search(engine: Engine, request: DeviceSearch) -> Steps[FoundSearch | None]:
    """Return the device search of the pod's present cycle, or of its last attempt if the present cycle is before Filter; else None."""
    world = yield from engine.at(request.position)
    step = _step(world, request.pod)
    if step is None and (last := _last_position(world, request.pod)) is not None:
        world = yield from engine.at(last)
        step = _step(world, request.pod)
    if step is None:
        return None
    world = yield from engine.at(step.position)
    found = _cycle(world, request.pod)
    if found is None:
        return None
    return _present_search(world, *found, request)


def _step(world: Any, pod: str) -> Any | None:
    """Return the step that searched for devices in the pod's current or last cycle, or None."""
    found = _cycle(world, pod)
    return None if found is None else device_step(found[1])


def _cycle(world: Any, pod: str) -> tuple[Any, Any] | None:
    """Return the scheduler that runs the pod's cycle, or ran it last, and that cycle, or None."""
    for scheduler in world.schedulers:
        if scheduler.cycle is not None and scheduler.cycle.pod.key == pod:
            return scheduler, scheduler.cycle
    return None


def _last_position(world: Any, pod: str) -> int | None:
    attempts = world.journal.attempts_of(pod)
    return int(attempts[-1].last_position) if attempts else None


def _present_search(world: Any, scheduler: Any, cycle: Any, request: DeviceSearch) -> FoundSearch:
    nodes = _nodes(cycle)
    node = request.node or (nodes[0]["name"] if nodes else "")
    found = search_again(scheduler.profiles[cycle.profile], cycle, node, request.most)
    status = cycle.status_of(cycle.nodes.row(node)) if cycle.nodes.row(node) is not None else None
    return {
        "position": world.position,
        "pod": cycle.pod.key,
        "name": short(cycle.pod.key),
        "number": cycle.number,
        "node": node,
        "nodes": nodes[:MOST_NODES],
        "more": max(len(nodes) - MOST_NODES, 0),
        "answer": status.message if status is not None else "",
        "search": None
        if found is None
        else describe_search(found.tree, node, found.left_out, found.cut, found.order_dependent),
    }


def _nodes(cycle: Any) -> list[SearchedNode]:
    """Return the nodes on which DynamicResources ran: those that no earlier plugin rejected."""
    step = device_step(cycle)
    if step is None:
        return []
    out: list[SearchedNode] = []
    for row, name in enumerate(cycle.nodes.names):
        status = cycle.status_of(row)
        if status is None and not cycle.node_to_status.is_evaluated(row):
            continue
        if status is None or status.plugin == step.plugin:
            out.append({"name": name, "refused": status is not None})
    return out
