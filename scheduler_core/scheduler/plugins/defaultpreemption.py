"""DefaultPreemption: the plugin that evicts pods of lower priority in favor of a pod that fits on no node.

kube: plugins/defaultpreemption @ v1.34.1
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from scheduler_core.apimachinery.objects import FieldError, Pod, invalid, times
from scheduler_core.apimachinery.objects.strict import INTEGER32
from scheduler_core.base.releases import Behavior
from scheduler_core.scheduler.cache.table import NodeTable
from scheduler_core.scheduler.framework import Action, CycleState, Features, On, Reason
from scheduler_core.scheduler.framework.arguments import Arguments, Given, when_absent
from scheduler_core.scheduler.framework.plugin import Failure, Handle, Plugin, PostFilterResult
from scheduler_core.scheduler.framework.preemption.choice import Budget, budgets_of, choose, merits
from scheduler_core.scheduler.framework.preemption.dry_run import NO_VICTIMS, Outcomes, dry_run
from scheduler_core.scheduler.framework.preemption.evidence import Candidate, Evidence
from scheduler_core.scheduler.framework.status import SUCCESS, Code, Status, error, unresolvable, unschedulable
from scheduler_core.scheduler.plugins.helper.arguments import range_errors
from scheduler_core.scheduler.plugins.helper.memo import remember

# DefaultPreemption: for a pod that fits on no node, find victims of lower priority whose eviction makes room.
# kube: plugins/defaultpreemption/default_preemption.go, framework/preemption/preemption.go @ v1.34.1

# DefaultPreemptionArgs: the number of candidates that are enough.
# kube: apis/config/v1/defaults.go, apis/config/validation/validation_pluginargs.go @ v1.34.1


def _validate(args: Given, path: str, features: Features) -> list[FieldError]:
    percentage, absolute = args["minCandidateNodesPercentage"], args["minCandidateNodesAbsolute"]
    at_percentage, at_absolute = f"{path}.minCandidateNodesPercentage", f"{path}.minCandidateNodesAbsolute"
    errors = range_errors(percentage, at_percentage, 0, 100)
    if absolute < 0:
        errors.append(invalid(at_absolute, absolute, "not in valid range [0, inf)"))
    if percentage == 0 and absolute == 0:
        same = "cannot be zero at the same time as"
        errors.append(invalid(at_percentage, percentage, f"{same} minCandidateNodesAbsolute"))
        errors.append(invalid(at_absolute, absolute, f"{same} minCandidateNodesPercentage"))
    return errors


ARGUMENTS = Arguments(
    fields={"minCandidateNodesPercentage": INTEGER32, "minCandidateNodesAbsolute": INTEGER32},
    defaults=when_absent(minCandidateNodesPercentage=10, minCandidateNodesAbsolute=100),
    validate=_validate,
)

NAME = "DefaultPreemption"

_NEVER = Reason("PolicyNever", "not eligible due to preemptionPolicy=Never.")
_TERMINATING = Reason("VictimsTerminating", "not eligible due to a terminating pod on the nominated node.")
_NOT_HELPFUL = Reason("NotHelpful", "Preemption is not helpful for scheduling")
_NO_CANDIDATE = Reason("NoCandidate", "no candidate node for preemption")
_NO_VICTIMS = Reason("NoVictims", NO_VICTIMS.message)
_PLACEMENT = Reason("Placement", "found a potential placement for pod on node <node>, preempting <victims> victims")
_IN_PROGRESS = Reason("InProgress", "waiting for the preemption for this pod to be finished")
_GROUP_IN_PROGRESS = Reason("GroupInProgress", "waiting for the preemption for this pod group to be finished")
NEVER, TERMINATING, NOT_HELPFUL = _NEVER(), _TERMINATING(), _NOT_HELPFUL()
NO_CANDIDATE = _NO_CANDIDATE()
PREFIX = "preemption: "
AWAITING = Status(Code.WAIT)
IN_PROGRESS = unresolvable(_IN_PROGRESS())
GROUP_IN_PROGRESS = unresolvable(_GROUP_IN_PROGRESS())

AT_LAST = times.NEVER
REMEMBERED_KINDS = 4  # of preemptors with cached dry runs


def never(plugin: DefaultPreemption, pod: Pod, old: Pod, new: None) -> bool:
    """Return False. The event only releases the pod from PreEnqueue. kube: isPodSchedulableAfterPodDeletion"""
    return False


class DefaultPreemption(Plugin):
    """The victims with the least harm: fewest budgets violated, then lowest priorities, then fewest, then youngest.

    `chooses_victims`: `is_eligible` is asked about each, for plugins that are made of this one.
    """

    name = NAME
    reasons = (_NEVER, _TERMINATING, _NOT_HELPFUL, _NO_CANDIDATE, _NO_VICTIMS, _IN_PROGRESS, _GROUP_IN_PROGRESS)
    arguments: ClassVar[Arguments | None] = ARGUMENTS
    events = (On("Pod", Action.DELETE, never),)
    state_classes = (Evidence,)
    chooses_victims: ClassVar[bool] = False

    def __init__(self, args: Mapping[str, Any], handle: Handle) -> None:
        super().__init__(args, handle)
        self._names_placement = Behavior.PLACEMENT_TEXT in handle.features.behaviors
        self._of_groups = handle.features.generic_workload
        self._first_spent = Behavior.FIRST_SPENT_BUDGET in handle.features.behaviors

    def registrations(self) -> tuple[On, ...]:
        return () if self.handle.preempting is None else self.events

    def pre_enqueue(self, pod: Pod) -> Status:
        """Gate the pod while its victims are being evicted, except the last victim: the event of its deletion releases the pod."""
        preempting = self.handle.preempting or ()
        if pod.spec.group and self._of_groups:
            group = self.handle.pod_group(pod.namespace, pod.spec.group)
            busy = group is not None and group.manifest["metadata"].get("uid") in preempting
            return GROUP_IN_PROGRESS if busy else SUCCESS
        return IN_PROGRESS if pod.uid in preempting else SUCCESS

    def post_filter(self, state: CycleState, pod: Pod, nodes: NodeTable, failure: Failure) -> PostFilterResult:
        evidence = Evidence()
        live = self.handle.get("Pod", pod.namespace, pod.name)
        if live is None:
            return PostFilterResult(error(f'{PREFIX}pod "{pod.name}" not found'), evidence=evidence)
        same = live["spec"] == pod.manifest["spec"]
        pod = Pod.from_manifest(live, pod if same else None)
        evidence.message = self._why_not_eligible(pod, nodes, failure)
        if evidence.message:
            evidence.eligible = False
            return PostFilterResult(unschedulable(PREFIX + evidence.message), evidence=evidence)
        errors = self._find_candidates(state, pod, nodes, failure, evidence, same)
        if not evidence.candidates:
            if errors:
                text = errors[0] if len(set(errors)) == 1 else f"[{', '.join(dict.fromkeys(errors))}]"
                return PostFilterResult(error(PREFIX + text), evidence=evidence)
            status = unschedulable(PREFIX + _not_helpful(len(nodes), evidence.rejected))
            return PostFilterResult(status, "", evidence=evidence)
        if failure.extended:
            return PostFilterResult(AWAITING, evidence=evidence)
        return _nominate_best(pod, failure, evidence, self._names_placement)

    def nominate(
        self,
        pod: Pod,
        nodes: NodeTable,
        failure: Failure,
        evidence: Evidence,
        victims: Sequence[tuple[str, tuple[Pod, ...], int]] | str,
    ) -> PostFilterResult:
        """Choose among the candidates that the extenders left. kube: callExtenders, SelectCandidate"""
        if isinstance(victims, str):
            return PostFilterResult(error(PREFIX + victims), evidence=evidence)
        now = failure.now if bool((nodes.pod_table.start > failure.now).any()) else AT_LAST
        extended = [
            Candidate(nodes.rows[node], node, pods, violations, merits(pods, violations, now))
            for node, pods, violations in victims
        ]
        evidence = replace(evidence, extended=extended, criteria=[])
        if not extended:
            return PostFilterResult(unschedulable(PREFIX + NO_CANDIDATE), evidence=evidence)
        return _nominate_best(pod, failure, evidence, self._names_placement)

    def _find_candidates(
        self, state: CycleState, pod: Pod, nodes: NodeTable, failure: Failure, evidence: Evidence, same: bool
    ) -> list[str]:
        """Collect the candidates in `evidence` and return errors. `same`: the pod's spec is unchanged since PreFilter."""
        potential = np.flatnonzero(failure.codes == int(Code.UNSCHEDULABLE))
        evidence.potential = len(potential)
        if not len(potential):
            return []
        evidence.offset = failure.draw(len(potential))
        evidence.wanted = self.candidates_wanted(len(potential))
        order = np.concatenate([potential[evidence.offset :], potential[: evidence.offset]])
        budgets = budgets_of(self.handle.list("PodDisruptionBudget"), self._first_spent)
        now = failure.now if bool((nodes.pod_table.start > failure.now).any()) else AT_LAST
        lasting = same and now == AT_LAST  # else outcomes are valid for this attempt only
        local = (
            failure.filters.local_to_rows(state) if lasting and not (self.chooses_victims or self._of_groups) else None
        )
        known = _recall_outcomes(local, pod, nodes, budgets)
        nominated = [row for name in failure.nominated_nodes() if (row := nodes.row(name)) is not None]
        _forget(known, nominated)
        eligible = self.is_eligible if self.chooses_victims else None
        find = self.handle.pod_group if self._of_groups else None
        wanted, filters = evidence.wanted, failure.filters
        errors = dry_run(state, pod, nodes, order, wanted, budgets, filters, evidence, known, now, eligible, find)
        _forget(known, nominated)
        return errors

    def _why_not_eligible(self, pod: Pod, nodes: NodeTable, failure: Failure) -> str:
        """Return the reason why the pod may not preempt, or "". kube: PodEligibleToPreemptOthers"""
        if pod.spec.preemption_policy == "Never":
            return NEVER
        row = nodes.row(pod.nominated_node_name) if pod.nominated_node_name else None
        if row is None or int(failure.codes[row]) == int(Code.UNRESOLVABLE):
            return ""
        lower = (p for p in nodes.pods[row] if p.priority < pod.priority and ends_by_preemption(p))
        ending = any(not self.chooses_victims or self.is_eligible(nodes, row, p, pod) for p in lower)
        return TERMINATING if ending else ""

    def is_eligible(self, nodes: NodeTable, row: int, victim: Pod, preemptor: Pod) -> bool:
        """Return whether a pod of lower priority may be evicted. kube: IsEligiblePod"""
        return True

    def candidates_wanted(self, nodes: int) -> int:
        """Return the number of candidates that ends the search among `nodes` potential nodes."""
        share = nodes * int(self.args["minCandidateNodesPercentage"]) // 100
        return min(max(share, int(self.args["minCandidateNodesAbsolute"])), nodes)


def _nominate_best(pod: Pod, failure: Failure, evidence: Evidence, names_placement: bool) -> PostFilterResult:
    best = choose(evidence, failure.draw)
    evidence.nominated = best.node
    lower = tuple(p for p in failure.nominated(best.node) if p.priority < pod.priority)
    text = PREFIX + _PLACEMENT(node=best.node, victims=len(best.victims))
    return PostFilterResult(
        Status(Code.SUCCESS, (text,)) if names_placement else SUCCESS, best.node, best.victims, lower, evidence
    )


def _recall_outcomes(local: tuple[object, ...] | None, pod: Pod, nodes: NodeTable, budgets: list[Budget]) -> Outcomes:
    """Return the outcomes of earlier dry runs of equivalent pods, by row; empty if a filter depends on other rows."""
    if local is None:
        return {}
    kinds: dict[object, Outcomes] = remember(nodes.memo, NAME, dict)
    key = (local, pod.spec.fingerprint, tuple(budgets))
    known = kinds.pop(key, None) or {}
    while len(kinds) >= REMEMBERED_KINDS:
        del kinds[next(iter(kinds))]
    kinds[key] = known
    return known


def _forget(known: Outcomes, nominated: list[int]) -> None:
    """Forget the outcomes of rows with nominated pods: filters count these pods, which change without a change of the row."""
    for row in nominated:
        known.pop(row, None)


def ends_by_preemption(pod: Pod) -> bool:
    """Return whether a pod is being deleted because of a preemption."""
    if not pod.deleting:
        return False
    condition = pod.condition("DisruptionTarget")
    if condition is None:
        return False
    return condition.get("status") == "True" and condition.get("reason") == "PreemptionByScheduler"


def _not_helpful(nodes: int, rejected: dict[str, Status]) -> str:
    counts: Counter[str] = Counter(reason for status in rejected.values() for reason in status.reasons)
    if len(rejected) < nodes:
        counts[NOT_HELPFUL] += nodes - len(rejected)
    return f"0/{nodes} nodes are available: {', '.join(sorted(f'{n} {reason}' for reason, n in counts.items()))}."
