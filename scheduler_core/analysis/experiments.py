"""Experiments: worlds under variants of the scheduler, each with several seeds; every run is a row of measures, the same on any machine."""

from __future__ import annotations

import copy
import hashlib
import heapq
import lzma
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any

import msgspec
import numpy as np

from scheduler_core import ENGINE_VERSION
from scheduler_core.analysis.whatif.node_types import (
    INSTANCE_TYPE,
    Listed,
    NodeType,
    make_nodes,
    read_types,
    types_of_nodes,
)
from scheduler_core.analysis.whatif.rest import find_next_success
from scheduler_core.apimachinery.objects.durations import parse_duration
from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apimachinery.objects.node import Node
from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.base.clock.agenda import MILLISECOND, SECOND, Stream
from scheduler_core.base.releases import NEWEST, read_release
from scheduler_core.formats.manifests import read
from scheduler_core.scheduler.config import ClusterSettings, WorldSettings, read_gates
from scheduler_core.world.commands import ApplyObjects, DeleteObjects, Ref, SetConfiguration, SetSettings
from scheduler_core.world.simulation import Simulation, in_creation_order

GPU = "nvidia.com/gpu"
Name = Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z0-9][-A-Za-z0-9._]{0,62}$")]
Count = Annotated[int, msgspec.Meta(ge=1, le=20_000)]


class Spread(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A distribution of durations with this mean: exponential, or always the same."""

    mean: str
    exponential: bool = True

    def draw(self, dice: Stream) -> int:
        """Return one duration, in whole milliseconds."""
        factor = -math.log(1 - dice.below(1 << 52) / (1 << 52)) if self.exponential else 1.0
        return round(parse_duration(self.mean) * factor / MILLISECOND) * MILLISECOND


class PodsOf(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Generated pods: each draws one of the requests of `cpu` and of `memory`."""

    count: Count
    cpu: tuple[str, ...]
    memory: tuple[str, ...] = ("0",)
    priority: int = 0
    namespace: Name = "default"


class World(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Objects of files, new nodes of types, and generated pods. `arrivals`: the time between two pods; without it all are there at once.

    `durations`: how long pods stay once they have a node. `shuffle`: the seed decides the order of the pods, too. `nodes_at_most` and
    `pods_at_most` take every n-th.
    """

    name: Name
    files: list[str] = []
    nodes: dict[str, Count] = {}
    pods: list[PodsOf] = []
    arrivals: Spread | None = None
    durations: Spread | None = None
    shuffle: bool = False
    nodes_at_most: Count | None = None
    pods_at_most: Count | None = None


class Variant(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A configuration of the scheduler. `weights` are set in the first profile; `nodes` are added, by type."""

    name: Name
    configuration: dict[str, Any] | None = None
    weights: dict[str, Annotated[int, msgspec.Meta(ge=1, le=100)]] = {}
    release: str = NEWEST
    gates: str = ""
    nodes: dict[str, Count] = {}


class Experiment(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename={"types": "nodeTypes"}):
    """Every world under every variant with every seed from 0 on."""

    worlds: Annotated[list[World], msgspec.Meta(min_length=1)]
    variants: Annotated[list[Variant], msgspec.Meta(min_length=1)]
    seeds: Annotated[int, msgspec.Meta(ge=1, le=1_000)] = 10
    types: list[Listed] = []


class Run(msgspec.Struct, frozen=True):
    """One run, as it travels to whoever makes it. `folder` is where the world's files are."""

    world: World
    variant: Variant
    seed: int
    types: list[Listed]
    folder: str = ""

    def digest(self) -> str:
        """Return the hash of all that decides about the result: the run itself, its files, and the engine."""
        files = [hashlib.sha256((Path(self.folder) / name).read_bytes()).hexdigest() for name in self.world.files]
        said = [ENGINE_VERSION, self.world, self.variant, self.seed, self.types, files]
        return hashlib.sha256(msgspec.json.encode(said, order="deterministic")).hexdigest()[:32]


def list_runs(experiment: Experiment, folder: str) -> list[Run]:
    """Return the runs in the order of their rows."""
    return [
        Run(world, variant, seed, experiment.types, folder)
        for world in experiment.worlds
        for variant in experiment.variants
        for seed in range(experiment.seeds)
    ]


def make_run(run: Run) -> dict[str, Any]:
    """Make one run; return its row."""
    made = make_start(run)
    full = _play(made, run.world, _list_pods(run, dice := Stream(run.seed)), dice)
    prices = {name: each.price for name, each in _types(run, made).items()}
    return {"world": run.world.name, "variant": run.variant.name, "seed": run.seed, **_measure(made, full, prices)}


def make_start(run: Run) -> Simulation:
    """Return the world of a run before its pods come: nodes and everything else, under the variant."""
    settings = WorldSettings(cluster=ClusterSettings(controllers=())).of_release(read_release(run.variant.release))
    sim = Simulation(run.seed, settings)
    if run.variant.gates:
        sim.apply(SetSettings(dict(read_gates(run.variant.gates, read_release(run.variant.release)).settings)))
    if run.variant.configuration is not None or run.variant.weights:
        sim.apply(SetConfiguration(_configure(run.variant)))
    objects = _read_objects(run.folder, tuple(run.world.files))
    nodes = [each for each in objects if each["kind"] == "Node"]
    rest = [each for each in objects if each["kind"] not in ("Node", "Pod")]
    sim.apply(ApplyObjects((*rest, *_thin(nodes, run.world.nodes_at_most))))
    types = _types(run, sim)
    for name, count in (*run.world.nodes.items(), *run.variant.nodes.items()):
        if name not in types:
            raise ValueError(f"{run.world.name}: received the node type {name}; expected one of {', '.join(types)}")
        sim.apply(ApplyObjects(make_nodes(sim.store, [(types[name], count)])))
    return sim


def _types(run: Run, sim: Simulation) -> dict[str, NodeType]:
    text = msgspec.json.encode({"nodeTypes": run.types}).decode()
    return {each.name: each for each in read_types(text, types_of_nodes(sim.store))[0]}


def _configure(variant: Variant) -> dict[str, Any]:
    made = copy.deepcopy(variant.configuration) or {}
    made = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration", **made}
    profile = made.setdefault("profiles", [{"schedulerName": "default-scheduler"}])[0]
    enabled = profile.setdefault("plugins", {}).setdefault("multiPoint", {}).setdefault("enabled", [])
    enabled += [{"name": name, "weight": weight} for name, weight in variant.weights.items()]
    return made


@lru_cache(maxsize=2)
def _read_objects(folder: str, files: tuple[str, ...]) -> tuple[Manifest, ...]:
    data = [(name, (Path(folder) / name).read_bytes()) for name in files]
    plain = [lzma.decompress(each) if name.endswith(".xz") else each for name, each in data]
    return tuple(each.manifest for text in plain for each in read(text).objects)


def _thin(objects: Sequence[Manifest], most: int | None) -> Sequence[Manifest]:
    return objects if most is None else objects[:: max(1, len(objects) // most)][:most]


def _list_pods(run: Run, dice: Stream) -> list[Manifest]:
    """Return the pods in the order of their arrival."""
    objects = in_creation_order(_read_objects(run.folder, tuple(run.world.files)))
    pods = list(_thin([each for each in objects if each["kind"] == "Pod"], run.world.pods_at_most))
    for number, group in enumerate(run.world.pods):
        for i in range(group.count):
            lists = {"cpu": group.cpu, "memory": group.memory}
            requests = {name: some[dice.below(len(some))] for name, some in lists.items()}
            container = {"name": "c", "image": "x", "resources": {"requests": requests}}
            meta = {"name": f"pod-{number}-{i}", "namespace": group.namespace}
            pods.append({"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": {"containers": [container]}})
    for i in range(len(pods) - 1, 0, -1) if run.world.shuffle else ():
        j = dice.below(i + 1)
        pods[i], pods[j] = pods[j], pods[i]
    return pods


def _play(sim: Simulation, world: World, pods: Sequence[Manifest], dice: Stream) -> Simulation:
    """Have the pods come and go, and run until the world is at rest; where pods go, return it as it was when the last had come.

    A pod's times do not depend on what the scheduler does, so that variants have the same.
    """
    stays = {_key(pod): world.durations.draw(dice) for pod in pods} if world.durations else {}
    ends: list[tuple[int, str]] = []
    if world.arrivals is None:
        sim.apply(ApplyObjects(tuple(pods)))
    else:
        for pod in pods:
            _run_until(sim, sim.now + world.arrivals.draw(dice), stays, ends)
            sim.apply(ApplyObjects((pod,)))
    _run_until(sim, sim.now + SECOND, stays, ends)
    full = sim.fork() if stays else sim
    while not sim.idle or ends or find_next_success(sim) is not None:
        _run_until(sim, ends[0][0] if ends and sim.idle else sim.now + SECOND, stays, ends)
    return full


def _key(pod: Manifest) -> str:
    return f"{pod['metadata'].get('namespace') or 'default'}/{pod['metadata']['name']}"


def _run_until(sim: Simulation, time: int, stays: Mapping[str, int], ends: list[tuple[int, str]]) -> None:
    """Run up to a time, at which the clock stands afterwards; pods that got a node end after their time."""
    while True:
        limit = min(time, ends[0][0]) if ends else time
        while sim.due(limit):
            sim.advance()
            for event in sim.changes if stays else ():
                pod = event.new_pod
                if pod and pod.node_name and pod.key in stays and event.old_pod and not event.old_pod.node_name:
                    heapq.heappush(ends, (sim.now + stays[pod.key], pod.key))
                    limit = min(limit, ends[0][0])
        sim.agenda.now = max(sim.now, limit)
        if not ends or ends[0][0] > time:
            return
        namespace, _, name = heapq.heappop(ends)[1].partition("/")
        if sim.store.get("Pod", namespace, name) is not None:
            sim.apply(DeleteObjects((Ref("Pod", namespace, name),), grace_period_seconds=0))


def _measure(sim: Simulation, full: Simulation, prices: Mapping[str, float | None]) -> dict[str, Any]:
    """Return the measures of a run, those of nodes where it is `full`; docs/experiments.md says what each is."""
    attempts, nodes = sim.journal.attempts, {node.name: node for node in full.store.nodes()}
    came = {move.pod: move.t for move in reversed(sim.journal.moves)}
    bound = {each.pod: each.ended for each in attempts if each.outcome == "scheduled"}
    waits = [(end - came[pod]) / SECOND for pod, end in bound.items()] or [0.0]
    there = [pod for pod in full.store.pods() if pod.node_name in nodes and not pod.terminal]
    used = dict.fromkeys(pod.node_name for pod in there)
    victims = [len(each.victims) for each in attempts if each.victims]
    p50, p90, p99 = (float(each) for each in np.percentile(waits, (50, 90, 99), method="higher"))
    row = {
        "placed": len(bound),
        "pending": len(came) - len(bound),
        "wait_p50_s": p50,
        "wait_p90_s": p90,
        "wait_p99_s": p99,
        "nodes_used": len(used),
        "cost_per_hour": math.fsum(_price(nodes[name], prices) for name in used),
        "cpu_used": _use(nodes, there, "cpu"),
        "memory_used": _use(nodes, there, "memory"),
        "gpu_used": _use(nodes, there, GPU),
        "fragmentation": _fragmentation(full, nodes, there),
        "preemptions": len(victims),
        "evictions": sum(victims),
        "fairness": _fairness(came, bound),
        "virtual_s": max((each.ended for each in attempts), default=0) / SECOND,
    }
    return {name: round(value, 6) for name, value in row.items()}


def _price(node: Node, prices: Mapping[str, float | None]) -> float:
    return prices.get(node.name) or prices.get(node.labels.get(INSTANCE_TYPE, "")) or 0.0


def _use(nodes: Mapping[str, Node], there: Sequence[Pod], resource: str) -> float:
    """Return the part of all nodes' allocatable that is requested."""
    has = sum(node.allocatable.get(resource) for node in nodes.values())
    return sum(pod.requests.get(resource) for pod in there) / (has or 1)


def _fragmentation(sim: Simulation, nodes: Mapping[str, Node], there: Sequence[Pod]) -> float:
    """Return the part of the free cpu that is on nodes with less than a mean pod requests."""
    free = {name: node.allocatable.milli_cpu for name, node in nodes.items()}
    for pod in there:
        free[pod.node_name] -= pod.requests.milli_cpu
    mean = sum(pod.requests.milli_cpu for pod in sim.store.pods()) / (sim.store.count("Pod") or 1)
    return sum(amount for amount in free.values() if amount < mean) / (sum(free.values()) or 1)


def _fairness(came: Mapping[str, int], bound: Mapping[str, int]) -> float:
    """Return Jain's index over the share of each namespace's pods that got a place: 1 where all shares are equal."""
    asked, got = (Counter(pod.partition("/")[0] for pod in sorted(pods)) for pods in (came, bound))
    shares = [got[name] / count for name, count in asked.items()]
    return math.fsum(shares) ** 2 / (len(shares) * math.fsum(x * x for x in shares)) if any(shares) else 1.0
