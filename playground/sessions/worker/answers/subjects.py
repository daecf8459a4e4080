"""Objects that something is to be done to, with what a user has arranged around them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from playground.actions import Subject
from playground.presenters.draining import draining
from playground.sessions.protocol.errors import SessionGone
from playground.sessions.protocol.looking import SubjectFound, SubjectOf
from playground.sessions.worker.engine import Engine
from playground.sessions.worker.time_sharing import Steps
from playground.sessions.worker.world import Simulation

MOST_NODES = 200  # that are suggested


def subject_of(engine: Engine, request: SubjectOf) -> Steps[SubjectFound | None]:
    """Raises SessionGone where there is no such object."""
    world = yield from engine.at(request.position)
    if world.settings.cluster is None:
        return None
    if request.kind == "Scheduler":
        return SubjectFound(_scheduler(world, request.name), None)
    manifest = world.store.get(request.kind, request.namespace, request.name)
    if manifest is None:
        where = f"{request.namespace}/{request.name}" if request.namespace else request.name
        raise SessionGone(f"There is no {request.kind} {where} at this step.")
    inputs = world.surroundings.inputs
    drain = draining(world, request.name) if request.kind == "Node" else None
    subject = Subject(
        request.kind,
        request.namespace,
        request.name,
        dict(manifest),
        request.name not in inputs.stopped,
        world.now,
        world.store.timestamp(world.now),
        [node["metadata"]["name"] for node in world.store.list("Node")[:MOST_NODES]],
        _plain(inputs.rules),
        _plain(inputs.entries),
        drain is not None and drain["state"] == "going",
    )
    return SubjectFound(subject, drain)


def _scheduler(world: Simulation, name: str) -> Subject:
    """A scheduler as an object; the first one where no name is said, or none at all."""
    running = [scheduler for scheduler in world.schedulers if name in ("", scheduler.name)]
    if name and not running:
        raise SessionGone(f"There is no scheduler {name} at this step.")
    if not running:
        return Subject("Scheduler", "", "", {})
    scheduler, process = running[0], running[0].process
    manifest: dict[str, Any] = {"configuration": scheduler.configuration.given}
    if process is not None:
        stage, cut_off = process.stage.value, process.hang is not None
        manifest |= {"identity": process.identity, "stage": stage, "cut_off": cut_off}
    return Subject("Scheduler", "", scheduler.name, manifest)


def _plain(entries: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    return [dict(entry) for entry in entries]
