"""Framework: one profile's plugins, made from the configuration and ordered by extension point.

kube: framework/runtime/framework.go @ v1.34.1
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

import numpy as np

from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.base.trace.kinds import Facts, PluginRan, PointStarted, StatusData
from scheduler_core.base.trace.records import LazyFacts
from scheduler_core.scheduler.cache.table import NodeTable
from scheduler_core.scheduler.framework.cycle_state import CycleState
from scheduler_core.scheduler.framework.node_to_status import PluginStep
from scheduler_core.scheduler.framework.plugin import Handle, Plugin, Point, takes_part
from scheduler_core.scheduler.framework.profile import Profile
from scheduler_core.scheduler.framework.status import SUCCESS

# The runtime's view of the cycle in which a plugin runs.


class Cycle(Protocol):
    """A scheduling or binding cycle: its pod and state, the time and position of its current step, and its past steps."""

    @property
    def pod(self) -> Pod: ...

    @property
    def state(self) -> CycleState: ...

    @property
    def t(self) -> int: ...

    @property
    def position(self) -> int: ...

    @property
    def steps(self) -> list[PluginStep]: ...


class SnapshotCycle(Cycle, Protocol):
    """One that looks at a snapshot."""

    @property
    def nodes(self) -> NodeTable: ...


class NodeCycle(Cycle, Protocol):
    """A cycle that has a node for its pod."""

    @property
    def node(self) -> str: ...


@dataclass(slots=True)
class Trial:
    """A run of plugins for a pod outside of attempts: by diagnoses, by tests, by the corpora's drivers. It is not recorded."""

    pod: Pod
    nodes: NodeTable
    state: CycleState = field(default_factory=CycleState)
    node: str = ""
    t: int = 0
    position: int = 0
    steps: list[PluginStep] = field(default_factory=list)


# The records of steps: the only place that writes them, from the step alone. Plugins are not aware of them.


class Trace(Protocol):
    """A destination for records."""

    def record(self, facts: Facts | LazyFacts, scheduler: str = "", parent: int = 0) -> int: ...


class RecordedCycle(Cycle, Protocol):
    """A cycle with the span of its records, and of the present extension point's."""

    span: int
    point_span: int


def record_step(
    trace: Trace, scheduler: str, cycle: RecordedCycle, step: PluginStep, nodes: NodeTable | None = None
) -> None:
    """Record the cycle's last step. If the step is the first of its point, record the start of the point first.

    `nodes` has the names for the rows of a step with per-node results.
    """
    steps = cycle.steps
    if len(steps) < 2 or steps[-2].point is not step.point:
        started = PointStarted(step.point.value, cycle.pod.key)
        cycle.point_span = trace.record(started, scheduler, cycle.span)
    trace.record(StepFacts(step, cycle.pod.key, nodes), scheduler, cycle.point_span)


def record_gate(trace: Trace, scheduler: str, pod: Pod, step: PluginStep) -> None:
    """Record that a PreEnqueue plugin rejects a pod; the record belongs to no cycle."""
    trace.record(PluginRan(step.point.value, step.plugin, pod.key, step.status.to_json()), scheduler)


def facts_of(step: PluginStep, pod: str, nodes: NodeTable | None = None) -> PluginRan:
    """Return the record of a step; without `nodes`, it omits per-node facts."""
    status = step.status.to_json()
    if nodes is None:
        return PluginRan(step.point.value, step.plugin, pod, status, step.evaluated, step.refused)
    return PluginRan(
        step.point.value,
        step.plugin,
        pod,
        status,
        step.evaluated,
        step.refused,
        _collect_refusals(step, nodes),
        _scores(step, nodes),
        None if step.node_names is None else sorted(step.node_names),
        step.stage,
        None if step.evidence is None else step.evidence.to_json(),
    )


def _collect_refusals(step: PluginStep, nodes: NodeTable) -> dict[str, StatusData] | None:
    if step.verdicts is None:
        return None
    return {nodes.names[row]: status.to_json() for row, status in step.refusals()}


def _scores(step: PluginStep, nodes: NodeTable) -> dict[str, int] | None:
    if step.rows is None or step.scores is None:
        return None
    return {nodes.names[int(r)]: int(s) for r, s in zip(step.rows, step.scores, strict=True)}


@dataclass(slots=True, eq=False)
class StepFacts(LazyFacts):
    """The lazy facts of a step's record. Per-node facts are computed only when the record is read; `brief` is the rest."""

    KIND: ClassVar[str] = PluginRan.KIND
    step: PluginStep
    pod: str
    nodes: NodeTable | None

    def __call__(self) -> PluginRan:
        return facts_of(self.step, self.pod, self.nodes)

    def brief(self) -> dict[str, Any]:
        """Return the record's data without the parts that grow with the number of nodes."""
        return facts_of(self.step, self.pod).to_json()

    def codes(self) -> list[str]:
        """Return the plugin's codes: the one for the pod, and each code of at least one node."""
        step, out = self.step, [self.step.status.code.kube_name]
        if step.verdicts is not None and step.refused:
            out += [status.code.kube_name for status, _ in step.verdicts.counted()]
        return out

    def code_of(self, node: str) -> str | None:
        """Return the code for one node: of its rejection, or Success if it passed or has a score; None if it was not evaluated."""
        step, row = self.step, None if self.nodes is None else self.nodes.row(node)
        if step.rows is None or row is None:
            return None
        places = np.flatnonzero(step.rows == row)
        if not len(places):
            return None
        refusal = None if step.verdicts is None else step.verdicts.status_at(int(places[0]))
        return (SUCCESS if refusal is None else refusal).code.kube_name


class Framework:
    """The plugins of one profile, each created once; a point has the plugins that are enabled for it and implement it."""

    def __init__(self, profile: Profile, registry: Mapping[str, type[Plugin]], handle: Handle) -> None:
        self.profile = profile
        self.behaviors = handle.features.behaviors
        self.extended = False  # the scheduler has extenders
        self.signers: tuple[Plugin, ...] | None = None  # the plugins that sign pods; None: not computed yet
        self.name = profile.scheduler_name
        self._plugins: dict[str, Plugin] = {}
        self._points: dict[Point, tuple[Plugin, ...]] = {}
        self._running: dict[tuple[Point, tuple[str, ...]], tuple[int, ...]] = {}
        self.weights: dict[str, int] = {}
        for point in Point:
            enabled = profile.plugins.get(point, ())
            self._points[point] = tuple(
                self._make(name, registry, handle) for name, _ in enabled if takes_part(registry[name], point)
            )
        for name, weight in profile.plugins.get(Point.SCORE, ()):
            self.weights[name] = weight
        self._points[Point.NORMALIZE_SCORE] = tuple(
            plugin for plugin in self._points[Point.SCORE] if takes_part(type(plugin), Point.NORMALIZE_SCORE)
        )
        # Reversed, as in kube: the last reservation is undone first.
        self._points[Point.UNRESERVE] = tuple(
            plugin for plugin in reversed(self._points[Point.RESERVE]) if takes_part(type(plugin), Point.UNRESERVE)
        )

    def _make(self, name: str, registry: Mapping[str, type[Plugin]], handle: Handle) -> Plugin:
        if name not in self._plugins:
            self._plugins[name] = registry[name](self.profile.args.get(name, {}), handle)
        return self._plugins[name]

    def at(self, point: Point) -> tuple[Plugin, ...]:
        """Return the plugins of an extension point in run order."""
        return self._points[point]

    def running(self, point: Point, skip: tuple[str, ...]) -> tuple[int, ...]:
        """Return the indexes of an extension point's plugins without the skipped ones."""
        # Safe to keep: the plugins of a point are fixed in __init__, and there are few combinations of Skip.
        indices = self._running.get((point, skip))
        if indices is None:
            plugins = self._points[point]
            indices = tuple(i for i, plugin in enumerate(plugins) if plugin.name not in skip)
            self._running[(point, skip)] = indices
        return indices

    def has(self, point: Point) -> bool:
        """Return whether the profile enables a plugin for a point. kube: HasFilterPlugins, HasScorePlugins"""
        return bool(self.profile.plugins.get(point))

    def plugin(self, name: str) -> Plugin | None:
        return self._plugins.get(name)

    @property
    def percentage_of_nodes_to_score(self) -> int | None:
        return self.profile.percentage_of_nodes_to_score

    @property
    def plugins(self) -> tuple[Plugin, ...]:
        """Every plugin of the profile once."""
        return tuple(self._plugins.values())
