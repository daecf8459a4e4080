"""OraclePermit: a plugin of the corpus that follows a pod's annotations. README-queue.md"""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import replace

from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.base.clock.agenda import SECOND
from scheduler_core.base.releases import Behavior
from scheduler_core.scheduler.cache.table import NodeTable
from scheduler_core.scheduler.framework.cycle_state import PODS_TO_ACTIVATE, CycleState
from scheduler_core.scheduler.framework.events import ASSIGNED_POD, UNSCHEDULED_POD, Action, On
from scheduler_core.scheduler.framework.plugin import CallResult, PermitResult, Plugin, PreFilterResult
from scheduler_core.scheduler.framework.status import SUCCESS, Code, Status, error, pending, unresolvable, unschedulable
from scheduler_core.scheduler.plugins.registry import with_plugins

NAME = "OraclePermit"

_ANSWERS = {
    "reject": unschedulable("oracle says no"),
    "unresolvable": unresolvable("oracle says never"),
    "pending": pending("oracle says later"),
    "error": error("oracle error"),
}


def _get_annotation(pod: Pod, what: str) -> str:
    return pod.annotations.get(f"oracle.io/{what}", "")


def _answer(pod: Pod, what: str) -> Status:
    return _ANSWERS.get(_get_annotation(pod, what), SUCCESS)


def _after_pod_label_change(plugin: OraclePermit, pod: Pod, old: Pod, new: Pod) -> bool:
    return new.uid == pod.uid or new.labels.get("oracle.io/go") == "true"


class OraclePermit(Plugin):
    """A plugin that rejects, waits, and fails as the pod's annotations say."""

    name = NAME
    events = (On("Node", Action.ADD), On("Pod", Action.UPDATE_POD_LABEL, _after_pod_label_change))

    def registrations(self) -> tuple[On, ...]:
        if Behavior.SPLIT_POD_EVENTS not in self.handle.features.behaviors:
            return self.events
        node, pods = self.events
        return (node, *(replace(pods, resource=resource) for resource in (ASSIGNED_POD, UNSCHEDULED_POD)))

    def pre_enqueue(self, pod: Pod) -> Status:
        return unresolvable("oracle gate") if _get_annotation(pod, "preenqueue") == "gate" else SUCCESS

    def pre_filter(self, state: CycleState, pod: Pod, nodes: NodeTable) -> PreFilterResult:
        return PreFilterResult(_answer(pod, "prefilter"))

    def reserve(self, state: CycleState, pod: Pod, node_name: str) -> Status:
        return _answer(pod, "reserve")

    def unreserve(self, state: CycleState, pod: Pod, node_name: str) -> None:
        return

    def permit(self, state: CycleState, pod: Pod, node_name: str) -> PermitResult:
        wanted = tuple(key.strip() for key in _get_annotation(pod, "activate").split(",") if key.strip())
        if wanted:
            state.write(PODS_TO_ACTIVATE, wanted)
        word, _, seconds = _get_annotation(pod, "permit").partition(":")
        if word == "wait":
            return PermitResult(Status(Code.WAIT), round(float(seconds) * SECOND))
        return PermitResult(_answer(pod, "permit"))

    def will_pre_bind(self, state: CycleState, pod: Pod, node_name: str) -> bool:
        return False

    def pre_bind(self, state: CycleState, pod: Pod, node_name: str) -> CallResult:
        return CallResult(_answer(pod, "prebind"))


def oracle() -> AbstractContextManager[None]:
    """While it lasts, configurations may name the plugin."""
    return with_plugins(OraclePermit)
