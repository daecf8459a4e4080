"""OpportunisticBatching: a pod with the previous pod's signature gets the next node of the list that the previous cycle stored.

| step | when | what |
|---|---|---|
| hint | after PreFilter | if the list fits the pod and the last chosen node rejects it, only the head of the list is tried |
| rescore | the last chosen node fits the pod, too | the node is put back into the list with new scores (since 1.37; before, no hint) |
| store | a node is chosen without a hint | the other feasible nodes with their scores become the new list |

kube: framework/runtime/batch.go, framework/sorted_nodes.go, schedule_one.go @ v1.37.2
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import astuple, dataclass, field, replace
from functools import cache, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.apimachinery.objects.spec import canonical
from scheduler_core.base.clock.agenda import MILLISECOND
from scheduler_core.base.releases import Behavior
from scheduler_core.base.state import Copied, State
from scheduler_core.scheduler.core.cycles.scheduling_cycle import SchedulingCycle
from scheduler_core.scheduler.framework.plugin import Plugin, Point, Scores
from scheduler_core.scheduler.framework.runtime.framework import Framework
from scheduler_core.scheduler.framework.runtime.rescoring import find_refusal, rescore

# Signatures: pods of one signature get the same answers from Filter and Score on the same nodes.
#
# A profile with a plugin that is not in the table, or with extenders, signs no pod.
# kube: framework/runtime/framework.go (SignPod), each plugin's SignPod, kube-scheduler/framework/signers.go @ v1.37.2

_LOOKED_AT = (Point.PRE_FILTER, Point.FILTER, Point.PRE_SCORE, Point.SCORE)
_CLASS_PREFIX = "deviceclass.resource.kubernetes.io/"
Sign = Callable[[Any, Pod], Any]


def sign(framework: Framework, pod: Pod) -> str:
    """Return a pod's signature in a profile, or "" if the pod cannot be compared with others."""
    plugins = framework.signers
    if plugins is None:
        plugins = framework.signers = _signing_plugins(framework)
    if framework.extended or not plugins:
        return ""
    for plugin in plugins:
        refuses = _REFUSES.get(plugin.name)
        if refuses is None:  # plugins that may refuse to sign come first
            break
        if refuses(plugin, pod):
            return ""
    fragments = (signer(plugin, pod) for plugin in plugins if (signer := _SIGNS[plugin.name]))
    return canonical([pod.spec.scheduler_name, *dict.fromkeys(map(canonical, fragments))])


def _signing_plugins(framework: Framework) -> tuple[Plugin, ...]:
    """Return the plugins that look at nodes; none if one of them never signs."""
    found = {plugin.name: plugin for point in _LOOKED_AT for plugin in framework.at(point)}
    spread = found.get("PodTopologySpread")
    if spread is not None and (spread.args.get("defaultingType") != "List" or spread.args.get("defaultConstraints")):
        return ()  # it spreads every pod, so no pod can be signed
    refusing_first = sorted(found.values(), key=lambda plugin: plugin.name not in _REFUSES)
    return tuple(refusing_first) if found.keys() <= _SIGNS.keys() else ()


def _sort(parts: Any) -> list[str]:
    return sorted(map(canonical, parts))


def _tolerations(plugin: Plugin, pod: Pod) -> Any:
    return sorted((astuple(each) for each in pod.spec.tolerations), key=lambda each: (each[0], each[2]))


def _volumes(plugin: Plugin, pod: Pod) -> Any:
    volumes = pod.manifest["spec"].get("volumes") or ()
    local = ("configMap", "secret")
    return _sort(
        {name: value for name, value in each.items() if name != "name"}
        for each in volumes
        if not any(kind in each for kind in local)
    )


def _affinity(plugin: Plugin, pod: Pod) -> Any:
    affinity = (pod.manifest["spec"].get("affinity") or {}).get("nodeAffinity") or {}
    required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution") or {}
    return [
        _sort(map(_sort_term, required.get("nodeSelectorTerms") or ())),
        _sort(
            [each.get("weight"), _sort_term(each.get("preference") or {})]
            for each in affinity.get("preferredDuringSchedulingIgnoredDuringExecution") or ()
        ),
        pod.spec.node_selector,
    ]


def _sort_term(term: Any) -> Any:
    """Return a node selector term whose requirements and values are in order."""
    return [
        _sort({**each, "values": sorted(each.get("values") or ())} for each in term.get(name) or ())
        for name in ("matchExpressions", "matchFields")
    ]


def _requests(plugin: Plugin, pod: Pod) -> Any:
    return astuple(pod.spec.requests)


def _labels(plugin: Plugin, pod: Pod) -> Any:
    return None if plugin.args.get("ignorePreferredTermsOfExistingPods") else dict(pod.labels)


_SIGNS: dict[str, Sign | None] = {
    "NodeUnschedulable": _tolerations,
    "TaintToleration": _tolerations,
    "NodeName": None,
    "NodeAffinity": _affinity,
    "NodePorts": lambda plugin, pod: sorted({each.port for each in pod.spec.host_ports}),
    "NodeResourcesFit": _requests,
    "NodeResourcesBalancedAllocation": _requests,
    "VolumeRestrictions": _volumes,
    "NodeVolumeLimits": _volumes,
    "VolumeBinding": _volumes,
    "VolumeZone": _volumes,
    "PodTopologySpread": None,
    "InterPodAffinity": _labels,
    "DynamicResources": None,
    "ImageLocality": lambda plugin, pod: sorted(set(pod.spec.images)),
    "NodeDeclaredFeatures": lambda plugin, pod: plugin.needs_of(pod),
}


def _has_devices(plugin: Plugin, pod: Pod) -> bool:
    """Return whether devices provide one of the extended resources that a pod requests."""
    names = {name for name, amount in pod.spec.requests.scalar if amount}
    if not names or not plugin.handle.features.dra_extended_resource:
        return False
    served = {(each.get("spec") or {}).get("extendedResourceName") for each in plugin.handle.list("DeviceClass")}
    return any(name in served or name.startswith(_CLASS_PREFIX) for name in names)


_REFUSES: dict[str, Callable[[Plugin, Pod], bool]] = {
    "PodTopologySpread": lambda plugin, pod: bool(pod.spec.topology_spread),
    "InterPodAffinity": lambda plugin, pod: bool(pod.spec.pod_affinity or pod.spec.pod_anti_affinity),
    "DynamicResources": lambda plugin, pod: bool(pod.spec.resource_claims),
    "NodeResourcesFit": _has_devices,
    "NodeResourcesBalancedAllocation": _has_devices,
}

MAX_AGE = 500 * MILLISECOND


Item = tuple[int, int]
"""A total score, and the node's place in `names`."""


@dataclass(frozen=True, slots=True)
class Candidates:
    """The nodes of a list with each plugin's raw scores. `heap` has the remaining nodes in the order of Go's heap."""

    names: tuple[str, ...]
    raw: tuple[tuple[str, Scores], ...]
    heap: tuple[Item, ...]

    @classmethod
    def of(cls, names: tuple[str, ...], raw: tuple[tuple[str, Scores], ...], totals: Scores) -> Candidates:
        """Return a list with all nodes in it."""
        heap = list(zip(totals.tolist(), range(len(names)), strict=True))
        for i in reversed(range(len(heap) // 2)):
            _sink(heap, i, len(heap))
        return cls(names, raw, tuple(heap))

    def pop(self) -> tuple[str, Candidates]:
        """Return the best node, and the list without this node."""
        heap = list(self.heap)
        heap[0], heap[-1] = heap[-1], heap[0]
        best = heap.pop()
        _sink(heap, 0, len(heap))
        return self.names[best[1]], replace(self, heap=tuple(heap))


def _sink(heap: list[Item], i: int, end: int) -> None:
    """Move an item down below better items. kube: container/heap (down)"""
    while (child := 2 * i + 1) < end:
        if child + 1 < end and heap[child + 1][0] > heap[child][0]:
            child += 1
        if heap[child][0] <= heap[i][0]:
            return
        heap[i], heap[child] = heap[child], heap[i]
        i = child


@cache
def _paths(bits: int) -> NDArray[Any]:
    """Return the paths to all places of a heap as numbers with so many bits."""
    numbers = np.arange(1, 1 << bits)
    paths: NDArray[np.int64] = numbers << (bits - np.frexp(numbers)[1])
    return paths.astype(np.int16 if bits < 16 else np.int64)


MOST_EARLY = 16


@lru_cache(maxsize=64)
def _early_places(size: int) -> tuple[int, ...]:
    """Return the first places of a heap of so many items, by the dictionary order of their paths."""
    found, ahead = list[int](), [0]
    while ahead and len(found) < MOST_EARLY:
        found.append(place := ahead.pop())
        ahead += [child for child in (2 * place + 2, 2 * place + 1) if child < size]
    return tuple(found)


def first_in_heap(best: NDArray[np.bool_], places: NDArray[np.intp]) -> int:
    """Return the place, among the best ones, that is at the top of Go's heap; `places` has them in ascending order.

    A place is a path from the top, encoded by the bits of its number from 1 on; the first path in lexicographic order wins.
    """
    for place in _early_places(len(best)):  # most nodes tie
        if best[place]:
            return place
    return int(places[_paths((int(places[-1]) + 1).bit_length()).take(places).argmin()])


@dataclass(slots=True)
class Batch(State):
    """The list of one profile, the last cycle that chose a node, and the counts of hints and discarded lists."""

    left: Candidates | None = None
    signature: str = ""
    created: int = 0
    cycle: int = 0
    chosen: str = ""
    attempts: Copied[Counter[str]] = field(default_factory=Counter)
    flushed: Copied[Counter[str]] = field(default_factory=Counter)
    rescored: int = 0


Batches = dict[str, Batch]


def find_hint(cycle: SchedulingCycle, framework: Framework, batches: Batches, grouped: bool) -> str:
    """Return the node to try alone, or "". `grouped`: pods of one group share a cycle. kube: GetNodeHint"""
    batch = batches.get(framework.name) or batches.setdefault(framework.name, Batch())
    if batch.left is None or not batch.left.heap:
        batch.attempts["no_hint"] += 1
        return ""
    if reason := _why_unusable(batch, cycle, framework, grouped):
        batch.attempts["no_hint"] += 1
        batch.flushed[reason] += 1
        cycle.batching = reason
        return ""
    hint, batch.left = batch.left.pop()
    cycle.hint = hint
    return hint


def store(cycle: SchedulingCycle, framework: Framework, batches: Batches) -> None:
    """Store the results of a node's selection for the next pod. kube: StoreScheduleResults"""
    batch, chosen = batches.get(framework.name) or batches.setdefault(framework.name, Batch()), cycle.chosen or ""
    batch.cycle, batch.chosen = cycle.queued.cycle, chosen
    if cycle.hint == chosen:
        batch.attempts["hint_used"] += 1
        return
    if cycle.hint:
        batch.attempts["hint_not_used"] += 1
    board, signature = cycle.scores, sign(framework, cycle.pod)
    if board is None or len(board.rows) < 2 or not signature:
        reason = "empty_list" if board is None or len(board.rows) < 2 else "pod_not_batchable"
        batch.flushed[reason] += 1
        batch.left = None
        cycle.batching = cycle.batching or reason
        return
    nodes = cycle.nodes
    assert board.total is not None
    names = tuple(nodes.names[row] for row in board.rows.tolist())
    batch.left = Candidates.of(names, tuple(zip(board.plugins, board.raw, strict=True)), board.total).pop()[1]
    batch.signature, batch.created = signature, cycle.t


def _why_unusable(batch: Batch, cycle: SchedulingCycle, framework: Framework, grouped: bool) -> str:
    """Return the reason why the list cannot be used for a pod, or "". kube: batchStateCompatible, refreshHintCandidates"""
    number = cycle.queued.cycle
    if number != batch.cycle + 1 and not (grouped and number == batch.cycle):
        return "pod_skipped"
    rescores = Behavior.BATCH_RESCORE in framework.behaviors
    if rescores and cycle.pod.nominated_node_name:
        return "pod_nominated"
    if sign(framework, cycle.pod) != batch.signature:
        return "pod_incompatible"
    if cycle.t > batch.created + MAX_AGE:
        return "expired"
    row = cycle.nodes.row(batch.chosen)
    if row is None:
        return "node_missing"
    refusal = find_refusal(framework, cycle, np.array([row], np.intp))
    if refusal is None or not refusal.rejected:
        if not rescores:
            return "node_not_full"
        return _rescore(batch, cycle, framework, row) if refusal is None else "filter_error"
    return ""


def _rescore(batch: Batch, cycle: SchedulingCycle, framework: Framework, row: int) -> str:
    """Put the last chosen node back into the list and recompute the scores; return the error, or "". kube: rescoreHintedNode"""
    assert batch.left is not None
    batch.rescored += 1
    places = [place for _, place in batch.left.heap]
    names = [batch.left.names[place] for place in places]
    known = [each for name in names if (each := cycle.nodes.row(name)) is not None]
    if len(known) < len(names):
        return "node_missing"
    before = {plugin: scores[places] for plugin, scores in batch.left.raw}
    found = rescore(framework, cycle, np.array([*known, row], np.intp), before)
    if isinstance(found, str):
        return found
    batch.left = Candidates.of((*names, batch.chosen), *found)
    return ""
