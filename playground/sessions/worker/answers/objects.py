"""What a world holds: lists of objects, single ones, the nodes' names, and all of it as YAML."""

import re
import time
from collections.abc import Mapping
from typing import Any

import yaml

from playground.presenters.cluster_map.measure import NodeFact, facts
from playground.presenters.scene import scheduler_of, table_of
from playground.presenters.words import gettext_noop, message
from playground.sessions.protocol import looking
from playground.sessions.protocol.errors import SessionGone
from playground.sessions.worker.engine import Engine
from playground.sessions.worker.registry import answers
from playground.sessions.worker.time_sharing import Steps
from playground.workbench.builder import to_yaml
from scheduler_core.formats.export import as_it_is, for_kubectl, heading, objects_of
from scheduler_core.formats.indication import format_release
from scheduler_core.formats.unsupported import without_effect

# Objects as YAML that kubectl takes: what looks like a number but is text is quoted.

_NUMBERLIKE = re.compile(r"[-+.]?\d.*|[-+]?\.(inf|nan).*", re.IGNORECASE)


class _Dumper(getattr(yaml, "CSafeDumper", yaml.SafeDumper)):  # type: ignore[misc]  # libyaml's where it is installed
    """No anchors; kubectl's YAML reads more texts as numbers than Python's does, so these are quoted."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _text(dumper: Any, value: str) -> Any:
    style = '"' if _NUMBERLIKE.fullmatch(value) else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)


_Dumper.add_representer(str, _text)


def document(manifest: Mapping[str, Any]) -> str:
    """One object as a YAML document."""
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
    """The words that kubectl's table would show next to the name."""
    if kind == "Pod":
        phase = (manifest.get("status") or {}).get("phase") or "Pending"
        if (manifest.get("metadata") or {}).get("deletionTimestamp"):
            phase = "Terminating"
        node = (manifest.get("spec") or {}).get("nodeName")
        return f"{phase} on {node}" if node else phase
    if kind == "Node":
        allocatable = (manifest.get("status") or {}).get("allocatable") or {}
        return ", ".join(f"{name} {allocatable[name]}" for name in ("cpu", "memory", "pods") if name in allocatable)
    return ""


@answers(looking.ObjectYaml)
def object_yaml(engine: Engine, request: looking.ObjectYaml) -> Steps[looking.ObjectShown]:
    """Raises SessionGone where there is no such object."""
    world = yield from engine.at(request.position)
    obj = world.store.get(request.kind, request.namespace, request.name)
    if obj is None:
        where = f"{request.namespace}/{request.name}" if request.namespace else request.name
        raise SessionGone(
            message(gettext_noop("No %(kind)s %(name)s exists at this step."), kind=request.kind, name=where)
        )
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
    """Objects, but those that are in every cluster, as YAML documents, from number `first` on, as many as the time allows."""
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
