"""How commands are carried out: each one is checked whole before it changes anything."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import msgspec

from scheduler_core.api.faults import BIND, Fault, Faults
from scheduler_core.api.kinds import kind_of, namespace_of, reference
from scheduler_core.api.requests.apply import apply_objects, delete_objects, patch_object
from scheduler_core.api.status import Refused, already_exists
from scheduler_core.api.watch import WatchEvent
from scheduler_core.commands import (
    DEFAULT_SCHEDULER_NAME,
    ApplyObjects,
    Command,
    DecidePermit,
    DeleteObjects,
    FailCall,
    PatchObject,
    Redo,
    SetConfiguration,
    SetSettings,
    Undo,
    refuse,
)
from scheduler_core.config.load import load_configuration
from scheduler_core.config.settings import WorldSettings
from scheduler_core.config.types import SchedulerConfiguration
from scheduler_core.edits import Edit, revert
from scheduler_core.objects.errors import FieldError, InvalidObject, child
from scheduler_core.scheduler.steps import api_calls, binding, eviction, informers

if TYPE_CHECKING:
    from scheduler_core.simulation import Simulation


def execute(sim: Simulation, command: Command) -> None:
    """Carries a command out and remembers how to undo it."""
    before = _surroundings(sim)
    sim.record("command", lambda: _summary(command))
    _EXECUTORS[type(command)](sim, command)
    if isinstance(command, DecidePermit):
        return
    edit = _edit(sim, before)
    if isinstance(command, Undo):
        sim.edits = sim.edits.undone(edit)
    elif isinstance(command, Redo):
        sim.edits = sim.edits.redone(edit)
    elif edit != Edit():
        sim.edits = sim.edits.done(edit)


MOST_REFS = 20  # of a record

Given = tuple[tuple[str, Mapping[str, Any] | None], ...]
Surroundings = tuple[WorldSettings, Given, Faults]


def _surroundings(sim: Simulation) -> Surroundings:
    return sim.settings, _given(sim), dict(sim.faults)


def _given(sim: Simulation) -> Given:
    """The schedulers with their configurations as they were given: what they amount to depends on the gates."""
    return tuple((scheduler.name, scheduler.configuration.given) for scheduler in sim.schedulers)


def _edit(sim: Simulation, before: Surroundings) -> Edit:
    settings, configurations, faults = before
    same = configurations == _given(sim)
    return Edit(
        tuple(WatchEvent(event.type, event.kind, event.old, event.new) for event in sim.changes),
        None if settings == sim.settings else msgspec.structs.asdict(settings),
        None if same else configurations,
        _changed_faults(faults, sim.faults),
    )


def _changed_faults(before: Faults, after: Faults) -> tuple[tuple[tuple[str, str], Fault | None], ...]:
    """What was asked for before, where it is another now."""
    if before == after:
        return ()
    return tuple(
        (key, before.get(key)) for key in sorted({*before, *after}) if before.get(key) != after.get(key)
    )


def _summary(command: Command) -> dict[str, Any]:
    """The command without the objects' own text."""
    more: dict[str, Any] = {}
    if isinstance(command, ApplyObjects):
        more["objects"] = len(command.objects)
        command = ApplyObjects((), command.create_only)
    elif isinstance(command, DeleteObjects):
        more["count"] = len(command.refs)
        command = DeleteObjects(command.refs[:MOST_REFS])
    summary: dict[str, Any] = msgspec.to_builtins(command)
    return {**summary, **more}


def _apply(sim: Simulation, command: ApplyObjects) -> None:
    if command.create_only:
        _refuse_taken_names(sim, command.objects)
    apply_objects(sim.store, command.objects, sim.now)


def _refuse_taken_names(sim: Simulation, objects: Sequence[Mapping[str, Any]]) -> None:
    errors = []
    for manifest in objects:
        kind = kind_of(manifest)
        metadata = manifest.get("metadata")
        if kind is None or not isinstance(metadata, Mapping):
            continue  # validation says what is wrong with it
        namespace, name = namespace_of(kind, manifest), str(metadata.get("name"))
        if sim.store.get(kind.key, namespace, name) is not None:
            answer = already_exists(kind.resource, name)
            errors.append(FieldError("", "", answer.message, reference(kind.key, namespace, name)))
    if errors:
        raise Refused(errors)


def _delete(sim: Simulation, command: DeleteObjects) -> None:
    delete_objects(sim.store, [(ref.kind, ref.namespace, ref.name) for ref in command.refs], sim.now)


def _patch(sim: Simulation, command: PatchObject) -> None:
    ref = command.ref
    patch_object(sim.store, (ref.kind, ref.namespace, ref.name), command.patch, sim.now)


def _configure(sim: Simulation, command: SetConfiguration) -> None:
    if command.configuration is None and command.scheduler != DEFAULT_SCHEDULER_NAME:
        running = [scheduler.name for scheduler in sim.schedulers]
        if command.scheduler not in running:
            raise refuse("scheduler", command.scheduler, f"one of {', '.join(running)}")
        sim.stop_scheduler(command.scheduler)
        return
    try:
        configuration = load_configuration(command.configuration, sim.settings.features)
    except InvalidObject as wrong:
        raise Refused(wrong.errors) from wrong
    names = {
        profile.scheduler_name: scheduler.name
        for scheduler in sim.schedulers
        if scheduler.name != command.scheduler
        for profile in scheduler.configuration.profiles
    }
    for i, profile in enumerate(configuration.profiles):
        if profile.scheduler_name in names:
            other = names[profile.scheduler_name]
            raise refuse(
                f"profiles[{i}].schedulerName", profile.scheduler_name, f"a name that {other} does not have"
            )
    sim.start_scheduler(command.scheduler, configuration)


def _set(sim: Simulation, command: SetSettings) -> None:
    try:
        settings = sim.settings.changed(command.settings)
    except InvalidObject as invalid:
        errors = [replace(error, path=child("settings", error.path)) for error in invalid.errors]
        raise Refused(errors) from invalid
    _use(sim, settings)


def _use(sim: Simulation, settings: WorldSettings) -> None:
    """Only what a scheduler reads when it starts has it start again; all else counts from the next moment on."""
    restart = settings.needs_restart(sim.settings)
    configurations = _configurations(_given(sim), settings) if restart else ()
    sim.settings = settings
    if restart:
        sim.store.read_again(settings.reading)
        _restart_all(sim, configurations)
    else:
        for scheduler in sim.schedulers:
            informers.set_lag(scheduler)
            scheduler.wake_up()


def _configurations(given: Given, settings: WorldSettings) -> tuple[tuple[str, SchedulerConfiguration], ...]:
    """What the given configurations amount to under the gates; Refused where one can't be under them."""
    try:
        return tuple((name, load_configuration(manifest, settings.features)) for name, manifest in given)
    except InvalidObject as wrong:
        raise Refused(wrong.errors) from wrong


def _restart_all(sim: Simulation, configurations: tuple[tuple[str, SchedulerConfiguration], ...]) -> None:
    for name, configuration in configurations:
        sim.start_scheduler(name, configuration)


def _decide(sim: Simulation, command: DecidePermit) -> None:
    for scheduler in sim.schedulers:
        for waiting in scheduler.pods_waiting():
            if waiting.pod.key != command.pod:
                continue
            for plugin in list(waiting.waiting):
                if command.decision == "allow":
                    binding.allow(scheduler, waiting, plugin)
                else:
                    binding.reject(scheduler, waiting, plugin, "rejected by the user")
                    break
            return
    raise refuse("pod", command.pod, "a pod that waits on Permit")


def _fail_call(sim: Simulation, command: FailCall) -> None:
    fault = command.fault
    if fault.times == 0:
        if sim.faults.pop(fault.key, None) is None:
            raise refuse("times", 0, f"1 or more; nothing was asked for the call {fault.call} of {fault.pod}")
        return
    pod = sim.store.pod_at(fault.pod)
    if pod is None:
        raise refuse("pod", fault.pod, "namespace/name of a pod that exists")
    if fault.call == BIND and pod.node_name:
        raise refuse("pod", fault.pod, f"a pod that is still to be bound; this one is on {pod.node_name}")
    sim.faults[fault.key] = fault
    for scheduler in sim.schedulers:
        api_calls.retime(scheduler, fault)
        eviction.retime(scheduler, fault)


def _undo(sim: Simulation, command: Undo) -> None:
    if not sim.edits.undo:
        raise refuse("", "Undo", "an edit that can be undone; there is none")
    _put_back(sim, sim.edits.undo[-1])


def _redo(sim: Simulation, command: Redo) -> None:
    if not sim.edits.redo:
        raise refuse("", "Redo", "an edit that was undone; there is none")
    _put_back(sim, sim.edits.redo[-1])


def _put_back(sim: Simulation, edit: Edit) -> None:
    revert(sim.store, edit, sim.now)
    for key, fault in edit.faults:
        if fault is None:
            sim.faults.pop(key, None)
        else:
            sim.faults[key] = fault
    if edit.settings is not None:
        _use(sim, sim.settings.changed(edit.settings))
    if edit.configurations is not None:
        kept = {name for name, _ in edit.configurations}
        for scheduler in sim.schedulers:
            if scheduler.name not in kept:
                sim.stop_scheduler(scheduler.name)
        _restart_all(sim, _configurations(edit.configurations, sim.settings))


_EXECUTORS: dict[type, Callable[..., None]] = {
    ApplyObjects: _apply,
    DeleteObjects: _delete,
    PatchObject: _patch,
    SetConfiguration: _configure,
    SetSettings: _set,
    DecidePermit: _decide,
    FailCall: _fail_call,
    Undo: _undo,
    Redo: _redo,
}
