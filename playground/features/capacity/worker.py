"""The searches for nodes, inside a worker: on a copy of an idle world at a position, in slices, within a time limit."""

import time
from collections import Counter
from typing import Any

import msgspec

from playground.features.capacity.query import Capacity
from playground.sessions.protocol.base import Data
from playground.sessions.worker.engine import Engine
from playground.sessions.worker.time_sharing import Steps, answers, in_slices
from scheduler_core.analysis.capacity import find_going, find_help, name_owners, price_nodes
from scheduler_core.analysis.whatif import (
    BadTypes,
    NodeType,
    come_to_rest,
    list_unpriced,
    read_types,
    types_of_nodes,
    waiting,
)
from scheduler_core.world.commands import ApplyObjects, Refused

MOST_PODS = 50  # pods shown without a set
MOST_CHOICES = 200  # workloads and pods to choose from


@answers(Capacity, slow=True)
def capacity(engine: Engine, request: Capacity) -> Steps[Data]:
    """Return the answer as JSON data with the known types, or "error" if the types are invalid."""
    world = (yield from engine.at(request.position)).fork()
    end = time.perf_counter() + request.seconds
    try:
        types, notes = read_types(request.types, types_of_nodes(world.store))
    except BadTypes as error:
        return {"error": str(error), "types": [], "notes": []}
    about = {"error": "", "types": [each.name for each in types], "notes": notes, "unpriced": list_unpriced(types)}
    try:
        found = yield from in_slices(_find(world, request, types, end), engine.slice)
    except Refused as refused:  # a node of a type, in the API server's words
        return {**about, "error": str(refused)}
    return {**about, **found, "late": time.perf_counter() > end}


def _find(world: Any, request: Capacity, types: list[NodeType], end: float) -> Steps[Data]:
    yield from come_to_rest(world, steps=200_000)
    if request.part == "go":
        prices = price_nodes(world.store, {each.name: each for each in types})
        gone = yield from find_going(world, prices, should_stop=lambda: time.perf_counter() > end)
        rows = [{**msgspec.to_builtins(each), "to": Counter(each.places.values())} for each in gone.nodes]
        return {"part": request.part, "found": {**msgspec.to_builtins(gone), "nodes": rows}}
    asked = [request.of] if request.of else None
    found = yield from find_help(world, asked, types, should_stop=lambda: time.perf_counter() > end)
    why = {pod: found.why[pod] for pod in found.left[:MOST_PODS]}
    command = msgspec.to_builtins(ApplyObjects(found.objects)) if found.objects else None
    owners = {pod: name_owners(world, pod) for pod in waiting(world)}
    choices = [*sorted({names[-1] for names in owners.values() if names}), *sorted(owners)][:MOST_CHOICES]
    data = {"part": request.part, "found": {**msgspec.to_builtins(found), "why": why}, "command": command}
    return {**data, "choices": [*choices, *([request.of] if request.of and request.of not in choices else [])]}
