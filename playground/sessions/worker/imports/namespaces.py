"""Namespaces that a snapshot's objects are in and that it does not hold: they were there where it was taken, and are made with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from playground.presenters.words import gettext_noop
from playground.sessions.worker.world import Simulation
from scheduler_core.formats.manifests import Intake as Brought
from scheduler_core.formats.manifests import Note
from scheduler_core.world.readonly import Loaded

KIND = "Namespace"
MADE = gettext_noop(
    "Namespaces that objects of this snapshot are in, and that are not in it themselves: %(count)s. They are made, without labels."
)


def with_namespaces(
    world: Simulation, brought: Brought, loaded: Sequence[Loaded]
) -> tuple[Brought, list[Loaded]]:
    """Return the import and its objects, with the missing namespaces and a note that counts them."""
    lacking = _lacking(world, loaded)
    if not lacking:
        return brought, list(loaded)
    first = max(each.index for each in loaded) + 1
    made = [
        Loaded({"apiVersion": "v1", "kind": KIND, "metadata": {"name": name}}, first + number, _nowhere)
        for number, name in enumerate(lacking)
    ]
    note = Note(MADE, {"count": len(made)})
    return replace(brought, notes=[*brought.notes, note]), [*loaded, *made]


def _lacking(world: Simulation, loaded: Sequence[Loaded]) -> list[str]:
    """Return the names of missing namespaces, used by objects with a uid, which a cluster gave them."""
    there, used = set(), set()
    for each in loaded:
        manifest = each.manifest
        meta = manifest.get("metadata") if isinstance(manifest, Mapping) else None
        if not isinstance(meta, Mapping):
            continue
        if manifest.get("kind") == KIND:
            there.add(meta.get("name"))
        elif meta.get("uid") and isinstance(meta.get("namespace"), str):
            used.add(meta["namespace"])
    return sorted(name for name in used - there if name and world.store.get(KIND, "", name) is None)


def _nowhere(path: str) -> None:
    """It stands in no text."""
