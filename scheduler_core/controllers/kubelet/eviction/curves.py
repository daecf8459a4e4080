"""A node's usage against its thresholds over time, for those who show it: nothing is changed."""

from __future__ import annotations

from dataclasses import dataclass

from scheduler_core.config.kubelet.thresholds import with_container_disk
from scheduler_core.controllers.contract import World
from scheduler_core.controllers.inputs.usage import book_of
from scheduler_core.controllers.kubelet import heartbeats, pods
from scheduler_core.controllers.kubelet.eviction.observations import observe
from scheduler_core.controllers.kubelet.eviction.ranking import RESOURCES
from scheduler_core.controllers.memory.eviction import Eviction
from scheduler_core.objects.node import Node

MOST_POINTS = 500


@dataclass(frozen=True, slots=True)
class Mark:
    """A threshold: what must be left (bytes, inodes, pids), and for how long it may not be (ns; 0: hard). `least`: what is freed beyond."""

    left: int
    grace: int
    least: int


@dataclass(frozen=True, slots=True)
class Curve:
    """What a signal measures: of `capacity`, how much is left from each time (ns) on, and its thresholds."""

    signal: str
    resource: str
    capacity: int
    points: tuple[tuple[int, int], ...]
    marks: tuple[Mark, ...]


def curves(world: World, node: Node, first: int, last: int) -> tuple[Curve, ...]:
    """The signals of a node that have a threshold, from a time to another (ns), with the pods that are on it now; some 500 points each."""
    configuration = world.cluster.kubelet_of(node.name)
    times = _times(world, node, first, last)
    seen = [(at, observe(world, node, configuration, at)) for at in times]
    thresholds = with_container_disk(configuration.thresholds, seen[0][1].image_disk, False)
    found = []
    for signal in dict.fromkeys(threshold.signal for threshold in thresholds):
        capacity = seen[-1][1].signals[signal].capacity
        marks = tuple(
            Mark(t.amount.of(capacity), t.grace, t.least.of(capacity) if t.least is not None else 0)
            for t in thresholds
            if t.signal == signal
        )
        points = tuple((at, observed.signals[signal].available) for at, observed in seen)
        found.append(Curve(signal, RESOURCES[signal], capacity, points, marks))
    return tuple(found)


def evictions(world: World, node: str) -> tuple[Eviction, ...]:
    """Why and in which ranking the last evictions of a node chose their pods, the oldest first."""
    return world.surroundings.kubelet.evictions.get(node, ())


def next_housekeeping(world: World, node: str) -> int | None:
    """When (ns) the node's kubelet looks next, as far as something can be otherwise then; None: it is not planned."""
    return world.surroundings.queues["eviction-manager"].due.get(node) if _runs(world, node) else None


def _runs(world: World, node: str) -> bool:
    return heartbeats.runs(world, node) and "eviction-manager" in world.surroundings.queues


def _times(world: World, node: Node, first: int, last: int) -> list[int]:
    book = book_of(world.surroundings.inputs.usage)
    subjects = [book.of_node(node.name), *(book.of_pod(pod) for pod in pods.active(world, node.name))]
    changes = {at for curve in subjects for at in curve.times if first < at < last}
    times = sorted({first, *changes, last, *({world.now} if first <= world.now <= last else ())})
    step = -(-len(times) // MOST_POINTS)
    return times[::step] if step > 1 else times
