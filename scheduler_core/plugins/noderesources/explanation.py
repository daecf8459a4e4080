"""What NodeResourcesFit sees on a node: per resource what comes, what is taken, what there is, and what lacks."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from scheduler_core.framework.explanation import Amount, Explanation, Row, Table, gettext_noop

_COLUMNS = (
    gettext_noop("resource"),
    gettext_noop("incoming"),
    gettext_noop("requested"),
    gettext_noop("allocatable"),
    gettext_noop("lacks"),
)


class Compared(NamedTuple):
    """A resource that the pod asks for on one node; cpu in millis, memory in bytes."""

    name: str
    incoming: int
    requested: int
    allocatable: int


def explained(wanted: Iterable[Compared], pods: int, allowed_pods: int) -> Explanation:
    """The pods that a node may run are a resource like the others."""
    rows = [_row(each, each.incoming + each.requested - each.allocatable) for each in wanted]
    rows.append(_row(Compared("pods", 1, pods, allowed_pods), int(pods >= allowed_pods)))
    return (Table(_COLUMNS, tuple(rows)),)


def _row(each: Compared, lacking: int) -> Row:
    amounts = tuple((Amount(each.name, value),) for value in each[1:])
    lacks = (Amount(each.name, lacking),) if lacking > 0 else ()
    return Row(((each.name,), *amounts, lacks), bad=lacking > 0)
