"""Gangs in three ways on one input: without groups, with Coscheduling, and as PodGroups of kube 1.37.

The input has PodGroups and pods that join them. For the other two ways the groups are taken away; for Coscheduling the pods get its label,
and the number of members that it waits for.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.base.clock.agenda import SECOND
from scheduler_core.base.releases import NEWEST
from scheduler_core.base.trace.journal import Place
from scheduler_core.scheduler.plugins.outoftree.coscheduling import LABEL, MIN_MEMBER
from scheduler_core.world.commands import ApplyObjects, Command, SetConfiguration, SetSettings
from scheduler_core.world.simulation import Simulation

Way = Literal["none", "coscheduling", "groups"]
WAYS: tuple[Way, ...] = get_args(Way)
END = 60 * SECOND  # a comparison ends here, as Coscheduling tries again without end
STEPS = 5_000
_HOLDS = (Place.WAITING, Place.BINDING, Place.BOUND, Place.RUNNING)
_ON = (Place.BOUND, Place.RUNNING)
_CONFIGURATION = {
    "apiVersion": "kubescheduler.config.k8s.io/v1",
    "kind": "KubeSchedulerConfiguration",
    "profiles": [
        {
            "schedulerName": "default-scheduler",
            "plugins": {"multiPoint": {"enabled": [{"name": "Coscheduling"}]}},
            "pluginConfig": [{"name": "Coscheduling", "args": {"permitWaitingTimeSeconds": 20}}],
        }
    ],
}


@dataclass(frozen=True, slots=True)
class Gang:
    """The outcome for a gang: its pods with a node at the end, and what it needs. Times in ns.

    `whole`: when it had enough, None: never. `held`: how long its pods held nodes before that, summed over pods.
    `message`: of the first pod without a node.
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


def begin_way(objects: Sequence[Manifest], way: Way) -> tuple[Command, ...]:
    """Return the commands that make the world of the input in one way."""
    settings = SetSettings({"release": NEWEST, "generic_workload": way == "groups"})
    if way == "groups":
        return settings, ApplyObjects(tuple(objects))
    least = {each["metadata"]["name"]: least_of(each) for each in objects if each["kind"] == "PodGroup"}
    plain = tuple(_leave_group(each, least, way) for each in objects if each["kind"] != "PodGroup")
    configured = (SetConfiguration(_CONFIGURATION),) if way == "coscheduling" else ()
    return settings, *configured, ApplyObjects(plain)


def least_of(group: Manifest) -> int:
    """Return the number of pods that a PodGroup needs at once."""
    return int((group["spec"]["schedulingPolicy"].get("gang") or {}).get("minCount") or 1)


def name_group(pod: Manifest) -> str:
    """Return the name of the PodGroup that a pod's manifest joins; "" for none."""
    return str((pod["spec"].get("schedulingGroup") or {}).get("podGroupName") or "")


def _leave_group(manifest: Manifest, least: dict[str, int], way: Way) -> Manifest:
    name = name_group(manifest) if manifest["kind"] == "Pod" else ""
    if not name:
        return manifest
    spec = {key: value for key, value in manifest["spec"].items() if key != "schedulingGroup"}
    metadata: dict[str, Any] = dict(manifest["metadata"])
    if way == "coscheduling":
        metadata["labels"] = {**metadata.get("labels", {}), LABEL: name}
        metadata["annotations"] = {**metadata.get("annotations", {}), MIN_MEMBER: str(least.get(name, 1))}
    return {**manifest, "metadata": metadata, "spec": spec}


def compare_gangs(objects: Sequence[Manifest]) -> Iterator[Outcome]:
    """Run the input in each way, and yield what became of its gangs."""
    for way in WAYS:
        world = Simulation()
        for command in begin_way(objects, way):
            world.apply(command)
        world.run(until=lambda sim: sim.now > END, steps=STEPS)
        yield _describe(world, objects, way)


def _describe(world: Simulation, objects: Sequence[Manifest], way: Way) -> Outcome:
    pods = {each["metadata"]["name"]: name_group(each) for each in objects if each["kind"] == "Pod"}
    there = {pod.name: pod for pod in world.store.pods()}
    gangs = []
    for group in (each for each in objects if each["kind"] == "PodGroup"):
        name, least = group["metadata"]["name"], least_of(group)
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
    """Return when enough members were bound, and for how long members held nodes before that."""
    on: set[str] = set()
    since: dict[str, int] = {}
    held = 0
    for move in world.journal.moves:
        name = move.pod.partition("/")[2]
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
