"""Runs of an experiment: commands play a world under a variant with a seed, and the result is measured."""

import copy
import heapq
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from scheduler_core.analysis.experiments.plan import Run, Spread, Variant
from scheduler_core.analysis.experiments.timed import Source, TimedPod, make_pod, read_class, read_source
from scheduler_core.analysis.fixes.effects import key_of
from scheduler_core.analysis.whatif.node_types import INSTANCE_TYPE, NodeType, make_nodes, read_types, types_of_nodes
from scheduler_core.analysis.whatif.rest import find_next_success
from scheduler_core.apimachinery.objects import Manifest, Node, Pod
from scheduler_core.base.clock.agenda import SECOND, Stream
from scheduler_core.base.releases import read_release
from scheduler_core.scheduler.config import read_gates
from scheduler_core.world.commands import ApplyObjects, Command, DeleteObjects, Ref, SetConfiguration, SetSettings
from scheduler_core.world.simulation import Simulation

GPU = "nvidia.com/gpu"
DECIDED = ("pod", "outcome", "node", "nominated", "victims")  # of an attempt


class Recording(msgspec.Struct, frozen=True):
    """A run in the form of a session's log: the commands by position, and the decisions with the positions at which they were made."""

    seed: int
    head: int
    commands: list[tuple[int, dict[str, Any]]]
    attempts: list[tuple[int, list[Any]]]


def make_run(run: Run) -> dict[str, Any]:
    """Run one run. Return its row."""
    player = Player(run)
    full = player.play()
    prices = {name: each.price for name, each in player.types.items()}
    return {
        "world": run.world.name,
        "variant": run.variant.name,
        "release": player.sim.settings.release,
        "seed": run.seed,
        **_measure(player.sim, full, prices),
    }


def record_run(run: Run) -> Recording:
    """Run one run. Return its log and decisions."""
    player = Player(run)
    player.play()
    attempts = [(each.last_position, [getattr(each, name) for name in DECIDED]) for each in player.sim.journal.attempts]
    log = [(at, msgspec.to_builtins(command)) for at, command in player.log]
    return Recording(run.seed, player.sim.position, log, attempts)


def find_parting(first: Recording, other: Recording) -> int | None:
    """Return the index of the first attempt whose decision differs or that only one run has. Return None if all are equal."""
    both = zip(first.attempts, other.attempts, strict=False)
    found = next((i for i, (mine, yours) in enumerate(both) if mine[1] != yours[1]), None)
    shorter = min(len(first.attempts), len(other.attempts))
    return shorter if found is None and len(first.attempts) != len(other.attempts) else found


class Player:
    """A player of a run. It uses only commands, so that the log reproduces the world."""

    def __init__(self, run: Run) -> None:
        """Create the nodes and all other objects except the pods, under the variant."""
        self.run, self.world = run, run.world
        self.sim, self.dice = Simulation(run.seed), Stream(run.seed)
        self.log: list[tuple[int, Command]] = []
        self.stays: dict[str, int] = {}
        self.ends: list[tuple[int, str]] = []
        self.clock = 0
        self.sources = [_read_file(run.folder, name) for name in run.world.files]
        release = read_release(run.variant.release)
        self.apply(SetSettings({"release": run.variant.release, "cluster": {"controllers": []}}))
        if run.variant.gates:
            self.apply(SetSettings(dict(read_gates(run.variant.gates, release).settings)))
        if run.variant.configuration is not None or run.variant.weights:
            self.apply(SetConfiguration(_configure(run.variant)))
        others = [each for source in self.sources for each in source.others]
        nodes = [each for each in others if each["kind"] == "Node"]
        rest = [each for each in others if each["kind"] != "Node"]
        made = list(self._list_missing(rest))
        self.apply(ApplyObjects((*rest, *made, *_thin(nodes, self.world.nodes_at_most))))
        text = msgspec.json.encode({"nodeTypes": run.types}).decode()
        self.types: dict[str, NodeType] = {
            each.name: each for each in read_types(text, types_of_nodes(self.sim.store))[0]
        }
        for name, count in (*self.world.nodes.items(), *run.variant.nodes.items()):
            if name not in self.types:
                known = ", ".join(self.types) or "nodeTypes, which is empty"
                raise ValueError(f"{self.world.name}: received the node type {name}; expected one of {known}")
            self.apply(ApplyObjects(make_nodes(self.sim.store, [(self.types[name], count)])))

    def apply(self, command: Command) -> None:
        """Apply a command, and log it with its position."""
        self.log.append((self.sim.position, command))
        self.sim.apply(command)

    def play(self) -> Simulation:
        """Create and end the pods, and run until the world is at rest. If pods end, return the world after the last arrival.

        A pod's times do not depend on the scheduler's decisions, so all variants have the same times.
        """
        pods = self._list_pods()
        self.stays = dict(self._draw_stays(pods))
        if self.world.arrivals is None:
            self.apply(ApplyObjects(tuple(each.pod for each in pods)))
        else:
            came = 0
            for each in pods:
                came = self._find_arrival(each, came)
                self._run_until(came)
                self.apply(ApplyObjects((each.pod,), time=came))
        self._run_until(self.clock + SECOND)
        full = self.sim.fork() if self.stays else self.sim
        while not self.sim.idle or self.ends or find_next_success(self.sim) is not None:
            self._run_until(self.ends[0][0] if self.ends and self.sim.idle else self.clock + SECOND)
        return full

    def _list_missing(self, rest: Sequence[Manifest]) -> Iterator[Manifest]:
        """Yield the namespaces and priority classes that pods name and the files lack."""
        pods = [each.pod for source in self.sources for each in source.pods]
        pods += [make_pod("x", group.namespace, {}, group.priority) for group in self.world.pods]
        there = {(each["kind"], each["metadata"]["name"]) for each in rest}
        for name in sorted({pod["metadata"].get("namespace") or "default" for pod in pods}):
            if ("Namespace", name) not in there and self.sim.store.get("Namespace", "", name) is None:
                yield {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
        for name in sorted({pod["spec"].get("priorityClassName") or "" for pod in pods}):
            if (value := read_class(name)) is not None and ("PriorityClass", name) not in there:
                meta = {"name": name}
                yield {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": meta, "value": value}

    def _list_pods(self) -> list[TimedPod]:
        """Return the pods in the order of their arrival."""
        found = [each for source in self.sources for each in source.pods]
        if self.world.again:
            found = list(_take_off_nodes(found))
        pods = list(_thin(found, self.world.pods_at_most))
        for number, group in enumerate(self.world.pods):
            for i in range(group.count):
                lists = {"cpu": group.cpu, "memory": group.memory, **group.requests}
                requests = {name: some[self.dice.below(len(some))] for name, some in lists.items()}
                pods.append(TimedPod(make_pod(f"pod-{number}-{i}", group.namespace, requests, group.priority)))
        for i in range(len(pods) - 1, 0, -1) if self.world.shuffle else ():
            j = self.dice.below(i + 1)
            pods[i], pods[j] = pods[j], pods[i]
        return pods

    def _draw_stays(self, pods: Sequence[TimedPod]) -> Iterator[tuple[str, int]]:
        durations = self.world.durations
        for each in pods if durations else ():
            stay = durations.draw(self.dice) if isinstance(durations, Spread) else each.stay
            if stay is not None:
                scale = 1.0 if isinstance(durations, Spread) else self.world.speed
                yield key_of(each.pod), round(stay / scale)

    def _find_arrival(self, each: TimedPod, before: int) -> int:
        if isinstance(self.world.arrivals, Spread):
            return before + self.world.arrivals.draw(self.dice)
        if each.arrival is None:
            raise ValueError(
                f"{self.world.name}: no arrival is recorded for {key_of(each.pod)}; expected one for each pod"
            )
        return max(before, round(each.arrival / self.world.speed))

    def _run_until(self, time: int) -> None:
        """Run up to a time. A scheduled pod ends after its duration."""
        sim, ends = self.sim, self.ends
        while True:
            limit = min(time, ends[0][0]) if ends else time
            while sim.due(limit):
                sim.advance()
                for event in sim.changes if self.stays else ():
                    pod = event.new_pod
                    if (
                        pod
                        and pod.node_name
                        and pod.key in self.stays
                        and event.old_pod
                        and not event.old_pod.node_name
                    ):
                        heapq.heappush(ends, (sim.now + self.stays[pod.key], pod.key))
                        limit = min(limit, ends[0][0])
            self.clock = max(self.clock, sim.now, limit)  # the run's clock; a world's clock shows the last event
            if not ends or ends[0][0] > time:
                return
            end, key = heapq.heappop(ends)
            namespace, _, name = key.partition("/")
            if sim.store.get("Pod", namespace, name) is not None:
                self.apply(DeleteObjects((Ref("Pod", namespace, name),), grace_period_seconds=0, time=end))


def _configure(variant: Variant) -> dict[str, Any]:
    made = copy.deepcopy(variant.configuration) or {}
    made = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration", **made}
    profile = made.setdefault("profiles", [{"schedulerName": "default-scheduler"}])[0]
    enabled = profile.setdefault("plugins", {}).setdefault("multiPoint", {}).setdefault("enabled", [])
    enabled[:] = [each for each in enabled if each.get("name") not in variant.weights]
    enabled += [{"name": name, "weight": weight} for name, weight in variant.weights.items()]
    return made


@lru_cache(maxsize=4)
def _read_file(folder: str, name: str) -> Source:
    return read_source(name, (Path(folder) / name).read_bytes())


def _thin(found: Sequence[Any], most: int | None) -> Sequence[Any]:
    return found if most is None else found[:: max(1, len(found) // most)][:most]


def _take_off_nodes(found: Sequence[TimedPod]) -> Iterator[TimedPod]:
    """Yield pods in their state before they were scheduled, without finished ones. Static pods keep their nodes."""
    for each in found:
        pod, phase = each.pod, (each.pod.get("status") or {}).get("phase")
        if phase in ("Succeeded", "Failed"):
            continue
        if any(owner.get("kind") == "Node" for owner in pod["metadata"].get("ownerReferences") or ()):
            yield each
            continue
        spec = {name: value for name, value in pod["spec"].items() if name != "nodeName"}
        yield TimedPod(
            {**{name: value for name, value in pod.items() if name != "status"}, "spec": spec}, each.arrival, each.stay
        )


def _measure(sim: Simulation, full: Simulation, prices: Mapping[str, float | None]) -> dict[str, Any]:
    """Return the measures of a run, those of nodes from the world `full`. docs/experiments.md describes each."""
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
        "cost_per_hour": math.fsum(
            prices.get(name) or prices.get(nodes[name].labels.get(INSTANCE_TYPE, "")) or 0.0 for name in used
        ),
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


def _use(nodes: Mapping[str, Node], there: Sequence[Pod], resource: str) -> float:
    """Return the requested share of all nodes' allocatable."""
    has = sum(node.allocatable.get(resource) for node in nodes.values())
    return sum(pod.requests.get(resource) for pod in there) / (has or 1)


def _fragmentation(sim: Simulation, nodes: Mapping[str, Node], there: Sequence[Pod]) -> float:
    """Return the share of the free cpu that is on nodes with less free cpu than a mean pod requests."""
    free = {name: node.allocatable.milli_cpu for name, node in nodes.items()}
    for pod in there:
        free[pod.node_name] -= pod.requests.milli_cpu
    mean = sum(pod.requests.milli_cpu for pod in sim.store.pods()) / (sim.store.count("Pod") or 1)
    return sum(amount for amount in free.values() if amount < mean) / (sum(free.values()) or 1)


def _fairness(came: Mapping[str, int], bound: Mapping[str, int]) -> float:
    """Return Jain's index over the share of each namespace's pods that were scheduled: 1 if all shares are equal."""
    asked, got = (Counter(pod.partition("/")[0] for pod in sorted(pods)) for pods in (came, bound))
    shares = [got[name] / count for name, count in asked.items()]
    return math.fsum(shares) ** 2 / (len(shares) * math.fsum(x * x for x in shares)) if any(shares) else 1.0
