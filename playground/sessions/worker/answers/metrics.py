"""The metrics of a world's schedulers, inside a worker."""

from __future__ import annotations

from typing import Any

from playground.sessions.protocol.base import Data
from playground.sessions.protocol.errors import SessionGone
from playground.sessions.protocol.looking import Metrics
from playground.sessions.worker.engine import Engine
from playground.sessions.worker.time_sharing import Steps
from scheduler_core.readings import read_families, scrape


def metrics(engine: Engine, request: Metrics) -> Steps[Data]:
    """Families and curves of one scheduler, or of all for no name."""
    return metrics_of((yield from engine.at(request.position)), request.scheduler)


def metrics_of(world: Any, name: str) -> Data:
    """Raises SessionGone where there is no scheduler of that name."""
    names = [scheduler.name for scheduler in world.schedulers]
    if name and name not in names:
        raise SessionGone(f"There is no scheduler {name} at this step; there is {', '.join(names)}.")
    return {
        "position": world.position,
        "now": world.now,
        "names": names,
        "schedulers": [_one(world, s) for s in world.schedulers if name in ("", s.name)],
    }


def _one(world: Any, scheduler: Any) -> Data:
    now = scrape(world.now, world.position, scheduler.queue)
    taken = [scrape for scrape in world.scrapes.taken.get(scheduler.name, ()) if scrape.t < world.now]
    return {
        "name": scheduler.name,
        "families": [family.to_json() for family in read_families(scheduler)],
        "curve": [scrape._asdict() for scrape in (*taken, now)],
    }
