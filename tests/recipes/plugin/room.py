"""QuietNodes: refuses nodes whose label says that they are loud. Made up for tests/test_contributing.py.

kube: none, our own
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from scheduler_core.apimachinery.objects.errors import FieldError
from scheduler_core.apimachinery.objects.node import Node
from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.apimachinery.objects.strict import STRING
from scheduler_core.scheduler.cache.table import NodeTable
from scheduler_core.scheduler.framework.arguments import Arguments, Given, when_absent
from scheduler_core.scheduler.framework.cycle_state import CycleState
from scheduler_core.scheduler.framework.drafts import Draft, Refusal
from scheduler_core.scheduler.framework.events import Action, On
from scheduler_core.scheduler.framework.explanation import Code, Explanation, Row, Table, gettext_noop
from scheduler_core.scheduler.framework.features import Features
from scheduler_core.scheduler.framework.plugin import Handle, Plugin, PreFilterResult, Rows, Verdicts
from scheduler_core.scheduler.framework.status import unschedulable
from scheduler_core.scheduler.plugins.helper.arguments import name_errors
from scheduler_core.scheduler.plugins.helper.fixes import label_node

NAME = "QuietNodes"

REFUSED = unschedulable("node(s) were too loud")

LOUD, QUIET = "loud", "quiet"
_COLUMNS = gettext_noop("label"), gettext_noop("the node has")


@dataclass(frozen=True, slots=True)
class Noise:
    """The label that the cycle looks at."""

    key: str


def _validate(args: Given, path: str, features: Features) -> list[FieldError]:
    return name_errors(args["label"], f"{path}.label")


def after_node_quietened(plugin: QuietNodes, pod: Pod, old: Node | None, new: Node) -> bool:
    """Queueing hint."""
    return new.labels.get(plugin.key) != LOUD


class QuietNodes(Plugin):
    """Asks the label once per distinct value."""

    name = NAME
    arguments = Arguments(fields={"label": STRING}, defaults=when_absent(label="noise"), validate=_validate)
    events = (On("Node", Action.ADD | Action.UPDATE_NODE_LABEL, after_node_quietened),)
    state_classes = (Noise,)
    row_local = True

    def __init__(self, args: Mapping[str, Any], handle: Handle) -> None:
        super().__init__(args, handle)
        self.key: str = args["label"]

    def pre_filter(self, state: CycleState, pod: Pod, nodes: NodeTable) -> PreFilterResult:
        state.write(NAME, Noise(self.key))
        return PreFilterResult()

    def filter(self, state: CycleState, pod: Pod, nodes: NodeTable, rows: Rows) -> Verdicts | None:
        column = nodes.label(self.key)
        loud = np.array([*(value == LOUD for value in column.values), False], np.bool_)[column.codes][rows]
        return Verdicts.refuse(loud, REFUSED) if loud.any() else None

    def explain(self, state: CycleState, pod: Pod, nodes: NodeTable, row: int) -> Explanation:
        value = nodes.nodes[row].labels.get(self.key, "-")
        return (Table(_COLUMNS, (Row(((Code(self.key),), (value,)), bad=value == LOUD),)),)

    def propose_fixes(self, draft: Draft, refusal: Refusal) -> Iterator[Draft]:
        yield label_node(draft, refusal.node, [(self.key, QUIET)])
