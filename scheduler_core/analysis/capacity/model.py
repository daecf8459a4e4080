"""Sums of requests over node types: a lower limit for a set of nodes, and the sets that are worth trying."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from scheduler_core.analysis.fixes.diagnosis import Diagnosis, diagnose
from scheduler_core.analysis.whatif import NodeType, Steps, come_to_rest, make_nodes
from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.scheduler.framework.status import Status
from scheduler_core.world.commands import ApplyObjects
from scheduler_core.world.simulation import Simulation

NO_SCHEDULER = "no scheduler has the pod's schedulerName"
# These rejections, and those by existing pods' anti-affinity, stay the same after other pods are scheduled elsewhere.
_LASTING = (
    "NodeUnschedulable",
    "NodeName",
    "TaintToleration",
    "NodeAffinity",
    "NodePorts",
    "NodeResourcesFit",
    "NodeVolumeLimits",
    "VolumeRestrictions",
    "VolumeZone",
)
Vector = tuple[int, ...]


@dataclass(frozen=True)
class Model:
    """`takes` and `why`: per pod, whether an empty node of each type can run the pod, and why not.

    `needs` and `rooms`: the requests of pods, and the free amounts of an empty node with its DaemonSets' pods. `bare`: pods that fit on
    no existing node. `steps`: per resource, the common divisor of the requests of the bare pods, so that a node's room counts in whole
    steps.
    """

    costs: Sequence[float]
    takes: Mapping[str, Sequence[bool]]
    why: Mapping[str, Sequence[str]]
    needs: Mapping[str, Vector]
    rooms: Sequence[Vector]
    bare: frozenset[str]
    steps: Vector

    @classmethod
    def of(
        cls, sim: Simulation, pods: Sequence[str], types: Sequence[NodeType], costs: Sequence[float]
    ) -> Steps[Model]:
        """Run the filters for each pod on one empty node of each type, with the pods of DaemonSets on these nodes."""
        world = sim.fork()
        there = {node.name for node in world.store.nodes()}
        objects = [make_nodes(world.store, [(each, 1)]) for each in types]
        world.apply(ApplyObjects(tuple(each for some in objects for each in some)))
        names = [some[0]["metadata"]["name"] for some in objects]
        takes, why, bare = {}, {}, set()
        asked = [pod for key in pods if (pod := world.store.pod_at(key)) is not None]
        for pod in asked:
            found = diagnose(world, pod)
            said = [found.status_of(name) if found else None for name in names]
            takes[pod.key] = [found is not None and not _lasts(status) for status in said]
            why[pod.key] = [_describe_refusal(found, *each) for each in zip(names, said, strict=True)]
            if found is not None and not _may_be_taken(found, there):
                bare.add(pod.key)
            yield
        yield from come_to_rest(world)
        resources = _list_resources(asked)
        rooms = [_room(world, name, resources) for name in names]
        needs = {pod.key: _needs(pod, resources) for pod in asked}
        for pod in asked:
            for i, room in enumerate(rooms):
                short = [name for name, need, has in zip(resources, needs[pod.key], room, strict=False) if need > has]
                if short and takes[pod.key][i]:
                    takes[pod.key][i], why[pod.key][i] = False, f"Insufficient {short[0]} with the pods of DaemonSets"
        steps = tuple(math.gcd(*(needs[pod][r] for pod in sorted(bare))) or 1 for r in range(len(resources) + 1))
        return cls(costs, takes, why, needs, rooms, frozenset(bare), steps)

    def bound(self, pods: Sequence[str], whole: bool) -> float:
        """Return a lower limit of the cost: the largest of the resources' sums of cheapest prices, and any pod's cheapest node."""
        mine = [pod for pod in pods if pod in self.bare]
        sums = [math.fsum(self._price(pod, r) for pod in mine) for r in range(len(self.rooms[0]))] if mine else []
        least = max((min(self.costs[i] for i in self._types_for(pod)) for pod in mine), default=0.0)
        bound = max([*sums, least])
        return math.ceil(bound - 1e-9) if whole else bound

    def _types_for(self, pod: str) -> list[int]:
        return [i for i, takes in enumerate(self.takes[pod]) if takes]

    def _price(self, pod: str, r: int) -> float:
        """Return the pod's cheapest share of a node's cost by one resource."""
        need = self.needs[pod][r]
        prices = (self.costs[i] / room for i in self._types_for(pod) if (room := self._whole(i, r)))
        return need * min(prices, default=0.0) if need else 0.0

    def _whole(self, i: int, r: int) -> int:
        return self.rooms[i][r] // self.steps[r] * self.steps[r]

    def suffices(self, chosen: Counter[int], pods: Sequence[str]) -> bool:
        """Return whether a set has, by sums, room for all pods that fit on no existing node."""
        mine = [pod for pod in pods if pod in self.bare]
        if any(not any(self.takes[pod][i] for i in chosen) for pod in mine):
            return False
        return all(
            sum(self.needs[pod][r] for pod in mine) <= sum(self._whole(i, r) * count for i, count in chosen.items())
            for r in range(len(self.rooms[0]))
        )

    def pack(self, pods: Sequence[str], allowed: Sequence[int]) -> Counter[int]:
        """Propose nodes for pods: repeatedly the type whose next node holds the most for its price, the largest pods first."""
        value = {pod: max(self._price(pod, r) for r in range(len(self.rooms[0]))) for pod in pods}
        left = sorted(pods, key=lambda pod: (-value[pod], pod))
        chosen: Counter[int] = Counter()
        while left:
            fills = [(i, self._fill(i, left)) for i in allowed]
            i, taken = max(
                fills,
                key=lambda f: (sum(value[pod] for pod in f[1]) / (self.costs[f[0]] or 1e-9), len(f[1])),
                default=(0, ()),
            )
            if not taken:
                break
            chosen[i] += 1
            gone = set(taken)
            left = [pod for pod in left if pod not in gone]
        return chosen

    def _fill(self, i: int, pods: Sequence[str]) -> list[str]:
        room, taken = self.rooms[i], []
        for pod in pods:
            need = self.needs[pod]
            if self.takes[pod][i] and all(n <= has for n, has in zip(need, room, strict=True)):
                room = tuple(has - n for n, has in zip(need, room, strict=True))
                taken.append(pod)
        return taken


def _describe_refusal(found: Diagnosis | None, node: str, status: Status | None) -> str:
    """Return the message of a node's rejection, or "" if the node passes."""
    if found is None:
        return NO_SCHEDULER
    row = found.nodes.row(node)
    return "" if status is None or row is None else found.specify(status, status.message, row)


def _lasts(status: Status | None) -> bool:
    return status is not None and (status.plugin in _LASTING or "anti-affinity" in status.message)


def _may_be_taken(found: Diagnosis, there: set[str]) -> bool:
    """Return whether an existing node could run the pod after others are scheduled."""
    return any(not _lasts(found.status_of(name)) for name in there)


def _list_resources(pods: Sequence[Pod]) -> list[str]:
    named = {name: None for pod in pods for name, amount in pod.requests.scalar if amount}
    return ["cpu", "memory", "ephemeral-storage", *named]


def _needs(pod: Pod, resources: Sequence[str]) -> Vector:
    return (*(pod.requests.get(name) for name in resources), 1)


def _room(world: Simulation, name: str, resources: Sequence[str]) -> Vector:
    """Return the free amounts of a node that runs only its DaemonSets' pods."""
    node = world.store.node(name)
    assert node is not None
    daemons = [
        _needs(pod, resources)
        for pod in world.store.pods()
        if name in (pod.node_name, _find_meant_node(pod))
        and any(ref.get("kind") == "DaemonSet" for ref in pod.manifest["metadata"].get("ownerReferences") or ())
    ]
    has = (*(node.allocatable.get(each) for each in resources), node.allowed_pods)
    return tuple(max(amount - sum(each[r] for each in daemons), 0) for r, amount in enumerate(has))


def _find_meant_node(pod: Pod) -> str:
    """Return the node for which a DaemonSet has created a pod."""
    terms = pod.spec.node_affinity_required
    fields = terms.terms[0].fields if terms is not None and terms.terms else ()
    return next((field.values[0] for field in fields if field.values), "")
