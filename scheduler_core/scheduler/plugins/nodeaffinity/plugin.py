"""NodeAffinity: rejects nodes that do not match the pod's node selector or required node affinity, and scores the preferred terms.

kube: plugins/nodeaffinity/node_affinity.go @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from scheduler_core.apimachinery.objects import PREFERRED, REQUIRED, Node
from scheduler_core.apimachinery.objects.labels import (
    IN,
    NodeSelector,
    NodeSelectorTerm,
    Requirement,
    accepts_field,
    aggregate,
)
from scheduler_core.apimachinery.objects.pod import Pod, PodSpec
from scheduler_core.scheduler.cache.table import NodeTable
from scheduler_core.scheduler.framework import Action, CycleState, Draft, On, Refusal, explanation
from scheduler_core.scheduler.framework import plugin as framework
from scheduler_core.scheduler.framework.explanation import (
    Aside,
    Code,
    Explanation,
    Parts,
    Source,
    gettext_noop,
    phrase,
    remark,
)
from scheduler_core.scheduler.framework.formula import NODE, Formula, Line, Value, constant, times, total
from scheduler_core.scheduler.framework.reasons import Reason, RefusalReason
from scheduler_core.scheduler.framework.status import SKIP, SUCCESS, Status, error, unresolvable
from scheduler_core.scheduler.plugins.helper import node_selection
from scheduler_core.scheduler.plugins.helper.memo import remember
from scheduler_core.scheduler.plugins.helper.normalize import default_normalization, default_normalize
from scheduler_core.scheduler.plugins.nodeaffinity import fixes
from scheduler_core.scheduler.plugins.nodeaffinity.arguments import ARGUMENTS

# NodeAffinity on a node: each requirement next to the node's own value.

_TERMS = "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms"
_COLUMNS = explanation.gettext_noop("requested"), explanation.gettext_noop("the node has")
_TERM, _NO_LABEL = (explanation.Words("term"), explanation.Words("no such label"))


def _of_label(requirement: Requirement, node: Node, term: int, path: str, pod: Pod) -> explanation.Row:
    value = node.labels.get(requirement.key)
    source = explanation.Source("Node", node.name, f"metadata.labels[{requirement.key}]")
    has: explanation.Parts = (explanation.WrittenValue(value, source),) if value else (_NO_LABEL,)
    return explanation.Row(
        (_describe_requirement(requirement, term, path, pod), has), bad=not requirement.accepts(value)
    )


def _describe_requirement(requirement: Requirement, term: int, path: str, pod: Pod) -> explanation.Parts:
    wanted = f"{requirement.key} {requirement.op} {', '.join(requirement.values)}".rstrip()
    number: explanation.Parts = (explanation.Aside((_TERM, f" {term}")), " ") if term else ()
    return (
        *number,
        explanation.WrittenValue(wanted, explanation.Source("Pod", pod.key, path))
        if path
        else explanation.Code(wanted),
    )


# Evidence of a pod's requirements on labels: for each, the number of nodes that meet it, and the values of the others.

SHOWN_VALUES = 5


def _requirement(nodes: NodeTable, requirement: Requirement, field: str, alternative: int) -> dict[str, Any]:
    column = nodes.label(requirement.key)
    counts = np.bincount(column.codes[column.codes >= 0], minlength=len(column.values))
    order = np.argsort(-counts, kind="stable")[:SHOWN_VALUES].tolist()
    # The requirement in kubectl's selector syntax.
    single = requirement.op == IN and len(requirement.values) == 1
    return {
        "text": (f"{requirement.key}={requirement.values[0]}" if single else str(requirement)),
        "key": requirement.key,
        "field": field,
        **({} if alternative < 0 else {"alternative": alternative}),
        "matching": int(node_selection.expression_mask(nodes, requirement).sum()),
        "labelled": int((column.codes >= 0).sum()),
        "values": [{"value": column.values[i], "nodes": int(counts[i])} for i in order],
    }


# The formula of NodeAffinity's score: the weights of the preferred terms that the node matches.
# kube: plugins/nodeaffinity/node_affinity.go @ v1.34.1

_WEIGHT = gettext_noop("weight of the term")
_MATCHES, _DIFFERS = (gettext_noop("the node matches the term"), gettext_noop("the node does not match the term"))
_ADDED = Aside(phrase("of the plugin's addedAffinity"))
_SUMMED = phrase("The weights of the matching preferred terms are added up.")

Terms = Iterable[tuple[int, NodeSelectorTerm]]


def score_formula(pod: Pod, node: Node, own: Terms, added: Terms) -> Formula:
    lines = [*_lines(pod, node, own), *_lines(None, node, added)]
    return Formula((*lines, Line(NODE, total(*lines) if lines else constant(0))), (_SUMMED,))


def _lines(pod: Pod | None, node: Node, terms: Terms) -> Iterator[Line]:
    """Yield a line per preferred term. `pod`: the owner of the terms, or None for the plugin's own."""
    paths = _paths(pod) if pod is not None else []
    for i, (weight, term) in enumerate(terms):
        source = Source("Pod", pod.key, paths[i]) if pod is not None and i < len(paths) else None
        matches = term.matches(node.labels, node.name)
        held = Value(
            int(matches), _MATCHES if matches else _DIFFERS, source=Source("Node", node.name, "metadata.labels")
        )
        name: Parts = (Code(_format_term(term)), *((" ", _ADDED) if pod is None else ()))
        yield Line(name, times(Value(weight, _WEIGHT, source=source), held))


def _paths(pod: Pod) -> list[str]:
    """Return the paths of the weights of the terms that count."""
    affinity = (pod.manifest["spec"].get("affinity") or {}).get("nodeAffinity") or {}
    terms = enumerate(affinity.get(PREFERRED) or ())
    counting = [
        i for i, raw in terms if raw.get("weight") and not NodeSelectorTerm.of(raw.get("preference") or {}).empty
    ]
    return [f"spec.affinity.nodeAffinity.{PREFERRED}[{i}].weight" for i in counting]


def _format_term(term: NodeSelectorTerm) -> str:
    wanted = (*term.expressions, *term.fields)
    return ", ".join(f"{r.key} {r.op} {' '.join(r.values)}".rstrip() for r in wanted)


NAME = "NodeAffinity"
PRE_FILTER_STATE = "PreFilter" + NAME

_REASONS = (
    Reason("NoMatch", "node(s) didn't match Pod's node affinity/selector"),
    Reason("NoMatchForProfile", "node(s) didn't match scheduler-enforced node affinity"),
    Reason("TermsConflict", "pod affinity terms conflict"),
)
REFUSED, REFUSED_BY_ADDED, CONFLICT = (unresolvable(reason()) for reason in _REASONS)

WeightedTerms = tuple[tuple[int, NodeSelectorTerm], ...]


def _after_node_change(plugin: NodeAffinity, pod: Pod, old: Node | None, new: Node) -> bool:
    """Queueing hint. kube: isSchedulableAfterNodeChange"""
    if plugin.added is not None and not plugin.added.matches(new.labels, new.name):
        return False
    matches = _matches_required(pod, new)
    if not matches or old is None:
        return matches is not False
    return _matches_required(pod, old) is not True


def _matches_required(pod: Pod, node: Node) -> bool | None:
    """Return whether the node matches; None if a term can't be parsed and no other matches. kube then retries the pod."""
    if any(node.labels.get(key) != value for key, value in pod.spec.node_selector.items()):
        return False
    required = pod.spec.node_affinity_required
    if required is None or required.matches(node.labels, node.name):
        return True
    return None if required.errors else False


class NodeAffinity(framework.Plugin):
    """A pod's selectors depend on Node objects alone, so masks and scores are kept per distinct pod spec."""

    name = NAME
    skips = {
        framework.Point.PRE_FILTER: gettext_noop("no nodeSelector and no required node affinity"),
        framework.Point.PRE_SCORE: gettext_noop("no preferred node affinity"),
    }
    reasons = _REASONS
    arguments = ARGUMENTS
    row_local = True
    events = (On("Node", Action.ADD | Action.UPDATE_NODE_LABEL, _after_node_change),)

    def __init__(self, args: Mapping[str, Any], handle: framework.Handle) -> None:
        super().__init__(args, handle)
        added = args.get("addedAffinity") or {}
        required, preferred = added.get(REQUIRED), added.get(PREFERRED) or ()
        self.added = None if required is None else NodeSelector.of(required)
        terms = ((int(raw.get("weight") or 0), NodeSelectorTerm.of(raw.get("preference") or {})) for raw in preferred)
        self._added_preferred = tuple((weight, term) for weight, term in terms if weight and not term.empty)
        self._prefers_added = bool(preferred)

    def pre_filter(self, state: CycleState, pod: Pod, nodes: NodeTable) -> framework.PreFilterResult:
        required = pod.spec.node_affinity_required
        if required is None and self.added is None and pod.spec.manifest.get("nodeSelector") is None:
            return framework.NOTHING_TO_DO
        state.write(PRE_FILTER_STATE, pod.spec)
        if required is None:
            return framework.GO_ON
        names = _collect_node_names(required.terms)
        if names is None:
            return framework.GO_ON
        return framework.PreFilterResult(node_names=names) if names else framework.PreFilterResult(CONFLICT)

    def filter(self, state: CycleState, pod: Pod, nodes: NodeTable, rows: framework.Rows) -> framework.Verdicts | None:
        spec: PodSpec = state.get(PRE_FILTER_STATE) or pod.spec  # without PreFilter: the pod's own
        matched = remember(
            nodes.memo, (NAME, "required", spec.fingerprint), lambda: _compute_required_mask(nodes, spec)
        )
        refused = ~matched[rows]
        if self.added is None:
            return framework.Verdicts.refuse(refused, REFUSED) if refused.any() else None
        excluded = ~self._mask_added(nodes, self.added)[rows]
        reason = np.where(excluded, np.int32(0), np.where(refused, np.int32(1), np.int32(-1)))
        return framework.Verdicts(reason.astype(np.int32), (REFUSED_BY_ADDED, REFUSED))

    def pre_score(self, state: CycleState, pod: Pod, nodes: NodeTable, rows: framework.Rows) -> Status:
        terms = _get_preferred(pod.spec)
        broken = _broken(terms or ())
        if broken is not None:
            return broken
        return SKIP if terms is None and not self._prefers_added else SUCCESS

    def score(self, state: CycleState, pod: Pod, nodes: NodeTable, rows: framework.Rows) -> framework.Scores | Status:
        broken = _broken(_get_preferred(pod.spec) or ())  # checked here for a profile without PreScore
        if broken is not None:
            return broken
        own = remember(
            nodes.memo,
            (NAME, "preferred", pod.spec.fingerprint),
            lambda: node_selection.preference_scores(nodes, _get_preferred(pod.spec) or ()),
        )[rows]
        if not self._added_preferred:
            return own
        added = remember(
            nodes.memo,
            (NAME, "added preferred", self._added_preferred),
            lambda: node_selection.preference_scores(nodes, self._added_preferred),
        )
        return own + added[rows]

    def normalize(
        self, state: CycleState, pod: Pod, nodes: NodeTable, rows: framework.Rows, scores: framework.Scores
    ) -> framework.Scores:
        return default_normalize(scores)

    def describe_prepared(self, point: framework.Point, state: CycleState, pod: Pod, nodes: NodeTable) -> Explanation:
        if point is framework.Point.PRE_SCORE:
            terms = len(_get_preferred(pod.spec) or ()) + len(self._added_preferred)
            return (remark("Preferred terms to weigh on each node:", str(terms)),)
        matched = f"{int(np.count_nonzero(_compute_required_mask(nodes, pod.spec)))} / {len(nodes)}"
        selector = tuple(Code(f"{key}={value}") for key, value in pod.spec.node_selector.items())
        blocks = (remark("Nodes that match the pod's selector and affinity:", matched),)
        return (remark("nodeSelector:", *selector), *blocks) if selector else blocks

    def explain(self, state: CycleState, pod: Pod, nodes: NodeTable, row: int) -> Explanation:
        """Return every requirement of the node selector and the required terms, with the node's own value."""
        required = pod.spec.node_affinity_required
        added = self.added.terms if self.added else ()
        terms = required.terms if required is not None else ()
        node = nodes.nodes[row]
        rows = [
            _of_label(Requirement(key, IN, (value,)), node, 0, f"spec.nodeSelector[{key}]", pod)
            for key, value in pod.spec.node_selector.items()
        ]
        for number, term in enumerate((*terms, *added), 1):
            path = f"{_TERMS}[{number - 1}]" if number <= len(terms) else ""
            for i, requirement in enumerate(term.expressions):
                rows.append(_of_label(requirement, node, number, path and f"{path}.matchExpressions[{i}]", pod))
            for i, field in enumerate(term.fields):
                holds, written = accepts_field(field, node.name), path and f"{path}.matchFields[{i}]"
                name = explanation.WrittenValue(node.name, explanation.Source("Node", node.name, "metadata.name"))
                rows.append(
                    explanation.Row((_describe_requirement(field, number, written, pod), (name,)), bad=not holds)
                )
        return (explanation.Table(_COLUMNS, tuple(rows)),) if rows else ()

    def formula(self, state: CycleState, pod: Pod, nodes: NodeTable, row: int) -> Formula:
        return score_formula(pod, nodes.nodes[row], _get_preferred(pod.spec) or (), self._added_preferred)

    def normalization(
        self, state: CycleState, pod: Pod, nodes: NodeTable, rows: framework.Rows, scores: framework.Scores, i: int
    ) -> Formula:
        return default_normalization(nodes, rows, scores, i)

    def evidence(
        self, state: CycleState, pod: Pod, nodes: NodeTable, rows: framework.Rows, said: RefusalReason
    ) -> framework.Evidence:
        """Return the pod's label requirements and the nodes' labels."""
        if self.added is not None and said.code == "NoMatchForProfile":
            terms = [", ".join(map(str, term.expressions)) for term in self.added.terms]
            return {"text": "; ".join(terms)}
        asked: list[tuple[Requirement, str, int]] = [
            (Requirement(key, IN, (value,)), f"spec.nodeSelector.{key}", -1)
            for key, value in (pod.spec.node_selector or {}).items()
        ]
        required = pod.spec.node_affinity_required
        for i, term in enumerate(() if required is None else required.terms):
            asked += [
                (expression, f"{_TERMS}[{i}].matchExpressions[{j}]", i) for j, expression in enumerate(term.expressions)
            ]
        return {"requirements": [_requirement(nodes, *each) for each in asked]}

    def propose_fixes(self, draft: Draft, refusal: Refusal) -> Iterator[Draft]:
        return fixes.propose(draft, refusal, self.added)

    def _mask_added(self, nodes: NodeTable, added: NodeSelector) -> node_selection.Mask:
        return remember(nodes.memo, (NAME, "added", added), lambda: node_selection.selector_mask(nodes, added))


def _get_preferred(spec: PodSpec) -> WeightedTerms | None:
    """Return the pod's preferred terms; None if the field is absent, in contrast to an empty list."""
    if spec.node_affinity_preferred:
        return spec.node_affinity_preferred
    affinity = (spec.manifest.get("affinity") or {}).get("nodeAffinity") or {}
    return None if affinity.get(PREFERRED) is None else ()


def _broken(terms: WeightedTerms) -> Status | None:
    problems = [problem for _, term in terms for problem in term.errors]
    return error(aggregate(problems)) if problems else None


def _compute_required_mask(nodes: NodeTable, spec: PodSpec) -> node_selection.Mask:
    mask = node_selection.labels_mask(nodes, spec.node_selector)
    if spec.node_affinity_required is not None:
        mask &= node_selection.selector_mask(nodes, spec.node_affinity_required)
    return mask


def _collect_node_names(terms: Sequence[NodeSelectorTerm]) -> frozenset[str] | None:
    """Return the names that metadata.name requirements allow, or None if some term allows all nodes."""
    names: frozenset[str] = frozenset()
    if not terms:
        return None
    for term in terms:
        sets = [frozenset(f.values) for f in term.fields if f.key == node_selection.NAME_FIELD and f.op == IN]
        if not sets:
            return None
        names |= frozenset.intersection(*sets)
    return names
