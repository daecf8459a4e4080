"""VolumeBinding: places a pod where its volumes are accessible or can be provisioned, and binds its claims before the pod.

kube: plugins/volumebinding/{volume_binding,binder}.go @ v1.34.1
DEVIATION: a binding that takes exactly the timeout has timed out; in kube the last check and the deadline race.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from scheduler_core.apimachinery.objects import Manifest, Pod, is_owned_by
from scheduler_core.apimachinery.objects.storage import volumes
from scheduler_core.scheduler.cache.table import NodeTable
from scheduler_core.scheduler.framework import (
    Action,
    CycleState,
    Explanation,
    Formula,
    On,
    gettext_noop,
    plugin,
    remark,
)
from scheduler_core.scheduler.framework.drafts import Draft, Refusal
from scheduler_core.scheduler.framework.reasons import Reason, RefusalReason
from scheduler_core.scheduler.framework.status import SKIP, SUCCESS, Code, Status, error, unresolvable
from scheduler_core.scheduler.plugins.helper.claim_evidence import CLAIM_NOT_FOUND
from scheduler_core.scheduler.plugins.helper.hints import after_claim_change
from scheduler_core.scheduler.plugins.helper.node_selection import Mask
from scheduler_core.scheduler.plugins.volumebinding import fixes, scorer, topology
from scheduler_core.scheduler.plugins.volumebinding.binder import SECOND, AssumedObjects, Binder, Plan
from scheduler_core.scheduler.plugins.volumebinding.explanation import (
    ClaimReach,
    explain_claims,
    prospect,
    volume_evidence,
)
from scheduler_core.scheduler.plugins.volumebinding.matching import NONE, match
from scheduler_core.scheduler.plugins.volumebinding.scorer import capacity_scores
from scheduler_core.scheduler.plugins.volumebinding.state import ARGUMENTS, Claims, PodVolumes, build_plan

NAME = "VolumeBinding"

CLAIMS, POD_VOLUMES, PLAN, POLLS = NAME, f"{NAME} found", f"{NAME} plan", f"{NAME} polls"
TRIES = f"{NAME} tries"

_OF_NODES = (
    Reason("VolumeOutOfReach", "node(s) didn't match PersistentVolume's node affinity"),
    Reason("NoVolumeToBind", "node(s) didn't find available persistent volumes to bind"),
    Reason("NotEnoughStorage", "node(s) did not have enough free storage"),
    Reason("VolumeNotFound", "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"),
)
_REASONS = tuple(reason() for reason in _OF_NODES)
NODE_CONFLICT, BIND_CONFLICT, NOT_ENOUGH_SPACE, NO_VOLUME = _REASONS
_UNBOUND = Reason("UnboundImmediateClaims", "pod has unbound immediate PersistentVolumeClaims", True)
_NOT_CREATED = Reason(
    "ClaimNotCreated", 'waiting for ephemeral volume controller to create the persistentvolumeclaim "<claim>"', True
)
_LOST = Reason("ClaimLost", 'persistentvolumeclaim "<claim>" bound to non-existent persistentvolume "<volume>"', True)
_DELETED = Reason("ClaimBeingDeleted", 'persistentvolumeclaim "<claim>" is being deleted', True)
_NOT_OWNED = Reason("ClaimOfAnother", "PVC <claim> was not created for pod <pod> (pod is not owner)", True)

NOT_BOUND_YET = unresolvable(_UNBOUND())
NO_STATE = error("not found")

# One status for every combination of reasons, by their bits; 0 is not used.
_STATUSES = tuple(unresolvable(*(reason for i, reason in enumerate(_REASONS) if bits >> i & 1)) for bits in range(16))


class VolumeBinding(plugin.Plugin):
    """Scores only with the gate StorageCapacityScoring, which is off in v1.34."""

    name = NAME
    skips = {
        plugin.Point.PRE_FILTER: gettext_noop("no claims"),
        plugin.Point.PRE_SCORE: gettext_noop("the feature gate StorageCapacityScoring is off"),
    }
    reasons = (*_OF_NODES, _UNBOUND, _NOT_CREATED, CLAIM_NOT_FOUND, _LOST, _DELETED, _NOT_OWNED)
    arguments = ARGUMENTS
    canceled = "binding volumes: context canceled"
    events = (
        On("storage.k8s.io/StorageClass", Action.ADD | Action.UPDATE, topology.after_class_change),
        On("PersistentVolumeClaim", Action.ADD | Action.UPDATE, after_claim_change),
        On("PersistentVolume", Action.ADD | Action.UPDATE),
        On("Node", Action.ADD | Action.UPDATE_NODE_LABEL),
        On("storage.k8s.io/CSINode", Action.ADD | Action.UPDATE, topology.after_csi_node_migration),
        On("storage.k8s.io/CSIDriver", Action.UPDATE, topology.after_driver_change),
        On("storage.k8s.io/CSIStorageCapacity", Action.ADD | Action.UPDATE, topology.after_capacity_change),
    )
    state_classes = (Claims, PodVolumes, Plan)

    def __init__(self, args: Mapping[str, Any], handle: plugin.Handle) -> None:
        super().__init__(args, handle)
        self._objects = AssumedObjects(handle)
        self._binder = Binder(handle, self._objects)
        self._shape = args.get("shape") or ()
        self._scores_capacity = handle.features.storage_capacity_scoring
        self._timeout = int(args["bindTimeoutSeconds"]) * SECOND

    # PreFilter

    def pre_filter(self, state: CycleState, pod: Pod, nodes: NodeTable) -> plugin.PreFilterResult:
        uses = volumes.volumes_of(pod.spec).claims
        if not uses:
            state.write(CLAIMS, None)
            return plugin.NOTHING_TO_DO
        problem = next((text for use in uses if (text := self._problem(pod, use))), "")
        if problem:
            return plugin.PreFilterResult(unresolvable(problem))
        try:
            claims = self._sort_out(pod, uses)
        except ValueError as wrong:
            return plugin.PreFilterResult(error(str(wrong)))
        if claims is None:
            return plugin.PreFilterResult(NOT_BOUND_YET)
        state.write(CLAIMS, claims)
        return plugin.GO_ON

    def _problem(self, pod: Pod, use: volumes.ClaimUse) -> str:
        """Return the reason why a claim in the API server is unusable, or ""."""
        name = use.name(pod)
        claim = self.handle.get(volumes.CLAIM, pod.namespace, name)
        if claim is None:
            return _NOT_CREATED(claim=name) if use.ephemeral else volumes.claim_not_found(name)
        if volumes.phase(claim) == "Lost":
            return _LOST(claim=name, volume=volumes.volume_name(claim))
        if volumes.deleting(claim):
            return _DELETED(claim=name)
        return volumes.not_owned(claim, pod) if use.ephemeral and not is_owned_by(claim, pod) else ""

    def _sort_out(self, pod: Pod, uses: tuple[volumes.ClaimUse, ...]) -> Claims | None:
        """Sort the claims, or return None if a claim should be bound and is not. Raise ValueError if a class has no binding mode."""
        bound, delayed, late = [], [], False
        for use in uses:
            claim = self._objects.claim(pod.namespace, use.name(pod))
            if claim is None:
                raise ValueError(f'error getting PVC "{pod.namespace}/{use.name(pod)}": not found')
            if volumes.fully_bound(claim):
                bound.append(claim)
            elif self._waits_for_pod(claim) and not volumes.volume_name(claim):
                delayed.append(claim)
            else:
                # No early exit: an error of a later claim precedes this
                # rejection, as kube classifies all claims first.
                late = True
        if late:
            return None
        classes = dict.fromkeys(volumes.class_of(claim) for claim in delayed)
        offered = tuple(volume for name in classes for volume in self._objects.volumes(name))
        return Claims(tuple(bound), tuple(delayed), offered)

    def _waits_for_pod(self, claim: Manifest) -> bool:
        name = volumes.class_of(claim)
        storage_class = self.handle.get("StorageClass", "", name) if name else None
        if storage_class is None:
            return False
        mode = storage_class.get("volumeBindingMode")
        if mode is None:
            raise ValueError(f'VolumeBindingMode not set for StorageClass "{name}"')
        return bool(mode == volumes.WAIT_FOR_FIRST_CONSUMER)

    def propose_fixes(self, draft: Draft, refusal: Refusal) -> Iterator[Draft]:
        return fixes.propose(draft, refusal, self.handle)

    # Filter

    def filter(self, state: CycleState, pod: Pod, nodes: NodeTable, rows: plugin.Rows) -> plugin.Verdicts | None:
        claims: Claims | None = state.get(CLAIMS)
        if claims is None:
            return None if CLAIMS in state.values else plugin.Verdicts.refuse(np.ones(len(rows), np.bool_), NO_STATE)
        pod_volumes: PodVolumes | None = state.get(POD_VOLUMES)
        if pod_volumes is None:
            # All rows at once: no row's result depends on the requested rows, and
            # later calls of the cycle only look up the results.
            pod_volumes = self._find_pod_volumes(nodes, claims)
            state.write(POD_VOLUMES, pod_volumes)
        bits = pod_volumes.bits[rows]
        reason = np.where(bits > 0, bits, np.int32(NONE)).astype(np.int32)
        for i, (mask, _) in enumerate(pod_volumes.errors):
            reason[mask[rows]] = len(_STATUSES) + i
        if not (reason >= 0).any():
            return None
        return plugin.Verdicts(reason, (*_STATUSES, *(status for _, status in pod_volumes.errors)))

    def _find_pod_volumes(self, nodes: NodeTable, claims: Claims) -> PodVolumes:
        conflict, missing = self._check_bound(nodes, claims.bound)
        bits = conflict.astype(np.int32) + missing.astype(np.int32) * 8
        if not claims.delayed:
            return PodVolumes(bits, (), None, nodes.rows)
        matches = match(nodes, self.handle, claims.delayed, claims.offered)
        bits += matches.no_match.astype(np.int32) * 2 + matches.no_space.astype(np.int32) * 4
        errors = tuple((mask, error(text)) for mask, text in matches.errors)
        return PodVolumes(bits, errors, matches, nodes.rows)

    def _check_bound(self, nodes: NodeTable, claims: tuple[Manifest, ...]) -> tuple[Mask, Mask]:
        """Return the rows that conflict with a bound volume, and the rows whose volume does not exist; the first claim decides."""
        conflict, missing = np.zeros(len(nodes), np.bool_), np.zeros(len(nodes), np.bool_)
        for claim in claims:
            volume = self._objects.volume(volumes.volume_name(claim))
            if volume is None:
                return conflict, ~conflict
            conflict |= ~topology.find_bound_rows(nodes, self.handle, volume)
        return conflict, missing

    # PreScore and Score

    def pre_score(self, state: CycleState, pod: Pod, nodes: NodeTable, rows: plugin.Rows) -> Status:
        if not self._scores_capacity:
            return SKIP
        return SUCCESS if CLAIMS in state.values else NO_STATE

    def score(self, state: CycleState, pod: Pod, nodes: NodeTable, rows: plugin.Rows) -> plugin.Scores | Status:
        if not self._scores_capacity:
            return plugin.no_scores(len(rows))
        if CLAIMS not in state.values:
            return NO_STATE
        pod_volumes: PodVolumes | None = state.get(POD_VOLUMES)
        if pod_volumes is None or pod_volumes.matches is None:
            return plugin.no_scores(len(rows))
        claims: Claims = state.read(CLAIMS)
        # Nodes that an extender returned as new objects are matched by name.
        known = rows if nodes.origins is None else nodes.origins[rows]
        scores = capacity_scores(pod_volumes.matches, claims.offered, self._shape, np.maximum(known, 0))
        return np.where(known >= 0, scores, np.int64(0))

    def formula(self, state: CycleState, pod: Pod, nodes: NodeTable, row: int) -> Formula:
        pod_volumes: PodVolumes | None = state.get(POD_VOLUMES)
        known = row if nodes.origins is None else int(nodes.origins[row])
        claims: Claims | None = state.get(CLAIMS)
        if pod_volumes is None or pod_volumes.matches is None or claims is None or known < 0:
            return scorer.nothing()
        return scorer.score_formula(pod_volumes.matches, claims.offered, self._shape, known)

    # Reserve and Unreserve

    def reserve(self, state: CycleState, pod: Pod, node_name: str) -> Status:
        if CLAIMS not in state.values:
            return NO_STATE
        pod_volumes: PodVolumes | None = state.get(POD_VOLUMES)
        if pod_volumes is None or node_name not in pod_volumes.rows or self._all_bound(pod):
            state.write(PLAN, Plan(all_bound=True))
            return SUCCESS
        claims: Claims = state.read(CLAIMS)
        plan = build_plan(claims, pod_volumes, node_name)
        problem = self._assume(plan)
        state.write(PLAN, replace(plan, all_bound=False))
        return error(problem) if problem else SUCCESS

    def _all_bound(self, pod: Pod) -> bool:
        claims = (self._objects.claim(pod.namespace, use.name(pod)) for use in volumes.volumes_of(pod.spec).claims)
        return all(claim is not None and volumes.fully_bound(claim) for claim in claims)

    def _assume(self, plan: Plan) -> str:
        """Assume all of a plan or nothing. Return the error, or ""."""
        done: list[tuple[str, Manifest]] = []
        wanted = [(volumes.VOLUME, volume) for volume, _ in plan.static] + [
            (volumes.CLAIM, claim) for claim in plan.dynamic
        ]
        for kind, manifest in wanted:
            problem = self._objects.assume(kind, manifest)
            if problem:
                for assumed in done:
                    self._objects.restore(*assumed)
                return problem
            done.append((kind, manifest))
        return ""

    def unreserve(self, state: CycleState, pod: Pod, node_name: str) -> None:
        plan: Plan | None = state.get(PLAN)
        if plan is not None:
            self._binder.revert(plan.static, plan.dynamic)

    # PreBind

    def is_idle(self, point: plugin.Point, state: CycleState, pod: Pod) -> bool:
        plan: Plan | None = state.get(PLAN)
        return plan is None or plan.all_bound

    def pre_bind(self, state: CycleState, pod: Pod, node_name: str) -> plugin.CallResult:
        """Write the decision on the first call, then check once a second whether the claims are bound."""
        plan: Plan | None = state.get(PLAN)
        if plan is None:
            unreserved = _plan_unreserved(state, node_name)
            if isinstance(unreserved, Status):
                return plugin.CallResult(unreserved)
            state.write(PLAN, unreserved)
            plan = unreserved
        if plan.all_bound:
            return plugin.CallResult()
        waited: int | None = state.get(POLLS)
        if waited is None:
            tries: int = state.get(TRIES) or 0
            held_up = self.handle.held_up(pod, tries, len(plan.static) + len(plan.dynamic))
            if held_up:
                state.write(TRIES, tries + 1)
                return plugin.CallResult(Status(Code.WAIT), held_up)
            problem = self._binder.write(plan, pod)
            if problem:
                return plugin.CallResult(error(problem))
            waited = 0
        else:
            waited += min(SECOND, self._timeout - waited)
        if waited >= self._timeout:
            return plugin.CallResult(error("binding volumes: context deadline exceeded"))
        if waited:
            bound, problem = self._binder.check(plan, pod, node_name)
            if problem:
                return plugin.CallResult(error(f"binding volumes: {problem}"))
            if bound:
                return plugin.CallResult()
        state.write(POLLS, waited)
        return plugin.CallResult(Status(Code.WAIT), min(SECOND, self._timeout - waited))

    # Explanations

    def describe_prepared(self, point: plugin.Point, state: CycleState, pod: Pod, nodes: NodeTable) -> Explanation:
        claims: Claims | None = state.get(CLAIMS)
        if claims is None:
            return ()
        found = (
            (gettext_noop("Claims that are bound to a volume:"), claims.bound),
            (gettext_noop("Claims to bind once a node is chosen:"), claims.delayed),
        )
        return tuple(remark(text, *(str(each["metadata"]["name"]) for each in some)) for text, some in found if some)

    def explain(self, state: CycleState, pod: Pod, nodes: NodeTable, row: int) -> Explanation:
        """Explain each claim: its volume now or on this node, and the volumes offered to the claim."""
        claims: Claims | None = state.get(CLAIMS)
        if claims is None:
            return ()
        pod_volumes: PodVolumes | None = state.get(POD_VOLUMES)
        plan = None if pod_volumes is None else build_plan(claims, pod_volumes, nodes.names[row])
        bound = [self._reach(claim, nodes, row) for claim in claims.bound]
        return explain_claims(bound, [prospect(claim, claims, plan, nodes, row) for claim in claims.delayed])

    def evidence(
        self, state: CycleState, pod: Pod, nodes: NodeTable, rows: plugin.Rows, said: RefusalReason
    ) -> plugin.Evidence:
        """Return each claim with its class and its candidate volumes."""
        return volume_evidence(self.handle, pod, nodes)

    def _reach(self, claim: Manifest, nodes: NodeTable, row: int) -> ClaimReach:
        volume = self._objects.volume(volumes.volume_name(claim))
        return ClaimReach(
            claim, None if volume is None else bool(topology.find_bound_rows(nodes, self.handle, volume)[row])
        )


def _plan_unreserved(state: CycleState, node_name: str) -> Plan | Status:
    """Return Filter's plan in a profile without Reserve, or an error: as in kube, a pod without claims has no plan."""
    if CLAIMS not in state.values:
        return NO_STATE
    pod_volumes: PodVolumes | None = state.get(POD_VOLUMES)
    if pod_volumes is None or node_name not in pod_volumes.rows:
        return error(f'no pod volume found for node "{node_name}"')
    return replace(build_plan(state.read(CLAIMS), pod_volumes, node_name), all_bound=False)
