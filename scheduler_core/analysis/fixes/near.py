"""Near misses: for each group of nodes with the same rejection, the few nodes that lack the least."""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scheduler_core.analysis.fixes.diagnosis import Diagnosis
from scheduler_core.apimachinery.objects.affinity import misses, wrong_labels
from scheduler_core.apimachinery.objects.quantity import nanos
from scheduler_core.scheduler.framework import Change, Code, Draft
from scheduler_core.scheduler.framework.drafts import edit_at
from scheduler_core.scheduler.plugins.noderesources.amounts import quantity, round_down
from scheduler_core.world.simulation import Simulation

GROUPS = 12
LOOKED_AT = 200  # rows of a group whose labels are compared one by one
EACH = 2


def near_rows(diagnosis: Diagnosis) -> list[int]:
    """Return the rows to aim at: at most EACH per distinct rejection, the groups that lack the least first."""
    short = shortage(diagnosis)
    groups: dict[tuple[str, tuple[str, ...]], list[int]] = {}
    if diagnosis.whole is not None and len(diagnosis.nodes):
        groups[(diagnosis.whole.plugin, diagnosis.whole.reasons)] = list(range(len(diagnosis.nodes)))
    for row, status in sorted(diagnosis.refused.items()):
        groups.setdefault((status.plugin, status.reasons), []).append(row)
    chosen = [_nearest(diagnosis, rows, short) for rows in groups.values()]
    ranked = sorted(chosen, key=lambda rows: _rank(diagnosis, rows[0], short))
    return [row for rows in ranked[:GROUPS] for row in rows]


def shortage(diagnosis: Diagnosis) -> NDArray[np.float64]:
    """Return per row the missing share of the requests, summed over resources: 0 if all is free, 1 for each that is completely missing."""
    nodes, requests = diagnosis.nodes, diagnosis.pod.requests
    missing = np.zeros(len(nodes), np.float64)
    for name in ("cpu", "memory", "ephemeral-storage", *(scalar for scalar, _ in requests.scalar)):
        wanted = requests.get(name)
        column = nodes.resources.columns.get(name)
        if not wanted:
            continue
        if column is None or column >= nodes.allocatable.shape[1]:
            missing += 1.0
            continue
        free = nodes.allocatable[:, column] - nodes.requested[:, column]
        missing += np.clip((wanted - free) / wanted, 0.0, None)
    return missing + (nodes.pod_count >= nodes.allowed_pods)


def _nearest(diagnosis: Diagnosis, rows: list[int], short: NDArray[np.float64]) -> list[int]:
    by_room = sorted(rows, key=lambda row: (float(short[row]), row))[:LOOKED_AT]
    return sorted(by_room, key=lambda row: _rank(diagnosis, row, short))[:EACH]


def _rank(diagnosis: Diagnosis, row: int, short: NDArray[np.float64]) -> tuple[bool, int, float, int]:
    return bool(short[row] > 0), misses(diagnosis.pod, diagnosis.nodes.nodes[row]), float(short[row]), row


# A higher priority for the pod, which then preempts pods of lower priority.

KIND = "PriorityClass"
MOST_CLASSES = 2
HIGHEST = 1_000_000_000  # of a user's PriorityClass
_OF_THE_SYSTEM = "system-"
_NEVER = "Never"


def raise_priority(draft: Draft, diagnosis: Diagnosis, sim: Simulation) -> Iterator[Draft]:
    """Yield drafts with an existing class, or a new one just above the least important pods, if preemption can help."""
    rows = [row for row, status in diagnosis.refused.items() if status.code is Code.UNSCHEDULABLE]
    if diagnosis.whole is not None or not rows:
        return
    pod = diagnosis.pod
    floor = pod.priority if pod.spec.manifest.get("preemptionPolicy") != _NEVER else pod.priority - 1
    others = sorted({other.priority for row in rows for other in diagnosis.nodes.pods[row] if not other.deleting})
    useful = [priority for priority in others if priority >= floor and priority < HIGHEST]
    if floor < pod.priority:
        useful = [priority for priority in others if priority < pod.priority] or useful
    if not useful:
        return
    lowest = max(useful[0] + 1, pod.priority)
    classes = [
        each
        for each in sim.store.list(KIND)
        if int(each.get("value") or 0) >= lowest
        and (each.get("preemptionPolicy") or "") != _NEVER
        and not each["metadata"]["name"].startswith(_OF_THE_SYSTEM)
    ]
    classes.sort(key=lambda each: (int(each["value"]), each["metadata"]["name"]))
    for each in classes[:MOST_CLASSES]:
        yield _with_class(draft, each["metadata"]["name"], int(each["value"]), pod.priority)
    if not classes:
        yield _with_new_class(draft, lowest, pod.priority)


def _with_class(draft: Draft, name: str, value: int, was: int, *, new: bool = False) -> Draft:
    change = Change("priority", {"class": name, "value": value, "from": was, "new": new}, value / HIGHEST)
    edit = edit_at("spec", priorityClassName=name, priority=None, preemptionPolicy=None)
    return draft.with_pod(change, edit).taking_time()


def _with_new_class(draft: Draft, value: int, was: int) -> Draft:
    name = f"priority-{value}"
    manifest = {"apiVersion": "scheduling.k8s.io/v1", "kind": KIND, "metadata": {"name": name}, "value": value}
    changed = _with_class(draft, name, value, was, new=True)
    return changed.beside(manifest)


# A RuntimeClass with an unsuitable node selector or much overhead. Admission writes both into every pod of the class.

RUNTIME_CLASS = "RuntimeClass"


def lower_overhead(draft: Draft, diagnosis: Diagnosis, rows: Iterable[int], sim: Simulation) -> Iterator[Draft]:
    """Yield, per row, a draft of class and pod whose overhead is reduced by the amount that the empty node lacks."""
    name = str(draft.original["spec"].get("runtimeClassName") or "")
    found = sim.store.get(RUNTIME_CLASS, "", name) if name else None
    if found is None:
        return
    fixed = (found.get("overhead") or {}).get("podFixed") or {}
    for resource, amount in fixed.items():
        scale = 1_000_000 if resource == "cpu" else 1_000_000_000
        for node in (diagnosis.nodes.nodes[row] for row in rows):
            lacking = diagnosis.pod.requests.get(resource) - node.allocatable.get(resource)
            left = round_down(resource, nanos(amount) // scale - lacking)
            if lacking <= 0 or left < 0:
                continue
            text = quantity(resource, left)
            values = {"class": name, "resource": resource, "from": amount, "to": text}
            changed = {**found, "overhead": {"podFixed": {**fixed, resource: text}}}
            yield draft.with_pod(Change("overhead", values), _without_overhead).beside(changed).aimed_at(node.name)


def _without_overhead(manifest: dict[str, Any]) -> None:
    manifest["spec"].pop("overhead", None)  # admission writes the class' overhead into the new pod


def relax_class_selector(draft: Draft, diagnosis: Diagnosis, rows: Iterable[int], sim: Simulation) -> Iterator[Draft]:
    """Yield, per row, a draft of class and pod without the class' node selector entries that the node does not match."""
    name = str(draft.original["spec"].get("runtimeClassName") or "")
    found = sim.store.get(RUNTIME_CLASS, "", name) if name else None
    scheduling = (found or {}).get("scheduling") or {}
    selector = scheduling.get("nodeSelector") or {}
    for row in rows:
        node = diagnosis.nodes.nodes[row]
        wrong = {key: value for key, value in wrong_labels(diagnosis.pod, node).items() if selector.get(key) == value}
        if found is None or not wrong:
            continue
        edit = edit_at("spec", "nodeSelector", **dict.fromkeys(wrong))
        left = {key: value for key, value in selector.items() if key not in wrong}
        values = {"class": name, "labels": [f"{key}={value}" for key, value in wrong.items()]}
        changed = {**found, "scheduling": {**scheduling, "nodeSelector": left}}
        yield draft.with_pod(Change("runtime-class", values), edit).beside(changed).aimed_at(node.name)
