"""PreFilter: a pod's claims, whether they can be used and allocated now, and the allocator's input.

kube: plugins/dynamicresources/dynamicresources.go (PreFilter, preFilterExtendedResources, validateDeviceClass) @ v1.34.1
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, islice, permutations
from math import factorial
from typing import TypeVar

from scheduler_core.apimachinery.dra import classes
from scheduler_core.apimachinery.dra.claims import Ask, Request, ResourceClaim
from scheduler_core.apimachinery.dra.classes import DeviceClass
from scheduler_core.apimachinery.objects import Manifest, Node, Pod
from scheduler_core.apimachinery.objects.labels import aggregate
from scheduler_core.base.clock.agenda import Stream
from scheduler_core.scheduler.framework import Handle, Status, error, unresolvable
from scheduler_core.scheduler.plugins.dynamicresources import extended_resources, reasons
from scheduler_core.scheduler.plugins.dynamicresources.extended_resources import ExtendedRequests
from scheduler_core.scheduler.plugins.dynamicresources.filtering import TIMED_OUT, NodeFilter, node_selector_of
from scheduler_core.scheduler.plugins.dynamicresources.inventory import Inventories
from scheduler_core.scheduler.plugins.dynamicresources.node_search import NodeSearch
from scheduler_core.scheduler.plugins.dynamicresources.pod_claims import allocation_of, key_of, pod_claims, uid_of
from scheduler_core.scheduler.plugins.dynamicresources.state import ClaimStore, Facts

# Order dependence: whether a real cluster may allocate other devices to a pod.
#
# kube's allocator iterates over slices and pools in the random order of Go maps; here they are sorted. The first allocation found may
# differ, and with it the result. A node's result depends on the order if another order leads to another result. All orders of the
# node's slices are tried if they are few, or else ENOUGH orders from a random stream with a fixed seed.

T = TypeVar("T")

ENOUGH = 30
MOST_TRIED = 5_000  # devices in one order; a longer search does not count as dependent on the order
STATUS, ALLOCATION = "status", "allocation"


def order_dependence(asked: NodeFilter, search: NodeSearch, node: Node) -> str:
    """Return the part of the node's answer that may differ in a real cluster: STATUS, ALLOCATION, or "" if none is found."""
    asked = asked.within(MOST_TRIED)
    status, allocation = asked.ask(node), asked.allocations.get(node.name)
    if status == TIMED_OUT:
        return ""
    slices, found = search.reaching(node), ""
    for other, order in chain(
        ((asked, order) for order in other_orders(slices)), ((other, slices) for other in _with_other_resources(asked))
    ):
        answer = other.ask(node, order)
        if answer == TIMED_OUT:
            continue
        if answer != status:
            return STATUS
        given = other.allocations.get(node.name)
        if allocation is not None and given is not None and given.results != allocation.results:
            found = ALLOCATION
    return found


def _with_other_resources(asked: NodeFilter) -> Iterator[NodeFilter]:
    """Yield filters with other orders of the pod's extended resources: kube iterates over a Go map of them, too."""
    wanted = asked.facts.wanted
    if wanted is not None:
        for amounts in other_orders(wanted.served):
            yield asked.with_facts(replace(asked.facts, wanted=replace(wanted, amounts=amounts)))


def other_orders(things: Sequence[T]) -> Iterator[tuple[T, ...]]:
    """Yield other orders than the given one: all if they are few, else the reverse and ENOUGH random ones (fixed seed)."""
    if factorial(len(things)) <= ENOUGH:
        yield from islice(permutations(things), 1, None)
        return
    yield tuple(reversed(things))
    stream = Stream(len(things))
    for _ in range(ENOUGH):
        left = list(things)
        yield tuple(left.pop(stream.below(len(left))) for _ in range(len(things)))


def facts_of(handle: Handle, pod: Pod, inventories: Inventories) -> Facts | Status:
    """Return the results of PreFilter, or a status if the pod can't be scheduled now. Raise ClaimError if the pod can't use a claim."""
    users = tuple(pod_claims(handle.claims, pod))
    special, wanted = _special(handle, pod)
    store = ClaimStore(users)
    if special is not None:
        store = ClaimStore((*users, special), True, uid_of(special))
    refusal = _refusal(handle, store, inventories)
    if refusal is not None:
        return refusal
    free = any(True for _ in store.to_allocate())
    return Facts(store, inventories.take() if free else None, wanted)


def _special(handle: Handle, pod: Pod) -> tuple[Manifest | None, ExtendedRequests | None]:
    """Return the claim for extended resources, left over or new, and the requests; None if devices serve no resource."""
    if not handle.features.dra_extended_resource:
        return None, None
    by_resource = classes.classes_by_resource(handle.list(classes.KIND))
    wanted = extended_resources.find_wanted_resources(pod, by_resource)
    if wanted is None:
        return None, None
    existing = extended_resources.existing_claim(pod, handle.claims.list())
    return existing if existing is not None else extended_resources.new_claim(pod), wanted


def _refusal(handle: Handle, store: ClaimStore, inventories: Inventories) -> Status | None:
    for index, claim in enumerate(store.claims):
        if allocation_of(claim) is not None:
            selector = node_selector_of(claim)
            if selector is not None and selector.errors:
                return error(aggregate(selector.errors))
            continue
        if handle.claims.has_pending_allocation(uid_of(claim)):
            return unresolvable(reasons.ALLOCATING(claim=key_of(claim)))
        if not store.is_extended(index):
            refusal = _check_claim(claim, inventories.classes(), handle.features.dra_prioritized_list)
            if refusal is not None:
                return refusal
    return None


def _check_claim(claim: Manifest, by_name: Mapping[str, DeviceClass], prioritized: bool) -> Status | None:
    """Return the status that rejects a claim with an invalid request or a missing class, which no node can serve, or None."""
    for request in ResourceClaim.of(claim).requests:
        where = {"claim": key_of(claim), "request": request.name}
        if request.exactly is None and not request.alternatives:
            return unresolvable(reasons.UNKNOWN_TYPE(**where))
        if request.exactly is None and not prioritized:
            return unresolvable(reasons.NO_ALTERNATIVES(**where))
        for name, ask in _asks(request):
            if not ask.class_name:
                return error(f"request {name}: unsupported request type")
            if ask.class_name not in by_name:
                return unresolvable(reasons.NO_CLASS(**{"request": name, "class": ask.class_name}))
    return None


def missing_class(status: Status) -> str:
    """Return the class that does not exist according to a status; "" if the status has another reason."""
    said = reasons.NO_CLASS.read(status.reasons[0]) if len(status.reasons) == 1 else None
    return "" if said is None else said["class"]


def _asks(request: Request) -> list[tuple[str, Ask]]:
    """Return the request's alternatives by name, or `exactly` alone if it is set."""
    if request.exactly is not None:
        return [(request.name, request.exactly)]
    return [(f"{request.name}/{ask.name}", ask) for ask in request.alternatives]
