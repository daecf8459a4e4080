"""What a pod asks of a node's labels, requirement by requirement: how many nodes meet it, and what the others have instead."""

from __future__ import annotations

from typing import Any

import numpy as np

from scheduler_core.apimachinery.objects.labels import IN, Requirement
from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.scheduler.cache.table import NodeTable
from scheduler_core.scheduler.framework.plugin import Evidence
from scheduler_core.scheduler.plugins.helper.node_selection import expression_mask

SHOWN_VALUES = 5
_FIELD = "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms"


def label_evidence(pod: Pod, nodes: NodeTable) -> Evidence:
    """The nodeSelector's entries, then the expressions of the required terms; `alternative`: the number of the term, as one is enough."""
    asked: list[tuple[Requirement, str, int]] = [
        (Requirement(key, IN, (value,)), f"spec.nodeSelector.{key}", -1)
        for key, value in (pod.spec.node_selector or {}).items()
    ]
    required = pod.spec.node_affinity_required
    for i, term in enumerate(() if required is None else required.terms):
        asked += [
            (expression, f"{_FIELD}[{i}].matchExpressions[{j}]", i) for j, expression in enumerate(term.expressions)
        ]
    return {"requirements": [_requirement(nodes, *each) for each in asked]}


def _requirement(nodes: NodeTable, requirement: Requirement, field: str, alternative: int) -> dict[str, Any]:
    column = nodes.label(requirement.key)
    counts = np.bincount(column.codes[column.codes >= 0], minlength=len(column.values))
    order = np.argsort(-counts, kind="stable")[:SHOWN_VALUES].tolist()
    return {
        "text": _format_requirement(requirement),
        "key": requirement.key,
        "field": field,
        **({} if alternative < 0 else {"alternative": alternative}),
        "matching": int(expression_mask(nodes, requirement).sum()),
        "labelled": int((column.codes >= 0).sum()),
        "values": [{"value": column.values[i], "nodes": int(counts[i])} for i in order],
    }


def _format_requirement(requirement: Requirement) -> str:
    """Return the requirement in kubectl's selector syntax."""
    single = requirement.op == IN and len(requirement.values) == 1
    return f"{requirement.key}={requirement.values[0]}" if single else str(requirement)
