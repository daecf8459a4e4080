"""The checks before the search: are the claims such that they can be handled, and how many devices do they need.

A request for all devices gathers them here. The way in which kube numbers subrequests meanwhile is kept: the second one finds the answers
that the first one left, as its number is only set afterwards.

kube: dynamic-resource-allocation/structured/internal/experimental/allocator_experimental.go (Allocate, validateDeviceRequest) @ v1.34.1
"""

from __future__ import annotations

from functools import partial

from scheduler_core.apimachinery.dra.claims import ALL, EXACT_COUNT, MAX_RESULTS, Ask, Request, ResourceClaim
from scheduler_core.apimachinery.dra.features import AllocationError
from scheduler_core.apimachinery.dra.search.attempt import Attempt, Candidate, RequestKey, Wanted, asks_of, label
from scheduler_core.apimachinery.dra.search.constraints import Constraint, constraint_of, fits
from scheduler_core.apimachinery.dra.watch import FOUND, NONE
from scheduler_core.base.releases import Behavior

WantedByKey = dict[RequestKey, Wanted]


def prepare(attempt: Attempt) -> tuple[WantedByKey, list[list[Constraint]]]:
    """Return the needs of each request, and each claim's constraints. Raise AllocationError if a claim can't be handled."""
    wanted: WantedByKey = {}
    constraints = []
    for index, claim in enumerate(attempt.claims):
        least = 0
        named = Behavior.SELECTORS_NAME_DEVICES in attempt.features.behaviors
        for number, request in enumerate(claim.requests):
            more = _prepare_request(attempt, wanted, index, number)
            if named and least + more > MAX_RESULTS:
                limit = f"the claim limit of {MAX_RESULTS}, with {least} already accounted for"
                raise AllocationError(f"{label(claim, request.name)}: adding {more} devices exceeds {limit}")
            least += more
        if least > MAX_RESULTS:
            text = f"number of requested devices {least} exceeds the claim limit of {MAX_RESULTS}"
            raise AllocationError(f"claim {claim.key}: {text}")
        constraints.append(_constraints(attempt, claim))
    attempt.forget_matches()
    return wanted, constraints


def _prepare_request(attempt: Attempt, wanted: WantedByKey, claim_index: int, number: int) -> int:
    """Add the request to `wanted`; return the minimum number of devices that it needs."""
    claim = attempt.claims[claim_index]
    request = claim.requests[number]
    _check_gates(attempt, claim, request)
    key = RequestKey(claim_index, number)
    if not request.alternatives:
        if request.exactly is None:
            raise AllocationError(f"{label(claim, request.name)}: missing device class name")
        wanted[key] = _validate_request(attempt, key, request.exactly, None)
        return wanted[key].count
    counts = []
    numbered = Behavior.DEVICES_IN_ORDER in attempt.features.behaviors
    for sub, ask in enumerate(request.alternatives):
        own = RequestKey(claim_index, number, sub)
        found = _validate_request(attempt, own if numbered else key, ask, request)
        key = own
        wanted[key] = found
        counts.append(found.count)
    return min(counts)


def _check_gates(attempt: Attempt, claim: ResourceClaim, request: Request) -> None:
    features, where = attempt.features, label(claim, request.name)
    if request.alternatives and not features.prioritized_list:
        raise AllocationError(f"{where}: has subrequests, but the DRAPrioritizedList feature is disabled")
    if not features.experimental or features.consumable:
        return
    if any(ask.capacity is not None for ask in asks_of(request)):
        raise AllocationError(f"{where}: has capacity requests, but the DRAConsumableCapacity feature is disabled")


def _validate_request(attempt: Attempt, key: RequestKey, ask: Ask, parent: Request | None) -> Wanted:
    where = label(attempt.claims[key.claim], ask.name)
    for index, selector in enumerate(ask.selectors):
        if selector is None:
            text = f"selector #{index}: CEL expression empty (unsupported selector type?)"
            raise AllocationError(f"{where}, {text}")
    if ask.admin is not None and not attempt.features.admin_access:
        raise AllocationError(f"{where}: admin access is requested, but the feature is disabled")
    if not ask.class_name:
        raise AllocationError(f"{where}: missing device class name (unsupported request type?)")
    device_class = attempt.classes.get(ask.class_name)
    if device_class is None:
        text = f'deviceclass.resource.k8s.io "{ask.class_name}" not found'
        raise AllocationError(f"{where}: could not retrieve device class {ask.class_name}: {text}")
    wanted = Wanted(ask, parent, device_class)
    if ask.mode == EXACT_COUNT:
        wanted.count = ask.count
    elif ask.mode == ALL:
        wanted.all = _gather_all(attempt, key, wanted, where)
        wanted.count = len(wanted.all)
    else:
        raise AllocationError(f"{where}: unsupported count mode {ask.mode}")
    return wanted


def _gather_all(attempt: Attempt, key: RequestKey, wanted: Wanted, where: str) -> list[Candidate]:
    """All devices that suit, in use or not. An incomplete or invalid pool is an error, whoever's it is."""
    found: list[Candidate] = []
    watch = attempt.watch
    if watch is not None:
        watch.begin("all", claim=attempt.claims[key.claim].key, request=wanted.result_name)
    for pool in attempt.pools:
        if pool.incomplete or pool.invalid:
            state = "being updated" if pool.incomplete else "invalid"
            text = f"asks for all devices, but resource pool {pool.id} is currently {state}"
            raise AllocationError(f"{where}: {text}")
        for each in pool.slices:
            found += [Candidate(each, d) for d in each.devices if _is_one(attempt, key, wanted, Candidate(each, d))]
    if watch is not None:
        watch.end(FOUND if found else NONE, count=len(found))
    return found


def _is_one(attempt: Attempt, key: RequestKey, wanted: Wanted, candidate: Candidate) -> bool:
    attempt.tried += 1
    watch = attempt.watch
    if watch is not None:
        watch.begin("device", device=str(candidate.device.id))
    enough = partial(fits, capacity=candidate.device.capacity, fractions=True) if attempt.fractions else None
    passes = attempt.selectable(key, wanted.ask, wanted.device_class, candidate.slice, candidate.device) and (
        not attempt.features.consumable
        or (enough(wanted.ask) if enough is not None else attempt.has_capacity(wanted.ask, candidate.device))
    )
    if watch is not None:
        watch.end(FOUND if passes else NONE)
    return passes


def _constraints(attempt: Attempt, claim: ResourceClaim) -> list[Constraint]:
    made = []
    for index, constraint in enumerate(claim.constraints):
        known = constraint_of(constraint, attempt.features.experimental, attempt.features.behaviors)
        if known is None:
            text = f"constraint #{index}: empty constraint (unsupported constraint type?)"
            raise AllocationError(f"claim {claim.key}, {text}")
        made.append(known)
    return made
