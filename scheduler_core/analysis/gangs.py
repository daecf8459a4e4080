"""Gangs in three ways on one input: without groups, with Coscheduling, and as PodGroups of kube 1.37.

The input has PodGroups and pods that join them. The other two ways have no groups; for Coscheduling, the pods get its label and the
number of members to wait for. A world's own gangs, of either kind, are first converted into this form.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from scheduler_core.analysis.whatif import Steps
from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.base.clock.agenda import SECOND
from scheduler_core.base.releases import NEWEST
from scheduler_core.base.trace.journal import Place
from scheduler_core.formats.export import for_kubectl, objects_of
from scheduler_core.scheduler.plugins.outoftree.coscheduling import LABEL, MIN_MEMBER, NAME
from scheduler_core.world.commands import DEFAULT_SCHEDULER_NAME, ApplyObjects, Command, SetConfiguration, SetSettings
from scheduler_core.world.simulation import Simulation

Way = Literal["none", "coscheduling", "groups"]
WAYS: tuple[Way, ...] = get_args(Way)
END = 60 * SECOND  # a comparison ends here, because Coscheduling retries forever
STEPS = 20_000
EACH = 50  # steps between two pauses
_HOLDS = (Place.WAITING, Place.BINDING, Place.BOUND, Place.RUNNING)
_ON = (Place.BOUND, Place.RUNNING)
_PLAIN: Manifest = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
_PLUGINS = (NAME, "CoschedulingSort")
_ARGUMENTS = {"name": NAME, "args": {"permitWaitingTimeSeconds": 20}}
# Kinds that create pods: a comparison has only the existing pods.
_OWNERS = ("CronJob", "DaemonSet", "Deployment", "Job", "ReplicaSet", "ReplicationController", "StatefulSet")


@dataclass(frozen=True, slots=True)
class Gang:
    """The outcome for a gang: its pods with a node at the end, and the number it needs. Times in ns.

    `whole`: the time at which enough members had nodes, or None. `held`: the time for which its pods held nodes before, summed over pods.
    `message`: the message of the first pod without a node.
    """

    name: str
    size: int
    least: int
    placed: int
    whole: int | None
    held: int
    message: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of one way. `others`: single pods, and whether each has a node. `gone`: evicted pods. `attempts`: of all pods."""

    way: Way
    gangs: tuple[Gang, ...]
    others: tuple[tuple[str, bool], ...]
    gone: tuple[str, ...]
    attempts: int


@dataclass(frozen=True, slots=True)
class Input:
    """Objects with PodGroups and pods that join them, and the configurations of schedulers by name."""

    objects: tuple[Manifest, ...]
    configurations: Mapping[str, Manifest] = field(default_factory=lambda: {DEFAULT_SCHEDULER_NAME: _PLAIN})


def read_input(world: Simulation) -> Input:
    """Return a world's objects as an input: gangs are PodGroups, and their pods have no node yet. Objects that create pods are omitted."""
    found = [for_kubectl(each) for each in objects_of(world.store) if each["kind"] not in _OWNERS]
    members: dict[tuple[str, str], list[Manifest]] = {}
    for each in found:
        if each["kind"] == "Pod" and (name := _labeled(each)) and not name_group(each):
            members.setdefault((each["metadata"]["namespace"], name), []).append(each)
    objects = (*(_form_group(*key, pods) for key, pods in members.items()), *found)
    configurations = {each.name: each.configuration.given or _PLAIN for each in world.schedulers}
    return Input(tuple(filter(None, map(_begin_anew, objects))), configurations)


def _labeled(pod: Manifest) -> str:
    return str((pod["metadata"].get("labels") or {}).get(LABEL) or "")


def _form_group(namespace: str, name: str, pods: Sequence[Manifest]) -> Manifest:
    """Return a PodGroup for pods that Coscheduling treats as a group. Its quorum is the largest that a pod requests."""
    asked = [str((each["metadata"].get("annotations") or {}).get(MIN_MEMBER)) for each in pods]
    least = max((int(text) for text in asked if text.isdecimal()), default=1)
    spec = {name: value for name, value in pods[0]["spec"].items() if name == "priorityClassName"}
    spec["schedulingPolicy"] = {"gang": {"minCount": least}}
    metadata = {"name": name, "namespace": namespace}
    return {"apiVersion": "scheduling.k8s.io/v1beta1", "kind": "PodGroup", "metadata": metadata, "spec": spec}


def _begin_anew(manifest: Manifest) -> Manifest | None:
    """Return an object as before any attempt: pods of gangs have no node, others keep theirs. Return None for ended pods."""
    if manifest["kind"] not in ("Pod", "PodGroup"):
        return manifest
    made = {name: value for name, value in manifest.items() if name != "status"}
    if manifest["kind"] == "PodGroup":
        return made
    status, spec, name = manifest.get("status") or {}, dict(manifest["spec"]), _labeled(manifest)
    if status.get("phase") in ("Succeeded", "Failed"):
        return None
    if name and not name_group(manifest):
        spec["schedulingGroup"] = {"podGroupName": name}
    labels = {label: value for label, value in (manifest["metadata"].get("labels") or {}).items() if label != LABEL}
    made |= {"metadata": {**manifest["metadata"], "labels": labels}, "spec": spec}
    if name_group(made):
        spec.pop("nodeName", None)
    return made | ({"status": status} if spec.get("nodeName") else {})


def begin_way(given: Input, way: Way) -> tuple[Command, ...]:
    """Return the commands that create the input's world in one way."""
    settings = SetSettings({"release": NEWEST, "generic_workload": way == "groups"})
    configured = tuple(
        SetConfiguration(made, name)
        for name, manifest in given.configurations.items()
        if (made := _configure(manifest, way)) != _PLAIN
    )
    if way == "groups":
        return settings, *configured, ApplyObjects(given.objects)
    least = {name_object(each): least_of(each) for each in given.objects if each["kind"] == "PodGroup"}
    plain = tuple(_leave_group(each, least, way) for each in given.objects if each["kind"] != "PodGroup")
    return settings, *configured, ApplyObjects(plain)


def _configure(manifest: Manifest, way: Way) -> Manifest:
    """Return a configuration with Coscheduling, unchanged if it has the plugin, or without Coscheduling."""
    profiles: list[dict[str, Any]] = list(manifest.get("profiles") or [{}])
    if (NAME in str(profiles)) == (way == "coscheduling"):
        return manifest
    if way != "coscheduling":
        return {**manifest, "profiles": _drop_plugins(profiles)}
    made = []
    for profile in profiles:
        points = profile.get("plugins") or {}
        enabled = [*((points.get("multiPoint") or {}).get("enabled") or ()), {"name": NAME}]
        plugins = {**points, "multiPoint": {**(points.get("multiPoint") or {}), "enabled": enabled}}
        made.append({**profile, "plugins": plugins, "pluginConfig": [*(profile.get("pluginConfig") or ()), _ARGUMENTS]})
    return {**manifest, "profiles": made}


def _drop_plugins(value: Any) -> Any:
    """Return a part of a configuration without Coscheduling. If Coscheduling sorts the queue, the default queue sort replaces it."""
    if isinstance(value, Mapping):
        return {k: _drop_plugins(v) for k, v in value.items() if not (k == "queueSort" and NAME in str(v))}
    if not isinstance(value, list | tuple):
        return value
    return [_drop_plugins(each) for each in value if not (isinstance(each, Mapping) and each.get("name") in _PLUGINS)]


def name_object(manifest: Manifest, name: str = "") -> str:
    """Return the name of an object, or of another one in its namespace. The namespace "default" is omitted."""
    metadata = manifest["metadata"]
    return f"{metadata.get('namespace') or 'default'}/{name or metadata['name']}".removeprefix("default/")


def least_of(group: Manifest) -> int:
    """Return the number of pods that a PodGroup needs at once."""
    return int((group["spec"]["schedulingPolicy"].get("gang") or {}).get("minCount") or 1)


def name_group(pod: Manifest) -> str:
    """Return the name of the PodGroup that a pod's manifest joins, or ""."""
    return str((pod["spec"].get("schedulingGroup") or {}).get("podGroupName") or "")


def _leave_group(manifest: Manifest, least: dict[str, int], way: Way) -> Manifest:
    name = name_group(manifest) if manifest["kind"] == "Pod" else ""
    if not name:
        return manifest
    spec = {key: value for key, value in manifest["spec"].items() if key != "schedulingGroup"}
    metadata: dict[str, Any] = dict(manifest["metadata"])
    if way == "coscheduling":
        metadata["labels"] = {**metadata.get("labels", {}), LABEL: name}
        least_members = str(least.get(name_object(manifest, name), 1))
        metadata["annotations"] = {**metadata.get("annotations", {}), MIN_MEMBER: least_members}
    return {**manifest, "metadata": metadata, "spec": spec}


def compare_gangs(given: Input) -> Steps[tuple[Outcome, ...]]:
    """Run the input in each way, with pauses, and return the outcomes of its gangs. Raise Refused if a world cannot be created."""
    found = []
    for way in WAYS:
        world = Simulation()
        for command in begin_way(given, way):
            world.apply(command)
        yield
        for _ in range(STEPS // EACH):
            if world.run(until=lambda sim: sim.now > END, steps=EACH).reason != "budget":
                break
            yield
        found.append(_describe(world, given.objects, way))
    return tuple(found)


def _describe(world: Simulation, objects: Sequence[Manifest], way: Way) -> Outcome:
    pods = {
        name_object(each): (joined := name_group(each)) and name_object(each, joined)
        for each in objects
        if each["kind"] == "Pod"
    }
    there = {name_object(pod.manifest): pod for pod in world.store.pods()}
    gangs = []
    for group in (each for each in objects if each["kind"] == "PodGroup"):
        name, least = name_object(group), least_of(group)
        members = [pod for pod, of in pods.items() if of == name]
        whole, held = _measure(world, members, least)
        waits = [there[each] for each in members if each in there and not there[each].node_name]
        message = next((str((each.condition("PodScheduled") or {}).get("message") or "") for each in waits), "")
        placed = sum(each in there and bool(there[each].node_name) for each in members)
        gangs.append(Gang(name, len(members), least, placed, whole, held, message))
    others = tuple((pod, bool(there[pod].node_name)) for pod, of in pods.items() if not of and pod in there)
    gone = tuple(pod for pod in pods if pod not in there)
    return Outcome(way, tuple(gangs), others, gone, len(world.journal.attempts))


def _measure(world: Simulation, members: Sequence[str], least: int) -> tuple[int | None, int]:
    """Return the time at which enough members were bound, and how long members held nodes before that."""
    on: set[str] = set()
    since: dict[str, int] = {}
    held = 0
    for move in world.journal.moves:
        name = move.pod.removeprefix("default/")
        if name not in members:
            continue
        if move.place in _HOLDS:
            since.setdefault(name, move.t)
        elif name in since:
            held += move.t - since.pop(name)
        on = on | {name} if move.place in _ON else on - {name}
        if len(on) >= least:
            return move.t, held + sum(move.t - start for start in since.values())
    return None, held + sum(max(world.now, END) - start for start in since.values())
