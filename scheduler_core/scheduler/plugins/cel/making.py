"""Plugin classes from definitions."""

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, ClassVar

from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.scheduler.cache.table import NodeTable
from scheduler_core.scheduler.framework import Arguments, CycleState, NodeInfo, On, Status
from scheduler_core.scheduler.framework.plugin import Failure, Handle, PostFilterResult
from scheduler_core.scheduler.plugins.cel import plugin
from scheduler_core.scheduler.plugins.cel.expressions import CallBudget, Definition, EvaluationFailed
from scheduler_core.scheduler.plugins.cel.plugin import CelPlugin, build_error_status, pre_enqueue
from scheduler_core.scheduler.plugins.defaultpreemption import DefaultPreemption

# Custom preemption in CEL: kube's algorithm, among the victims that an expression allows.
# kube: plugins/defaultpreemption/default_preemption.go (IsEligiblePod) @ v1.34.1

_DEFAULTS = {"minCandidateNodesPercentage": 10, "minCandidateNodesAbsolute": 100}


class OwnPreemption(CelPlugin, DefaultPreemption):
    """Does what DefaultPreemption does, in its place; who may not be evicted is not looked at."""

    arguments: ClassVar[Arguments | None] = None
    chooses_victims = True

    def __init__(self, args: Mapping[str, Any], handle: Handle) -> None:
        super().__init__(args, handle)
        self.args = {**_DEFAULTS, **args}
        self._spent = CallBudget()

    def registrations(self) -> tuple[On, ...]:
        return (*CelPlugin.registrations(self), *DefaultPreemption.registrations(self))

    def both_at_pre_enqueue(self, pod: Pod) -> Status:
        """Gate the pod while its victims are being evicted, or if the expression gates it."""
        status = super().pre_enqueue(pod)
        return pre_enqueue(self, pod) if status.ok else status

    def post_filter(self, state: CycleState, pod: Pod, nodes: NodeTable, failure: Failure) -> PostFilterResult:
        self._spent = CallBudget()
        try:
            return super().post_filter(state, pod, nodes, failure)
        except EvaluationFailed as problem:
            return PostFilterResult(build_error_status("post_filter", problem))

    def is_eligible(self, nodes: NodeTable, row: int, victim: Pod, preemptor: Pod) -> bool:
        expression, info = self.expression("post_filter"), NodeInfo(nodes, row)
        given = {**self.on_node(expression, preemptor, info), "victim": victim.manifest}
        try:
            return bool(expression.answer(given, self._spent))
        except EvaluationFailed as problem:
            raise EvaluationFailed(f"{problem} (victim {victim.key} on node {info.name})") from problem


# Field of the definition -> the method of its extension point.
_METHODS: Mapping[str, tuple[str, Callable[..., Any]]] = {
    "pre_enqueue": ("pre_enqueue", plugin.pre_enqueue),
    "filter": ("filter", plugin.filter_rows),
    "score": ("score", plugin.score),
    "permit": ("permit", plugin.permit),
}


@lru_cache(maxsize=256)
def plugin_of(name: str, definition: Definition) -> type[CelPlugin]:
    """Return the class for a definition whose expressions compile. Equal names and definitions share a class."""
    members: dict[str, Any] = {"name": name, "definition": definition, "__doc__": definition.description}
    for field, (method, function) in _METHODS.items():
        if getattr(definition, field):
            members[method] = function
    if definition.score and definition.normalize != "none":
        members["normalize"] = plugin.normalize
    base: type[CelPlugin] = CelPlugin
    if definition.post_filter:
        base = OwnPreemption
        if definition.pre_enqueue:
            members["pre_enqueue"] = OwnPreemption.both_at_pre_enqueue
    made: type[CelPlugin] = type(name, (base,), members)
    return made


def plugins_of(definitions: Mapping[str, Definition]) -> tuple[type[CelPlugin], ...]:
    """Return the plugin classes of a world's definitions."""
    return tuple(plugin_of(name, definition) for name, definition in definitions.items())
