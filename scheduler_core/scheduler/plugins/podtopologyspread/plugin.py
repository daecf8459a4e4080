"""PodTopologySpread: refuses nodes that would make a pod's domains too uneven, prefers those that make them more even.

kube: plugins/podtopologyspread/{plugin,filtering,scoring}.go @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from scheduler_core.apimachinery.objects.labels import aggregate
from scheduler_core.apimachinery.objects.pod import Pod
from scheduler_core.apimachinery.objects.spec import canonical
from scheduler_core.scheduler.cache.table import NodeTable
from scheduler_core.scheduler.cache.what_if import Change
from scheduler_core.scheduler.framework.cycle_state import CycleState
from scheduler_core.scheduler.framework.drafts import Draft, Refusal
from scheduler_core.scheduler.framework.events import Action, On
from scheduler_core.scheduler.framework.explanation import Explanation
from scheduler_core.scheduler.framework.formula import Formula
from scheduler_core.scheduler.framework.plugin import (
    Evidence,
    Handle,
    Plugin,
    PreFilterResult,
    Rows,
    Scores,
    Verdicts,
)
from scheduler_core.scheduler.framework.reasons import Said
from scheduler_core.scheduler.framework.status import SKIP, SUCCESS, Status, error
from scheduler_core.scheduler.plugins.helper.memo import remember
from scheduler_core.scheduler.plugins.podtopologyspread import fixes, hints
from scheduler_core.scheduler.plugins.podtopologyspread import formula as formulas
from scheduler_core.scheduler.plugins.podtopologyspread.arguments import ARGUMENTS, SYSTEM
from scheduler_core.scheduler.plugins.podtopologyspread.constraints import (
    HARD,
    HOSTNAME,
    NAME,
    SOFT,
    Constraint,
    Constraints,
    Counted,
    Matched,
    compile_constraints,
)
from scheduler_core.scheduler.plugins.podtopologyspread.default_selector import default_selector
from scheduler_core.scheduler.plugins.podtopologyspread.evidence import collect_spread_evidence
from scheduler_core.scheduler.plugins.podtopologyspread.explanation import explain_constraints, figures
from scheduler_core.scheduler.plugins.podtopologyspread.filtering import REASONS, Spread
from scheduler_core.scheduler.plugins.podtopologyspread.scoring import Evenness, normalize_scores

ZONE = "topology.kubernetes.io/zone"
SYSTEM_DEFAULTS: tuple[Mapping[str, Any], ...] = (
    {"topologyKey": HOSTNAME, "whenUnsatisfiable": SOFT, "maxSkew": 3},
    {"topologyKey": ZONE, "whenUnsatisfiable": SOFT, "maxSkew": 5},
)

_FILTER, _SCORE = f"PreFilter{NAME}", f"PreScore{NAME}"
_NO_FILTER_STATE = error(f'reading "{_FILTER}" from cycleState: not found')
_NO_SCORE_STATE = error(f'error reading "{_SCORE}" from cycleState: not found')
_GO_ON, _NOTHING_TO_DO = PreFilterResult(), PreFilterResult(SKIP)
_NO_CONSTRAINTS = Constraints((), "", True)


class PodTopologySpread(Plugin):
    """Pods are counted per node, once per selector; what a node is to a constraint is kept until a Node changes."""

    name = NAME
    reasons = REASONS
    arguments = ARGUMENTS
    events = (
        On(
            "Pod",
            Action.ADD | Action.UPDATE_POD_LABEL | Action.UPDATE_POD_TOLERATION | Action.DELETE,
            hints.after_spread_pod_change,
        ),
        On(
            "Node",
            Action.ADD | Action.DELETE | Action.UPDATE_NODE_LABEL | Action.UPDATE_NODE_TAINT,
            hints.after_spread_node_change,
        ),
    )
    state_classes = (Spread, Evenness, Matched, Counted)  # the last 2 are in measures

    def __init__(self, args: Mapping[str, Any], handle: Handle) -> None:
        super().__init__(args, handle)
        self._label_keys = handle.features.spread_label_keys
        self._system = args["defaultingType"] == SYSTEM
        self._defaults = SYSTEM_DEFAULTS if self._system else tuple(args.get("defaultConstraints") or ())
        self._defaults_key = canonical(self._defaults)
        self._default_actions = tuple(each.get("whenUnsatisfiable") for each in self._defaults)

    def pre_filter(self, state: CycleState, pod: Pod, nodes: NodeTable) -> PreFilterResult:
        constraints = self._constraints(pod, nodes, HARD)
        if constraints.errors:
            return PreFilterResult(error(f"get constraints from pod: {_problem(constraints, 'hard')}"))
        if not constraints.items:
            return _NOTHING_TO_DO
        state.write(_FILTER, Spread.of(nodes, constraints, pod.spec))
        return _GO_ON

    def adjust(self, state: CycleState, pod: Pod, nodes: NodeTable, changes: Sequence[Change]) -> None:
        spread: Spread | None = state.get(_FILTER)
        if spread is not None:
            state.write(_FILTER, spread.changed(nodes.pod_table.classes, changes))

    def filter(self, state: CycleState, pod: Pod, nodes: NodeTable, rows: Rows) -> Verdicts | None:
        spread: Spread | None = state.get(_FILTER)
        if spread is None:  # as in kube it can't do without PreFilter
            return Verdicts.refuse(np.ones(len(rows), np.bool_), _NO_FILTER_STATE)
        return spread.verdicts(rows)

    def pre_score(self, state: CycleState, pod: Pod, nodes: NodeTable, rows: Rows) -> Status:
        constraints = self._constraints(pod, nodes, SOFT)
        if constraints.errors:
            return error(f"calculating preScoreState: {_problem(constraints, 'soft')}")
        if not constraints.items:
            return SKIP
        state.write(_SCORE, Evenness.of(nodes, constraints, pod.spec, rows))
        return SUCCESS

    def score(self, state: CycleState, pod: Pod, nodes: NodeTable, rows: Rows) -> Scores | Status:
        """The weighted number of matching pods around each node: fewer are better."""
        evenness: Evenness | None = state.get(_SCORE)
        return _NO_SCORE_STATE if evenness is None else evenness.scores(rows)

    def normalize(self, state: CycleState, pod: Pod, nodes: NodeTable, rows: Rows, scores: Scores) -> Scores:
        evenness: Evenness = state.read(_SCORE)
        return normalize_scores(scores, evenness.ignored(rows))

    def explain(self, state: CycleState, pod: Pod, nodes: NodeTable, row: int) -> Explanation:
        """Per hard constraint the pods in each domain and the skew that the pod would make there."""
        spread: Spread | None = state.get(_FILTER)
        return () if spread is None else explain_constraints(pod, nodes.names[row], figures(spread, row))

    def formula(self, state: CycleState, pod: Pod, nodes: NodeTable, row: int) -> Formula | None:
        evenness: Evenness | None = state.get(_SCORE)
        return None if evenness is None else formulas.score_formula(evenness, nodes, row)

    def normalization(
        self, state: CycleState, pod: Pod, nodes: NodeTable, rows: Rows, scores: Scores, i: int
    ) -> Formula | None:
        evenness: Evenness | None = state.get(_SCORE)
        return None if evenness is None else formulas.normalization(evenness, nodes, rows, scores, i)

    def evidence(self, state: CycleState, pod: Pod, nodes: NodeTable, rows: Rows, said: Said) -> Evidence:
        """Per constraint the domains, and those that count although the pod can go to none of their nodes."""
        spread: Spread | None = state.get(_FILTER)
        return {} if spread is None else collect_spread_evidence(spread, pod, nodes, rows)

    def propose_fixes(self, draft: Draft, refusal: Refusal) -> Iterator[Draft]:
        spread: Spread | None = refusal.state.get(_FILTER)
        return fixes.propose(draft, refusal, () if spread is None else figures(spread, refusal.row))

    def hard_constraints(self, pod: Pod) -> tuple[Constraint, ...] | None:
        """Return the pod's hard constraints, for hints; None if a constraint can't be parsed."""
        raw = pod.spec.topology_spread
        if raw:
            constraints = compile_constraints(raw, pod, HARD, label_keys=self._label_keys)
        elif HARD in self._default_actions and not (selector := default_selector(pod, self.handle)).empty:
            constraints = compile_constraints(
                self._defaults, pod, HARD, selector=selector, require_all_keys=not self._system
            )
        else:
            constraints = _NO_CONSTRAINTS
        return None if constraints.errors else constraints.items

    def _constraints(self, pod: Pod, nodes: NodeTable, action: str) -> Constraints:
        raw = pod.spec.topology_spread
        if not raw:
            return self._default_constraints(pod, nodes, action)
        key = (NAME, action, pod.spec.fingerprint, nodes.pod_table.classes.of(pod))
        label_keys = self._label_keys
        return remember(nodes.memo, key, lambda: compile_constraints(raw, pod, action, label_keys=label_keys))

    def _default_constraints(self, pod: Pod, nodes: NodeTable, action: str) -> Constraints:
        if action not in self._default_actions:
            return _NO_CONSTRAINTS
        selector = default_selector(pod, self.handle)
        if selector.empty:
            return _NO_CONSTRAINTS
        key = (
            NAME,
            action,
            pod.spec.fingerprint,
            nodes.pod_table.classes.of(pod),
            self._defaults_key,
            self._system,
            selector,
        )
        return remember(
            nodes.memo,
            key,
            lambda: compile_constraints(
                self._defaults, pod, action, selector=selector, require_all_keys=not self._system
            ),
        )


def _problem(constraints: Constraints, kind: str) -> str:
    return f"obtaining pod's {kind} topology spread constraints: {aggregate(constraints.errors)}"
