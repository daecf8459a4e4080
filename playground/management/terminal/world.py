"""A world of files, read like an import, in which each pending pod is attempted once from the snapshot, in the scheduler's order."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
import orjson
from django.utils.translation import gettext

from playground.management.terminal.cluster import BadInput, read_file
from playground.management.terminal.printing import Progress
from playground.presenters.words import format_message
from playground.sessions.protocol.errors import FieldProblem, SessionError
from playground.sessions.worker.imports import preview
from scheduler_core import Cluster, Session
from scheduler_core.analysis.explain import (
    MAKERS,
    add_first_pods,
    count_quotas,
    list_untouched,
    read_refusal,
    record_events,
)
from scheduler_core.analysis.whatif import BadTypes, NodeType, RestResult, read_types, settle, types_of_nodes
from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.formats.configurations import FoundConfiguration, adopt, find
from scheduler_core.formats.export import TraceError
from scheduler_core.formats.indication import Indication, find_release
from scheduler_core.formats.manifests import decode_text, is_archive, join_inputs, read
from scheduler_core.scheduler.config import NEWEST, OLDEST, GateError, Release, WorldSettings, read_gates
from scheduler_core.world.commands import (
    ApplyObjects,
    Command,
    Refused,
    SetConfiguration,
    SetSettings,
    command_from_json,
)
from scheduler_core.world.readonly import InvalidObject, LoadLimits
from scheduler_core.world.simulation import Simulation

_EVENT = re.compile(rb"kind\"?:\s*\"?Event\b")
STEPS_EACH = 2_000  # transitions for each pending pod, at most
LEAST_STEPS = 20_000
WITH_PODS = ("Pod", "Deployment", "ReplicaSet", "ReplicationController", "StatefulSet", "DaemonSet", "Job", "CronJob")


@dataclass(frozen=True, slots=True)
class FileWorld:
    """A world of files, its notes, its pending pods, and the number of refused objects with pods."""

    world: Simulation
    notes: tuple[str, ...]
    pending: tuple[str, ...]
    snapshot: bool  # the objects are a cluster's; otherwise controllers create the pods of the workloads in the files
    refused: int = 0
    refused_pods: tuple[tuple[str, str, Manifest], ...] = ()  # refused by the API server, with its message

    @property
    def release(self) -> str:
        return self.world.settings.release

    commands: tuple[Command, ...] = ()  # that build it from an empty world of its release

    def make_cluster(self, seed: int) -> Cluster:
        """Return the world with its steps, which a trace can keep."""
        cluster = Cluster(seed=seed, release=self.release)
        for command in self.commands:
            cluster.apply(command)
        return cluster


def make_world(
    files: list[tuple[str, bytes]],
    configuration: str = "",
    seed: int = 0,
    acting: bool = False,
    release: Release | None = None,
    otherwise: Release = NEWEST,
) -> FileWorld:
    """Build a world of named files. Raise BadInput if that is impossible. `configuration`: the file of a scheduler's configuration.

    `release`: the world's; None: the one that the files indicate, or `otherwise`. In a snapshot, which has pods or shows effects of
    controllers, controllers do nothing unless `acting`, so that it does not change.
    """
    only = files[0][0] if len(files) == 1 else ""
    try:
        text = join_inputs(files)
    except InvalidObject as error:
        raise BadInput(str(error)) from None
    if is_trace(text):
        return _go_on(read_trace(text, only).end, configuration, release)
    indication = Indication(release) if release else find_release(text, otherwise)
    try:
        world = Simulation(seed, WorldSettings().of_release(indication.release))
        plan = preview(world, text, whole=True)
    except SessionError as refused:
        raise BadInput(_unreadable(refused, only)) from None
    refusals = [_line(error, only) for item in plan.items for error in item.errors]
    if not plan.command:
        raise BadInput("\n".join(refusals or [f"{only or 'the files'}: nothing to look at"]))
    command = command_from_json(msgspec.json.decode(plan.command)["command"])
    has_pods = any(item.kind == "Pod" and item.action == "created" for item in plan.items)
    said_of = {
        (item.namespace, item.name): str(item.errors[0].text)
        for item in plan.items
        if item.kind == "Pod" and item.action == "refused" and item.errors
    }
    objects = [each.manifest for each in read(text).objects] if said_of or _EVENT.search(text) else []
    brought = [each for each in objects if isinstance(each, dict) and isinstance(each.get("metadata"), dict)]
    events = [each for each in brought if each.get("kind") == "Event"]
    snapshot = not acting and (has_pods or _shows_acts(command, events))
    if configuration:
        configured, differs = read_configuration(read_file(configuration), configuration, indication.release)
    else:
        configured, differs = _read_configuration_among(text, only, indication.release)
    nobody = [SetSettings({"cluster": {"controllers": []}})] if snapshot else []
    try:
        command = _make_pods_first(world, command) if snapshot and not events else command
        commands = (*configured, *_count_quotas_first(world, command))
        for each in (*nobody, *commands):
            world.apply(each)
        record_events(world, events, plan.shift)
    except Refused as refused:
        raise BadInput(str(refused)) from None
    said = [format_message(each, gettext) for each in plan.read]
    left_out = sum(item.kind in WITH_PODS and item.action == "refused" for item in plan.items)
    pods = tuple(_list_refused_pods(brought, said_of))
    absent = dict.fromkeys(f"{item.kind} {item.name}" for item in plan.items if item.action == "refused")
    if absent:
        refusals.append(f"left out, as the API server does not take them; all else is read: {', '.join(absent)}")
    notes = (*(() if release else (indication.sentence,)), *differs, *said, *refusals, *plan.warnings)
    return FileWorld(world, notes, tuple(pending_pods(world)), snapshot, left_out, pods, commands)


def _list_refused_pods(
    manifests: Sequence[Manifest], said_of: Mapping[tuple[str, str], str]
) -> Iterator[tuple[str, str, Manifest]]:
    """Yield the pods that the API server refuses: the key, its message, and the manifest with its namespace."""
    for each in manifests if said_of else ():
        meta = each.get("metadata") or {}
        key = (str(meta.get("namespace") or "default"), str(meta.get("name")))
        if each.get("kind") == "Pod" and key in said_of:
            yield "/".join(key), said_of[key], {**each, "metadata": {**meta, "namespace": key[0]}}


def is_trace(text: bytes) -> bool:
    """Return True if a text is a session that was exported, or a world that `step` saved."""
    return text[:40].replace(b" ", b"").startswith(b'{"type":"header"')


def read_trace(text: bytes, file: str) -> Session:
    """Return the session of a trace. Raise BadInput."""
    try:
        return Session([orjson.loads(line) for line in text.splitlines() if line.strip()])
    except (TraceError, ValueError) as error:
        raise BadInput(f"{file}: {error}") from None


def _go_on(cluster: Cluster, configuration: str, release: Release | None) -> FileWorld:
    """Return the world at the end of a trace; controllers act as they did."""
    world = cluster.fork().world
    notes: list[str] = []
    try:
        if release:
            world.apply(SetSettings({"release": release}))
        if configuration:
            commands, notes = read_configuration(read_file(configuration), configuration, world.settings.release)
            for command in commands:
                world.apply(command)
    except Refused as refused:
        raise BadInput(str(refused)) from None
    return FileWorld(world, tuple(notes), tuple(pending_pods(world)), True)


def _shows_acts(command: Command, events: list[dict[str, Any]]) -> bool:
    """Return whether Events, an object being deleted, or a status about pods that could not be created show that a cluster has acted."""
    objects = command.objects if isinstance(command, ApplyObjects) else ()
    return bool(events) or any(each["metadata"].get("deletionTimestamp") or read_refusal(each) for each in objects)


def _make_pods_first(world: Simulation, command: Command) -> Command:
    """Return the command with the pods of workloads that no controller has synced yet, although the cluster has other pods."""
    if not isinstance(command, ApplyObjects) or command.continues is not msgspec.UNSET:
        return command
    written = list_untouched(command.objects)
    if not written:
        return command
    twin = world.fork()
    twin.apply(SetSettings({"cluster": {"controllers": list(MAKERS.values())}}))
    others = [each for each in command.objects if each["kind"] not in WITH_PODS[1:]]
    for each in _count_quotas_first(twin, msgspec.structs.replace(command, objects=(*others, *written))):
        twin.apply(each)
    return msgspec.structs.replace(command, objects=add_first_pods(twin, command.objects))


def _count_quotas_first(world: Simulation, command: Command) -> tuple[Command, ...]:
    """Return the commands that create the objects, then a status for each quota without one, then the workloads."""
    if not isinstance(command, ApplyObjects) or command.continues is not msgspec.UNSET:
        return (command,)
    quotas = [each for each in command.objects if each["kind"] == "ResourceQuota"]
    if all((each.get("status") or {}).get("used") for each in quotas):
        return (command,)
    owners = [each for each in command.objects if each["kind"] in WITH_PODS[1:]]
    rest = [each for each in command.objects if each["kind"] not in ("ResourceQuota", *WITH_PODS[1:])]
    twin = world.fork()
    twin.apply(SetSettings({"cluster": {"controllers": []}}))
    twin.apply(msgspec.structs.replace(command, objects=(*rest, *quotas)))
    uncounted = tuple(quotas)
    counted = {(each["metadata"]["namespace"], each["metadata"]["name"]): each["status"] for each in count_quotas(twin)}
    for at, each in enumerate(quotas):
        meta = each["metadata"]
        status = counted.get((str(meta.get("namespace") or "default"), meta["name"]))
        quotas[at] = {**each, "status": status} if status else each
    # The pods of a dump were admitted before: a quota that already counts them would refuse them now.
    parts = (*rest, *uncounted), tuple(quotas), tuple(owners)
    return tuple(msgspec.structs.replace(command, objects=part) for part in parts if part)


def _read_configuration_among(text: bytes, file: str, release: Release) -> tuple[list[Command], list[str]]:
    """Return the commands that set the only configuration among the objects (a separate document), and a note on it."""
    if is_archive(text) or b"KubeSchedulerConfiguration" not in text:
        return [], []
    found = [
        each for each in find(decode_text(text, file), LoadLimits()) if each.what == "configuration" and not each.where
    ]
    if len(found) != 1:
        return [], []
    return _list_settings(found[0], file, release)


def read_configuration(text: bytes, file: str, release: Release = OLDEST) -> tuple[list[Command], list[str]]:
    """Return the commands that set the one configuration of a text, read and migrated as the page does, and notes on what differs.

    Raise BadInput if there is none, if there are several, or if the scheduler refuses it.
    """
    try:
        found = [each for each in find(decode_text(text, file), LoadLimits()) if not each.usual]
    except InvalidObject as error:
        raise BadInput("\n".join(f"{file}: {each}" for each in error.errors)) from None
    if not text.strip():
        return [SetConfiguration(None)], []
    once = [each for i, each in enumerate(found) if each.manifest not in [other.manifest for other in found[:i]]]
    if len(once) != 1:
        where = "; ".join(f"line {each.line}: {each.where or each.what}" for each in once)
        raise BadInput(
            f"{file}: expected one configuration of a scheduler, received {len(once)}{where and ': ' + where}"
        )
    return _list_settings(once[0], file, release)


def read_node_types(world: Simulation, files: list[str], say: Callable[[str], object]) -> dict[str, NodeType]:
    """Return the types of the cluster's nodes and of files, by name. Raise BadInput."""
    types = types_of_nodes(world.store)
    for file in files:
        try:
            types, notes = read_types(decode_text(read_file(file), file), types)
        except (BadTypes, InvalidObject) as error:
            raise BadInput(f"{file}: {error}") from None
        for note in notes:
            say(f"{file}: {note}")
    return {each.name: each for each in types}


def _list_settings(found: FoundConfiguration, file: str, release: Release) -> tuple[list[Command], list[str]]:
    """Return the commands that set a configuration, and notes on the changes made to it. Raise BadInput."""
    adopted = adopt(found)
    if adopted.errors:
        raise BadInput("\n".join(f"{file}: {error}" for error in adopted.errors))
    commands: list[Command] = [SetConfiguration(adopted.manifest if adopted.without is None else adopted.without)]
    notes = [f"{file}: read as v1 from {adopted.version} ({adopted.release})"] if adopted.version else []
    for change in adopted.changes:
        line = place[0] if change.path and (place := adopted.found.locate(change.path)) else None
        notes.append(f"{file}{f':{line}' if line else ''}: {'; '.join(filter(None, (change.text, change.effect)))}")
    notes += [
        f"{file}: the plugin {plugin.name} was left out: it is not part of kube-scheduler, and not here"
        for plugin in adopted.unknown
    ]
    if adopted.found.gates:
        commands.append(SetSettings(_read_gates(adopted.found.gates, file, release)))
    return commands, notes


def _read_gates(text: str, file: str, release: Release) -> dict[str, Any]:
    try:
        return dict(read_gates(text, release).settings)
    except GateError as error:
        raise BadInput(f"{file}: {error}") from None


def _unreadable(refused: SessionError, file: str) -> str:
    lines = [_line(error, file) for error in refused.errors]
    return "\n".join(lines) if lines else f"{file}: {refused}" if file else str(refused)


def _line(error: FieldProblem, file: str) -> str:
    """Return an error as file:line:column: object: text."""
    where = ":".join(str(part) for part in (error.file or file, error.line, error.column) if part)
    return ": ".join(part for part in (where, error.object, error.text) if part)


def pending_pods(world: Simulation) -> list[str]:
    """Return the pods that have no existing node and have not ended, ordered by key."""
    return [
        pod.key
        for pod in world.store.pods()
        if not pod.terminal
        and not pod.deleting
        and (not pod.node_name or world.store.get("Node", "", pod.node_name) is None)
    ]


def attempt_all(made: FileWorld, progress: Progress) -> tuple[list[str], RestResult]:
    """Run the world until each pending pod of a scheduler was attempted; if controllers act, until it is at rest.

    Return all pods that were pending, including those that controllers created meanwhile, and how the world came to rest.
    """
    world, pending = made.world, dict.fromkeys(made.pending)
    rest = RestResult(True)
    if made.snapshot:
        first = {key: None for key in pending if any(key in each.queue.active_pods for each in world.schedulers)}
        left, seen = dict(first), len(world.journal.attempts)
        for _ in range(max(LEAST_STEPS, STEPS_EACH * len(pending))):
            if not left or world.idle or not world.advance():
                break
            for attempt in world.journal.attempts[seen:]:
                left.pop(attempt.pod, None)
                progress.part(len(first) - len(left), len(first), "attempted")
            seen = len(world.journal.attempts)
    else:
        rest = settle(world, progress=progress.steps)
    return list(pending | dict.fromkeys(pending_pods(world))), rest
