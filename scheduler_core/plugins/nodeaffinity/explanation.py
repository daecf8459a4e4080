"""What NodeAffinity sees on a node: each requirement beside the node's own value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from scheduler_core.framework.explanation import (
    Aside,
    Code,
    Explanation,
    Parts,
    Row,
    Table,
    Words,
    gettext_noop,
)
from scheduler_core.objects.labels import IN, NodeSelectorTerm, Requirement, accepts_field
from scheduler_core.objects.node import Node

_COLUMNS = gettext_noop("asked for"), gettext_noop("the node has")
_TERM, _NO_LABEL = Words(gettext_noop("term")), Words(gettext_noop("no such label"))


def explained(node_selector: Mapping[str, str], terms: Sequence[NodeSelectorTerm], node: Node) -> Explanation:
    """`terms` are numbered."""
    rows = [_of_label(Requirement(key, IN, (value,)), node, 0) for key, value in node_selector.items()]
    for number, term in enumerate(terms, 1):
        rows += [_of_label(requirement, node, number) for requirement in term.expressions]
        rows += [_row(field, node.name, accepts_field(field, node.name), number) for field in term.fields]
    return (Table(_COLUMNS, tuple(rows)),) if rows else ()


def _of_label(requirement: Requirement, node: Node, term: int) -> Row:
    value = node.labels.get(requirement.key)
    return _row(requirement, value, requirement.accepts(value), term)


def _row(requirement: Requirement, value: str | None, holds: bool, term: int) -> Row:
    wanted = f"{requirement.key} {requirement.op} {', '.join(requirement.values)}".rstrip()
    number: Parts = (Aside((_TERM, f" {term}")), " ") if term else ()
    return Row(((*number, Code(wanted)), (Code(value) if value else _NO_LABEL,)), bad=not holds)
