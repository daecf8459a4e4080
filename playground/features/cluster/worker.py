"""The actions of the components around the schedulers, inside a worker."""

import time
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

from playground.features.cluster.query import Cluster
from playground.presenters.devices.claims import KIND, ClaimEvent, ClaimPage, claim, claims, describe_changes
from playground.presenters.devices.pools import node_devices, pool, pools
from playground.presenters.words import clock, message
from playground.sessions.protocol.base import Data
from playground.sessions.protocol.errors import SessionGone
from playground.sessions.worker.engine import Engine
from playground.sessions.worker.time_sharing import Steps, answers
from scheduler_core.analysis import status

# Devices and claims inside a worker: pools, claims, and the history of one claim, from a replay.

MOST_EVENTS = 60
SECONDS = 1.5  # for running the past again


def devices_of(world: Any, request: Cluster) -> Data:
    """Return the devices or claims. Raise SessionGone if there is no pool of that name."""
    if request.part == "claims":
        return _answer(world, claims(world, request.q, request.page, request.state))
    if not request.name:
        return _answer(world, pools(world, request.q, request.page))
    found = pool(world, request.name, request.q, request.page)
    if found is None:
        raise SessionGone(message("No pool %(name)s exists at this step.", name=request.name))
    return _answer(world, found)


def _answer(world: Any, found: Mapping[str, Any]) -> Data:
    return {"position": world.position, "now": world.now, "rows": [], "node": None, "found": found}


def life_of(engine: Engine, request: Cluster) -> Steps[Data]:
    """Return a claim and its events, newest first, within the time. Raise SessionGone if there never was such a claim."""
    world = yield from engine.at(request.position)
    row = claim(world, request.name)
    over = time.perf_counter() + SECONDS
    events: list[ClaimEvent] = []
    end = world.position
    while end > 0 and len(events) < MOST_EVENTS and (end == world.position or time.perf_counter() < over):
        start, piece = yield from _piece(engine, request.name, end)
        events = [*piece, *events]
        end = start
    if row is None and not events:
        raise SessionGone(message("No claim %(name)s existed up to this step.", name=request.name))
    return _answer(world, ClaimPage(claim=row, key=request.name, events=events, since=end))


def _piece(engine: Engine, key: str, end: int) -> Steps[tuple[int, deque[ClaimEvent]]]:
    """Return the start of the piece of history before a position, and the claim's events in it."""
    namespace, _, name = key.partition("/")
    world = engine.history.nearest(end - 1)
    start = world.position
    events: deque[ClaimEvent] = deque(maxlen=MOST_EVENTS)
    before = world.store.get(KIND, namespace, name)
    while world.position < end:
        engine.replay(world)
        after = world.store.get(KIND, namespace, name)
        if after is not before:
            said = describe_changes(before, after)
            if said:
                events.append({"at": world.position, "t": clock(world.now), "said": said})
            before = after
        if engine.slice.over():
            yield
    return start, events


_PARTS: Mapping[str, Callable[[Any], list[Data]]] = {
    "controllers": status.read_controllers,
    "nodes": status.read_nodes,
    "budgets": status.read_budgets,
    "rollouts": status.read_rollouts,
    "replicas": status.read_replicas,
}


@answers(Cluster)
def cluster(engine: Engine, request: Cluster) -> Steps[Data]:
    """Return one part of the cluster."""
    if request.part == "claims" and request.name:
        return (yield from life_of(engine, request))
    world = yield from engine.at(request.position)
    if request.part in ("devices", "claims"):
        return devices_of(world, request)
    # Raises SessionGone if no node has that name.
    part, name = request.part, request.name
    answer: Data = {"position": world.position, "now": world.now, "rows": [], "node": None}
    if name:
        node = status.read_node(world, name)
        if node is None:
            raise SessionGone(message("No node %(name)s exists at this step.", name=name))
        return {**answer, "node": {**node, "devices": node_devices(world, name)}}
    rows = _PARTS[part](world)
    if part == "controllers":
        return {**answer, "rows": rows, "troubles": status.read_troubles(world)}
    if part == "nodes":
        return {**answer, "rows": rows, "zones": status.read_zones(world), "drains": status.read_drains(world)}
    if part == "budgets":
        rows = [{**row, "covered": status.read_covered(world, f"{row['namespace']}/{row['name']}")} for row in rows]
    return {**answer, "rows": rows}
