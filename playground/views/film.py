"""The moving picture of the first page: a placement as the engine made it."""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import NamedTuple, TypedDict

from playground.workbench.builder import CLUSTERS
from scheduler_core import Cluster
from scheduler_core.world.readonly import parse_quantity

POD, OF = "web-1", "placement"


class FilmNode(NamedTuple):
    """`said` is the reason of a refusal, or else `points` are those of a feasible node; `used` and `after` are percentages of its cpu."""

    name: str
    said: str
    points: int
    used: int
    after: int
    chosen: bool


class Film(TypedDict):
    pod: str
    waiting: list[str]
    nodes: list[FilmNode]
    feasible: int
    node: str
    place: int


@cache
def film() -> Film:
    """Schedule the first pod of a cluster that people may then step through themselves, and keep what each node said."""
    manifests = CLUSTERS[OF].make()
    attempt = Cluster(*manifests).schedule(POD)
    assert attempt.scores is not None, "a picture of a placement needs several feasible nodes"
    used: Counter[str] = Counter()
    offered, asked = {}, {}
    for each in manifests:
        name = each["metadata"]["name"]
        if each["kind"] == "Node":
            offered[name] = _milli(each["status"]["allocatable"]["cpu"])
        else:
            asked[name] = _milli(each["spec"]["containers"][0]["resources"]["requests"]["cpu"])
            used[each["spec"].get("nodeName", "")] += asked[name]
    totals = attempt.scores.total
    nodes = []
    for name, whole in offered.items():
        chosen = name == attempt.node
        after = used[name] + (asked[POD] if chosen else 0)
        said = attempt.refused[name][1] if name in attempt.refused else ""
        nodes.append(FilmNode(name, said, totals.get(name, 0), 100 * used[name] // whole, 100 * after // whole, chosen))
    return {
        "pod": POD,
        "waiting": [name for name in asked if name.startswith("web-") and name != POD],
        "nodes": nodes,
        "feasible": len(totals),
        "node": attempt.node,
        "place": list(offered).index(attempt.node),
    }


def _milli(quantity: str) -> int:
    return int(1000 * parse_quantity(quantity))
