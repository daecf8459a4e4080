"""A RuntimeClass that asks for other nodes than the pod may go to: what it asks for is written into every pod of the class."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from scheduler_core.analysis.fixes.diagnosis import Diagnosis
from scheduler_core.apimachinery.objects.selection import wrong_labels
from scheduler_core.scheduler.framework.drafts import Change, Draft
from scheduler_core.world.simulation import Simulation

KIND = "RuntimeClass"


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
