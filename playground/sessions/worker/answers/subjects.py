"""Objects that something is to be done to, with what a user has arranged around them."""

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from playground.presenters.cluster_map.search import matching_of
from playground.presenters.draining import draining
from playground.presenters.scene import scheduler_of, table_of
from playground.presenters.words import gettext_noop, message
from playground.sessions.protocol.errors import SessionError, SessionGone
from playground.sessions.protocol.looking import SubjectFound, SubjectOf
from playground.sessions.worker.engine import Engine
from playground.sessions.worker.registry import answers
from playground.sessions.worker.time_sharing import Steps
from playground.workbench.actions import PLUGIN, SCHEDULER, Subject
from playground.workbench.builder.names import next_index
from scheduler_core.analysis.status import read_replica

MOST_NODES = 200  # that are suggested
MOST_USED = 200
MOST_TOGETHER = 1000
CLAIM = "Claim"  # whichever of the two kinds of claims has the name
CLAIMS = ("PersistentVolumeClaim", "ResourceClaim")


@answers(SubjectOf)
def subject_of(engine: Engine, request: SubjectOf) -> Steps[SubjectFound]:
    """Raises SessionGone where there is no such object."""
    world = yield from engine.at(request.position)
    if request.kind == SCHEDULER:
        return SubjectFound(_scheduler(world, request.name), None)
    if request.kind == PLUGIN:
        return SubjectFound(_plugin(world, request.name), None)
    if request.many:
        return _together(world, request)
    kind, manifest = _find(world, request)
    drain = draining(world, request.name) if kind == "Node" else None
    subject = _subject(world, kind, manifest, drain is not None and drain["state"] == "going")
    return SubjectFound(subject, drain)


def _find(world: Any, request: SubjectOf) -> tuple[str, Mapping[str, Any]]:
    for kind in CLAIMS if request.kind == CLAIM else (request.kind,):
        manifest = world.store.get(kind, request.namespace, request.name)
        if manifest is not None:
            return kind, manifest
    where = f"{request.namespace}/{request.name}" if request.namespace else request.name
    raise SessionGone(message(gettext_noop("No %(kind)s %(name)s exists at this step."), kind=request.kind, name=where))


def _subject(world: Any, kind: str, manifest: Mapping[str, Any], drained: bool = False) -> Subject:
    meta, inputs = manifest["metadata"], world.surroundings.inputs
    name, namespace = meta["name"], meta.get("namespace", "")
    return Subject(
        kind,
        namespace,
        name,
        dict(manifest),
        name not in inputs.stopped,
        world.now,
        world.store.timestamp(world.now),
        [node["metadata"]["name"] for node in world.store.list("Node")[:MOST_NODES]],
        _plain(inputs.rules),
        _plain(inputs.entries),
        drained,
        free=_free(world, kind, namespace, name),
        classes=[(each["metadata"]["name"], each.get("value", 0)) for each in world.store.list("PriorityClass")],
        used=_used(world, kind),
    )


def _free(world: Any, kind: str, namespace: str, name: str) -> str:
    """The next name that nobody has: `api-5` after `api-4`."""
    if kind not in ("Pod", "Node"):
        return ""
    base = name.rstrip("0123456789")
    pattern = f"{base}{{i}}" if base != name else f"{name}-{{i}}"
    listed = (each["metadata"] for each in world.store.list(kind))
    taken = [meta["name"] for meta in listed if meta.get("namespace", "") == namespace]
    number = next_index(pattern, taken)
    return pattern.replace("{i}", str(max(number, 2) if base == name else number))


def _used(world: Any, kind: str) -> dict[str, list[str]]:
    """Keys and values that are in use, each once, in their order."""
    manifests = world.store.list(kind) if kind in ("Pod", "Node") else ()
    taints = [taint for each in manifests for taint in (each.get("spec") or {}).get("taints") or ()]
    pairs = {
        f"{key}={value}"
        for each in manifests
        for key, value in (each["metadata"].get("labels") or {}).items()
        if "hostname" not in key
    }
    return {
        "taint keys": sorted({str(taint["key"]) for taint in taints})[:MOST_USED],
        "taint values": sorted({str(taint["value"]) for taint in taints if taint.get("value")})[:MOST_USED],
        "labels": sorted(pairs)[:MOST_USED],
    }


# Several at once


def _together(world: Any, request: SubjectOf) -> SubjectFound:
    chosen = _match_objects(world, request.kind, request.many)
    if not chosen:
        raise SessionGone(
            message(
                gettext_noop("%(search)s matches no %(kind)s at this step."),
                kind=request.kind,
                search=str(request.many),
            )
        )
    if len(chosen) > MOST_TOGETHER:
        raise SessionError(
            message(
                gettext_noop("%(has)s at once are too many. The limit is %(most)s."),
                has=len(chosen),
                most=MOST_TOGETHER,
            )
        )
    first = _subject(world, request.kind, chosen[0])
    inputs = world.surroundings.inputs
    everyone = [
        Subject(
            request.kind,
            each["metadata"].get("namespace", ""),
            each["metadata"]["name"],
            dict(each),
            each["metadata"]["name"] not in inputs.stopped,
        )
        for each in chosen
    ]
    named = msgspec.structs.replace(first, namespace="", name=f"{len(chosen)} × {request.kind}")
    return SubjectFound(named, None, everyone)


def _match_objects(world: Any, kind: str, many: str) -> list[Mapping[str, Any]]:
    how, _, what = many.partition(":")
    listed = world.store.list(kind)
    if how == "label":
        key, _, value = what.partition("=")
        return [each for each in listed if (each["metadata"].get("labels") or {}).get(key, "") == value]
    if kind != "Node":
        return [each for each in listed if what in each["metadata"]["name"]]
    table = table_of(scheduler_of(world))
    found = matching_of(world, table.names, what)
    names = (
        {name for name, is_meant in zip(table.names, found, strict=True) if is_meant} if found is not None else set()
    )
    return [each for each in listed if each["metadata"]["name"] in names]


# What is no object of the API


def _scheduler(world: Any, name: str) -> Subject:
    """A process; without a name one that is to be started."""
    row = read_replica(world, name) if name else {"stage": "", "cutOff": None}
    if row is None:
        raise SessionGone(message(gettext_noop("No scheduler %(name)s exists at this step."), name=name))
    status = {"stage": row["stage"], "cutOff": row["cutOff"] is not None}
    return Subject(SCHEDULER, "", name, {"metadata": {"name": name}, "status": status}, now=world.now)


def _plugin(world: Any, name: str) -> Subject:
    """A plugin in the configuration of the scheduler whose cycle began last."""
    present = scheduler_of(world).name
    scheduler = next(each for each in world.schedulers if each.name == present)
    manifest = {
        "metadata": {"name": name, "scheduler": scheduler.name},
        "configuration": dict(scheduler.configuration.manifest),
    }
    return Subject(PLUGIN, "", name, manifest, now=world.now)


def _plain(entries: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    return [dict(entry) for entry in entries]
