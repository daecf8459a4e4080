"""What a comparison asks of one session's engine, inside a worker: an outline of its history, and its attempts in detail.

No request takes long: outlines read the journal, digests are computed for as many attempts as half a second allows.
"""

from __future__ import annotations

import time
from collections.abc import Generator
from typing import Any

import numpy as np

from playground.sessions.protocol.errors import SessionError
from playground.sessions.worker.answers.objects import configuration
from playground.sessions.worker.engine import Engine
from playground.sessions.worker.world import Simulation, digest

MOST_ATTEMPTS = 20_000
MOST_PODS = 20_000
MOST_RESOURCES = 8
POINTS = 240
PATIENCE = 0.5
NODES = 12

Result = dict[str, Any]
Steps = Generator[None, None, Any]


def outline(engine: Engine, head: int, since: int) -> Steps:
    """The history up to a head: attempts that ended after `since`, where each pod is, sums, and the configuration."""
    world = (yield from engine.at(head)).fork()  # the head may move on between two slices
    yield
    journal = world.journal
    first = next((i for i, one in enumerate(journal.attempts) if one.last_position > since), None)
    first = len(journal.attempts) if first is None else first
    pods = {}
    for key in list(journal.last_move)[:MOST_PODS]:
        pods[key] = _pod(world, key)
        if engine.slice.over():
            yield
    return {
        "head": head,
        "now": world.now,
        "idle": bool(world.idle),
        "first": first,
        "attempts": [_attempt(one) for one in journal.attempts[first : first + MOST_ATTEMPTS]],
        "pods": pods,
        "cut": len(journal.last_move) > MOST_PODS or len(journal.attempts) - first > MOST_ATTEMPTS,
        "nodes": world.store.count("Node"),
        "tried": len(journal.attempts),
        "resources": _resources(world),
        "bound": _bound_over_time(world),
        "configuration": configuration(world),
    }


def _attempt(one: Any) -> Result:
    wanted = ("pod", "started", "ended", "first_position", "last_position", "outcome", "node", "message",
              "evaluated", "feasible", "tied", "nominated", "victims")  # fmt: skip
    return {name: getattr(one, name) for name in wanted}


def _pod(world: Simulation, key: str) -> Result:
    journal = world.journal
    move = journal.moves[journal.last_move[key]]
    pod = world.store.pod_at(key)
    return {"node": pod.node_name if pod is not None else "", "place": move.place, "at": move.position}


def _resources(world: Simulation) -> list[Result]:
    """What is requested of what the nodes offer, for each resource that they offer."""
    table = world.schedulers[0].cache.table()
    sums = [
        (name, int(table.requested[:, i].sum()), int(table.allocatable[:, i].sum()))
        for i, name in enumerate(table.resources.names)
        if i < table.allocatable.shape[1]
    ]
    sums.insert(2, ("pods", int(table.pod_count.sum()), int(table.allowed_pods.sum())))
    return [
        {"resource": name, "requested": requested, "allocatable": allocatable}
        for name, requested, allocatable in sums
        if allocatable
    ][:MOST_RESOURCES]


def _bound_over_time(world: Simulation) -> list[tuple[int, int]]:
    """(virtual time, pods that have a node), where that number changed; at most POINTS of them."""
    bound: dict[str, None] = {}
    points: dict[int, int] = {0: 0}
    for move in world.journal.moves:
        if move.place in ("bound", "running"):
            bound[move.pod] = None
        elif move.place == "deleted":
            bound.pop(move.pod, None)
        if points.get(move.t) != len(bound):
            points[move.t] = len(bound)
    points[world.now] = len(bound)
    found = list(points.items())
    return (
        found
        if len(found) <= POINTS
        else [found[i] for i in np.linspace(0, len(found) - 1, POINTS, dtype=int)]
    )


def digests(engine: Engine, head: int, first: int, most: int) -> Steps:
    """Digests (docs/trace.md) of attempts from index `first` on: as many as the time allows, at least one, at most `most`."""
    journal = (yield from engine.at(head)).journal
    start = journal.attempts[first].first_position if first < len(journal.attempts) else head
    world = (yield from engine.at(max(0, start - 1))).fork()
    found: list[str] = []
    end = time.perf_counter() + PATIENCE
    while world.position < head and len(found) < most and not (found and time.perf_counter() > end):
        before = len(world.journal.attempts)
        engine.replay(world)
        if before >= first and len(world.journal.attempts) > before:
            cycle = _cycle_of_last(world)
            found.append("" if cycle is None else digest(cycle))
        if engine.slice.over():
            yield
    return found


def _cycle_of_last(world: Simulation) -> Any:
    name = world.journal.attempts[-1].scheduler
    return next((one.cycle for one in world.schedulers if one.name == name), None)


def attempt(engine: Engine, head: int, index: int) -> Steps:
    """One attempt by its index: its scores for the best nodes and the nodes it shares the first ranks with, and its refusals."""
    attempts = (yield from engine.at(head)).journal.attempts
    if not 0 <= index < len(attempts):
        raise SessionError(f"There is no attempt {index}; there are {len(attempts)}.")
    world = yield from engine.at(attempts[index].last_position)
    found = _attempt(attempts[index])
    cycle = next((one.cycle for one in world.schedulers if one.name == attempts[index].scheduler), None)
    if cycle is None:
        return {**found, "board": None, "refusals": []}
    return {**found, "board": _board(cycle), "refusals": _refusals(cycle), "draw": cycle.draw}


def _board(cycle: Any) -> Result | None:
    """Scores by node, the best first; at most NODES of them and the chosen one."""
    board = cycle.scores
    if board is None or not board.plugins:
        return None
    total = board.total if board.total is not None else np.sum(board.weighted, axis=0)
    names = [cycle.nodes.names[int(row)] for row in board.rows]
    order = [int(k) for k in np.argsort(-total, kind="stable")[:NODES]]
    if cycle.chosen in names and names.index(cycle.chosen) not in order:
        order.append(names.index(cycle.chosen))
    plugins = list(zip(board.plugins, board.weights, board.raw, board.normalized, strict=True))
    return {
        "plugins": [{"name": name, "weight": weight} for name, weight, _, _ in plugins],
        "rows": [
            {
                "node": names[k],
                "total": int(total[k]),
                "cells": {
                    name: [int(raw[k]), int(norm[k]), int(norm[k]) * weight]
                    for name, weight, raw, norm in plugins
                },
            }
            for k in order
        ],
        "nodes": len(names),
    }


def _refusals(cycle: Any) -> list[Result]:
    """Refused nodes counted by plugin and text, most first."""
    counts: dict[tuple[str, str], list[str]] = {}
    for row, name in enumerate(cycle.nodes.names):
        status = cycle.status_of(row)
        if status is not None:
            counts.setdefault((status.plugin, status.message), []).append(name)
    ordered = sorted(counts.items(), key=lambda item: (-len(item[1]), item[0]))
    return [
        {"plugin": plugin, "text": text, "count": len(names), "nodes": names[:3]}
        for (plugin, text), names in ordered[:NODES]
    ]
