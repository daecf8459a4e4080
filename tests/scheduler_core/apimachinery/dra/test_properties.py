"""What holds of any allocation: nothing is given twice, a search that fails leaves nothing behind, and time grows with the devices."""

from collections import Counter
from dataclasses import replace
from typing import Any
from unittest import mock

from hypothesis import given
from hypothesis import strategies as st

from scheduler_core.apimachinery.dra.allocator import MOST_TRIED
from scheduler_core.apimachinery.dra.features import DEFAULT_DEVICE_FEATURES, AllocationError
from scheduler_core.apimachinery.dra.results import AllocatedState
from scheduler_core.apimachinery.dra.search import depth_first
from scheduler_core.apimachinery.dra.search.attempt import Attempt, asks_of, prepare
from scheduler_core.apimachinery.dra.search.tentative import Position, Tentative
from scheduler_core.apimachinery.dra.slices import DeviceId, ResourceSlice, gather_pools
from tests.scheduler_core.apimachinery.dra.build import (
    NameSelectors,
    allocate,
    ask,
    claim,
    classes,
    device,
    first_available,
    node,
    request,
    slice_of,
)

FEATURES = replace(DEFAULT_DEVICE_FEATURES, partitionable=True, taints=True, consumable=True, binding=True)
NAMES = [f"d{i}" for i in range(5)]


@st.composite
def slices(draw: st.DrawFn) -> ResourceSlice:
    """Five devices with everything that a device can have."""
    devices = []
    for name in NAMES:
        fields: dict[str, Any] = {"attributes": {"n": draw(st.sampled_from([1, 2, "x"]))}}
        if draw(st.booleans()):
            fields["capacity"] = {"bw": {"value": draw(st.sampled_from(["1", "2", "4"]))}}
            fields["allowMultipleAllocations"] = draw(st.booleans())
        if draw(st.booleans()):
            fields["consumesCounters"] = [{"counterSet": "g", "counters": {"m": {"value": "1"}}}]
        if draw(st.integers(0, 4)) == 0:
            fields["taints"] = [{"key": "k", "effect": "NoSchedule"}]
        devices.append(device(name, **fields))
    counters = [{"name": "g", "counters": {"m": {"value": draw(st.sampled_from(["1", "2", "3"]))}}}]
    return slice_of(devices, sharedCounters=counters)


def asks(**also: Any) -> st.SearchStrategy[dict[str, Any]]:
    return st.builds(
        lambda count, select, capacity: ask(
            count=count, select=select, **({"capacity": {"requests": {"bw": "1"}}} if capacity else {}), **also
        ),
        st.sampled_from([1, 1, 2, 3, 0]),
        st.sampled_from([[], ["n=1"], ["d2"]]),
        st.booleans(),
    )


REQUESTS = st.one_of(
    st.builds(lambda a: {"name": "r", "exactly": a}, asks()),
    st.builds(lambda a: {"name": "r", "exactly": a}, asks(adminAccess=True)),
    st.builds(lambda a, b: first_available("r", x=a, y=b), asks(), asks()),
)
CLAIMS = st.lists(
    st.builds(
        lambda requests, match: claim(
            *({**each, "name": f"r{i}"} for i, each in enumerate(requests)),
            match="gpu.example.com/n" if match else None,
        ),
        st.lists(REQUESTS, min_size=1, max_size=3),
        st.booleans(),
    ),
    min_size=1,
    max_size=2,
)


@given(slices(), CLAIMS, st.sets(st.sampled_from(NAMES), max_size=2))
def test_no_device_is_given_twice(each: ResourceSlice, claims: Any, taken: set[str]) -> None:
    try:
        results = allocate([each], claims, taken=sorted(taken), features=FEATURES).results or ()
    except AllocationError:
        return
    given_whole = [found.device for result in results for found in result.devices if not (found.admin or found.shared)]
    assert max(Counter(given_whole).values(), default=0) <= 1
    assert not {found.device for found in given_whole} & taken


@given(slices(), CLAIMS, st.sets(st.sampled_from(NAMES), max_size=2))
def test_shares_and_partitions_stay_within_what_there_is(each: ResourceSlice, claims: Any, taken: set[str]) -> None:
    try:
        results = allocate([each], claims, taken=sorted(taken), features=FEATURES).results or ()
    except AllocationError:
        return
    if any(each.all_devices for claim in claims for request in claim.requests for each in asks_of(request)):
        return  # kube looks at the devices of such a request before it takes any
    consumed: Counter[DeviceId] = Counter()
    for result in results:
        for found in result.devices:
            consumed[found.device] += sum(amount.nanos for _, amount in found.consumed)
    for known in each.devices:
        if "bw" in known.capacity:
            assert consumed[known.id] <= known.capacity["bw"].value.nanos


@given(slices(), CLAIMS, st.lists(st.sampled_from(NAMES), max_size=6))
def test_what_is_taken_back_leaves_nothing_behind(each: ResourceSlice, claims: Any, names: list[str]) -> None:
    attempt = Attempt(
        FEATURES,
        AllocatedState(),
        classes(),
        NameSelectors(),
        node(),
        claims,
        gather_pools([each], node(), FEATURES),
        MOST_TRIED,
    )
    try:
        wanted, constraints = prepare(attempt)
    except AllocationError:
        return
    tentative = Tentative(attempt, constraints, {})
    at = Position()

    def state_of(tentative: Tentative) -> Any:
        users = [tentative.in_use(0, wanted[at.key].ask, device.id) for device in each.devices]
        consumed = {device: dict(amounts) for device, amounts in attempt.allocating.items()}
        counts = [constraint.count for constraint in constraints[0]]
        return len(tentative.results[0]), users, consumed, counts, tentative.counters.get_taken(each, ("g", "m"))

    # kube does not give back the counters of a device that is shared.
    for known in (d for name in names for d in each.devices if d.name == name and not d.allows_multiple):
        before = state_of(tentative)
        try:
            taken = tentative.take(at, wanted[at.key], each, known, False)
        except AllocationError:
            return
        if taken is not None:
            tentative.undo(at, taken)
            assert state_of(tentative) == before
            tentative.take(at, wanted[at.key], each, known, False)


@given(slices(), CLAIMS, st.sets(st.sampled_from(NAMES), max_size=1))
def test_what_is_remembered_of_a_search_changes_nothing(each: ResourceSlice, claims: Any, taken: set[str]) -> None:
    def answer(few: int) -> Any:
        with mock.patch.object(depth_first, "FEW", few):
            try:
                return allocate([each], claims, taken=sorted(taken), features=FEATURES)
            except AllocationError as error:
                return str(error)

    assert answer(0) == answer(MOST_TRIED)


def test_a_search_among_10000_devices_looks_at_each_once() -> None:
    many = [slice_of([f"d{i}-{j}" for j in range(100)], name=f"s{i:03}", count=100) for i in range(100)]
    wanted = claim(request(select=["d99-99"]))
    allocation = allocate(many, [wanted])
    assert allocation.results and allocation.tried == 10_000
    every = allocate(many, [claim(request(count=0, select=["d99-99"]))])
    assert every.results and every.tried == 10_001
