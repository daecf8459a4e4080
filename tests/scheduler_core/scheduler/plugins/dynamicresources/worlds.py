"""Worlds with devices."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduler_core.base.trace.records import Record
from scheduler_core.scheduler.config.settings import WorldSettings
from scheduler_core.world.commands import ApplyObjects
from scheduler_core.world.simulation import Simulation
from tests.support.devices import device_class


def device_world(*objects: Mapping[str, Any], **settings: Any) -> Simulation:
    """A world of today with a class `gpu` and these objects; nothing is scheduled yet."""
    sim = Simulation(seed=1, settings=WorldSettings().changed(settings))
    sim.apply(ApplyObjects((device_class("gpu"), *objects)))
    return sim


def go_on(sim: Simulation, seconds: float = 1) -> list[Record]:
    """Lets so much virtual time pass; what happened meanwhile."""
    end = sim.now + round(seconds * 1_000_000_000)
    records: list[Record] = []
    while sim.due(end):
        records += sim.advance()
    return records


def status_of(sim: Simulation, claim: str) -> dict[str, Any]:
    found = sim.store.get("ResourceClaim", "default", claim)
    assert found is not None
    return found.get("status") or {}


def devices_of(sim: Simulation, claim: str) -> list[str]:
    """driver/pool/device of what the claim has."""
    allocation = status_of(sim, claim).get("allocation") or {"devices": {}}
    results = allocation["devices"].get("results") or ()
    return [f"{each['driver']}/{each['pool']}/{each['device']}" for each in results]


def reserved_for(sim: Simulation, claim: str) -> list[str]:
    return [each["name"] for each in status_of(sim, claim).get("reservedFor") or ()]


def node_of(sim: Simulation, pod: str) -> str:
    found = sim.store.pod("default", pod)
    assert found is not None
    return found.node_name


def messages(records: list[Record], pod: str) -> list[str]:
    """What the scheduler said of failed attempts."""
    events = [dict(each.data) for each in records if each.kind == "event"]
    return [e["message"] for e in events if e["reason"] == "FailedScheduling" and e["name"] == pod]
