"""What a world holds: lists of objects, single manifests, the nodes' names, its configuration, and all of it as YAML."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping
from typing import Any

import msgspec

from playground.sessions.protocol.base import Data
from playground.sessions.protocol.errors import SessionGone
from playground.sessions.protocol.looking import (
    ClusterYaml,
    Configuration,
    Configured,
    ListedObject,
    Manifest,
    NodeNames,
    Objects,
    SchedulerManifest,
    UnknownScheduler,
    YamlPart,
)
from playground.sessions.worker.answers.yamldump import document, in_order
from playground.sessions.worker.engine import Engine
from playground.sessions.worker.time_sharing import Steps
from playground.sessions.worker.world import Simulation

YAML_SLICE = 0.02


def objects(engine: Engine, request: Objects) -> Steps[list[ListedObject]]:
    store = (yield from engine.at(request.position)).store
    kinds = store.kinds() if request.kind is None else [request.kind]
    return [_listed(kind, manifest) for kind in kinds for manifest in store.list(kind)]


def _listed(kind: str, manifest: Mapping[str, Any]) -> ListedObject:
    metadata = manifest["metadata"]
    return ListedObject(kind, metadata.get("namespace", ""), metadata["name"], _summary(kind, manifest))


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
        return ", ".join(
            f"{name} {allocatable[name]}" for name in ("cpu", "memory", "pods") if name in allocatable
        )
    return ""


def manifest(engine: Engine, request: Manifest) -> Steps[Data]:
    """Raises SessionGone where there is no such object."""
    world = yield from engine.at(request.position)
    obj = world.store.get(request.kind, request.namespace, request.name)
    if obj is None:
        where = f"{request.namespace}/{request.name}" if request.namespace else request.name
        raise SessionGone(f"There is no {request.kind} {where} at this step.")
    return dict(obj)


def configuration(engine: Engine, request: Configuration) -> Steps[Configured]:
    return configured((yield from engine.at(request.position)))


def configured(world: Simulation) -> Configured:
    """Each scheduler's configuration with its defaults, as a manifest, and the world's settings."""
    return Configured(
        schedulers=[
            SchedulerManifest(scheduler.name, dict(scheduler.configuration.manifest))
            for scheduler in world.schedulers
        ],
        settings=msgspec.structs.asdict(world.settings),
        faults=[
            {**msgspec.structs.asdict(fault), "said": fault.answer().message}
            for _, fault in sorted(world.faults.items())
        ],
        unknown_schedulers=_unknown_schedulers(world),
    )


def _unknown_schedulers(world: Simulation) -> list[UnknownScheduler]:
    """The schedulerNames that no scheduler has, with the pods that ask for them counted."""
    pods = [pod for key in world.journal.ignored if (pod := world.store.pod_at(key)) is not None]
    counts = Counter(pod.spec.scheduler_name for pod in pods if not pod.node_name)
    return [UnknownScheduler(name, count) for name, count in sorted(counts.items())]


def node_names(engine: Engine, request: NodeNames) -> Steps[list[str]]:
    world = yield from engine.at(request.position)
    return list(world.schedulers[0].cache.table().names)


def cluster_yaml(engine: Engine, request: ClusterYaml) -> Steps[YamlPart]:
    """Objects as YAML documents, from number `first` on, as many as the time allows."""
    store = (yield from engine.at(request.position)).store
    manifests = [manifest for kind in in_order(store.kinds()) for manifest in store.list(kind)]
    end = time.perf_counter() + YAML_SLICE
    parts: list[str] = []
    for number in range(request.first, len(manifests)):
        if time.perf_counter() > end:
            return YamlPart("".join(parts).encode(), number)
        parts.append(document(manifests[number]))
    return YamlPart("".join(parts).encode(), None)
