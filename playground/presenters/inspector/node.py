"""Node: capacity, labels, taints, pods, and what the present cycle says of it."""

from typing import Literal, TypedDict

from playground.presenters.acting import list_actions
from playground.presenters.amounts import exact
from playground.presenters.devices.node import NodePool, node_devices
from playground.presenters.draining import Draining, PlannedEviction, draining, list_planned_evictions
from playground.presenters.inspector.figures import Section, sections
from playground.presenters.look import Look
from playground.presenters.plain import in_plain_words
from playground.presenters.refusals import FEASIBLE, refusals
from playground.presenters.scene import PodRef, cycle_of, pod_ref, scheduler_of, short, table_of
from playground.presenters.words import Message
from playground.workbench.actions import Offer
from scheduler_core.world.readonly import NodeTable, WorldView

PODS = 30


class NoNode(TypedDict):
    about: Literal["node"]
    kind: Literal["gone", "none"]
    name: str


class NodeBody(TypedDict):
    about: Literal["node"]
    kind: Literal["node"]
    name: str
    offers: list[Offer]
    drain: Draining | None
    planned: list[PlannedEviction]
    pod: str
    verdict: str
    why: str
    plugin: str
    plain: list[Message]
    resources: "list[ResourceRow]"
    figures: list[Section]
    devices: list[NodePool]
    taints: list[str]
    labels: list[str]
    count: int
    pods: list[PodRef]
    more: int


def present(sim: WorldView, look: Look, key: str) -> NodeBody | NoNode:
    """The chosen node, else the one that the present cycle chose."""
    cycle, table = cycle_of(sim), table_of(scheduler_of(sim))
    name = chosen(sim, look)
    row = table.row(name) if name else None
    if row is None:
        return {"about": "node", "kind": "gone" if name else "none", "name": name}
    node, pods = table.nodes[row], table.pods[row]
    refused = refusals(sim, table.names)
    status = refused.statuses[int(refused.group[row])] if refused.group[row] >= 0 else None
    return {
        "about": "node",
        "kind": "node",
        "name": name,
        "offers": list_actions(sim, "Node", "", name),
        "drain": draining(sim, name),
        "planned": list_planned_evictions(sim, (p.key for p in pods)),
        "pod": short(key if cycle is None else cycle.pod.key),  # the verdict and the figures are the cycle's
        "verdict": "ok" if refused.group[row] == FEASIBLE else "no" if status else "",
        "why": status.message if status else "",
        "plugin": status.plugin if status else "",
        "plain": [p for reason in (status.reasons if status else ()) if (p := in_plain_words(reason))],
        "resources": _resources(sim, table, row),
        "figures": sections(sim, name),
        "devices": node_devices(sim, name),
        "taints": [str(taint) for taint in node.taints],
        "labels": [f"{k}={v}" for k, v in sorted(node.labels.items())],
        "count": len(pods),
        "pods": [pod_ref(p.key) for p in pods[:PODS]],
        "more": max(len(pods) - PODS, 0),
    }


def chosen(sim: WorldView, look: Look) -> str:
    """The name of the node that is inspected; "" for none."""
    cycle = cycle_of(sim)
    return look.node or (cycle.chosen or "" if cycle is not None else "")


def _resources(sim: WorldView, table: NodeTable, row: int) -> "list[ResourceRow]":
    """Return the requested amount of each resource, and the assumed part: the part of pods that are not bound yet."""
    assumed = scheduler_of(sim).cache.assumed
    assumed_pods = [pod.requests for pod in table.pods[row] if pod.key in assumed]
    out: list[ResourceRow] = []
    for column, resource in enumerate(table.resources.names[: table.allocatable.shape[1]]):
        has, used = int(table.allocatable[row][column]), int(table.requested[row][column])
        if has or used:
            held = sum(int(requests.get(resource)) for requests in assumed_pods)
            out.append(_line(resource, used, has, held))
    out.append(_line("pods", int(table.pod_count[row]), int(table.allowed_pods[row]), len(assumed_pods)))
    return out


class ResourceRow(TypedDict):
    name: str
    used: str
    held: str
    free: str
    has: str
    percent: int
    bar: int
    hold: int


def _line(resource: str, used: int, has: int, held: int) -> ResourceRow:
    percent = round(100 * used / has) if has else 0
    bound = min(round(100 * (used - held) / has), 100) if has else 0
    return {
        "name": resource,
        "used": exact(resource, used),
        "held": exact(resource, held) if held else "",
        "free": exact(resource, max(has - used, 0)),
        "has": exact(resource, has),
        "percent": percent,
        "bar": bound,
        "hold": min(percent, 100) - bound,
    }
