"""Objects that something is to be done to, with what a user has arranged around them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from playground.actions import SCHEDULER, Subject
from playground.presenters.draining import draining
from playground.sessions.protocol.errors import SessionGone
from playground.sessions.protocol.looking import SubjectFound, SubjectOf
from playground.sessions.worker.engine import Engine
from playground.sessions.worker.time_sharing import Steps
from scheduler_core.readings import read_replica

MOST_NODES = 200  # that are suggested


def subject_of(engine: Engine, request: SubjectOf) -> Steps[SubjectFound | None]:
    """Raises SessionGone where there is no such object."""
    world = yield from engine.at(request.position)
    if world.settings.cluster is None:
        return None
    if request.kind == SCHEDULER:
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


def _scheduler(world: Any, name: str) -> Subject:
    """A process; without a name one that is to be started."""
    row = read_replica(world, name) if name else {"stage": "", "cutOff": None}
    if row is None:
        raise SessionGone(f"There is no scheduler {name} at this step.")
    status = {"stage": row["stage"], "cutOff": row["cutOff"] is not None}
    return Subject(SCHEDULER, "", name, {"metadata": {"name": name}, "status": status}, now=world.now)


def _plain(entries: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    return [dict(entry) for entry in entries]
