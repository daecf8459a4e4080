"""Devices and claims inside a worker: pools, claims, and how one claim came to be what it is, seen by running the past again."""

from __future__ import annotations

import time
from collections import deque
from typing import Any

from playground.presenters.amounts import clock
from playground.presenters.devices.claims import KIND, claim, claims, describe_changes
from playground.presenters.devices.pools import pool, pools
from playground.presenters.words import gettext_noop, message
from playground.sessions.protocol.base import Data
from playground.sessions.protocol.errors import SessionGone
from playground.sessions.protocol.looking import Cluster
from playground.sessions.worker.engine import Engine
from playground.sessions.worker.time_sharing import Steps

MOST_EVENTS = 60
SECONDS = 1.5  # for running the past again


def devices_of(world: Any, request: Cluster) -> Data:
    """Raises SessionGone where there is no pool of that name."""
    if request.part == "claims":
        return _answer(world, claims(world, request.q, request.page, request.state))
    if not request.name:
        return _answer(world, pools(world, request.q, request.page))
    found = pool(world, request.name, request.q, request.page)
    if found is None:
        raise SessionGone(message(gettext_noop("There is no pool %(name)s at this step."), name=request.name))
    return _answer(world, found)


def _answer(world: Any, found: Data) -> Data:
    return {
        "position": world.position,
        "now": world.now,
        "rows": [],
        "node": None,
        "found": found,
    }


def life_of(engine: Engine, request: Cluster) -> Steps[Data]:
    """One claim, and what happened to it, from the newest back as far as time allows. Raises SessionGone where there never was one."""
    world = yield from engine.at(request.position)
    row = claim(world, request.name)
    over = time.perf_counter() + SECONDS
    events: list[Data] = []
    end = world.position
    while end > 0 and len(events) < MOST_EVENTS and (end == world.position or time.perf_counter() < over):
        start, piece = yield from _piece(engine, request.name, end)
        events = [*piece, *events]
        end = start
    if row is None and not events:
        raise SessionGone(
            message(gettext_noop("There is no claim %(name)s up to this step."), name=request.name)
        )
    return _answer(world, {"claim": row, "key": request.name, "events": events, "since": end})


def _piece(engine: Engine, key: str, end: int) -> Steps[tuple[int, deque[Data]]]:
    """Return the start of the piece of history before a position, and the claim's events in it."""
    namespace, _, name = key.partition("/")
    world = engine.history.nearest(end - 1)
    start = world.position
    events: deque[Data] = deque(maxlen=MOST_EVENTS)
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
