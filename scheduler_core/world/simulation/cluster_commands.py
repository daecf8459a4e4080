"""Commands that become requests to the API server, or that arrange what components do."""

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from msgspec import UNSET, structs

from scheduler_core.apimachinery.objects import FieldError, InvalidObject, Manifest
from scheduler_core.apimachinery.objects.times import parse_time
from scheduler_core.apiserver import KINDS, Refused
from scheduler_core.apiserver.eviction import evict
from scheduler_core.apiserver.imports.plan import move_times
from scheduler_core.apiserver.imports.trial import Trial, apply, try_out
from scheduler_core.apiserver.rewriting import without_owned
from scheduler_core.apiserver.server import Preconditions, make_standing_objects
from scheduler_core.apiserver.store import Store
from scheduler_core.apiserver.validation.cluster import validate_update
from scheduler_core.controllers.catalogue import CONTROLLERS, runs
from scheduler_core.controllers.contract import World
from scheduler_core.controllers.devices.claims import results_named, set_device_conditions
from scheduler_core.controllers.inputs.programs import read_programs
from scheduler_core.controllers.inputs.usage import read_usage
from scheduler_core.controllers.kubelet.nodes import complete_node, is_new, settle, with_allocatable
from scheduler_core.controllers.kubelet.pods import adopt_terminating_pod
from scheduler_core.controllers.memory.workloads import owners
from scheduler_core.controllers.nodes import drain
from scheduler_core.controllers.nodes.taints import with_old_labels
from scheduler_core.controllers.surroundings import Condition, Inputs
from scheduler_core.world import commands
from scheduler_core.world.simulation import scheduler_commands
from scheduler_core.world.simulation.edits import EditableWorld


def start(world: World) -> None:
    """Create the objects that every cluster has, and start the controllers, which list the existing objects."""
    make_standing_objects(world.api)
    for controller in CONTROLLERS:
        if runs(controller, world.cluster):
            controller.on_start(world)


def apply_feature_gates(world: World) -> None:
    """Restart the controllers that depend on the feature gates of devices, which have changed."""
    for controller in CONTROLLERS:
        if controller.of_devices and runs(controller, world.cluster):
            controller.on_start(world)


def arrange(world: World, inputs: Inputs) -> None:
    """Set a user's inputs (programs, usage, conditions), and notify the controllers concerned."""
    before, world.surroundings.inputs = world.surroundings.inputs, inputs
    for controller in CONTROLLERS:
        if runs(controller, world.cluster):
            controller.on_inputs(world, before)


def begin_at(world: EditableWorld, start: str, live: bool) -> None:
    """Has the present be a moment of the calendar."""
    world.store.begin_at(parse_time(start) - world.now, live)
    _pass_epoch_on(world)


def _pass_epoch_on(world: EditableWorld) -> None:
    for scheduler in world.schedulers:
        scheduler.algorithm_state.epoch = world.store.epoch


def _can_begin(store: Store) -> bool:
    return store.is_new and not store.calendar


@contextmanager
def _as_taken(world: EditableWorld, command: commands.ApplyObjects) -> Iterator[None]:
    """Have the present of a world without objects of its own be when its cluster was taken, if all that is applied here is accepted."""
    store, before = world.store, world.store.epoch
    if command.taken is UNSET or not _can_begin(store):
        yield
        return
    store.epoch = parse_time(command.taken) - world.now
    try:
        yield
    except Refused:
        store.epoch = before
        raise
    store.date_again(before)
    _pass_epoch_on(world)


def _apply(world: EditableWorld, command: commands.ApplyObjects) -> None:
    if command.taken is not UNSET and not _can_begin(world.store):
        shift = world.store.epoch + world.now - parse_time(command.taken)
        command = structs.replace(command, objects=tuple(move_times(command.objects, shift)))
    fresh = [manifest for manifest in command.objects if is_new(world, manifest)]
    # `fresh` comes first: once the objects are applied, no node is new.
    objects = _as_reported(world, command.objects)
    if command.force is True:
        objects = _make_way(world, objects)
    with _as_taken(world, command):
        apply(world.api, objects, create_only=command.create_only)
    _go_on_as_imported(world, command, fresh)
    for manifest in fresh:
        settle(world, manifest)


def _go_on_as_imported(world: World, command: commands.ApplyObjects, fresh: Sequence[Manifest]) -> None:
    """Stop the kubelets of nodes that were lost already, keep the ends of pods that terminated, and owners that were not brought."""
    if command.stopped is UNSET:
        return
    inputs = world.surroundings.inputs
    names = {each["metadata"]["name"] for each in fresh if each.get("kind") == "Node"}
    # Without duplicates, like a set, but in an order that is the same in each process.
    stopped = dict.fromkeys((*inputs.stopped, *(name for name in command.stopped if name in names)))
    if tuple(stopped) != inputs.stopped:
        arrange(world, replace(inputs, stopped=tuple(stopped)))
    for manifest in command.objects:
        meta = manifest.get("metadata") or {}
        if command.continues is UNSET:  # what goes on here was brought whole
            uids = [str(ref.get("uid")) for ref in owners(manifest)]
            world.surroundings.garbage.elsewhere |= {uid: None for uid in uids if world.store.by_uid(uid) is None}
        if manifest.get("kind") == "Pod" and meta.get("deletionTimestamp"):
            pod = world.store.pod(str(meta.get("namespace") or "default"), str(meta.get("name")))
            if pod is not None and pod.node_name and pod.phase == "Running":
                adopt_terminating_pod(world, pod)


def _as_reported(world: World, objects: Sequence[Manifest]) -> list[Any]:
    return [with_old_labels(complete_node(world, manifest)) for manifest in objects]


def rehearse(world: World, objects: Sequence[Manifest], taken: str) -> Generator[int, None, Trial]:
    """Rehearse applying objects without a change. Yields the number of objects tried so far."""
    epoch = parse_time(taken) - world.now if taken else None
    return try_out(world.api, _as_reported(world, objects), epoch=epoch)


def apply_rehearsed(world: EditableWorld, command: commands.ApplyObjects, trial: Trial) -> None:
    """Apply a command with the result of its rehearsal. Raise ValueError if the store has changed since."""
    # Each write raises the resource version: an equal one means an unchanged store.
    if trial.of != world.store.resource_version:
        raise ValueError("the cluster has changed since the preview")
    fresh = [manifest for manifest in command.objects if is_new(world, manifest)]
    with _as_taken(world, command):
        world.store.adopt(trial.events, trial.store)
    _go_on_as_imported(world, command, fresh)
    for manifest in fresh:
        settle(world, manifest)


def _make_way(world: World, objects: list[Any]) -> list[Any]:
    """Delete the pods and claims that can't be changed in place. Return the objects, with those as new ones. Raise Refused before any
    change.
    """
    replaced = {id(manifest): key for manifest in objects if (key := _find_replaced(world, manifest)) is not None}
    new = [without_owned(manifest) if id(manifest) in replaced else manifest for manifest in objects]
    # First on a replica, where a refusal leaves the cluster as it is; then on the cluster itself.
    for api in (replace(world.api, store=world.store.replica()), world.api):
        for key in replaced.values():
            # Without a grace period: the name has to be free for the new object at once.
            api.delete(key, grace=0)
        if api.store is not world.store:
            apply(api, new)
    return new


def _find_replaced(world: World, manifest: Any) -> tuple[str, str, str] | None:
    """Return the kind, namespace, and name of the pod or ResourceClaim that a manifest replaces, or None."""
    meta = manifest.get("metadata") if isinstance(manifest, Mapping) else None
    if not isinstance(meta, Mapping) or manifest.get("kind") not in _REPLACED:
        return None
    kind = str(manifest["kind"])
    key = kind, str(meta.get("namespace") or "default"), str(meta.get("name") or "")
    old = world.store.get(*key)
    if old is None:
        return None
    if kind == "ResourceClaim":  # nothing of its spec can be changed
        return key if old.get("spec") != manifest.get("spec") else None
    # kube lets an update change only a few fields of a pod's spec: a manifest that changes others needs a new pod.
    return key if validate_update(old, manifest, KINDS[kind], "") else None


_REPLACED = ("Pod", "ResourceClaim")


def _target(ref: commands.Ref) -> tuple[str, str, str]:
    return ref.kind, ref.namespace, ref.name


def _create(world: World, command: commands.CreateObject) -> None:
    replace(world.api, typed=False).create(with_allocatable(world, command.manifest), command.user)


def _patch(world: World, command: commands.PatchObject) -> None:
    replace(world.api, typed=False).patch(
        _target(command.ref),
        command.patch,
        "merge" if command.type is UNSET else command.type,
        "" if command.subresource is UNSET else command.subresource,
        "" if command.user is UNSET else command.user,
    )


def _delete(world: World, command: commands.DeleteObjects) -> None:
    """Delete all objects or none: missing objects are reported before any deletion."""
    targets = [_target(ref) for ref in dict.fromkeys(command.refs)]
    errors: list[FieldError] = []
    answers = []
    # A single object that does not exist is refused by its own deletion.
    for target in targets if len(targets) > 1 else ():
        try:
            world.api.found(target)
        except Refused as refused:
            errors += refused.errors
            answers.append(refused.answer)
    if errors:
        raise Refused(errors, answers[0])
    for target in targets:
        world.api.delete(
            target,
            None if command.grace_period_seconds is UNSET else command.grace_period_seconds,
            "" if command.propagation_policy is UNSET else command.propagation_policy,
            user="" if command.user is UNSET else command.user,
        )


def _evict(world: World, command: commands.EvictPod) -> None:
    wanted = Preconditions(command.uid, command.resource_version)
    evict(world.api, command.pod, command.grace_period_seconds, command.dry_run, wanted, command.user)


def _drain(world: World, command: commands.DrainNode) -> None:
    flags = drain.Flags(command.ignore_daemon_sets, command.force, command.delete_empty_dir_data)
    drain.begin(world, command.node, flags, command.grace_period_seconds)


def _cancel_drain(world: World, command: commands.CancelDrain) -> None:
    if not drain.call_off(world, command.node, "the drain was canceled"):
        raise commands.refuse("node", command.node, "a node that is being drained")


def _kubelet(world: World, command: commands.SetKubelet) -> None:
    inputs = world.surroundings.inputs
    if world.store.node(command.node) is None:
        raise commands.refuse("node", command.node, "the name of a node")
    if command.running is (command.node not in inputs.stopped):
        state = "already runs" if command.running else "is already stopped"
        raise commands.refuse("running", command.running, f"the other value: the kubelet of {command.node} {state}")
    others = tuple(name for name in inputs.stopped if name != command.node)
    stopped = others if command.running else (*others, command.node)
    arrange(world, replace(inputs, stopped=stopped))


def _condition(world: World, command: commands.ReportCondition) -> None:
    if world.store.node(command.node) is None:
        raise commands.refuse("node", command.node, "the name of a node")
    inputs = world.surroundings.inputs
    condition = Condition(command.node, command.type, command.status, command.reason, command.message)
    others = [c for c in inputs.conditions if (c.node, c.type) != (command.node, command.type)]
    arrange(world, replace(inputs, conditions=(*others, condition)))


def _device_condition(world: World, command: commands.ReportDeviceCondition) -> None:
    namespace, _, name = command.claim.rpartition("/")
    claim = world.store.get("ResourceClaim", namespace, name)
    if claim is None:
        raise commands.refuse("claim", command.claim, "the namespace/name of a ResourceClaim")
    results = results_named(claim, command.device)
    if not results:
        raise commands.refuse(
            "device", command.device, "the driver/pool/device of a device that is allocated to the claim"
        )
    reason = command.reason or "Reported"
    condition = {"type": command.type, "status": command.status, "reason": reason, "message": command.message}
    world.api.update(set_device_conditions(claim, results, condition, world.store.timestamp(world.now)), "status")


def _describe(world: World, command: commands.SetPrograms | commands.SetUsage) -> None:
    """Set the programs of containers, or the usage that kubelets measure."""
    inputs = world.surroundings.inputs
    try:
        if isinstance(command, commands.SetPrograms):
            inputs = replace(inputs, programs=read_programs(command.rules), rules=command.rules)
        else:
            inputs = replace(inputs, usage=read_usage(command.entries), entries=command.entries)
    except InvalidObject as invalid:
        raise Refused(invalid.errors) from invalid
    arrange(world, inputs)


EXECUTORS: Mapping[type, Callable[[Any, Any], None]] = {
    commands.ApplyObjects: _apply,
    commands.CreateObject: _create,
    commands.PatchObject: _patch,
    commands.DeleteObjects: _delete,
    commands.ScaleObject: lambda world, command: world.api.scale(_target(command.ref), command.replicas),
    commands.BindPod: lambda world, command: world.api.bind(command.pod, "", command.node),
    commands.EvictPod: _evict,
    commands.DrainNode: _drain,
    commands.CancelDrain: _cancel_drain,
    commands.SetKubelet: _kubelet,
    commands.ReportCondition: _condition,
    commands.ReportDeviceCondition: _device_condition,
    commands.SetPrograms: _describe,
    commands.SetUsage: _describe,
    **scheduler_commands.EXECUTORS,
}
