"""Acted: what the chosen controller, or the one of the chosen workload, did last: from its own notes, the newest first."""

from __future__ import annotations

import json
from typing import Any

from playground.presenters.amounts import clock
from playground.presenters.look import AIM, Look
from playground.presenters.scene import short
from playground.presenters.stage.controller.owners import OF_CONTROLLER, chain_of
from playground.presenters.words import brief
from scheduler_core.base.trace.kinds import Reconciled
from scheduler_core.world.readonly import WorldView

MOST = 6
_OTHERS = {"disruption-controller": "PodDisruptionBudget", "resourceclaim-controller": "ResourceClaim"}
_CONTROLLERS = {kind: name for name, kind in (OF_CONTROLLER | _OTHERS).items()}


def present_controller(sim: WorldView, look: Look) -> dict[str, Any] | None:
    """None where the stage is not aimed at a controller. `here`: it acts at this very step; `point`: what finds the step where it did.

    `idle`: it has done nothing yet; `owners`: the workload, what owns it and what it owns, with their counts.
    """
    if look.stage != AIM or look.about != "controller" or not look.controller:
        return None
    kind, slash, key = look.controller.partition("/")
    name, key = (_CONTROLLERS.get(kind, ""), key) if slash else (look.controller, "")
    done = _list_reconciles(sim, name, key)
    return {
        "who": name or kind,
        "key": short(key),
        "here": any(_is_by(record.of(Reconciled), name, key) for record in sim.last),
        "idle": not done,
        "done": done,
        "point": json.dumps(_point(name, key)),
        "owners": _owners(sim, kind, key) if slash else [],
    }


def _owners(sim: WorldView, kind: str, key: str) -> list[dict[str, Any]]:
    namespace, _, name = key.rpartition("/")
    there = kind in OF_CONTROLLER.values() and sim.store.get(kind, namespace, name) is not None
    return [chain_of(sim, (kind, namespace, name))] if there else []


def _list_reconciles(sim: WorldView, name: str, key: str) -> list[dict[str, str]]:
    queue = sim.surroundings.queues.get(name)
    notes = [note for note in queue.done if key in ("", note.key)] if queue is not None else []
    return [
        {"t": clock(note.t), "key": short(note.key), "did": brief(note.text)}
        for note in reversed(notes[-MOST:])
    ]


def _is_by(facts: Reconciled | None, name: str, key: str) -> bool:
    return facts is not None and bool(facts.did) and facts.controller == name and key in ("", facts.key)


def _point(name: str, key: str) -> dict[str, str]:
    """A breakpoint's fields: where this controller did something, to this object."""
    asked = [f"record.data.controller == {json.dumps(name)}", 'record.data.did != ""']
    asked += [f"record.data.key == {json.dumps(key)}"] if key else []
    return {"name": name, "kind": Reconciled.KIND, "cel": " && ".join(asked)}
