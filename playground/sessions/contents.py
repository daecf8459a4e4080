"""What a world holds: lists of objects, single manifests, the nodes' names, and what an import would make of it."""

from __future__ import annotations

import time
from collections import Counter
from typing import Any

import msgspec

from playground.sessions.engine import Engine, refusal
from playground.sessions.errors import CommandRefused, SessionGone
from playground.sessions.world import (
    ApplyObjects,
    InvalidObject,
    LoadLimits,
    Plan,
    Simulation,
    load_manifests,
    plan,
)
from playground.sessions.yamldump import document, in_order

Entry = dict[str, Any]
YAML_SLICE = 0.02


def objects(world: Simulation, kind: str | None) -> list[Entry]:
    """{kind, namespace, name, summary} of each object, by kind, namespace and name."""
    kinds = world.store.kinds() if kind is None else [kind]
    return [_entry(one, manifest) for one in kinds for manifest in world.store.list(one)]


def _entry(kind: str, manifest: Any) -> Entry:
    metadata = manifest["metadata"]
    return {
        "kind": kind,
        "namespace": metadata.get("namespace", ""),
        "name": metadata["name"],
        "summary": _summary(kind, manifest),
    }


def _summary(kind: str, manifest: Any) -> str:
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


def manifest(world: Simulation, kind: str, namespace: str, name: str) -> Entry:
    """The object as it stands. Raises SessionGone where there is none."""
    found = world.store.get(kind, namespace, name)
    if found is None:
        where = f"{namespace}/{name}" if namespace else name
        raise SessionGone(f"There is no {kind} {where} at this step.")
    return dict(found)


def configuration(world: Simulation) -> dict[str, Any]:
    """Each scheduler's configuration with its defaults, as a manifest, and the world's settings.

    "faults" are the calls that are to fail or to be slow; "strangers" the schedulerNames that no scheduler has, with the pods that ask for
    them counted.
    """
    return {
        "schedulers": [
            {"name": one.name, "manifest": dict(one.configuration.manifest)} for one in world.schedulers
        ],
        "settings": msgspec.structs.asdict(world.settings),
        "faults": [
            {**msgspec.structs.asdict(fault), "said": fault.answer().message}
            for _, fault in sorted(world.faults.items())
        ],
        "strangers": _strangers(world),
    }


def _strangers(world: Simulation) -> list[Entry]:
    pods = [pod for key in world.journal.ignored if (pod := world.store.pod_at(key)) is not None]
    counts = Counter(pod.spec.scheduler_name for pod in pods if not pod.node_name)
    return [{"name": name, "pods": count} for name, count in sorted(counts.items())]


def node_names(world: Simulation) -> dict[str, Any]:
    """Names in the order of the heat map's bytes."""
    table = world.schedulers[0].cache.table()
    return {"names": list(table.names)}


def preview(engine: Engine, token: str, text: bytes) -> dict[str, Any]:
    """The plan of an import, kept under its token. Raises CommandRefused where the text cannot be read."""
    made = _plan(engine, text)
    engine.plan = (token, made)
    return made.to_json()


def planned(engine: Engine, token: str, text: bytes) -> dict[str, Any]:
    """The command that an import's preview accepted."""
    made = engine.plan[1] if engine.plan is not None and engine.plan[0] == token else _plan(engine, text)
    if not made.accepted:
        raise CommandRefused("This import would change nothing: there is nothing to apply.")
    return msgspec.to_builtins(ApplyObjects(tuple(made.accepted)))


def _plan(engine: Engine, text: bytes) -> Plan:
    try:
        loaded = load_manifests(text.decode("utf-8-sig"), LoadLimits())
    except UnicodeDecodeError as error:
        raise CommandRefused(
            f"The file is not text in UTF-8: byte {error.start + 1:,} cannot be read."
        ) from None
    except InvalidObject as error:
        raise refusal(error.errors) from None
    return plan(engine.world.store, loaded)


def yaml_part(world: Simulation, first: int) -> tuple[bytes, int | None]:
    """Objects as YAML documents, from number `first` on, and the number to go on with (None: that was all)."""
    found = [one for kind in in_order(world.store.kinds()) for one in world.store.list(kind)]
    end = time.perf_counter() + YAML_SLICE
    parts: list[str] = []
    for number in range(first, len(found)):
        if time.perf_counter() > end:
            return "".join(parts).encode(), number
        parts.append(document(found[number]))
    return "".join(parts).encode(), None
