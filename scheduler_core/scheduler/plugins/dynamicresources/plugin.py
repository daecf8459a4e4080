"""DynamicResources: allocates devices to the resource claims of a pod, reserves them, and writes both before the pod is bound.

kube: plugins/dynamicresources/dynamicresources.go @ v1.34.1
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from hashlib import md5
from typing import Any

import numpy as np

from scheduler_core.apimachinery.dra.allocator import MOST_TRIED
from scheduler_core.apimachinery.dra.claims import FINALIZER, ClaimError
from scheduler_core.apimachinery.dra.selectors import CelSelectors
from scheduler_core.apimachinery.dra.watch import MOST_NODES, SearchTree
from scheduler_core.apimachinery.objects import Manifest, Pod, parse_duration
from scheduler_core.base.releases import Behavior
from scheduler_core.scheduler.cache.table import NodeTable
from scheduler_core.scheduler.framework import Action, CycleState, Draft, Features, On, Refusal, plugin
from scheduler_core.scheduler.framework.explanation import Code, Explanation, gettext_noop, phrase, remark
from scheduler_core.scheduler.framework.formula import NODE, Formula, Line, Value
from scheduler_core.scheduler.framework.status import SUCCESS, Status, error, unresolvable, unschedulable
from scheduler_core.scheduler.plugins.dynamicresources import (
    claim_writing,
    extended_resources,
    fixes,
    hints,
    prefilter,
    reasons,
)
from scheduler_core.scheduler.plugins.dynamicresources.arguments import ARGUMENTS
from scheduler_core.scheduler.plugins.dynamicresources.explanation import explain_devices
from scheduler_core.scheduler.plugins.dynamicresources.filtering import (
    CANNOT_ALLOCATE,
    NOT_AVAILABLE,
    NodeFilter,
    verdicts,
    with_requests,
)
from scheduler_core.scheduler.plugins.dynamicresources.inventory import Inventories
from scheduler_core.scheduler.plugins.dynamicresources.pod_claims import (
    allocation_of,
    is_reserved_for,
    pod_claims,
    problem,
    uid_of,
    with_status,
)
from scheduler_core.scheduler.plugins.dynamicresources.prebind import (
    ALLOCATIONS,
    FACTS,
    PROGRESS,
    RESERVED,
    Binding,
    unusable,
)
from scheduler_core.scheduler.plugins.dynamicresources.prefilter import order_dependence
from scheduler_core.scheduler.plugins.dynamicresources.state import ClaimStore, Facts, NodeAllocation, Progress
from scheduler_core.scheduler.plugins.helper.device_classes import class_made
from scheduler_core.scheduler.plugins.helper.normalize import default_normalization, default_normalize

NAME = "DynamicResources"
UNAVAILABLE = NAME  # key of a note: indices of unavailable claims, in order of discovery

MOST_ALTERNATIVES = 8  # of a request
_ALTERNATIVES = gettext_noop("8 for each first alternative that serves a request, 7 for each second, and so on")
_EARLIER = phrase("Earlier alternatives of the requests score higher.")
_NOT_FOUND = "could not find "
_INCOMPLETE = "being updated"
NO_STATE = error("not found")
QUIET = unschedulable()
DISABLED = unschedulable(reasons.DISABLED())
NOTHING_TO_DEALLOCATE = unschedulable(reasons.NOTHING_TO_DEALLOCATE())
DEALLOCATED = unschedulable(reasons.DEALLOCATED())
DELETED = unschedulable(reasons.LEFT_OVER_DELETED())
STILL_NOT = unschedulable(reasons.STILL_NOT())

_NO_CLAIMS = Facts(ClaimStore())


class DynamicResources(plugin.Plugin):
    """The plugin for devices. If the gate DynamicResourceAllocation is off, a configured plugin does nothing."""

    name = NAME
    skips = {plugin.Point.PRE_FILTER: gettext_noop("no resource claims")}
    reasons = reasons.REASONS
    arguments = ARGUMENTS
    events = (
        On("Node", Action.ADD | Action.UPDATE_NODE_LABEL | Action.UPDATE_NODE_ALLOCATABLE),
        On("resource.k8s.io/ResourceClaim", Action.ADD | Action.UPDATE, hints.after_claim_change),
        On("Pod", Action.UPDATE_POD_GENERATED_RESOURCE_CLAIM, hints.after_pod_change),
        On("resource.k8s.io/DeviceClass", Action.ADD | Action.UPDATE),
        On("resource.k8s.io/ResourceSlice", Action.ADD | Action.UPDATE),
    )
    state_classes = (Facts, NodeAllocation, Progress)

    def __init__(self, args: Mapping[str, Any], handle: plugin.Handle) -> None:
        super().__init__(args, handle)
        features = handle.features
        self._enabled = features.dynamic_resources
        self._extended = features.dra_extended_resource
        self._hears = _WITH_DELETIONS if Behavior.DELETED_CLAIMS_HEARD in features.behaviors else self.events
        self._quiet = Behavior.QUIET_WITHOUT_CLAIMS in features.behaviors
        self._timeout = parse_duration(args.get("filterTimeout") or "0") if features.dra_filter_timeout else 0
        self._inventories = Inventories(handle, CelSelectors())

    @classmethod
    def variant(cls, features: Features) -> type[plugin.Plugin] | None:
        return ScoringDynamicResources if Behavior.DEVICES_SCORE in features.behaviors else DynamicResources

    @classmethod
    def in_default_set(cls, features: Features) -> bool:
        return features.dynamic_resources

    def registrations(self) -> tuple[On, ...]:
        return self._hears if self._enabled else ()

    def pre_enqueue(self, pod: Pod) -> Status:
        if not self._enabled or not pod.spec.resource_claims:
            return SUCCESS
        text = problem(self.handle.claims, pod)
        return unresolvable(text) if text else SUCCESS

    # PreFilter and Filter

    def pre_filter(self, state: CycleState, pod: Pod, nodes: NodeTable) -> plugin.PreFilterResult:
        if not self._enabled:
            return plugin.NOTHING_TO_DO
        # Before any early return, as in kube: Skip keeps only Filter from
        # running, and Reserve and PreBind fail without it.
        state.write(FACTS, _NO_CLAIMS)
        if not pod.spec.resource_claims and not (self._extended and pod.spec.requests.scalar):
            return plugin.NOTHING_TO_DO
        try:
            found = prefilter.facts_of(self.handle, pod, self._inventories)
        except ClaimError as wrong:
            return plugin.PreFilterResult(unresolvable(str(wrong)))
        if isinstance(found, Status):
            return plugin.PreFilterResult(found)
        state.write(FACTS, found)
        return plugin.GO_ON if found.store.claims else plugin.NOTHING_TO_DO

    def filter(self, state: CycleState, pod: Pod, nodes: NodeTable, rows: plugin.Rows) -> plugin.Verdicts | None:
        facts = self._facts(state)
        if isinstance(facts, Status):
            return None if facts.ok else plugin.Verdicts.refuse(np.ones(len(rows), np.bool_), facts)
        looked = self._node_filter(pod, facts)
        answer = verdicts(looked.ask_all(nodes.nodes, rows.tolist()))
        if looked.allocations:
            state.write(ALLOCATIONS, (state.get(ALLOCATIONS) or {}) | looked.allocations)
        if looked.unavailable:
            state.notes[UNAVAILABLE] = (state.notes.get(UNAVAILABLE) or {}) | looked.unavailable
        return answer

    def _facts(self, state: CycleState) -> Facts | Status:
        """Return the facts of a pod with claims, or SUCCESS if there is nothing to do. As in kube, PreFilter is required."""
        if not self._enabled:
            return SUCCESS
        facts: Facts | None = state.get(FACTS)
        if facts is None:
            return NO_STATE
        return facts if facts.store.claims else SUCCESS

    def _node_filter(self, pod: Pod, facts: Facts) -> NodeFilter:
        inventory = facts.inventory
        search = None if inventory is None else self._inventories.open(inventory)
        cost = self.handle.device_cost
        # The timeout is converted to a number of tries at a fixed cost each, so that
        # a replay times out at the same device.
        budget = self._timeout // cost if cost and self._timeout else MOST_TRIED
        return NodeFilter(pod, facts, search, self._unusable(facts), budget)

    def _unusable(self, facts: Facts) -> list[int]:
        features = self.handle.features
        if not features.dra_binding_conditions or not features.dra_device_status:
            return []
        return [
            index
            for index, claim in enumerate(facts.store.claims)
            if allocation_of(claim) is not None and unusable(claim, self.handle.now)
        ]

    # PostFilter

    def post_filter(
        self, state: CycleState, pod: Pod, nodes: NodeTable, failure: plugin.Failure
    ) -> plugin.PostFilterResult:
        """Deallocate one claim that keeps the pod from all nodes, or delete the special claim that an earlier cycle left."""
        if not self._enabled:
            return plugin.PostFilterResult(QUIET if self._quiet else DISABLED)
        facts: Facts | None = state.get(FACTS)
        if facts is None:
            return plugin.PostFilterResult(NO_STATE)
        if not facts.store.claims:
            return plugin.PostFilterResult(QUIET if self._quiet else NOTHING_TO_DEALLOCATE)
        return plugin.PostFilterResult(self._deallocate(pod, facts.store, state.notes.get(UNAVAILABLE) or {}))

    def _deallocate(self, pod: Pod, store: ClaimStore, unavailable: Mapping[int, None]) -> Status:
        calls = self.handle.calls(pod)
        # kube iterates over a map and so deallocates a random claim; a dict keeps the
        # order of discovery, so that a replay chooses the same claim.
        for index in unavailable:
            claim = store.claims[index]
            if not store.is_extended(index) and may_be_freed(claim, pod):
                reply = claim_writing.deallocate(calls, claim)
                return error(reply.error) if reply.manifest is None else DEALLOCATED
        special = store.extended
        if special is None or extended_resources.is_in_memory(special):
            return QUIET if self._quiet else STILL_NOT
        wrong = claim_writing.delete(calls, special)
        return error(wrong) if wrong else DELETED

    def describe_prepared(self, point: plugin.Point, state: CycleState, pod: Pod, nodes: NodeTable) -> Explanation:
        store = state.read(FACTS).store
        waiting = {index for index, _ in store.to_allocate()}
        named = [(index in waiting, Code(claim["metadata"]["name"])) for index, claim in enumerate(store.claims)]
        lists = (
            (gettext_noop("Claims to allocate devices for:"), [name for open_, name in named if open_]),
            (gettext_noop("Claims that are allocated:"), [name for open_, name in named if not open_]),
        )
        return tuple(remark(text, *names) for text, names in lists if names)

    # Reserve and Unreserve

    def reserve(self, state: CycleState, pod: Pod, node_name: str) -> Status:
        facts = self._facts(state)
        if isinstance(facts, Status):
            return facts
        wanted = list(facts.store.to_allocate())
        if not wanted or facts.inventory is None:
            return SUCCESS
        nodes: Mapping[str, NodeAllocation] = state.get(ALLOCATIONS) or {}
        found = nodes.get(node_name)
        if found is None or not found.results:
            only_special = all(facts.store.is_extended(index) for index, _ in wanted)
            return SUCCESS if only_special else error("claim allocation not found for node")
        self._signal(state, facts, found, node_name)
        return SUCCESS

    def _signal(self, state: CycleState, facts: Facts, found: NodeAllocation, node_name: str) -> None:
        """Record the allocation in memory before the claims are written."""
        reserved = {}
        for (index, claim), result in zip(facts.store.to_allocate(), found.results, strict=True):
            shares = _share_ids(uid_of(claim))
            allocation = reserved[index] = result.manifest(shares)
            if facts.store.is_extended(index):
                claim = with_requests(claim, found.requests or ())
            metadata = claim["metadata"]
            finalizers = list(metadata.get("finalizers") or ())
            if FINALIZER not in finalizers:
                finalizers.append(FINALIZER)
            claim = {**claim, "metadata": {**metadata, "finalizers": finalizers}}
            self.handle.claims.signal_pending_allocation(uid_of(claim), with_status(claim, allocation=allocation))
        state.write(RESERVED, reserved)

    def unreserve(self, state: CycleState, pod: Pod, node_name: str) -> None:
        facts = self._facts(state)
        if isinstance(facts, Status):
            return
        store, claims, calls = facts.store, self.handle.claims, self.handle.calls(pod)
        for claim in store.users:
            if claims.remove_pending_allocation(uid_of(claim)):
                claims.restore(claim["metadata"]["namespace"], claim["metadata"]["name"])
            if allocation_of(claim) is not None and is_reserved_for(claim, pod):
                claim_writing.release(calls, claim, pod)
        special = store.extended
        if special is None:
            return
        if claims.remove_pending_allocation(store.initial_uid):
            claims.restore(special["metadata"]["namespace"], special["metadata"]["name"])
        if not extended_resources.is_in_memory(special):
            claim_writing.delete(calls, special)

    # PreBind

    def is_idle(self, point: plugin.Point, state: CycleState, pod: Pod) -> bool:
        if self._facts(state) is SUCCESS:
            return True
        return point is plugin.Point.RESERVE and state.get(RESERVED) is None

    def pre_bind(self, state: CycleState, pod: Pod, node_name: str) -> plugin.CallResult:
        facts = self._facts(state)
        if isinstance(facts, Status):
            return plugin.CallResult(facts)
        return Binding(self.handle, state, pod, node_name).go_on()

    # Explanations: computed only on request

    def explain(self, state: CycleState, pod: Pod, nodes: NodeTable, row: int) -> Explanation:
        """Explain for each claim the devices that it has or would receive on this node; if none, the reasons against each device."""
        facts: Facts | None = state.get(FACTS)
        if facts is None or not facts.store.claims:
            return ()
        asked, tree = self._node_filter(pod, facts), SearchTree(patience=MOST_NODES)
        found = asked.watched(nodes.nodes[row], tree)
        return explain_devices(asked, nodes.nodes[row], found, tree, self.order_dependence(state, pod, nodes, row))

    def propose_fixes(self, draft: Draft, refusal: Refusal) -> Iterator[Draft]:
        facts: Facts | None = refusal.state.get(FACTS)
        missing = prefilter.missing_class(refusal.status)
        if missing:
            claims = tuple(pod_claims(self.handle.claims, refusal.pod))
            yield from fixes.other_classes(draft, claims, self._inventories.classes(), missing)
            yield from class_made(draft, claims, self.handle, missing)
        elif any(said.startswith(_NOT_FOUND) for said in refusal.status.reasons):
            yield from fixes.missing_claims(draft, refusal.pod, self.handle)
        elif refusal.status.reasons == NOT_AVAILABLE.reasons:
            yield from fixes.own_claims(draft, refusal.pod, self.handle)
        elif _INCOMPLETE in str(refusal.status.reasons):
            yield from fixes.divide_pools(draft, self.handle)
            yield from fixes.complete_pools(draft, refusal.node.name, self.handle)
        elif facts is not None and facts.inventory is not None and refusal.status.reasons == CANNOT_ALLOCATE.reasons:
            search = self._inventories.open(facts.inventory)
            yield from fixes.propose(draft, refusal, self.handle, search, facts)

    def search_tree(
        self, state: CycleState, pod: Pod, nodes: NodeTable, row: int, tree: SearchTree
    ) -> SearchTree | None:
        """Record the search for devices on a node in `tree` (devices/watch.py). Return None if there is nothing to search."""
        facts: Facts | None = state.get(FACTS)
        if facts is None or self._node_filter(pod, facts).watched(nodes.nodes[row], tree) is None:
            return None
        return tree

    def order_dependence(self, state: CycleState, pod: Pod, nodes: NodeTable, row: int) -> str:
        """Return the part of a node's answer that may differ in a real cluster: "status", "allocation", or "" (prefilter.py)."""
        facts: Facts | None = state.get(FACTS)
        if facts is None or facts.inventory is None:
            return ""
        asked = self._node_filter(pod, facts)
        return order_dependence(asked, self._inventories.search, nodes.nodes[row])


class ScoringDynamicResources(DynamicResources):
    """The plugin since 1.35: nodes whose devices serve earlier alternatives of the requests score higher."""

    def __init__(self, args: Mapping[str, Any], handle: plugin.Handle) -> None:
        super().__init__(args, handle)
        self._scores_allocated = Behavior.ALLOCATED_CLAIMS_SCORE in handle.features.behaviors

    def score(self, state: CycleState, pod: Pod, nodes: NodeTable, rows: plugin.Rows) -> plugin.Scores | Status:
        facts = self._facts(state)
        if isinstance(facts, Status):
            return plugin.no_scores(len(rows)) if facts.ok else facts
        found: Mapping[str, NodeAllocation] = state.get(ALLOCATIONS) or {}
        scores = np.zeros(len(rows), np.int64)
        for i, row in enumerate(rows.tolist()):
            allocation = found.get(nodes.names[row])
            if allocation is not None:
                score = self._score_alternatives(facts.store, allocation)
                if isinstance(score, Status):
                    return score
                scores[i] = score
        return scores

    def normalize(
        self, state: CycleState, pod: Pod, nodes: NodeTable, rows: plugin.Rows, scores: plugin.Scores
    ) -> plugin.Scores:
        if scores is plugin.no_scores(len(rows)) or not self._enabled or not np.count_nonzero(scores):
            return scores
        return default_normalize(scores)

    def formula(self, state: CycleState, pod: Pod, nodes: NodeTable, row: int) -> Formula:
        facts: Facts = state.read(FACTS)
        allocation = (state.get(ALLOCATIONS) or {}).get(nodes.names[row])
        score = 0 if allocation is None else self._score_alternatives(facts.store, allocation)
        return Formula((Line(NODE, Value(int(score) if isinstance(score, int) else 0, _ALTERNATIVES)),), (_EARLIER,))

    def normalization(
        self, state: CycleState, pod: Pod, nodes: NodeTable, rows: plugin.Rows, scores: plugin.Scores, i: int
    ) -> Formula:
        return default_normalization(nodes, rows, scores, i)

    def _score_alternatives(self, store: ClaimStore, allocation: NodeAllocation) -> int | Status:
        """Sum 8 for each request that its first alternative serves, 7 for the second, and so on."""
        results = iter(allocation.results)
        score = 0
        for claim in store.claims:
            known = allocation_of(claim) if self._scores_allocated else None
            if known is not None:
                taken = {each.get("request") for each in (known.get("devices") or {}).get("results") or ()}
            elif (result := next(results, None)) is None:
                ending = "claims needing allocation" if self._scores_allocated else "claims"
                return error(f"number of allocations {len(allocation.results)} is smaller than number of {ending}")
            else:
                taken = {device.request for device in result.devices}
            for request in ((claim.get("spec") or {}).get("devices") or {}).get("requests") or ():
                alternatives = request.get("firstAvailable") or () if request.get("exactly") is None else ()
                names = [f"{request['name']}/{each['name']}" for each in alternatives]
                score += sum(MOST_ALTERNATIVES - i for i, name in enumerate(names) if name in taken)
        return score


def may_be_freed(claim: Manifest, pod: Pod) -> bool:
    """Return whether no pod uses the claim, or only this one."""
    consumers = (claim.get("status") or {}).get("reservedFor") or ()
    return not consumers or (len(consumers) == 1 and consumers[0].get("uid") == pod.uid)


def _share_ids(uid: str) -> Any:
    """Return a generator of the claim's shareIDs, distinguished by a number; kube draws UUIDs."""
    numbers = iter(range(1, 1 << 20))
    return lambda: _uuid(f"{uid}/{next(numbers)}")


def _uuid(name: str) -> str:
    """Return a UUID that depends on the name only."""
    text = md5(name.encode(), usedforsecurity=False).hexdigest()
    return f"{text[:8]}-{text[8:12]}-4{text[13:16]}-a{text[17:20]}-{text[20:]}"


__all__ = ["NAME", "PROGRESS", "DynamicResources"]


_WITH_DELETIONS = tuple(
    replace(on, action=on.action | Action.DELETE) if on.hint is hints.after_claim_change else on
    for on in DynamicResources.events
)
