"""What a world that stands still wants to know from outside."""

from __future__ import annotations

import orjson

from playground.sessions.protocol.moving import OutsideCall
from playground.sessions.worker.world import Simulation


def calls_of(world: Simulation) -> list[OutsideCall]:
    """The calls of extenders that are to be made before it goes on."""
    if not world.outside:
        return []
    found = []
    for name, attempt, exchange in world.awaited():
        configured = world.scheduler(name).configuration.manifest["extenders"][exchange.extender.index]
        found.append(
            OutsideCall(
                name,
                attempt,
                exchange.number,
                exchange.url,
                orjson.dumps(exchange.request_json),
                exchange.extender.timeout,
                dict(configured.get("tlsConfig") or {}),
                bool(configured.get("enableHTTPS")),
            )
        )
    return found
