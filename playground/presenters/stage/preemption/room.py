"""Room: what a candidate's node holds of its tightest resource, before and after."""

from typing import TypedDict

from playground.presenters.amounts import amount
from playground.presenters.scene import short
from scheduler_core.world.readonly import Candidate, NodeTable, Pod


def tightest(candidate: Candidate) -> str:
    """The resource that made the first victim one; cpu where it was no resource."""
    for reprieve in candidate.reprieves:
        for reason in reprieve.refusal.reasons if reprieve.refusal is not None else ():
            if reason.startswith("Insufficient "):
                return reason.removeprefix("Insufficient ")
    return "cpu"


def level(nodes: NodeTable, node: str, resource: str) -> tuple[int, int] | None:
    """Return the requested and allocatable amounts of a node's resource; None if the snapshot does not have them."""
    row, column = nodes.row(node), nodes.resources.columns.get(resource)
    if row is None or column is None or column >= nodes.allocatable.shape[1]:
        return None
    has = int(nodes.allocatable[row, column])
    return (int(nodes.requested[row, column]), has) if has > 0 else None


def build_usage_segments(candidate: Candidate, pod: Pod, nodes: NodeTable, back: int) -> "list[Segment]":
    """Return a node's usage after the first `back` pods were reprieved or given up: others, the nominated pod, kept pods, and free."""
    resource = tightest(candidate)
    found = level(nodes, candidate.node, resource)
    if found is None:
        return []
    used, has = found
    there = {other.key: other for other in nodes.pods[nodes.rows[candidate.node]]}
    sizes = {r.pod: there[r.pod].requests.get(resource) for r in candidate.reprieves if r.pod in there}
    kept = [(r.pod, sizes.get(r.pod, 0)) for r in candidate.reprieves[:back] if r.kept]
    parts = [("stays", used - sum(sizes.values()), ""), ("pod", pod.requests.get(resource), short(pod.key))]
    parts += [("kept", size, short(key)) for key, size in kept]
    return segments(parts, has, resource)


class Segment(TypedDict):
    kind: str
    x: float
    width: float
    name: str
    text: str


def segments(parts: list[tuple[str, int, str]], has: int, resource: str) -> list[Segment]:
    """Parts of a bar in percent of what there is; those of no size are left out."""
    scale = max(has, sum(size for _, size, _ in parts))
    out: list[Segment] = []
    at = 0.0
    for kind, size, name in parts:
        width = round(100 * size / scale, 2)
        if width > 0:
            out.append({"kind": kind, "x": round(at, 2), "width": width, "name": name, "text": amount(resource, size)})
        at += width
    return out


class Room(TypedDict):
    resource: str
    needs: str
    has: str
    edge: float
    segments: list[Segment]


def room(candidate: Candidate, pod: Pod, nodes: NodeTable) -> Room | None:
    """The node's tightest resource as a bar: what stays, the preemptor, the victims. None where the snapshot has no such row."""
    resource = tightest(candidate)
    found = level(nodes, candidate.node, resource)
    if found is None:
        return None
    used, has = found
    needs = pod.requests.get(resource)
    gone = [("gone", victim.requests.get(resource), short(victim.key)) for victim in candidate.victims]
    parts = [("stays", used - sum(size for _, size, _ in gone), ""), ("pod", needs, short(pod.key)), *gone]
    return {
        "resource": resource,
        "needs": amount(resource, needs),
        "has": amount(resource, has),
        "edge": round(100 * has / max(has, sum(size for _, size, _ in parts)), 2),
        "segments": segments(parts, has, resource),
    }
