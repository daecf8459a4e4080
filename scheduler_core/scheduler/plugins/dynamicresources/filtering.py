"""Filter: whether the node is within reach of allocated claims and could provide devices for the others.

kube: plugins/dynamicresources/dynamicresources.go (Filter, filterExtendedResources) @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from scheduler_core.apimachinery.dra.allocator import MOST_TRIED
from scheduler_core.apimachinery.dra.claims import ResourceClaim
from scheduler_core.apimachinery.dra.slices import ResourceSlice
from scheduler_core.apimachinery.dra.watch import SeenEnough, Watch
from scheduler_core.apimachinery.objects import Manifest, Node, NodeSelector, Pod
from scheduler_core.scheduler.framework import Status, Verdicts, error, unresolvable
from scheduler_core.scheduler.plugins.dynamicresources import reasons
from scheduler_core.scheduler.plugins.dynamicresources.extended_resources import NodeShare, share_of
from scheduler_core.scheduler.plugins.dynamicresources.node_search import NodeResult, NodeSearch
from scheduler_core.scheduler.plugins.dynamicresources.pod_claims import allocation_of
from scheduler_core.scheduler.plugins.dynamicresources.state import Facts, NodeAllocation

LEFT_OVER = unresolvable(reasons.LEFT_OVER())
CANNOT_FIT = unresolvable(reasons.CANNOT_FIT())
CANNOT_ALLOCATE = unresolvable(reasons.CANNOT_ALLOCATE())
NOT_AVAILABLE = unresolvable(reasons.NOT_AVAILABLE())
INVALID_POOLS = unresolvable(reasons.INVALID_POOLS())
TIMED_OUT = unresolvable(reasons.TIMED_OUT())

NOTHING_SPECIAL = NodeShare()


def node_selector_of(claim: Manifest) -> NodeSelector | None:
    """Return the selector of the nodes that can use an allocated claim's devices; None: all nodes."""
    selector = (allocation_of(claim) or {}).get("nodeSelector")
    return None if selector is None else NodeSelector.of(selector)


class NodeFilter:
    """The filter of one node after the other; records the allocations and the claims that nodes can't reach.

    `unusable` are the indices of claims whose binding has failed or timed out, on any node.
    """

    def __init__(
        self, pod: Pod, facts: Facts, search: NodeSearch | None, unusable: Collection[int], budget: int | None
    ) -> None:
        self._pod, self.facts, self._search = pod, facts, search
        self._budget = MOST_TRIED if budget is None else budget
        store = facts.store
        self._unusable = frozenset(unusable)
        self._selectors = [node_selector_of(claim) for claim in store.claims]
        self._bound = any(selector is not None for selector in self._selectors) or bool(self._unusable)
        self._claims = [ResourceClaim.of(claim) for _, claim in store.to_allocate()]
        self._kind = None if search is None else search.kind_of(self._claims, self._budget)
        self.unavailable: dict[int, None] = {}
        self.allocations: dict[str, NodeAllocation] = {}

    def with_facts(self, facts: Facts) -> NodeFilter:
        """Return a copy of this filter with other facts."""
        return NodeFilter(self._pod, facts, self._search, self._unusable, self._budget)

    def ask_all(self, nodes: Sequence[Node], rows: Sequence[int]) -> list[Status | None]:
        """Return the answers of `ask` for many rows; use remembered results if only the node's allocation counts."""
        if self._search is None or self._bound or self.facts.store.special:
            return [self.ask(nodes[row]) for row in rows]
        known, allocations = self._search.recall(self._kind), self.allocations
        answers: list[Status | None] = []
        for row in rows:
            node = nodes[row]
            entry = known.get(node.name)
            if entry is None or entry[0] is not node or entry[1].timed_out:
                answers.append(self.ask(node))
                continue
            given = entry[1].given
            if given is None:
                answers.append(INVALID_POOLS if entry[1].invalid else CANNOT_ALLOCATE)
            else:
                allocations[node.name] = given
                answers.append(None)
        return answers

    def ask(self, node: Node, slices: Sequence[ResourceSlice] | None = None) -> Status | None:
        """Return the refusal, or None if the node passes. `slices`: the node's slices in another order than by name, without caching."""
        store = self.facts.store
        share = NOTHING_SPECIAL
        if store.extended is not None:
            refusal, share = self.share(node)
            if refusal is not None:
                return refusal
            if share.requests is None and not store.users:
                return None
        unavailable = self.unavailable_on(node) if self._bound else ()
        if self._search is not None:
            found = self._find(node, share, slices)
            if found.timed_out:
                return TIMED_OUT
            if found.error:
                return error(found.error)
            if found.given is None:
                return INVALID_POOLS if found.invalid else CANNOT_ALLOCATE
        # After the search, as in kube: PostFilter gets only the unavailable claims of nodes that can serve all others.
        if unavailable:
            self.unavailable |= dict.fromkeys(unavailable)
            return NOT_AVAILABLE
        if self._search is not None:
            assert found.given is not None
            self.allocations[node.name] = (
                found.given if share.requests is None else NodeAllocation(found.given.results, share.requests)
            )
        return None

    def share(self, node: Node) -> tuple[Status | None, NodeShare]:
        """Return the extended resources that devices serve on the node, or the status that rejects the pod."""
        store, want = self.facts.store, self.facts.wanted
        assert store.extended is not None and want is not None
        if (store.extended["spec"].get("devices") or {}).get("requests"):
            return LEFT_OVER, NOTHING_SPECIAL
        if allocation_of(store.extended) is not None:
            return None, NOTHING_SPECIAL
        share = share_of(node, self._pod, want, not store.users)
        return (CANNOT_FIT if share.refused else None), share

    def unavailable_on(self, node: Node) -> list[int]:
        """Return the indices of allocated claims that can't be used on the node."""
        return [
            index
            for index, selector in enumerate(self._selectors)
            if index in self._unusable or (selector is not None and not selector.matches(node.labels, node.name))
        ]

    def claims_on(self, share: NodeShare) -> list[ResourceClaim]:
        """Return the claims to allocate on the node."""
        if share.requests is None:
            return self._claims
        special = self.facts.store.extended
        assert special is not None
        return [*self._claims[:-1], ResourceClaim.from_manifest(with_requests(special, share.requests))]

    def watched(self, node: Node, watch: Watch) -> NodeResult | None:
        """Repeat the search on a node with a watch; return None if there is nothing to search.

        If the watch ends the search early, return the earlier result.
        """
        if self._search is None or self.facts.inventory is None:
            return None
        _, share = (None, NOTHING_SPECIAL) if self.facts.store.extended is None else self.share(node)
        try:
            return self._search.search(node, self.claims_on(share), self._budget, watch)
        except SeenEnough:
            return self._find(node, share, None)

    def within(self, budget: int) -> NodeFilter:
        """Return a copy of this filter that tries at most `budget` devices."""
        return NodeFilter(self._pod, self.facts, self._search, self._unusable, min(budget, self._budget))

    def _find(self, node: Node, share: NodeShare, slices: Sequence[ResourceSlice] | None) -> NodeResult:
        assert self._search is not None
        if slices is not None:
            return self._search.search(node, self.claims_on(share), self._budget, slices=slices)
        claims, kind = self._claims, self._kind
        if share.requests is not None:
            claims = self.claims_on(share)
            kind = self._search.kind_of(claims, self._budget)
        return self._search.find(node, claims, kind, self._budget)


def with_requests(claim: Manifest, requests: Sequence[Manifest]) -> Manifest:
    """Return the special claim with the requests for a node."""
    devices: Mapping[str, Any] = {"requests": list(requests)} if requests else {}
    return {**claim, "spec": {"devices": devices}}


def verdicts(statuses: Sequence[Status | None]) -> Verdicts | None:
    """Return the verdicts for one status per row."""
    if not any(statuses):
        return None
    known: dict[Status, int] = {}
    reasons = [-1 if status is None else known.setdefault(status, len(known)) for status in statuses]
    return Verdicts(np.array(reasons, np.int32), tuple(known))
