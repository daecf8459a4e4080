"""NodeResourcesFit: rejects nodes without room for the pod's requests, and scores the others by a strategy.

kube: plugins/noderesources/fit.go @ v1.34.1
DEVIATION: reasons about scalar resources come ordered by name; kube's come in the random order of a Go map.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scheduler_core.apimachinery.objects import Manifest, Node, Resources, is_extended_name
from scheduler_core.apimachinery.objects.pod import Pod, whole_requests
from scheduler_core.base.releases import Behavior
from scheduler_core.scheduler.cache.table import CPU, EPHEMERAL_STORAGE, FIXED_RESOURCES, MEMORY, NodeTable
from scheduler_core.scheduler.framework import SUCCESS, Action, Code, CycleState, Formula, On, Status, error
from scheduler_core.scheduler.framework.drafts import Draft, Refusal
from scheduler_core.scheduler.framework.explanation import Amount, Explanation, Row, Source, Table, gettext_noop
from scheduler_core.scheduler.framework.plugin import (
    GO_ON,
    Evidence,
    Handle,
    Plugin,
    Point,
    PreFilterResult,
    Rows,
    Scores,
    Verdicts,
)
from scheduler_core.scheduler.framework.reasons import Reason, RefusalReason
from scheduler_core.scheduler.plugins.helper.hints import was_placed
from scheduler_core.scheduler.plugins.noderesources import devices, fixes, resource_allocation
from scheduler_core.scheduler.plugins.noderesources.amounts import explain_requests, explain_weighed
from scheduler_core.scheduler.plugins.noderesources.devices import Check, has_scalar
from scheduler_core.scheduler.plugins.noderesources.formula import fit_formula, request_path
from scheduler_core.scheduler.plugins.noderesources.resource_allocation import FIT

# How close nodes are to fitting: the smallest missing amount, and the number of nodes with a similar one.

SHOWN = 5
POD_SLOTS = "pods"
_STEPS = (1, 2, 5)


def lacking(nodes: NodeTable, rows: Rows, resource: str, wanted: int, column: int | None, field: str) -> Evidence:
    """Return amounts in kube's base units: millicores, bytes of memory. `tooSmall`: nodes that would lack the resource even if empty."""
    if column is None or column >= nodes.allocatable.shape[1]:
        return {"resource": resource, "requested": wanted, "field": field, "tooSmall": len(rows), "most": 0}
    allocatable = nodes.allocatable[rows, column]
    free = allocatable - nodes.requested[rows, column]
    return _figures(nodes, rows, {"resource": resource, "requested": wanted, "field": field}, allocatable, free)


def collect_crowding(nodes: NodeTable, rows: Rows) -> Evidence:
    """Return evidence of nodes without room for one more pod."""
    allowed = nodes.allowed_pods[rows]
    said = {"resource": POD_SLOTS, "requested": 1, "field": "status.allocatable.pods"}
    return _figures(nodes, rows, said, allowed, allowed - nodes.pod_count[rows])


def _figures(
    nodes: NodeTable, rows: Rows, said: Mapping[str, object], allocatable: NDArray[np.int64], free: NDArray[np.int64]
) -> Evidence:
    wanted = int(str(said["requested"]))
    short = wanted - free
    possible = allocatable >= wanted
    figures = {**said, "tooSmall": int((~possible).sum()), "most": int(allocatable.max())}
    if not possible.any():
        return figures
    order = np.lexsort((rows, np.where(possible, short, np.iinfo(np.int64).max)))[:SHOWN].tolist()
    below = _round_up(int(short[order[0]]))
    return {
        **figures,
        "near": {
            "atMost": below,
            "count": int((possible & (short <= below)).sum()),
            "nodes": [
                {
                    "node": nodes.names[rows[i]],
                    "short": int(short[i]),
                    "free": int(free[i]),
                    "allocatable": int(allocatable[i]),
                }
                for i in order
                if possible[i]
            ],
        },
    }


def _round_up(number: int) -> int:
    """Round up to 1, 2 or 5 and zeros; from 1 MiB, to a power of two of mebibytes."""
    unit = 1 << 20 if number >= 1 << 20 else 1
    scale = unit
    while True:
        for step in _STEPS if unit == 1 else (1, 2, 4, 8):
            if step * scale >= number:
                return step * scale
        scale *= 10 if unit == 1 else 16


# NodeResourcesFit on a node: per resource the pod's request, the requested, allocatable, and missing amounts.

PODS = "pods"

_COLUMNS = (
    gettext_noop("resource"),
    gettext_noop("incoming"),
    gettext_noop("requested"),
    gettext_noop("allocatable"),
    gettext_noop("short"),
)


class ComparedResource(NamedTuple):
    """A resource that the pod requests, on one node; cpu in millicores, memory in bytes."""

    name: str
    incoming: int
    requested: int
    allocatable: int


def _row(pod: Pod, node: str, each: ComparedResource, lacking: int) -> Row:
    sources = (
        None if each.name == PODS else Source("Pod", pod.key, request_path(pod, each.name)),
        Source("Node", node),
        Source("Node", node, f"status.allocatable[{each.name}]"),
    )
    amounts = tuple((Amount(each.name, n, source),) for n, source in zip(each[1:], sources, strict=True))
    lacks = (Amount(each.name, lacking),) if lacking > 0 else ()
    return Row(((each.name,), *amounts, lacks), bad=lacking > 0)


# Queueing hints of NodeResourcesFit.
# kube: plugins/noderesources/fit.go @ v1.34.1


def after_pod_freed_resources(plugin: Any, pod: Pod, old: Pod, new: Pod | None) -> bool:
    """Return whether a changed pod frees resources for the pod. kube: isSchedulableAfterPodEvent"""
    if new is None:
        return was_placed(old)
    if new.uid == pod.uid:
        return True
    if not new.node_name:
        return False
    return _frees_wanted(whole_requests(pod), whole_requests(old), whole_requests(new))


def after_class_change(plugin: Any, pod: Pod, old: Manifest | None, new: Manifest) -> bool:
    """Return whether the class newly provides a resource that the pod requests. kube: isSchedulableAfterDeviceClassEvent @ v1.35.4"""
    name, wanted = new["spec"].get("extendedResourceName") or "", dict(whole_requests(pod).scalar)
    if old is None and f"deviceclass.resource.kubernetes.io/{new['metadata']['name']}" in wanted:
        return True
    return name in wanted and (old is None or (old["spec"].get("extendedResourceName") or "") != name)


def _frees_wanted(wanted: Resources, old: Resources, new: Resources) -> bool:
    names = ["cpu", "memory", "ephemeral-storage", *(name for name, _ in wanted.scalar)]
    return any(wanted.get(name) and old.get(name) > new.get(name) for name in names)


def after_node_resources_change(plugin: Any, pod: Pod, old: Node | None, new: Node) -> bool:
    """Return whether the node if empty fits the pod and is new or offers more; taints are ignored. kube: isSchedulableAfterNodeChange"""
    devices: bool = plugin.handle.features.dra_extended_resource
    if not _fits_empty(pod.spec.requests, new, devices):
        return False
    return old is None or _offers_more(pod.spec.requests, old, new, devices)


def _list_requested(requests: Resources) -> list[str]:
    names = ("cpu", "memory", "ephemeral-storage")
    scalar = [name for name, amount in requests.scalar if amount]
    return [*(name for name in names if requests.get(name)), *scalar]


def _fits_empty(requests: Resources, node: Node, devices: bool) -> bool:
    """Return whether an empty node fits the requests. `devices`: devices may provide scalar resources that the node lacks."""
    if node.allowed_pods < 1:
        return False
    return all(
        requests.get(name) <= node.allocatable.get(name) or (devices and _lacks(node, name))
        for name in _list_requested(requests)
    )


def _offers_more(requests: Resources, old: Node, new: Node, devices: bool) -> bool:
    if new.allowed_pods > old.allowed_pods:
        return True
    return any(
        new.allocatable.get(name) > old.allocatable.get(name) or (devices and _lacks(new, name))
        for name in _list_requested(requests)
    )


def _lacks(node: Node, name: str) -> bool:
    return name not in FIXED_RESOURCES and not has_scalar(node, name)


NAME = "NodeResourcesFit"

PRE_FILTER_STATE = "PreFilter" + NAME
DEVICE_CLASSES = PRE_FILTER_STATE + " device classes"

_TOO_MANY_PODS = Reason("TooManyPods", "Too many pods")
_INSUFFICIENT = Reason("InsufficientResource", "Insufficient <resource>")
TOO_MANY_PODS = _TOO_MANY_PODS()
REASONS = (
    _TOO_MANY_PODS,
    Reason("InsufficientCpu", _INSUFFICIENT(resource="cpu")),
    Reason("InsufficientMemory", _INSUFFICIENT(resource="memory")),
    Reason("InsufficientEphemeralStorage", _INSUFFICIENT(resource="ephemeral-storage")),
    Reason("InsufficientHugePages", _INSUFFICIENT(resource="hugepages-<size>")),
    _INSUFFICIENT,
)
NO_STATE = error(f'error reading "{PRE_FILTER_STATE}" from cycleState: not found')

_MOST_BITS = 60  # beyond this many checks a combination of failures does not fit an int64


def _insufficient(resource: str) -> str:
    return _INSUFFICIENT(resource=resource)


class NodeResourcesFit(Plugin):
    """Filter compares columns; Score runs the strategy of the arguments over defaulted container requests."""

    name = NAME
    reasons = REASONS
    arguments = FIT
    row_local = True
    events = (
        On("Pod", Action.DELETE | Action.UPDATE_POD_SCALE_DOWN, after_pod_freed_resources),
        On("Node", Action.ADD | Action.UPDATE_NODE_ALLOCATABLE, after_node_resources_change),
    )

    def __init__(self, args: Mapping[str, Any], handle: Handle) -> None:
        super().__init__(args, handle)
        self._ignored = frozenset(args.get("ignoredResources") or ())
        self._ignored_groups = frozenset(args.get("ignoredResourceGroups") or ())
        self._scoring: Mapping[str, Any] = args["scoringStrategy"]
        self._strategy = resource_allocation.strategy(self._scoring)
        self._devices_serve = handle.features.dra_extended_resource
        self._alone = Behavior.CLASSES_SERVE_ALONE in handle.features.behaviors
        self._hears_classes = self._devices_serve and Behavior.DEVICE_CLASSES_HEARD in handle.features.behaviors

    def registrations(self) -> tuple[On, ...]:
        events = self.events if self.handle.features.in_place_scaling else _WITHOUT_RESIZES
        return (*events, _CLASSES) if self._hears_classes else events

    def pre_filter(self, state: CycleState, pod: Pod, nodes: NodeTable) -> PreFilterResult:
        state.write(PRE_FILTER_STATE, pod.spec.requests)
        if self._devices_serve and pod.spec.requests.scalar:
            state.write(DEVICE_CLASSES, devices.find_class_resources(self.handle, pod.spec.requests, self._alone))
        return GO_ON

    def filter(self, state: CycleState, pod: Pod, nodes: NodeTable, rows: Rows) -> Verdicts | None:
        requests: Resources | None = state.get(PRE_FILTER_STATE)
        if requests is None:  # as in kube, PreFilter is required
            return Verdicts.refuse(np.ones(len(rows), np.bool_), NO_STATE)
        checks = self._checks(requests, nodes, rows)
        if self._devices_serve and requests.scalar:
            checks = devices.exclude_device_resources(checks, state.get(DEVICE_CLASSES), nodes, rows)
        failed = [check for check in checks if np.count_nonzero(check.fails)]
        return _verdicts(failed, len(rows)) if failed else None

    def pre_score(self, state: CycleState, pod: Pod, nodes: NodeTable, rows: Rows) -> Status:
        return SUCCESS

    def score(self, state: CycleState, pod: Pod, nodes: NodeTable, rows: Rows) -> Scores:
        requests = resource_allocation.compute_defaulted_requests(pod.spec)
        return self._strategy(
            resource_allocation.weigh(nodes, rows, self._scoring["resources"], requests, nonzero=True)
        )

    def score_placement(self, nodes: NodeTable, rows: Rows, pods: Sequence[Pod]) -> int:
        """Return the used share of all rows together, with these pods on them. kube: scorePlacement"""
        requests = sum((resource_allocation.compute_defaulted_requests(pod.spec) for pod in pods), Resources())
        weighed = resource_allocation.weigh(nodes, rows, self._scoring["resources"], requests, nonzero=True)
        summed = [
            replace(
                each,
                requested=np.array([each.requested.sum() - each.incoming * (len(rows) - 1)]),
                allocatable=np.array([each.allocatable.sum()]),
            )
            for each in weighed
        ]
        return int(resource_allocation.most_allocated(summed)[0])

    def describe_prepared(self, point: Point, state: CycleState, pod: Pod, nodes: NodeTable) -> Explanation:
        if point is Point.PRE_SCORE:
            return explain_weighed(self._scoring["resources"], resource_allocation.compute_defaulted_requests(pod.spec))
        return explain_requests(pod)

    def explain(self, state: CycleState, pod: Pod, nodes: NodeTable, row: int) -> Explanation:
        """Return the amounts that the filter compares, by resource."""
        wanted = [
            ComparedResource(name, incoming, _cell(nodes.requested, row, column), _cell(nodes.allocatable, row, column))
            for name, incoming, column in self._list_requests(pod.spec.requests, nodes)
        ]
        node = nodes.names[row]
        pods = int(nodes.pod_count[row])
        allowed_pods = int(nodes.allowed_pods[row])
        rows = [_row(pod, node, each, each.incoming + each.requested - each.allocatable) for each in wanted]
        rows.append(_row(pod, node, ComparedResource(PODS, 1, pods, allowed_pods), int(pods >= allowed_pods)))
        return (Table(_COLUMNS, tuple(rows)),)

    def formula(self, state: CycleState, pod: Pod, nodes: NodeTable, row: int) -> Formula:
        return fit_formula(self._scoring, pod, nodes, row)

    def evidence(self, state: CycleState, pod: Pod, nodes: NodeTable, rows: Rows, said: RefusalReason) -> Evidence:
        """Return how close the nodes are to fitting: the amounts of one resource that they lack, smallest first."""
        resource = _resource(said)
        if resource is None:
            return collect_crowding(nodes, rows) if said.code == _TOO_MANY_PODS.code else {}
        for name, wanted, column in self._list_requests(pod.spec.requests, nodes):
            if name == resource:
                return lacking(nodes, rows, name, wanted, column, f"resources.requests.{name}")
        return {}

    def propose_fixes(self, draft: Draft, refusal: Refusal) -> Iterator[Draft]:
        return fixes.propose(draft, refusal)

    def _list_requests(self, requests: Resources, nodes: NodeTable) -> list[tuple[str, int, int | None]]:
        """Return the pod's requests in kube's order: name, amount, and column (None if no node has the resource)."""
        columns = nodes.resources.columns
        fixed = [
            ("cpu", requests.milli_cpu, CPU),
            ("memory", requests.memory, MEMORY),
            ("ephemeral-storage", requests.ephemeral_storage, EPHEMERAL_STORAGE),
        ]
        scalar = [(name, n, columns.get(name)) for name, n in requests.scalar if not self._ignores(name)]
        return [wanted for wanted in [*fixed, *scalar] if wanted[1] > 0]

    def _ignores(self, resource: str) -> bool:
        if not (self._ignored or self._ignored_groups) or not is_extended_name(resource):
            return False
        return resource in self._ignored or resource.split("/", 1)[0] in self._ignored_groups

    def _checks(self, requests: Resources, nodes: NodeTable, rows: Rows) -> list[Check]:
        checks = [Check(TOO_MANY_PODS, nodes.pod_count[rows] + 1 > nodes.allowed_pods[rows])]
        for name, incoming, column in self._list_requests(requests, nodes):
            if column is None or column >= nodes.allocatable.shape[1]:
                everywhere = np.ones(len(rows), np.bool_)
                nothing = np.zeros(len(rows), np.int64)
                checks.append(Check(_insufficient(name), everywhere, name, incoming, nothing))
                continue
            allocatable = nodes.allocatable[:, column][rows]
            fails = allocatable - nodes.requested[:, column][rows] < incoming
            checks.append(Check(_insufficient(name), fails, name, incoming, allocatable))
        return checks


_CLASSES = On("resource.k8s.io/DeviceClass", Action.ADD | Action.UPDATE, after_class_change)
_WITHOUT_RESIZES = (
    On("Pod", Action.DELETE, after_pod_freed_resources),
    *(on for on in NodeResourcesFit.events if on.resource != "Pod"),
)


def _verdicts(failed: list[Check], count: int) -> Verdicts:
    """Build one status per distinct combination of failed checks."""
    bits = 2 * len(failed)
    pattern: NDArray[Any] = np.zeros(count, np.int64 if bits <= _MOST_BITS else np.object_)
    for check in failed:
        pattern = pattern * 4 + check.fails.astype(np.int64) * 2 + check.hopeless
    reason = np.full(count, -1, np.int32)
    refused = pattern != 0
    distinct, index = np.unique(pattern[refused], return_inverse=True)
    reason[refused] = index
    return Verdicts(reason, tuple(_status(int(p), failed) for p in distinct.tolist()))


def _status(pattern: int, failed: list[Check]) -> Status:
    reasons: list[str] = []
    hopeless = False
    for i, check in enumerate(failed):
        bits = pattern >> (2 * (len(failed) - 1 - i)) & 3
        if bits & 2:
            reasons.append(check.reason)
            hopeless = hopeless or bool(bits & 1)
    return Status(Code.UNRESOLVABLE if hopeless else Code.UNSCHEDULABLE, tuple(reasons))


def _resource(said: RefusalReason) -> str | None:
    """Return the resource that the node lacks by the reason; None if it is not a resource."""
    known = {
        "InsufficientCpu": "cpu",
        "InsufficientMemory": "memory",
        "InsufficientEphemeralStorage": "ephemeral-storage",
    }
    if "size" in said.values:
        return f"hugepages-{said.values['size']}"
    return known.get(said.code) or said.values.get("resource")


def _cell(columns: NDArray[np.int64], row: int, column: int | None) -> int:
    return 0 if column is None or column >= columns.shape[1] else int(columns[row, column])
