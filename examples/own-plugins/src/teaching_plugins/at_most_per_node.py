"""AtMostPerNode: no more pods of an app on one node than the arguments say. Written node by node, as kube's plugins are.

PreFilter counts once; Filter looks the count up. Nominated pods and preemption ask "what if this pod were there, or gone": AddPod and
RemovePod then change the count, in a copy of the state that is of that node alone.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from scheduler_core.apimachinery.objects.errors import FieldError, invalid
from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.apimachinery.objects.strict import INTEGER64, STRING
from scheduler_core.scheduler.cache.table import NodeTable
from scheduler_core.scheduler.framework.arguments import Arguments, Given, when_absent
from scheduler_core.scheduler.framework.cycle_state import CycleState
from scheduler_core.scheduler.framework.events import ASSIGNED_POD, Action, On
from scheduler_core.scheduler.framework.features import Features
from scheduler_core.scheduler.framework.per_node import NodeInfo, PerNodePlugin
from scheduler_core.scheduler.framework.plugin import PreFilterResult
from scheduler_core.scheduler.framework.status import SKIP, SUCCESS, Status, unresolvable, unschedulable

NAME = "AtMostPerNode"


@dataclass(frozen=True, slots=True)
class Counts:
    """Pods of the app by node. Frozen: a changed count is a new object, so that copies of a cycle may share it."""

    app: str
    by_node: tuple[tuple[str, int], ...]

    def on(self, node: str) -> int:
        return dict(self.by_node).get(node, 0)

    def with_one(self, node: str, more: int) -> Counts:
        return replace(self, by_node=tuple({**dict(self.by_node), node: self.on(node) + more}.items()))


def _validate(args: Given, path: str, features: Features) -> list[FieldError]:
    most = args["most"]
    return [] if most >= 1 else [invalid(f"{path}.most", most, "must be greater than or equal to 1")]


def same_app_left(plugin: Any, pod: Pod, old: Any, new: Any) -> bool:
    """A hint: whether a deleted pod was of the same app, so that a node may have room for this one again."""
    label = plugin.args["label"]
    return isinstance(old, Pod) and old.labels.get(label) == pod.labels.get(label)


class AtMostPerNode(PerNodePlugin):
    """Filter. Its arguments: `label` names the app (default `app`), `most` is how many of one may share a node (default 1)."""

    name = NAME
    arguments = Arguments({"label": STRING, "most": INTEGER64}, when_absent(label="app", most=1), validate=_validate)
    events = (
        On(ASSIGNED_POD, Action.DELETE, same_app_left),
        On("Node", Action.ADD),
    )  # EventsToRegister; a registration without a hint always helps
    state_classes = (Counts,)  # what it leaves in a cycle: a checkpoint has to know

    def pre_enqueue(self, pod: Pod) -> Status:
        if pod.labels.get(self.args["label"]) == "":
            return unresolvable(f"the label {self.args['label']} is empty")
        return SUCCESS

    def pre_filter(self, state: CycleState, pod: Pod, nodes: NodeTable) -> PreFilterResult:
        app = pod.labels.get(self.args["label"])
        if app is None:
            return PreFilterResult(SKIP)  # then Filter is not asked in this cycle
        counts = (
            (name, sum(self._is(other, app) for other in nodes.pods[row])) for row, name in enumerate(nodes.names)
        )
        state.write(NAME, Counts(app, tuple(counts)))
        return PreFilterResult()

    def add_pod(self, state: CycleState, pod: Pod, added: Pod, node: NodeInfo) -> None:
        self._count(state, added, node, 1)

    def remove_pod(self, state: CycleState, pod: Pod, removed: Pod, node: NodeInfo) -> None:
        self._count(state, removed, node, -1)

    def filter_node(self, state: CycleState, pod: Pod, node: NodeInfo) -> Status | None:
        counts: Counts = state.read(NAME)
        if counts.on(node.name) < self.args["most"]:
            return None
        return unschedulable(f"node(s) already had {self.args['most']} pod(s) of the app")

    def _count(self, state: CycleState, other: Pod, node: NodeInfo, more: int) -> None:
        counts: Counts = state.read(NAME)
        if self._is(other, counts.app):
            state.write(NAME, counts.with_one(node.name, more))

    def _is(self, pod: Pod, app: str) -> bool:
        return pod.labels.get(self.args["label"]) == app
