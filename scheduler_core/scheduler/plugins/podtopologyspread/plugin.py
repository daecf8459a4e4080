"""PodTopologySpread: rejects nodes that would exceed the allowed skew, and prefers those that spread the pods more evenly.

kube: plugins/podtopologyspread/{plugin,filtering,scoring}.go @ v1.34.1
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from scheduler_core.apimachinery.objects import Node, Pod, controller_of
from scheduler_core.apimachinery.objects.errors import (
    FieldError,
    build_required_error,
    duplicate,
    forbidden,
    invalid,
    not_supported,
)
from scheduler_core.apimachinery.objects.labels import IN, LabelSelector, Requirement, aggregate
from scheduler_core.apimachinery.objects.spec import canonical
from scheduler_core.apimachinery.objects.strict import ANY, INTEGER32, STRING, ListOf, Shape
from scheduler_core.scheduler.cache.table import NodeTable
from scheduler_core.scheduler.cache.what_if import Change
from scheduler_core.scheduler.framework import Action, Arguments, CycleState, Features, Formula, Given, On
from scheduler_core.scheduler.framework import plugin as framework
from scheduler_core.scheduler.framework.drafts import Draft, Refusal
from scheduler_core.scheduler.framework.explanation import Explanation, gettext_noop
from scheduler_core.scheduler.framework.reasons import RefusalReason
from scheduler_core.scheduler.framework.status import SKIP, SUCCESS, Status, error
from scheduler_core.scheduler.plugins.helper.arguments import name_errors
from scheduler_core.scheduler.plugins.helper.memo import remember
from scheduler_core.scheduler.plugins.podtopologyspread import explanation, fixes, scoring
from scheduler_core.scheduler.plugins.podtopologyspread.constraints import (
    HARD,
    HOSTNAME,
    NAME,
    SOFT,
    Constraint,
    Constraints,
    CountedPods,
    MatchedPods,
    compile_constraints,
)
from scheduler_core.scheduler.plugins.podtopologyspread.filtering import REASONS, Spread
from scheduler_core.scheduler.plugins.podtopologyspread.scoring import Evenness, normalize_scores

# Queueing hints of PodTopologySpread.
# kube: plugins/podtopologyspread/plugin.go @ v1.34.1

# `plugin.hard_constraints(pod)` is None if some constraint can't be parsed.


def after_spread_pod_change(plugin: Any, pod: Pod, old: Pod | None, new: Pod | None) -> bool:
    """Return whether a changed pod may reduce a skew. kube: isSchedulableAfterPodChange"""
    if any(other is not None and not _is_involved(other, pod) for other in (new, old)):
        return False
    constraints: tuple[Constraint, ...] | None = plugin.hard_constraints(pod)
    if constraints is None:
        return True
    if old is None or new is None:
        added_or_deleted = new or old
        assert added_or_deleted is not None
        return any(c.selector.matches(added_or_deleted.labels) for c in constraints)
    tolerates_more = new.uid == pod.uid and new.spec.tolerations != old.spec.tolerations
    if tolerates_more and any(c.honors_taints for c in constraints):
        return True
    return any(c.selector.matches(old.labels) != c.selector.matches(new.labels) for c in constraints)


def _is_involved(other: Pod, pod: Pod) -> bool:
    return other.uid == pod.uid or (bool(other.node_name) and other.namespace == pod.namespace)


def after_spread_node_change(plugin: Any, pod: Pod, old: Node | None, new: Node | None) -> bool:
    """Return whether a changed node may add or change a domain. kube: isSchedulableAfterNodeChange"""
    constraints: tuple[Constraint, ...] | None = plugin.hard_constraints(pod)
    if constraints is None:
        return True
    before = old is not None and _has_all_keys(old, constraints)
    after = new is not None and _has_all_keys(new, constraints)
    if old is None or new is None:
        return before or after
    if before != after:
        return True
    return after and (_moves(old, new, constraints) or old.taints != new.taints)


def _has_all_keys(node: Node, constraints: tuple[Constraint, ...]) -> bool:
    return all(c.topology_key in node.labels for c in constraints)


def _moves(old: Node, new: Node, constraints: tuple[Constraint, ...]) -> bool:
    return any(old.labels.get(c.topology_key, "") != new.labels.get(c.topology_key, "") for c in constraints)


# PodTopologySpreadArgs: the constraints of pods that have none of their own.
# kube: apis/config/v1/defaults.go, apis/config/validation/validation_pluginargs.go @ v1.34.1

SYSTEM, LIST = "System", "List"

_CONSTRAINT: Shape = {
    "maxSkew": INTEGER32,
    "topologyKey": STRING,
    "whenUnsatisfiable": STRING,
    "labelSelector": ANY,
    "minDomains": INTEGER32,
    "nodeAffinityPolicy": STRING,
    "nodeTaintsPolicy": STRING,
    "matchLabelKeys": ListOf(STRING),
}


def _validate(args: Given, path: str, features: Features) -> list[FieldError]:
    kind, constraints = args["defaultingType"], args.get("defaultConstraints") or ()
    errors: list[FieldError] = []
    if kind not in (SYSTEM, LIST):
        errors.append(not_supported(f"{path}.defaultingType", kind, (SYSTEM, LIST)))
    elif kind == SYSTEM and constraints:
        errors.append(invalid(f"{path}.defaultingType", kind, "when .defaultConstraints are not empty"))
    seen: dict[tuple[str, str], None] = {}
    for i, constraint in enumerate(constraints):
        where = f"{path}.defaultConstraints[{i}]"
        errors += _constraint_errors(constraint, where)
        pair = (constraint.get("topologyKey") or "", constraint.get("whenUnsatisfiable") or "")
        if pair in seen:
            errors.append(duplicate(where, f"{{{pair[0]}, {pair[1]}}}"))
        seen[pair] = None
    return errors


def _constraint_errors(constraint: Given, path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    skew, key = constraint.get("maxSkew") or 0, constraint.get("topologyKey") or ""
    action = constraint.get("whenUnsatisfiable") or ""
    if skew <= 0:
        errors.append(invalid(f"{path}.maxSkew", skew, "not in valid range (0, inf)"))
    if not key:
        errors.append(build_required_error(f"{path}.topologyKey", "can not be empty"))
    else:
        errors += name_errors(key, f"{path}.topologyKey")
    if not action:
        errors.append(build_required_error(f"{path}.whenUnsatisfiable", "can not be empty"))
    elif action not in (HARD, SOFT):
        errors.append(not_supported(f"{path}.whenUnsatisfiable", action, (HARD, SOFT)))
    if constraint.get("labelSelector") is not None:
        detail = "constraint must not define a selector, as they deduced for each pod"
        errors.append(forbidden(f"{path}.labelSelector", detail))
    return errors


ARGUMENTS = Arguments(
    fields={"defaultConstraints": ListOf(_CONSTRAINT), "defaultingType": STRING},
    defaults=lambda given, features: {"defaultingType": given.get("defaultingType") or SYSTEM},
    validate=_validate,
)

# The selector of the default constraints: that of the pod's Services and of its controller.
# kube: plugins/helper/spread.go @ v1.34.1

CONTROLLERS = {
    ("v1", "ReplicationController"): "ReplicationController",
    ("apps/v1", "ReplicaSet"): "ReplicaSet",
    ("apps/v1", "StatefulSet"): "StatefulSet",
}


def default_selector(pod: Pod, handle: framework.Handle) -> LabelSelector:
    """Return the selector of the pod's Services and controller; empty if none selects the pod."""
    labels: dict[str, str] = {}
    for service in handle.list("Service"):
        selector = (service.get("spec") or {}).get("selector")
        if selector is None or (service["metadata"].get("namespace") or "") != pod.namespace:
            continue
        if all(pod.labels.get(key) == value for key, value in selector.items()):
            # Services cannot contradict each other here: each value equals the pod's
            # own label, so their order does not matter.
            labels.update(selector)
    controller = _controller(pod, handle)
    if controller is None:
        return _of_labels(labels)
    kind, spec = controller
    if kind == "ReplicationController":
        return _of_labels(labels | (spec.get("selector") or {}))
    own, other = _of_labels(labels), LabelSelector.of(spec.get("selector"))
    if other.nothing:
        return own
    # By key, like kube's Selector.Add; the selector is also a memo key, so equal ones must have the same order.
    return LabelSelector(tuple(sorted((*own.requirements, *other.requirements), key=lambda r: r.key)))


def _of_labels(labels: Mapping[str, str]) -> LabelSelector:
    return LabelSelector(tuple(Requirement(key, IN, (value,)) for key, value in sorted(labels.items())))


def _controller(pod: Pod, handle: framework.Handle) -> tuple[str, Mapping[str, Any]] | None:
    """Return kind and spec of the pod's controller, or None if there is no controller of a kind with a selector."""
    owner = controller_of(pod.manifest) or {}
    kind = CONTROLLERS.get((owner.get("apiVersion") or "", owner.get("kind") or ""))
    controller = None if kind is None else handle.get(kind, pod.namespace, owner.get("name") or "")
    return None if kind is None or controller is None else (kind, controller.get("spec") or {})


ZONE = "topology.kubernetes.io/zone"
SYSTEM_DEFAULTS: tuple[Mapping[str, Any], ...] = (
    {"topologyKey": HOSTNAME, "whenUnsatisfiable": SOFT, "maxSkew": 3},
    {"topologyKey": ZONE, "whenUnsatisfiable": SOFT, "maxSkew": 5},
)

_FILTER, _SCORE = f"PreFilter{NAME}", f"PreScore{NAME}"
_NO_FILTER_STATE = error(f'reading "{_FILTER}" from cycleState: not found')
_NO_SCORE_STATE = error(f'error reading "{_SCORE}" from cycleState: not found')
_NO_CONSTRAINTS = Constraints((), "", True)


class PodTopologySpread(framework.Plugin):
    """Pods are counted per node, once per selector; what a node is to a constraint is kept until a Node changes."""

    name = NAME
    between_pods = True
    skips = {
        framework.Point.PRE_FILTER: gettext_noop("no topology spread constraint with DoNotSchedule"),
        framework.Point.PRE_SCORE: gettext_noop("no topology spread constraint with ScheduleAnyway"),
    }
    reasons = REASONS
    arguments = ARGUMENTS
    events = (
        On(
            "Pod",
            Action.ADD | Action.UPDATE_POD_LABEL | Action.UPDATE_POD_TOLERATION | Action.DELETE,
            after_spread_pod_change,
        ),
        On(
            "Node",
            Action.ADD | Action.DELETE | Action.UPDATE_NODE_LABEL | Action.UPDATE_NODE_TAINT,
            after_spread_node_change,
        ),
    )
    state_classes = (Spread, Evenness, MatchedPods, CountedPods)  # the last 2 are in measures

    def __init__(self, args: Mapping[str, Any], handle: framework.Handle) -> None:
        super().__init__(args, handle)
        self._label_keys = handle.features.spread_label_keys
        self._system = args["defaultingType"] == SYSTEM
        self._defaults = SYSTEM_DEFAULTS if self._system else tuple(args.get("defaultConstraints") or ())
        self._defaults_key = canonical(self._defaults)
        self._default_actions = tuple(each.get("whenUnsatisfiable") for each in self._defaults)

    def pre_filter(self, state: CycleState, pod: Pod, nodes: NodeTable) -> framework.PreFilterResult:
        constraints = self._constraints(pod, nodes, HARD)
        if constraints.errors:
            return framework.PreFilterResult(error(f"get constraints from pod: {_problem(constraints, 'hard')}"))
        if not constraints.items:
            return framework.NOTHING_TO_DO
        state.write(_FILTER, Spread.of(nodes, constraints, pod.spec))
        return framework.GO_ON

    def adjust(self, state: CycleState, pod: Pod, nodes: NodeTable, changes: Sequence[Change]) -> None:
        spread: Spread | None = state.get(_FILTER)
        if spread is not None:
            state.write(_FILTER, spread.changed(nodes.pod_table.classes, changes))

    def filter(self, state: CycleState, pod: Pod, nodes: NodeTable, rows: framework.Rows) -> framework.Verdicts | None:
        spread: Spread | None = state.get(_FILTER)
        if spread is None:  # as in kube, PreFilter is required
            return framework.Verdicts.refuse(np.ones(len(rows), np.bool_), _NO_FILTER_STATE)
        return spread.verdicts(rows)

    def pre_score(self, state: CycleState, pod: Pod, nodes: NodeTable, rows: framework.Rows) -> Status:
        constraints = self._constraints(pod, nodes, SOFT)
        if constraints.errors:
            return error(f"calculating preScoreState: {_problem(constraints, 'soft')}")
        if not constraints.items:
            return SKIP
        state.write(_SCORE, Evenness.of(nodes, constraints, pod.spec, rows))
        return SUCCESS

    def score(self, state: CycleState, pod: Pod, nodes: NodeTable, rows: framework.Rows) -> framework.Scores | Status:
        """Return the weighted number of matching pods around each node: fewer are better."""
        evenness: Evenness | None = state.get(_SCORE)
        return _NO_SCORE_STATE if evenness is None else evenness.scores(rows)

    def normalize(
        self, state: CycleState, pod: Pod, nodes: NodeTable, rows: framework.Rows, scores: framework.Scores
    ) -> framework.Scores:
        evenness: Evenness = state.read(_SCORE)
        return normalize_scores(scores, evenness.ignored(rows))

    def describe_prepared(self, point: framework.Point, state: CycleState, pod: Pod, nodes: NodeTable) -> Explanation:
        spread: Spread | None = state.get(_FILTER)
        if point is framework.Point.PRE_FILTER:
            return () if spread is None else explanation.explain_domains(pod, spread)
        evenness: Evenness = state.read(_SCORE)
        return explanation.count_domains(pod, evenness.constraints.items, evenness.sizes, evenness.weights)

    def explain(self, state: CycleState, pod: Pod, nodes: NodeTable, row: int) -> Explanation:
        """Explain each hard constraint: the pods in each domain and the skew with the pod there."""
        spread: Spread | None = state.get(_FILTER)
        return (
            ()
            if spread is None
            else explanation.explain_constraints(pod, nodes.names[row], explanation.figures(spread, row))
        )

    def formula(self, state: CycleState, pod: Pod, nodes: NodeTable, row: int) -> Formula | None:
        evenness: Evenness | None = state.get(_SCORE)
        return None if evenness is None else scoring.score_formula(evenness, nodes, row)

    def normalization(
        self, state: CycleState, pod: Pod, nodes: NodeTable, rows: framework.Rows, scores: framework.Scores, i: int
    ) -> Formula | None:
        evenness: Evenness | None = state.get(_SCORE)
        return None if evenness is None else scoring.normalization(evenness, nodes, rows, scores, i)

    def evidence(
        self, state: CycleState, pod: Pod, nodes: NodeTable, rows: framework.Rows, said: RefusalReason
    ) -> framework.Evidence:
        """Return the domains of each constraint, and those that count although the pod can run on none of their nodes."""
        spread: Spread | None = state.get(_FILTER)
        return {} if spread is None else explanation.collect_spread_evidence(spread, pod, nodes, rows)

    def propose_fixes(self, draft: Draft, refusal: Refusal) -> Iterator[Draft]:
        spread: Spread | None = refusal.state.get(_FILTER)
        return fixes.propose(draft, refusal, () if spread is None else explanation.figures(spread, refusal.row))

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
        # The spec alone is not enough: matchLabelKeys and self_match read the labels, the measures the namespace.
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
