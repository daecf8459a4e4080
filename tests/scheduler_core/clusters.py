"""Worlds whose cluster is modelled, with a few controllers running and no scheduler."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduler_core.commands import DEFAULT_SCHEDULER_NAME, ApplyObjects, PatchObject, Ref, SetSettings
from scheduler_core.simulation import Simulation

SECOND = 10**9


def cluster(*objects: Mapping[str, Any], controllers: list[str], **settings: Any) -> Simulation:
    """A world with these objects and controllers; kubelets start and end nothing."""
    sim = Simulation()
    sim.apply(SetSettings({"cluster": {"controllers": controllers, **settings}}))
    sim.change(lambda: sim.stop_scheduler(DEFAULT_SCHEDULER_NAME))
    for manifest in objects:
        sim.apply(ApplyObjects((manifest,)))
    return sim


def go_on(sim: Simulation, until: float) -> None:
    """Lets all happen that is due up to a time (s), and sets the clock to it."""
    end = round(until * SECOND)
    while sim.due(end):
        sim.advance()
    sim.agenda.now = end


def patch(sim: Simulation, kind: str, name: str, change: Mapping[str, Any], namespace: str = "") -> None:
    """A merge patch."""
    sim.apply(PatchObject(Ref(kind, namespace, name), dict(change)))


def set_status(sim: Simulation, kind: str, name: str, **fields: Any) -> None:
    """Writes fields of a status as a component would."""
    namespace = "default" if kind != "Node" else ""
    sim.change(lambda: (sim.api.patch_status((kind, namespace, name), fields), None)[1])


def messages(sim: Simulation, reason: str) -> list[str]:
    """The texts of all Events of a reason."""
    return [event.message for event in sim.store.events if event.reason == reason]
