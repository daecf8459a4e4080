"""What NodeResourcesFit sees on a node: per resource what comes, what is taken, what there is, and what lacks."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.scheduler.framework.explanation import Amount, Explanation, Row, Source, Table, gettext_noop
from scheduler_core.scheduler.plugins.noderesources.formula import request_path

PODS = "pods"

_COLUMNS = (
    gettext_noop("resource"),
    gettext_noop("incoming"),
    gettext_noop("requested"),
    gettext_noop("allocatable"),
    gettext_noop("short"),
)


class Compared(NamedTuple):
    """A resource that the pod asks for on one node; cpu in millis, memory in bytes."""

    name: str
    incoming: int
    requested: int
    allocatable: int


def explain_resources(pod: Pod, node: str, wanted: Iterable[Compared], pods: int, allowed_pods: int) -> Explanation:
    """The pods that a node may run are a resource like the others. Each amount leads to where it is written."""
    rows = [_row(pod, node, each, each.incoming + each.requested - each.allocatable) for each in wanted]
    rows.append(_row(pod, node, Compared(PODS, 1, pods, allowed_pods), int(pods >= allowed_pods)))
    return (Table(_COLUMNS, tuple(rows)),)


def _row(pod: Pod, node: str, each: Compared, lacking: int) -> Row:
    sources = (
        None if each.name == PODS else Source("Pod", pod.key, request_path(pod, each.name)),
        Source("Node", node),
        Source("Node", node, f"status.allocatable[{each.name}]"),
    )
    amounts = tuple((Amount(each.name, n, source),) for n, source in zip(each[1:], sources, strict=True))
    lacks = (Amount(each.name, lacking),) if lacking > 0 else ()
    return Row(((each.name,), *amounts, lacks), bad=lacking > 0)
