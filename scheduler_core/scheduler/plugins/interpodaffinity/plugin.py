"""InterPodAffinity: enforces and prefers required and preferred pod affinity and anti-affinity.

kube: plugins/interpodaffinity/{plugin,filtering,scoring}.go @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from scheduler_core.apimachinery.objects import FieldError, Node, Pod
from scheduler_core.apimachinery.objects.affinity import AffinityTerm, AffinityTerms, affinity_terms
from scheduler_core.apimachinery.objects.strict import BOOL, INTEGER32
from scheduler_core.base.releases import Behavior
from scheduler_core.scheduler.cache.pod_classes import AnyMeasure
from scheduler_core.scheduler.cache.table import NodeTable
from scheduler_core.scheduler.cache.what_if import Change
from scheduler_core.scheduler.framework import Action, CycleState, Draft, Features, Formula, On, Refusal
from scheduler_core.scheduler.framework import plugin as framework
from scheduler_core.scheduler.framework.arguments import Arguments, Given, when_absent
from scheduler_core.scheduler.framework.explanation import Code, Explanation, gettext_noop, remark
from scheduler_core.scheduler.framework.reasons import Reason, RefusalReason
from scheduler_core.scheduler.framework.status import SKIP, SUCCESS, Status, error, unresolvable
from scheduler_core.scheduler.plugins.helper.arguments import range_errors
from scheduler_core.scheduler.plugins.helper.hints import was_placed
from scheduler_core.scheduler.plugins.interpodaffinity import fixes
from scheduler_core.scheduler.plugins.interpodaffinity import formula as formulas
from scheduler_core.scheduler.plugins.interpodaffinity.counts import (
    NAME,
    Counts,
    ExistingAnti,
    Incoming,
    MatchesAll,
    MatchesAny,
    Topology,
    existing_preference_measures,
    matches_all,
    matches_any,
    preference_measures,
    topology,
    with_named_namespaces,
)
from scheduler_core.scheduler.plugins.interpodaffinity.explanation import affinity_evidence, explain_terms
from scheduler_core.scheduler.plugins.interpodaffinity.filtering import REASONS, Rules

# Queueing hints of InterPodAffinity.
# kube: plugins/interpodaffinity/plugin.go @ v1.34.1


def after_affine_pod_change(plugin: Any, pod: Pod, old: Pod | None, new: Pod | None) -> bool:
    """Return whether a changed pod may satisfy the pod's terms. kube: isSchedulableAfterPodChange"""
    if any(other is not None and not other.node_name for other in (old, new)):
        return False
    terms = affinity_terms(pod)
    if _unclear(terms):
        return True
    if new is None:
        assert old is not None
        return matches_all(terms.required_anti, old)
    if old is None:
        return matches_all(terms.required, new)
    if not matches_all(terms.required, old) and matches_all(terms.required, new):
        return True
    return matches_all(terms.required_anti, old) and not matches_all(terms.required_anti, new)


def after_related_pod_change(plugin: InterPodAffinity, pod: Pod, old: Pod | None, new: Pod | None) -> bool:
    """kube: isSchedulableAfterPodChange @ v1.36.3, isSchedulableAfterAssignedPodChange @ v1.37.2"""
    if old is not None and new is not None and new.uid == pod.uid:
        return True
    if any(other is not None and not was_placed(other) for other in (old, new)):
        return False
    terms, matches = affinity_terms(pod), plugin.anti_matches
    if _unclear(terms):
        return True
    if new is None:
        assert old is not None
        return matches(terms.required_anti, old) or matches(affinity_terms(old).required_anti, pod)
    if not (old is not None and matches_all(terms.required, old)) and matches_all(terms.required, new):
        return True
    return old is not None and matches(terms.required_anti, old) and not matches(terms.required_anti, new)


def after_node_topology_change(plugin: Any, pod: Pod, old: Node | None, new: Node) -> bool:
    """Return whether a node's new topology labels may help the pod. kube: isSchedulableAfterNodeChange"""
    terms = affinity_terms(pod)
    if _unclear(terms):
        return True
    if old is None:
        return bool(terms.required_anti) or any(term.topology_key in new.labels for term in terms.required)
    return any(_joins(term.topology_key, old, new) for term in terms.required) or any(
        _leaves(term.topology_key, old, new) for term in terms.required_anti
    )


def _unclear(terms: AffinityTerms) -> bool:
    """Return whether required terms fail to parse; kube then retries the pod."""
    return any(name.startswith("required") for name, _ in terms.errors)


def _joins(key: str, old: Node, new: Node) -> bool:
    return key in new.labels and (key not in old.labels or old.labels[key] != new.labels[key])


def _leaves(key: str, old: Node, new: Node) -> bool:
    return key in old.labels and (key not in new.labels or old.labels[key] != new.labels[key])


# Preferred inter-pod affinity over all rows: the incoming pod's preferences and those of existing pods.
# kube: plugins/interpodaffinity/scoring.go @ v1.34.1


@dataclass(frozen=True, slots=True, eq=False)
class Preferences:
    """The weights summed by domain, per topology key."""

    parts: tuple[tuple[Topology, Counts], ...]

    @classmethod
    def of(
        cls,
        nodes: NodeTable,
        incoming: Incoming,
        liked: tuple[AffinityTerm, ...],
        disliked: tuple[AffinityTerm, ...],
        key: object,
        hard_weight: int,
    ) -> Preferences | None:
        """Count the preferences, or return None if no term matches. `liked` and `disliked` are the incoming pod's, namespaces resolved."""
        keys = dict.fromkeys(term.topology_key for term in (*liked, *disliked))
        own_keys = tuple(keys)
        soft = nodes.pod_table.classes.soft_keys
        keys.update(soft)
        parts = []
        for topology_key in keys:
            pairs: list[tuple[AnyMeasure, AnyMeasure]] = []
            if topology_key in soft:
                pairs.append(existing_preference_measures(incoming, topology_key, hard_weight))
            if topology_key in own_keys:
                pairs.append(preference_measures(key, liked, disliked, topology_key))
            part = _part(nodes, topology_key, pairs)
            if part is not None:
                parts.append(part)
        return cls(tuple(parts)) if parts else None

    def scores(self, rows: framework.Rows) -> framework.Scores:
        total = np.zeros(len(rows), np.int64)
        for where, sums in self.parts:
            total += sums[where.codes[rows]]
        return total


def _part(nodes: NodeTable, key: str, pairs: list[tuple[AnyMeasure, AnyMeasure]]) -> tuple[Topology, Counts] | None:
    """Return the sums, or None if no term matches on a node with the label. Weights that cancel out count as a match."""
    counts = _add_counts(nodes, [weight for weight, _ in pairs])
    if counts.any():
        where = topology(nodes, key)
        sums = where.sums(counts)
        if where.complete or sums.any():
            return where, sums
    numbers = _add_counts(nodes, [number for _, number in pairs])
    if not numbers.any():
        return None
    where = topology(nodes, key)
    return (where, where.sums(counts)) if where.sums(numbers).any() else None


def _add_counts(nodes: NodeTable, measures: list[AnyMeasure]) -> Counts:
    counts = nodes.pod_table.counts(measures[0])
    for measure in measures[1:]:
        counts = counts + nodes.pod_table.counts(measure)
    return counts


def normalize_scores(scores: framework.Scores) -> framework.Scores:
    """Return scores scaled from 0 (lowest) to 100 (highest), in Go's order of operations; all 0 if equal."""
    if not len(scores):
        return scores.copy()
    lowest, highest = int(scores.min()), int(scores.max())
    if lowest == highest:
        return np.zeros_like(scores)
    share = (scores - lowest).astype(np.float64) / float(highest - lowest)
    return (float(framework.MAX_NODE_SCORE) * share).astype(np.int64)


INVALID = Reason("InvalidTerms", "parsing pod: <problem>")

_FILTER, _SCORE = f"PreFilter{NAME}", f"PreScore{NAME}"
_NO_FILTER_STATE = error(f'error reading "{_FILTER}" from cycleState: not found')
_NO_SCORE_STATE = error(f'failed to read "{_SCORE}" from cycleState: not found')


def _validate(args: Given, path: str, features: Features) -> list[FieldError]:
    return range_errors(args["hardPodAffinityWeight"], f"{path}.hardPodAffinityWeight", 0, 100)


class InterPodAffinity(framework.Plugin):
    """Terms are asked once per class of pods, counted by node and then by topology domain."""

    name = NAME
    between_pods = True
    skips = {
        framework.Point.PRE_FILTER: gettext_noop("no required terms, and no pod's anti-affinity matches this pod"),
        framework.Point.PRE_SCORE: gettext_noop("no preferred terms, and no pod's terms match this pod"),
    }
    reasons = (*REASONS, INVALID)
    arguments = Arguments(
        fields={"hardPodAffinityWeight": INTEGER32, "ignorePreferredTermsOfExistingPods": BOOL},
        defaults=when_absent(hardPodAffinityWeight=1, ignorePreferredTermsOfExistingPods=False),
        validate=_validate,
    )
    events = (
        On("Pod", Action.ADD | Action.UPDATE_POD_LABEL | Action.DELETE, after_affine_pod_change),
        On("Node", Action.ADD | Action.UPDATE_NODE_LABEL, after_node_topology_change),
    )
    state_classes = (Rules, Preferences, MatchesAll, MatchesAny, ExistingAnti)  # the last 3 are in measures

    def __init__(self, args: Mapping[str, Any], handle: framework.Handle) -> None:
        super().__init__(args, handle)
        self._hard_weight = int(args["hardPodAffinityWeight"])
        self._ignores_existing = bool(args["ignorePreferredTermsOfExistingPods"])
        behaviors = handle.features.behaviors
        self.anti_matches = matches_any if Behavior.ANY_ANTI_AFFINITY_TERM in behaviors else matches_all
        self._hears = _REPAIRED if Behavior.AFFINITY_HINTS in behaviors else self.events

    def registrations(self) -> tuple[On, ...]:
        return self._hears

    def pre_filter(self, state: CycleState, pod: Pod, nodes: NodeTable) -> framework.PreFilterResult:
        terms = affinity_terms(pod)
        if terms.errors:
            return framework.PreFilterResult(unresolvable(INVALID(problem=_problems(terms))))
        if not terms.required and not terms.required_anti and not nodes.pod_table.classes.anti_keys:
            return framework.NOTHING_TO_DO
        required = with_named_namespaces(terms.required, self.handle)
        anti = with_named_namespaces(terms.required_anti, self.handle)
        key = (terms.key, _namespaces(required), _namespaces(anti))
        rules = Rules.of(nodes, pod, Incoming.of(pod, nodes, self.handle), required, anti, key)
        if rules.nothing_to_do:
            return framework.NOTHING_TO_DO
        state.write(_FILTER, rules)
        return framework.GO_ON

    def adjust(self, state: CycleState, pod: Pod, nodes: NodeTable, changes: Sequence[Change]) -> None:
        rules: Rules | None = state.get(_FILTER)
        if rules is not None:
            state.write(_FILTER, rules.changed(nodes, changes))

    def filter(self, state: CycleState, pod: Pod, nodes: NodeTable, rows: framework.Rows) -> framework.Verdicts | None:
        rules: Rules | None = state.get(_FILTER)
        if rules is None:  # as in kube, PreFilter is required
            return framework.Verdicts.refuse(np.ones(len(rows), np.bool_), _NO_FILTER_STATE)
        return rules.verdicts(rows)

    def pre_score(self, state: CycleState, pod: Pod, nodes: NodeTable, rows: framework.Rows) -> Status:
        terms = affinity_terms(pod)
        own = bool(terms.preferred or terms.preferred_anti)
        if not own and (self._ignores_existing or not nodes.pod_table.classes.soft_keys):
            return SKIP
        if terms.errors:
            return error(f"failed to parse pod: {_problems(terms)}")
        liked = with_named_namespaces(terms.preferred, self.handle)
        disliked = with_named_namespaces(terms.preferred_anti, self.handle)
        key = (terms.key, _namespaces(liked), _namespaces(disliked))
        incoming = Incoming.of(pod, nodes, self.handle)
        preferences = Preferences.of(nodes, incoming, liked, disliked, key, self._hard_weight)
        if preferences is None:
            return SKIP
        state.write(_SCORE, preferences)
        return SUCCESS

    def score(self, state: CycleState, pod: Pod, nodes: NodeTable, rows: framework.Rows) -> framework.Scores | Status:
        preferences: Preferences | None = state.get(_SCORE)
        return _NO_SCORE_STATE if preferences is None else preferences.scores(rows)

    def normalize(
        self, state: CycleState, pod: Pod, nodes: NodeTable, rows: framework.Rows, scores: framework.Scores
    ) -> framework.Scores:
        return normalize_scores(scores)

    def describe_prepared(self, point: framework.Point, state: CycleState, pod: Pod, nodes: NodeTable) -> Explanation:
        if point is framework.Point.PRE_SCORE:
            preferences: Preferences = state.read(_SCORE)
            keys = dict.fromkeys(topology.key for topology, _ in preferences.parts)
            return (remark("Weights of matching terms, added up by domain of:", *map(Code, keys)),)
        rules: Rules = state.read(_FILTER)
        lists = (
            (gettext_noop("Required affinity terms:"), rules.terms),
            (gettext_noop("Required anti-affinity terms:"), rules.anti_terms),
        )
        blocks = [remark(text, *(Code(_describe(term)) for term in terms)) for text, terms in lists if terms]
        existing = sum(not tally.idle for tally in rules.existing)
        if existing:
            blocks.append(remark("Topology keys of other pods' anti-affinity that matches:", str(existing)))
        return tuple(blocks)

    def explain(self, state: CycleState, pod: Pod, nodes: NodeTable, row: int) -> Explanation:
        """Return each required term with the matching pods around the node, and the existing pods that reject the pod."""
        rules: Rules | None = state.get(_FILTER)
        return () if rules is None else explain_terms(pod, rules, nodes, row)

    def formula(self, state: CycleState, pod: Pod, nodes: NodeTable, row: int) -> Formula:
        terms, incoming = affinity_terms(pod), Incoming.of(pod, nodes, self.handle)
        liked = with_named_namespaces(terms.preferred, self.handle)
        disliked = with_named_namespaces(terms.preferred_anti, self.handle)
        return formulas.score_formula(pod, nodes, row, incoming, (liked, disliked), self._hard_weight)

    def normalization(
        self, state: CycleState, pod: Pod, nodes: NodeTable, rows: framework.Rows, scores: framework.Scores, i: int
    ) -> Formula:
        return formulas.normalization(nodes, rows, scores, i)

    def evidence(
        self, state: CycleState, pod: Pod, nodes: NodeTable, rows: framework.Rows, said: RefusalReason
    ) -> framework.Evidence:
        """Return the parts of the pod's own affinity that nothing matches."""
        return affinity_evidence(pod, nodes) if said.code == "NoMatchingPod" else {}

    def propose_fixes(self, draft: Draft, refusal: Refusal) -> Iterator[Draft]:
        return fixes.propose(draft, refusal, refusal.state.get(_FILTER))


def _namespaces(terms: tuple[Any, ...]) -> tuple[tuple[str, ...], ...]:
    return tuple(term.namespaces for term in terms)


def _problems(terms: AffinityTerms) -> str:
    texts = list(dict.fromkeys(f"{name}: {problem}" for name, problem in terms.errors))
    return texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"


def _describe(term: AffinityTerm) -> str:
    """Return a term as a selector and the key of its domains."""
    return f"{', '.join(map(str, term.selector.requirements)) or '*'} / {term.topology_key}"


_REPAIRED = (
    On("Pod", Action.ADD | Action.UPDATE_POD_LABEL | Action.DELETE, after_related_pod_change),
    *(on for on in InterPodAffinity.events if on.resource != "Pod"),
)
