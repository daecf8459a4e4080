"""The objects of a world: lists, single objects, the nodes' names, and all objects as YAML."""

import re
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec
import yaml

from playground.lessons.conditions import holds
from playground.presenters.acting import draining
from playground.presenters.cluster_map.heat import NodeFact, facts
from playground.presenters.cluster_map.search import matching_of
from playground.presenters.scene import scheduler_of, table_of
from playground.presenters.words import message
from playground.sessions.protocol import looking
from playground.sessions.protocol.errors import SessionError, SessionGone
from playground.sessions.worker.engine import Engine
from playground.sessions.worker.time_sharing import Steps, answers
from playground.workbench.actions import PLUGIN, SCHEDULER, Subject
from playground.workbench.builder import to_yaml
from playground.workbench.builder.grammar import next_index
from scheduler_core.analysis.status import read_replica
from scheduler_core.formats.export import as_it_is, for_kubectl, heading, objects_of
from scheduler_core.formats.indication import format_release
from scheduler_core.formats.unsupported import without_effect
from scheduler_core.world.readonly import CONTROLLER_NAMES, Attempt

# Objects as YAML for kubectl: texts that look like numbers are quoted.

_NUMBERLIKE = re.compile(r"[-+.]?\d.*|[-+]?\.(inf|nan).*", re.IGNORECASE)


class _Dumper(getattr(yaml, "CSafeDumper", yaml.SafeDumper)):  # type: ignore[misc]  # libyaml's where it is installed
    """A dumper without anchors that quotes texts which kubectl's YAML, unlike Python's, reads as numbers."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _text(dumper: Any, value: str) -> Any:
    style = '"' if _NUMBERLIKE.fullmatch(value) else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)


_Dumper.add_representer(str, _text)


def document(manifest: Mapping[str, Any]) -> str:
    """Return one object as a YAML document."""
    return "---\n" + yaml.dump(manifest, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=1000)


YAML_SLICE = 0.02


@answers(looking.Objects)
def objects(engine: Engine, request: looking.Objects) -> Steps[list[looking.ListedObject]]:
    store = (yield from engine.at(request.position)).store
    kinds = store.kinds() if request.kind is None else [request.kind]
    return [_build_listed_object(kind, manifest) for kind in kinds for manifest in store.list(kind)]


def _build_listed_object(kind: str, manifest: Mapping[str, Any]) -> looking.ListedObject:
    metadata = manifest["metadata"]
    return looking.ListedObject(kind, metadata.get("namespace", ""), metadata["name"], _summary(kind, manifest))


def _summary(kind: str, manifest: Mapping[str, Any]) -> str:
    """Return the summary that kubectl's table shows next to the name."""
    if kind == "Pod":
        phase = (manifest.get("status") or {}).get("phase") or "Pending"
        if (manifest.get("metadata") or {}).get("deletionTimestamp"):
            phase = "Terminating"
        node = (manifest.get("spec") or {}).get("nodeName")
        return f"{phase} · {node}" if node else phase
    if kind == "Node":
        allocatable = (manifest.get("status") or {}).get("allocatable") or {}
        return ", ".join(f"{name} {allocatable[name]}" for name in ("cpu", "memory", "pods") if name in allocatable)
    return ""


@answers(looking.ObjectYaml)
def object_yaml(engine: Engine, request: looking.ObjectYaml) -> Steps[looking.ObjectShown]:
    """Return one object as YAML. Raise SessionGone if there is no such object."""
    world = yield from engine.at(request.position)
    obj = world.store.get(request.kind, request.namespace, request.name)
    if obj is None:
        raise _absent(request)
    return looking.ObjectShown(to_yaml([obj]), without_effect(obj))


@answers(looking.NodeNames)
def node_names(engine: Engine, request: looking.NodeNames) -> Steps[list[str]]:
    world = yield from engine.at(request.position)
    return list(table_of(scheduler_of(world)).names)


@answers(looking.NodeFacts)
def node_facts(engine: Engine, request: looking.NodeFacts) -> Steps[list[NodeFact]]:
    world = yield from engine.at(request.position)
    return facts(world, table_of(scheduler_of(world)), request.rows, request.mode)


@answers(looking.ClusterYaml)
def cluster_yaml(engine: Engine, request: looking.ClusterYaml) -> Steps[looking.YamlPart]:
    """Return objects as YAML documents, without those of every cluster, from number `first` on, as many as the time limit allows."""
    world = yield from engine.at(request.position)
    written, manifests = for_kubectl if request.for_kubectl else as_it_is, objects_of(world.store)
    end = time.perf_counter() + YAML_SLICE
    parts = [] if request.first else [format_release(world.settings.release)]
    if not (request.first or request.for_kubectl):
        parts.insert(0, heading(world.continuation))
    for number in range(request.first, len(manifests)):
        if time.perf_counter() > end:
            return looking.YamlPart("".join(parts).encode(), number)
        parts.append(document(written(manifests[number])))
    return looking.YamlPart("".join(parts).encode(), None)


@answers(looking.FindNames)
def find_names(engine: Engine, request: looking.FindNames) -> Steps[list[looking.FoundName]]:
    world = yield from engine.at(request.position)
    kinds = {
        "node": (node.name for node in world.store.nodes()),
        "pod": (pod.key for pod in world.store.pods()),
        "claim": (
            f"{manifest['metadata']['namespace']}/{manifest['metadata']['name']}"
            for kind in ("PersistentVolumeClaim", "ResourceClaim")
            for manifest in world.store.list(kind)
        ),
        "controller": CONTROLLER_NAMES,
    }
    return [
        looking.FoundName(kind, name)
        for kind, names in kinds.items()
        for name in matching(names, request.q, request.most)
    ]


def matching(names: Iterable[str], q: str, most: int) -> list[str]:
    """Return at most `most` names that contain `q`, ignoring case; names that begin with it come first."""
    q = q.lower()
    first: list[str] = []
    others: list[str] = []
    for name in names:
        if len(first) >= most:
            break
        own = name.rpartition("/")[2].lower()
        if own.startswith(q) or name.lower().startswith(q):
            first.append(name)
        elif q in own and len(others) < most:
            others.append(name)
    return (first + others)[:most]


@answers(looking.LessonHolds)
def lesson_holds(engine: Engine, request: looking.LessonHolds) -> Steps[bool]:
    world = yield from engine.at(request.position)
    return (world.idle and not request.alone) or holds(request.when, world)


@answers(looking.AttemptEnds)
def attempt_ends(engine: Engine, request: looking.AttemptEnds) -> Steps[list[looking.AttemptEnd]]:
    world = yield from engine.at(request.position)
    return thin_attempts(world.journal.attempts, request.position, request.most)


def thin_attempts(attempts: Sequence[Attempt], head: int, most: int) -> list[looking.AttemptEnd]:
    """Return at most one attempt for each `most`th of the history: the last that preempts, or else that failed, or else the last."""
    kept: dict[int, looking.AttemptEnd] = {}
    for attempt in attempts:
        if attempt.last_position > head:
            break
        stretch = attempt.last_position * most // (head + 1)
        scheduled, preempts = attempt.outcome == "scheduled", bool(attempt.victims)
        end = looking.AttemptEnd(attempt.last_position, attempt.pod, scheduled, preempts)
        if stretch not in kept or _weight(end) >= _weight(kept[stretch]):
            kept[stretch] = end
    return list(kept.values())


def _weight(end: looking.AttemptEnd) -> int:
    return 2 * end.preempts + (not end.scheduled)


MOST_NODES = 200  # suggestions for a field
MOST_USED = 200
MOST_TOGETHER = 1000
CLAIM = "Claim"  # either of the two kinds of claims
CLAIMS = ("PersistentVolumeClaim", "ResourceClaim")


@answers(looking.SubjectOf)
def subject_of(engine: Engine, request: looking.SubjectOf) -> Steps[looking.SubjectFound]:
    """Return an object's data for actions. Raise SessionGone if there is no such object."""
    world = yield from engine.at(request.position)
    if request.kind == SCHEDULER:
        return looking.SubjectFound(_scheduler(world, request.name), None)
    if request.kind == PLUGIN:
        return looking.SubjectFound(_plugin(world, request.name), None)
    if request.many:
        return _together(world, request)
    kind, manifest = _find(world, request)
    drain = draining(world, request.name) if kind == "Node" else None
    subject = _subject(world, kind, manifest, drain is not None and drain["state"] == "going")
    return looking.SubjectFound(subject, drain)


def _find(world: Any, request: looking.SubjectOf) -> tuple[str, Mapping[str, Any]]:
    for kind in CLAIMS if request.kind == CLAIM else (request.kind,):
        manifest = world.store.get(kind, request.namespace, request.name)
        if manifest is not None:
            return kind, manifest
    raise _absent(request)


def _absent(request: looking.ObjectYaml | looking.SubjectOf) -> SessionGone:
    where = f"{request.namespace}/{request.name}" if request.namespace else request.name
    return SessionGone(message("No %(kind)s %(name)s exists at this step.", kind=request.kind, name=where))


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
    """Return the next unused name, such as `api-5` after `api-4`; "" for kinds other than Pod and Node."""
    if kind not in ("Pod", "Node"):
        return ""
    base = name.rstrip("0123456789")
    pattern = f"{base}{{i}}" if base != name else f"{name}-{{i}}"
    listed = (each["metadata"] for each in world.store.list(kind))
    taken = [meta["name"] for meta in listed if meta.get("namespace", "") == namespace]
    number = next_index(pattern, taken)
    return pattern.replace("{i}", str(max(number, 2) if base == name else number))


def _used(world: Any, kind: str) -> dict[str, list[str]]:
    """Return the taints' keys and values and the labels that objects of the kind use, sorted, without duplicates."""
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


# Several objects at once


def _together(world: Any, request: looking.SubjectOf) -> looking.SubjectFound:
    chosen = _match_objects(world, request.kind, request.many)
    if not chosen:
        raise SessionGone(
            message("%(search)s matches no %(kind)s at this step.", kind=request.kind, search=str(request.many))
        )
    if len(chosen) > MOST_TOGETHER:
        raise SessionError(
            message("%(has)s at once are too many. The limit is %(most)s.", has=len(chosen), most=MOST_TOGETHER)
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
    return looking.SubjectFound(named, None, everyone)


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


# Subjects that are not objects of the API


def _scheduler(world: Any, name: str) -> Subject:
    """Return a scheduler's process; without a name one that does not exist yet."""
    row = read_replica(world, name) if name else {"stage": "", "cutOff": None}
    if row is None:
        raise SessionGone(message("No scheduler %(name)s exists at this step.", name=name))
    status = {"stage": row["stage"], "cutOff": row["cutOff"] is not None}
    return Subject(SCHEDULER, "", name, {"metadata": {"name": name}, "status": status}, now=world.now)


def _plugin(world: Any, name: str) -> Subject:
    """Return a plugin in the configuration of the scheduler whose cycle began last."""
    present = scheduler_of(world).name
    scheduler = next(each for each in world.schedulers if each.name == present)
    manifest = {
        "metadata": {"name": name, "scheduler": scheduler.name},
        "configuration": dict(scheduler.configuration.manifest),
    }
    return Subject(PLUGIN, "", name, manifest, now=world.now)


def _plain(entries: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    return [dict(entry) for entry in entries]
