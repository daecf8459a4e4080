"""Undo and redo: the changes of a command as data, so that another command can revert them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from scheduler_core.apiserver import ADDED, DELETED, Fault, Faults, Store, WatchEvent
from scheduler_core.apiserver.door import Reply
from scheduler_core.base.clock.agenda import Agenda
from scheduler_core.controllers.contract import World
from scheduler_core.controllers.surroundings import Inputs
from scheduler_core.scheduler.config.schema import SchedulerConfiguration
from scheduler_core.scheduler.core.process import Process
from scheduler_core.scheduler.core.scheduler import Scheduler
from scheduler_core.world.commands import Continuation

MAX_EDITS = 200


@dataclass(frozen=True, slots=True)
class Edit:
    """One undoable command: its changes to objects in order, and the previous settings, configurations, requested failures, and inputs."""

    changes: tuple[WatchEvent, ...] = ()
    settings: Mapping[str, Any] | None = None
    configurations: tuple[tuple[str, Mapping[str, Any] | None], ...] | None = None
    faults: tuple[tuple[tuple[str, str], Fault | None], ...] = ()
    inputs: Inputs | None = None


@dataclass(frozen=True, slots=True)
class Edits:
    """Both stacks, newest last; replaced, never changed."""

    undo: tuple[Edit, ...] = ()
    redo: tuple[Edit, ...] = ()

    def done(self, edit: Edit) -> Edits:
        """After a new edit nothing can be redone."""
        return Edits((*self.undo, edit)[-MAX_EDITS:], ())

    def undone(self, inverse: Edit) -> Edits:
        return Edits(self.undo[:-1], (*self.redo, inverse))

    def redone(self, inverse: Edit) -> Edits:
        return Edits((*self.undo, inverse), self.redo[:-1])


class EditableWorld(World, Protocol):
    """A world, as far as commands see it; Simulation is one."""

    agenda: Agenda
    faults: Faults
    edits: Edits
    answered: Reply | None

    @property
    def schedulers(self) -> tuple[Scheduler, ...]: ...

    def start_scheduler(self, name: str, configuration: SchedulerConfiguration) -> None: ...

    def start_process(self, name: str, configuration: SchedulerConfiguration, process: Process) -> None: ...

    def stop_scheduler(self, name: str) -> None: ...

    def draw(self, n: int) -> int: ...

    def go_on_from(self, continuation: Continuation) -> None: ...


def revert(store: Store, edit: Edit, now: int) -> None:
    """Revert an edit's changes to objects. Later changes by the world (a pod's node, its status) stay."""
    # Newest first: an object that changed twice ends as it was before the first change.
    for event in reversed(edit.changes):
        present = store.get(event.kind, event.namespace, event.name)
        if event.type == ADDED:
            store.remove(event.kind, event.namespace, event.name)
        elif present is None:
            assert event.old is not None
            store.create(_as_new(event.kind, event.old), event.kind, now)
        elif event.type == DELETED or (event.new is not None and _began_to_end(event)):
            assert event.old is not None
            store.remove(event.kind, event.namespace, event.name)
            store.create(_as_new(event.kind, event.old), event.kind, now)
        else:
            assert event.old is not None
            store.replace(_as_lived(event.kind, event.old, present), event.kind)


def _began_to_end(event: WatchEvent) -> bool:
    before = (event.old or {}).get("metadata", {})
    after = (event.new or {}).get("metadata", {})
    return "deletionTimestamp" in after and "deletionTimestamp" not in before


def _as_new(kind: str, manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Return a deleted object without its deletion. A pod gets a new uid, because a scheduler may still handle the old pod."""
    ended = ["deletionTimestamp", "deletionGracePeriodSeconds", "resourceVersion"]
    ended += ["uid"] if kind == "Pod" else []
    metadata = {key: value for key, value in manifest["metadata"].items() if key not in ended}
    return {**manifest, "metadata": metadata}


def _as_lived(kind: str, old: Mapping[str, Any], present: Mapping[str, Any]) -> Mapping[str, Any]:
    if kind != "Pod":
        return old
    spec = dict(old.get("spec") or {})
    node = (present.get("spec") or {}).get("nodeName")
    if node:
        spec["nodeName"] = node
    return {**old, "spec": spec, "status": present.get("status") or {}}
