"""The plugin of a CEL definition: a class like any other plugin, with a method for each expression."""

import math
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.scheduler.cache.table import NodeTable
from scheduler_core.scheduler.framework import Arguments, CycleState, Explanation, Formula, NodeInfo, plugin
from scheduler_core.scheduler.framework.events import EVERYTHING, On
from scheduler_core.scheduler.framework.status import SUCCESS, Code, Status, error, unresolvable, unschedulable
from scheduler_core.scheduler.plugins.cel import expressions
from scheduler_core.scheduler.plugins.cel.explanation import explain_expression
from scheduler_core.scheduler.plugins.cel.expressions import Definition
from scheduler_core.scheduler.plugins.cel.formula import answer_formula, normalization_formula
from scheduler_core.scheduler.plugins.cel.normalize import NORMALIZED

SECOND = 1_000_000_000
MAX_PERMIT_WAIT = 15 * 60 * SECOND  # kube: maxTimeout
REFUSING = ("pre_enqueue", "filter", "permit")


class CelPlugin(plugin.Plugin):
    """Base of plugins in CEL. They hold no state, so that nothing of them is in a checkpoint but what their answers led to."""

    definition: ClassVar[Definition]
    arguments: ClassVar[Arguments | None] = None
    explains = (plugin.Point.FILTER, plugin.Point.SCORE)

    def __init__(self, args: Mapping[str, Any], handle: plugin.Handle) -> None:
        super().__init__(args, handle)
        self.given = args

    def registrations(self) -> tuple[On, ...]:
        """Return all events if an expression can refuse, as kube does for plugins that name none: expressions name no events."""
        return EVERYTHING if any(getattr(self.definition, field) for field in REFUSING) else ()

    def explain(self, state: CycleState, pod: Pod, nodes: NodeTable, row: int) -> Explanation:
        """Explain the Filter and Score expressions on a node with the values of their parts."""
        info = NodeInfo(nodes, row)
        return tuple(
            block
            for field in ("filter", "score")
            if getattr(self.definition, field)
            for block in explain_expression(self.expression(field), self.on_node(self.expression(field), pod, info))
        )

    def formula(self, state: CycleState, pod: Pod, nodes: NodeTable, row: int) -> Formula | None:
        """Evaluate the Score expression again. Return None if it has no result."""
        if not self.definition.score:
            return None
        expression = self.expression("score")
        try:
            answer = expression.answer(self.on_node(expression, pod, NodeInfo(nodes, row)), expressions.CallBudget())
        except expressions.EvaluationFailed:
            return None
        return answer_formula(expression.program.text, answer)

    def normalization(
        self, state: CycleState, pod: Pod, nodes: NodeTable, rows: plugin.Rows, scores: plugin.Scores, i: int
    ) -> Formula | None:
        return normalization_formula(self.definition.normalize, nodes, rows, scores, i)

    def expression(self, field: str) -> expressions.CompiledExpression:
        return expressions.compile_expression(field, getattr(self.definition, field))

    def on_node(self, expression: expressions.CompiledExpression, pod: Pod, info: NodeInfo) -> dict[str, Any]:
        """Return an expression's variables for one node."""
        return expressions.of_pod(pod, self.given, self.handle.now) | expressions.of_node(info, expression.used)

    def waiting(self) -> list[Mapping[str, Any]]:
        """Return the manifests of the pods that wait on Permit for this plugin."""
        return [each.pod.manifest for each in self.handle.waiting_pods() if self.name in each.pending]

    # Results of expressions as statuses

    def let_in(self, answer: expressions.Answer) -> Status:
        """Convert a result to the status of PreEnqueue."""
        if answer is True or answer == "":
            return SUCCESS
        return unresolvable(answer if isinstance(answer, str) else f"held back by plugin {self.name}")

    def fits(self, answer: expressions.Answer) -> Status:
        """Convert a result to the status of Filter."""
        if answer is True or answer == "":
            return SUCCESS
        refuse = unresolvable if self.definition.unresolvable else unschedulable
        return refuse(answer if isinstance(answer, str) else f"node(s) didn't satisfy plugin {self.name}")

    def permitted(self, answer: expressions.Answer) -> plugin.PermitResult:
        """Convert a result to the result of Permit."""
        seconds = answer if type(answer) is int else None
        if answer is True or answer == "" or seconds == 0:
            return plugin.PermitResult()
        if seconds is not None and seconds > 0:
            return plugin.PermitResult(Status(Code.WAIT), min(seconds * SECOND, MAX_PERMIT_WAIT))
        return plugin.PermitResult(
            unschedulable(answer if isinstance(answer, str) else f"rejected by plugin {self.name}")
        )


def build_error_status(field: str, problem: expressions.EvaluationFailed, node: str = "") -> Status:
    """Return the Error status of an expression without a result."""
    where = f' on node "{node}"' if node else ""
    return error(f"evaluating CEL expression of {LABELS[field]}{where}: {problem}")


LABELS = {
    "pre_enqueue": "PreEnqueue",
    "filter": "Filter",
    "score": "Score",
    "permit": "Permit",
    "post_filter": "PostFilter",
}


def pre_enqueue(self: CelPlugin, pod: Pod) -> Status:
    try:
        answer = self.expression("pre_enqueue").answer(
            expressions.of_pod(pod, self.given, self.handle.now), expressions.CallBudget()
        )
    except expressions.EvaluationFailed as problem:
        return build_error_status("pre_enqueue", problem)
    return self.let_in(answer)


def filter_rows(
    self: CelPlugin, state: CycleState, pod: Pod, nodes: NodeTable, rows: plugin.Rows
) -> plugin.Verdicts | None:
    """Filter node by node. The first error ends the cycle."""
    expression, spent = self.expression("filter"), expressions.CallBudget()
    reason = np.full(len(rows), -1, np.int32)
    statuses: dict[Status, int] = {}
    for i, row in enumerate(rows.tolist()):
        info = NodeInfo(nodes, row)
        try:
            status = self.fits(expression.answer(self.on_node(expression, pod, info), spent))
        except expressions.EvaluationFailed as problem:
            reason[i] = statuses.setdefault(build_error_status("filter", problem, info.name), len(statuses))
            break
        if not status.ok:
            reason[i] = statuses.setdefault(status, len(statuses))
    return plugin.Verdicts(reason, tuple(statuses)) if statuses else None


def score(self: CelPlugin, state: CycleState, pod: Pod, nodes: NodeTable, rows: plugin.Rows) -> plugin.Scores | Status:
    """Score node by node. The first error ends the cycle."""
    expression, spent = self.expression("score"), expressions.CallBudget()
    scores = np.zeros(len(rows), np.int64)
    for i, row in enumerate(rows.tolist()):
        info = NodeInfo(nodes, row)
        try:
            scores[i] = as_score(expression.answer(self.on_node(expression, pod, info), spent))
        except expressions.EvaluationFailed as problem:
            return build_error_status("score", problem, info.name)
    return scores


def as_score(answer: expressions.Answer) -> int:
    if isinstance(answer, bool):
        return plugin.MAX_NODE_SCORE * answer
    if isinstance(answer, float) and not (math.isfinite(answer) and abs(answer) < 2.0**63):
        raise expressions.EvaluationFailed(f"received {answer} as its answer; expected a number of 64 bits")
    return int(answer)


def normalize(
    self: CelPlugin, state: CycleState, pod: Pod, nodes: NodeTable, rows: plugin.Rows, scores: plugin.Scores
) -> plugin.Scores:
    return NORMALIZED[self.definition.normalize](scores)


def permit(self: CelPlugin, state: CycleState, pod: Pod, node_name: str) -> plugin.PermitResult:
    expression, nodes = self.expression("permit"), self.handle.snapshot
    row = nodes.row(node_name)
    if row is None:
        return plugin.PermitResult(error(f'node "{node_name}" not found'))
    given = {**self.on_node(expression, pod, NodeInfo(nodes, row)), "waiting": self.waiting()}
    try:
        answer = expression.answer(given, expressions.CallBudget())
    except expressions.EvaluationFailed as problem:
        return plugin.PermitResult(build_error_status("permit", problem, node_name))
    return self.permitted(answer)
