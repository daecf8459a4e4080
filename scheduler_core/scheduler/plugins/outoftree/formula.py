"""How the scoring plugins here come to a node's score."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from scheduler_core.scheduler.cache.table import NodeTable
from scheduler_core.scheduler.framework.explanation import Parts, Source, Words, gettext_noop
from scheduler_core.scheduler.framework.formula import (
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

_ALLOCATABLE = gettext_noop("allocatable on the node")
_WEIGHT = gettext_noop("weight of the resource")
NODE: Parts = (Words(gettext_noop("node")),)
_SMALL: Parts = (Words(gettext_noop("Mode Least: the less a node has to give, the better.")),)
_LARGE: Parts = (Words(gettext_noop("Mode Most: the more a node has to give, the better.")),)


def allocatable_formula(
    resources: Sequence[Mapping[str, Any]], nodes: NodeTable, row: int, *, small: bool
) -> Formula:
    """NodeResourcesAllocatable's score."""
    lines = [_amount(resource, nodes, row) for resource in resources]
    weights = total(*(Value(resource["weight"], _WEIGHT) for resource in resources))
    mean: Expression = by(total(*lines), weights)
    score = minus(constant(0), mean) if small else mean
    return Formula((*lines, Line(NODE, score)), (_SMALL if small else _LARGE,))


def _amount(resource: Mapping[str, Any], nodes: NodeTable, row: int) -> Line:
    name, column = resource["name"], nodes.resources.columns.get(resource["name"])
    held = column is not None and column < nodes.allocatable.shape[1]
    amount = int(nodes.allocatable[row, column]) if held else 0
    source = Source("Node", nodes.names[row], f"status.allocatable[{name}]")
    return Line(
        (name,), times(Value(amount, _ALLOCATABLE, source=source), Value(resource["weight"], _WEIGHT))
    )
