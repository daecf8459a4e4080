"""NodeResourcesAllocatable: prefers small nodes, or large ones. Ours, after the plugin of that name in kubernetes-sigs/scheduler-plugins.

It scores the allocatable resources of a node, not the free ones: small nodes fill first, and large ones stay free for large pods.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from scheduler_core.apimachinery.objects.errors import FieldError, invalid, not_supported
from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.apimachinery.objects.strict import INTEGER64, STRING, ListOf
from scheduler_core.scheduler.cache.table import NodeTable
from scheduler_core.scheduler.framework import CycleState, Features
from scheduler_core.scheduler.framework.arguments import Arguments, Given, present
from scheduler_core.scheduler.framework.explanation import Source, gettext_noop, phrase
from scheduler_core.scheduler.framework.formula import (
    NODE,
    Expression,
    Formula,
    Line,
    Value,
    by,
    constant,
    minus,
    times,
    total,
)
from scheduler_core.scheduler.framework.plugin import MAX_NODE_SCORE, Rows, Scores
from scheduler_core.scheduler.plugins.helper.normalize import divide, span_normalization
from scheduler_core.scheduler.plugins.outoftree.base import OutOfTreePlugin

# Explanations of a node's score by the scoring plugins here.

_ALLOCATABLE = gettext_noop("allocatable on the node")
_WEIGHT = gettext_noop("weight of the resource")
_SMALL = phrase("Mode Least: the less allocatable, the higher the score.")
_LARGE = phrase("Mode Most: the more allocatable, the higher the score.")


def _amount(resource: Mapping[str, Any], nodes: NodeTable, row: int) -> Line:
    name, column = resource["name"], nodes.resources.columns.get(resource["name"])
    held = column is not None and column < nodes.allocatable.shape[1]
    amount = int(nodes.allocatable[row, column]) if held else 0
    source = Source("Node", nodes.names[row], f"status.allocatable[{name}]")
    return Line((name,), times(Value(amount, _ALLOCATABLE, source=source), Value(resource["weight"], _WEIGHT)))


LEAST, MOST = "Least", "Most"
CORE_TO_BYTES = 1 << 20  # a milli of CPU weighs as much as 1 MiB: a core as much as about 1 GiB


def _defaults(given: Given, features: Features) -> Given:
    resources = [{"name": "", "weight": 0, **present(each)} for each in given.get("resources") or ()]
    default = [{"name": "cpu", "weight": CORE_TO_BYTES}, {"name": "memory", "weight": 1}]
    return {"mode": given.get("mode") or LEAST, "resources": resources or default}


def _validate(args: Given, path: str, features: Features) -> list[FieldError]:
    errors = [] if args["mode"] in (LEAST, MOST) else [not_supported(f"{path}.mode", args["mode"], (LEAST, MOST))]
    for i, resource in enumerate(args["resources"]):
        if resource["weight"] <= 0:
            detail = f"resource weight of {resource['name']} should be a positive value, got {resource['weight']}"
            errors.append(invalid(f"{path}.resources[{i}].weight", resource["weight"], detail))
    return errors


class NodeResourcesAllocatable(OutOfTreePlugin):
    """Scores the weighed mean of what a node has to give: the least gets 100 in mode Least, the most in mode Most."""

    name = "NodeResourcesAllocatable"
    arguments = Arguments(
        {"mode": STRING, "resources": ListOf({"name": STRING, "weight": INTEGER64})}, _defaults, _validate, lenient=True
    )

    def score(self, state: CycleState, pod: Pod, nodes: NodeTable, rows: Rows) -> Scores:
        resources: list[dict[str, Any]] = self.args["resources"]
        total = np.zeros(len(rows), np.int64)
        for resource in resources:
            column = nodes.resources.columns.get(resource["name"])
            if column is not None and column < nodes.allocatable.shape[1]:
                total += nodes.allocatable[rows, column] * np.int64(resource["weight"])
        mean = divide(total, sum(resource["weight"] for resource in resources))
        return -mean if self.args["mode"] == LEAST else mean

    def normalize(self, state: CycleState, pod: Pod, nodes: NodeTable, rows: Rows, scores: Scores) -> Scores:
        lowest, highest = int(scores.min()), int(scores.max())
        if lowest == highest:
            return np.zeros(len(scores), np.int64)
        return divide((scores - lowest) * np.int64(MAX_NODE_SCORE), highest - lowest)

    def formula(self, state: CycleState, pod: Pod, nodes: NodeTable, row: int) -> Formula:
        # NodeResourcesAllocatable's score.
        resources = self.args["resources"]
        small = self.args["mode"] == LEAST
        lines = [_amount(resource, nodes, row) for resource in resources]
        weights = total(*(Value(resource["weight"], _WEIGHT) for resource in resources))
        mean: Expression = by(total(*lines), weights)
        score = minus(constant(0), mean) if small else mean
        return Formula((*lines, Line(NODE, score)), (_SMALL if small else _LARGE,))

    def normalization(
        self, state: CycleState, pod: Pod, nodes: NodeTable, rows: Rows, scores: Scores, i: int
    ) -> Formula:
        return span_normalization(nodes, rows, scores, i)
