"""A RuntimeClass that asks for other nodes than the pod may go to, or for much overhead: both are written into every pod of the class."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from scheduler_core.analysis.fixes.diagnosis import Diagnosis
from scheduler_core.apimachinery.objects.affinity import wrong_labels
from scheduler_core.apimachinery.objects.quantity import nanos
from scheduler_core.scheduler.framework.drafts import Change, Draft
from scheduler_core.scheduler.plugins.noderesources.amounts import quantity, round_down
from scheduler_core.world.simulation import Simulation

KIND = "RuntimeClass"


def lower_overhead(draft: Draft, diagnosis: Diagnosis, rows: Iterable[int], sim: Simulation) -> Iterator[Draft]:
    """Yield, per row, a draft of class and pod with an overhead that is lower by what the node lacks when it is empty."""
    name = str(draft.original["spec"].get("runtimeClassName") or "")
    found = sim.store.get(KIND, "", name) if name else None
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
    manifest["spec"].pop("overhead", None)  # admission writes that of the class into the new pod


def relax_class_selector(draft: Draft, diagnosis: Diagnosis, rows: Iterable[int], sim: Simulation) -> Iterator[Draft]:
    """Yield, per row, a draft of class and pod without those entries of the class' node selector that the node does not match."""
    name = str(draft.original["spec"].get("runtimeClassName") or "")
    found = sim.store.get(KIND, "", name) if name else None
    scheduling = (found or {}).get("scheduling") or {}
    selector = scheduling.get("nodeSelector") or {}
    for row in rows:
        node = diagnosis.nodes.nodes[row]
        wrong = {key: value for key, value in wrong_labels(diagnosis.pod, node).items() if selector.get(key) == value}
        if found is None or not wrong:
            continue

        def edit(manifest: dict[str, Any], keys: Iterable[str] = tuple(wrong)) -> None:
            for key in keys:
                manifest["spec"]["nodeSelector"].pop(key, None)

        left = {key: value for key, value in selector.items() if key not in wrong}
        values = {"class": name, "labels": [f"{key}={value}" for key, value in wrong.items()]}
        changed = {**found, "scheduling": {**scheduling, "nodeSelector": left}}
        yield draft.with_pod(Change("runtime-class", values), edit).beside(changed).aimed_at(node.name)
