"""Execution of commands. Each command is validated completely before it changes anything."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import msgspec

from scheduler_core.apimachinery.objects.errors import InvalidObject, child
from scheduler_core.apiserver import Refused, WatchEvent
from scheduler_core.apiserver.faults import BIND, Fault, Faults
from scheduler_core.apiserver.imports.trial import Trial
from scheduler_core.base.releases import RELEASES, Release, read_release
from scheduler_core.base.trace.kinds import CommandApplied
from scheduler_core.controllers.surroundings import Inputs
from scheduler_core.scheduler.config.load import load_configuration
from scheduler_core.scheduler.config.schema import SchedulerConfiguration
from scheduler_core.scheduler.config.settings import WorldSettings
from scheduler_core.scheduler.core.steps import api_calls, eviction, informers, permit
from scheduler_core.world import commands
from scheduler_core.world.simulation import cluster_commands, outside_commands, own_plugins, scheduler_commands
from scheduler_core.world.simulation.edits import Edit, EditableWorld, revert

MOST_REFS = 20  # of a record
MOST_TEXT = 2_000  # characters, likewise

Configurations = tuple[tuple[str, Mapping[str, Any] | None], ...]
"""Schedulers with their configurations as they were given: what they amount to depends on the gates."""


@dataclass(frozen=True, slots=True)
class EditableState:
    """The state that commands change besides objects."""

    settings: WorldSettings
    configurations: Configurations
    faults: Faults
    inputs: Inputs

    @classmethod
    def of(cls, world: EditableWorld) -> EditableState:
        # Faults are changed in place, so that only a copy still has the earlier ones afterward.
        return cls(world.settings, _configurations(world), dict(world.faults), world.surroundings.inputs)


def execute(world: EditableWorld, command: commands.Command, trial: Trial | None = None) -> None:
    """Execute a command and record how to undo it. `trial`: the result of a rehearsal with its objects in this world."""
    before = EditableState.of(world)
    world.record(_summary(command))
    if isinstance(command, commands.ApplyObjects | commands.DeleteObjects | commands.CallAPI) and command.time:
        agenda = world.agenda
        time = command.time
        following = agenda.peek()
        agenda.now = max(agenda.now, time if following is None else min(time, following.time))
    if trial is not None and isinstance(command, commands.ApplyObjects):
        cluster_commands.apply_rehearsed(world, command, trial)
    else:
        _EXECUTORS[type(command)](world, command)
    if isinstance(command, commands.NO_EDITS):
        return
    if isinstance(command, commands.ApplyObjects) and isinstance(command.continues, commands.Continuation):
        world.go_on_from(command.continues)
    same = before.configurations == _configurations(world)
    edit = Edit(
        tuple(WatchEvent(event.type, event.kind, event.old, event.new) for event in world.changes),
        None if before.settings == world.settings else msgspec.to_builtins(before.settings),
        None if same else before.configurations,
        _find_changed_faults(before.faults, world.faults),
        None if before.inputs == world.surroundings.inputs else before.inputs,
    )
    if isinstance(command, commands.Undo):
        world.edits = world.edits.undone(edit)
    elif isinstance(command, commands.Redo):
        world.edits = world.edits.redone(edit)
    elif edit != Edit():
        world.edits = world.edits.done(edit)


def _configurations(world: EditableWorld) -> Configurations:
    """Return the configurations of the schedulers that are not separate processes."""
    return tuple((s.name, s.configuration.given) for s in world.schedulers if not s.launched)


def _find_changed_faults(before: Faults, after: Faults) -> tuple[tuple[tuple[str, str], Fault | None], ...]:
    """Return the earlier faults that differ now."""
    if before == after:
        return ()
    # Sorted: the order of a set of strings differs between processes, and the edit is part of the world's state.
    return tuple((key, before.get(key)) for key in sorted({*before, *after}) if before.get(key) != after.get(key))


def _summary(command: commands.Command) -> CommandApplied:
    """The command without the objects' own text."""
    more: dict[str, Any] = {}
    if isinstance(command, commands.ApplyObjects):
        more["objects"] = len(command.objects)
        command = msgspec.structs.replace(command, objects=())
    elif isinstance(command, commands.DeleteObjects):
        more["count"] = len(command.refs)
        command = msgspec.structs.replace(command, refs=command.refs[:MOST_REFS])
    elif isinstance(command, commands.CreateObject):
        more["objects"] = 1
        command = commands.CreateObject({}, command.user)
    elif isinstance(command, commands.CallAPI):
        command = msgspec.structs.replace(command, body=None)
    elif isinstance(command, commands.SetPrograms | commands.SetUsage):
        command = type(command)(())
    elif isinstance(command, commands.AnswerExtender):
        answer = msgspec.structs.replace(command.answer, body=command.answer.body[:MOST_TEXT])
        command = msgspec.structs.replace(command, answer=answer)
    elif isinstance(command, commands.SetExtender):
        command = commands.SetExtender(command.url_prefix)
    applied: CommandApplied = msgspec.convert({**msgspec.to_builtins(command), **more}, commands.CommandRecord)
    return applied


def _configure(world: EditableWorld, command: commands.SetConfiguration) -> None:
    launched = next((each for each in world.schedulers if each.name == command.scheduler and each.launched), None)
    if command.configuration is None and command.scheduler != commands.DEFAULT_SCHEDULER_NAME:
        running = [scheduler.name for scheduler in world.schedulers]
        if command.scheduler not in running:
            raise commands.refuse("scheduler", command.scheduler, f"one of {', '.join(running)}")
        if launched is not None:
            scheduler_commands.kill(launched)
        else:
            world.stop_scheduler(command.scheduler)
        return
    configuration = scheduler_commands.configuration_of(command.configuration, world.settings, command.scheduler)
    if launched is not None and launched.process is not None:
        scheduler_commands.launch(world, command.scheduler, configuration, launched.process.clock)
        return
    names = {
        profile.scheduler_name: scheduler.name
        for scheduler in world.schedulers
        if scheduler.name != command.scheduler and not scheduler.launched
        for profile in scheduler.configuration.profiles
    }
    for i, profile in enumerate(configuration.profiles):
        if profile.scheduler_name in names:
            other = names[profile.scheduler_name]
            raise commands.refuse(
                f"profiles[{i}].schedulerName", profile.scheduler_name, f"a name that {other} does not have"
            )
    world.start_scheduler(command.scheduler, configuration)


def _set(world: EditableWorld, command: commands.SetSettings) -> None:
    if "plugins" in command.settings:
        raise commands.refuse("settings.plugins", "a value", "the command DefinePlugin")
    wanted = dict(command.settings)
    if "release" in wanted:
        wanted["release"] = _read_release("settings.release", wanted["release"])
    if isinstance(own := wanted.get("scheduler_releases"), Mapping):
        wanted["scheduler_releases"] = {
            name: _read_release(f"settings.scheduler_releases.{name}", release) for name, release in own.items()
        }
    try:
        settings = world.settings.of_release(wanted["release"]) if "release" in wanted else world.settings
        settings = settings.changed(wanted)
    except InvalidObject as invalid:
        errors = [replace(error, path=child("settings", error.path)) for error in invalid.errors]
        raise Refused(errors) from invalid
    _use(world, settings)


def _read_release(path: str, text: object) -> Release:
    try:
        return read_release(str(text))
    except ValueError as wrong:
        raise commands.refuse(path, str(text), "a release: " + ", ".join(RELEASES)) from wrong


def _use(world: EditableWorld, settings: WorldSettings) -> None:
    """Apply settings. Schedulers restart only for settings that they read at start; other settings apply from the next moment on."""
    restart = settings.needs_restart(world.settings)
    restarting = own_plugins.restarting(world, settings)
    # Load under the new gates first: a configuration that they make invalid is refused before anything changes.
    configurations = _under(settings, [each for each in _configurations(world) if each[0] in restarting])
    replicas = scheduler_commands.replicas_under(world, settings, restarting)
    begins = settings.cluster != world.settings.cluster
    gated = settings.device_gates != world.settings.device_gates
    world.settings = settings
    if begins:
        cluster_commands.start(world)
    elif gated:
        cluster_commands.apply_feature_gates(world)
    if restart:
        world.store.read_again(settings.reading)
    staying = [scheduler for scheduler in world.schedulers if scheduler.name not in restarting]
    for each in configurations:
        world.start_scheduler(*each)
    for replica in replicas:
        scheduler_commands.launch(world, *replica)
    for scheduler in staying:
        informers.set_lag(scheduler)
        scheduler.wake_up()


def _under(
    settings: WorldSettings, configurations: Sequence[tuple[str, Mapping[str, Any] | None]]
) -> tuple[tuple[str, SchedulerConfiguration], ...]:
    """Load configurations under the gates; raise Refused if one is invalid under them."""
    try:
        return tuple(
            (name, load_configuration(manifest, settings.of_scheduler(name).features, own=settings.plugins))
            for name, manifest in configurations
        )
    except InvalidObject as invalid:
        raise Refused(invalid.errors) from invalid


def _decide(world: EditableWorld, command: commands.DecidePermit) -> None:
    for scheduler in world.schedulers:
        for waiting in scheduler.pods_waiting():
            if waiting.pod.key != command.pod:
                continue
            # A copy, as `allow` removes the plugin. One rejection ends the wait for all plugins, as in kube.
            for plugin in list(waiting.waiting):
                if command.decision == "allow":
                    permit.allow(scheduler, waiting, plugin)
                else:
                    permit.reject(scheduler, waiting, plugin, "rejected by the user")
                    break
            return
    raise commands.refuse("pod", command.pod, "a pod that waits on Permit")


def _fail_call(world: EditableWorld, command: commands.FailCall) -> None:
    fault = command.fault
    if fault.times == 0:
        if world.faults.pop(fault.key, None) is None:
            raise commands.refuse(
                "times", 0, f"1 or more, because no fault is injected into the {fault.call} calls of {fault.pod}"
            )
        return
    pod = world.store.pod_at(fault.pod)
    if pod is None:
        raise commands.refuse("pod", fault.pod, "namespace/name of a pod that exists")
    if fault.call == BIND and pod.node_name:
        raise commands.refuse("pod", fault.pod, f"a pod without a node, but this one is on {pod.node_name}")
    world.faults[fault.key] = fault
    for scheduler in world.schedulers:
        api_calls.retime(scheduler, fault)
        eviction.retime(scheduler, fault)


def _put_back(world: EditableWorld, command: commands.Undo | commands.Redo) -> None:
    undo = isinstance(command, commands.Undo)
    edits = world.edits.undo if undo else world.edits.redo
    if not edits:
        wanted = "an edit to undo" if undo else "an undone edit"
        raise commands.refuse("", type(command).__name__, f"{wanted}, but there is none")
    edit = edits[-1]
    revert(world.store, edit, world.now)
    for key, fault in edit.faults:
        if fault is None:
            world.faults.pop(key, None)
        else:
            world.faults[key] = fault
    if edit.inputs is not None:
        cluster_commands.arrange(world, edit.inputs)
    if edit.settings is not None:
        _use(world, world.settings.changed(edit.settings))
    # After the settings: the configurations are loaded under the gates that hold again by then.
    if edit.configurations is not None:
        kept = {name for name, _ in edit.configurations}
        for scheduler in world.schedulers:
            if scheduler.name not in kept and not scheduler.launched:
                world.stop_scheduler(scheduler.name)
        for each in _under(world.settings, edit.configurations):
            world.start_scheduler(*each)


_EXECUTORS: Mapping[type, Callable[[Any, Any], None]] = {
    commands.SetConfiguration: _configure,
    commands.SetSettings: _set,
    commands.DefinePlugin: lambda world, command: _use(world, own_plugins.settings_with(world, command)),
    commands.DecidePermit: _decide,
    commands.FailCall: _fail_call,
    commands.Undo: _put_back,
    commands.Redo: _put_back,
    **cluster_commands.EXECUTORS,
    **outside_commands.EXECUTORS,
}
