"""Results of a CEL plugin for a pod in the current world, on each node. The world does not change."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.scheduler.core.handle import WorldHandle
from scheduler_core.scheduler.framework import Code, NodeInfo, Status
from scheduler_core.scheduler.plugins.cel import Definition, expressions, plugin_of
from scheduler_core.scheduler.plugins.cel.explanation import values_of
from scheduler_core.scheduler.plugins.cel.expressions import Answer, CallBudget, EvaluationFailed
from scheduler_core.scheduler.plugins.cel.normalize import NORMALIZED
from scheduler_core.scheduler.plugins.cel.plugin import CelPlugin, as_score
from scheduler_core.world.commands import refuse
from scheduler_core.world.simulation import Simulation
from scheduler_core.world.simulation.own_plugins import require_compiled

MOST_NODES = 100


@dataclass(slots=True)
class ExpressionAnswer:
    """The result of one expression: its text, whether it is a rejection or a failure, and the values of its parts."""

    text: str
    refuses: bool = False
    fails: bool = False
    values: tuple[tuple[str, str], ...] = ()


@dataclass(slots=True)
class OnNode:
    """A plugin's results for one node, or None without such an expression. `victims`: each pod there, and whether to evict the pod."""

    node: str
    filter: ExpressionAnswer | None = None
    score: ExpressionAnswer | None = None
    normalized: int | None = None
    permit: ExpressionAnswer | None = None
    victims: tuple[tuple[str, ExpressionAnswer], ...] = ()


@dataclass(slots=True)
class Trial:
    """`left_out`: nodes beyond the first ones, or for which no cost budget was left."""

    pod: str
    pre_enqueue: ExpressionAnswer | None
    nodes: tuple[OnNode, ...]
    left_out: int = 0


def trial(sim: Simulation, name: str, definition: Definition, pod: Pod) -> Trial:
    """Run a plugin on the world in the current view of its first scheduler.

    Raise Refused if an expression does not compile, or no scheduler runs.
    """
    require_compiled(definition)
    if not sim.schedulers:
        raise refuse("plugin", name, "a running scheduler for the preview")
    scheduler = sim.schedulers[0]
    nodes = scheduler.cache.table()
    handle = WorldHandle(scheduler)
    plugin, spent = plugin_of(name, definition)({}, handle), CallBudget()
    held = None
    if definition.pre_enqueue:
        held, _ = _evaluate_field(plugin, "pre_enqueue", expressions.of_pod(pod, {}, handle.now), spent)
    found: list[OnNode] = []
    scores: list[int | None] = []
    for row in range(min(len(nodes), MOST_NODES)):
        if spent.left <= 0:
            break
        on_node, score = _on_node(plugin, pod, NodeInfo(nodes, row), spent)
        found.append(on_node)
        scores.append(score)
    _normalize(plugin, found, scores)
    return Trial(pod.key, held, tuple(found), len(nodes) - len(found))


def _on_node(plugin: CelPlugin, pod: Pod, info: NodeInfo, spent: CallBudget) -> tuple[OnNode, int | None]:
    """Return the plugin's results for a node, and the raw score."""
    definition, on_node, score = plugin.definition, OnNode(info.name), None
    if definition.filter:
        on_node.filter, _ = _evaluate_field(plugin, "filter", _build_variables(plugin, "filter", pod, info), spent)
    if definition.score:
        on_node.score, score = _evaluate_field(plugin, "score", _build_variables(plugin, "score", pod, info), spent)
    if definition.permit:
        given = {**_build_variables(plugin, "permit", pod, info), "waiting": plugin.waiting()}
        on_node.permit, _ = _evaluate_field(plugin, "permit", given, spent)
    if definition.post_filter:
        on_node.victims = tuple(_victims(plugin, pod, info, spent))
    return on_node, score


def _build_variables(plugin: CelPlugin, field: str, pod: Pod, info: NodeInfo) -> dict[str, Any]:
    return plugin.on_node(plugin.expression(field), pod, info)


def _victims(plugin: CelPlugin, pod: Pod, info: NodeInfo, spent: CallBudget) -> Iterable[tuple[str, ExpressionAnswer]]:
    for victim in info.pods:
        if victim.priority < pod.priority:
            given = {**_build_variables(plugin, "post_filter", pod, info), "victim": victim.manifest}
            yield victim.key, _evaluate_field(plugin, "post_filter", given, spent)[0]


def _evaluate_field(
    plugin: CelPlugin, field: str, given: Mapping[str, Any], spent: CallBudget
) -> tuple[ExpressionAnswer, int | None]:
    """Return the result of an expression, and its score, if any."""
    expression = plugin.expression(field)
    outcome = expression.evaluate(given, spent, watch=True)
    values = tuple(values_of(expression, outcome))
    try:
        answer = expression.read(outcome, spent)
        if field == "score":
            return ExpressionAnswer(str(as_score(answer)), values=values), as_score(answer)
    except EvaluationFailed as problem:
        return ExpressionAnswer(str(problem), fails=True, values=values), None
    if field == "post_filter":
        return ExpressionAnswer("", refuses=not answer, values=values), None
    status, timeout = _status(plugin, field, answer)
    if status.code is Code.WAIT:
        return ExpressionAnswer(f"Wait {timeout // 1_000_000_000}s", values=values), None
    return ExpressionAnswer(status.message, refuses=not status.ok, values=values), None


def _status(plugin: CelPlugin, field: str, answer: Answer) -> tuple[Status, int]:
    if field == "pre_enqueue":
        return plugin.let_in(answer), 0
    if field == "filter":
        return plugin.fits(answer), 0
    result = plugin.permitted(answer)
    return result.status, result.timeout


def _normalize(plugin: CelPlugin, found: list[OnNode], scores: list[int | None]) -> None:
    """Normalize the scores among the nodes that pass Filter, as in a cycle."""
    if plugin.definition.normalize not in NORMALIZED:
        return
    feasible = [
        i
        for i, on_node in enumerate(found)
        if scores[i] is not None and not (on_node.filter and (on_node.filter.refuses or on_node.filter.fails))
    ]
    if not feasible:
        return
    raw = np.array([scores[i] for i in feasible], np.int64)
    normal = NORMALIZED[plugin.definition.normalize](raw)
    for i, score in zip(feasible, normal.tolist(), strict=True):
        found[i].normalized = score
