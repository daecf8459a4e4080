"""What a scheduler knows of claims while its informer is behind, and which devices it takes for allocated."""

from __future__ import annotations

from typing import Any

from scheduler_core.apimachinery.dra.slices import DeviceId
from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.scheduler.framework.claims import ClaimTracker
from tests.support.devices import claim

Change = tuple[Manifest | None, Manifest | None]


class Informer:
    """Claims by name; `announced` are the changes that the tracker made itself."""

    def __init__(self, *claims: Manifest) -> None:
        self.claims = {each["metadata"]["name"]: each for each in claims}
        self.announced: list[Change] = []

    def get(self, kind: str, namespace: str, name: str) -> Manifest | None:
        return self.claims.get(name)

    def list(self, kind: str) -> list[Manifest]:
        return list(self.claims.values())


def at(version: int, *devices: str, name: str = "c", **fields: Any) -> Manifest:
    """A claim of a version, with these devices."""
    made = claim(name)
    made["metadata"] |= {"resourceVersion": str(version), "uid": f"uid-{name}"}
    results = [{"request": "r", "driver": "d", "pool": "p", "device": each, **fields} for each in devices]
    return {**made, "status": {"allocation": {"devices": {"results": results}}} if devices else {}}


def tracker(*claims: Manifest, consumable: bool = False) -> tuple[ClaimTracker, Informer]:
    informer, made = Informer(*claims), ClaimTracker()
    made.connect(lambda: informer, consumable, lambda old, new: informer.announced.append((old, new)))
    return made, informer


def taken(known: ClaimTracker) -> list[str]:
    return sorted(device.device for device in known.allocated().devices)


def test_what_was_written_counts_before_the_informer_brings_it() -> None:
    known, informer = tracker(at(1))
    assert known.assume(at(3, "a")) == ""
    assert (known.get("default", "c"), taken(known)) == (at(3, "a"), ["a"])
    assert informer.announced == [(at(1), at(3, "a"))]


def test_an_older_version_is_not_assumed() -> None:
    known, _ = tracker(at(5))
    assert known.assume(at(3)) == 'ResourceClaim "default/c" is out of sync (stored: 5, assume: 3)'
    assert known.assume(at(3, name="x")) == 'could not find ResourceClaim "default/x"'


def test_the_informer_is_no_news_up_to_the_version_that_was_assumed() -> None:
    known, informer = tracker(at(1))
    known.assume(at(3, "a"))
    for version in (2, 3):
        old, new = known.observe(at(1), at(version, "a"))
        assert old is new
    informer.claims["c"] = at(4)
    assert known.observe(at(3, "a"), at(4)) == (at(3, "a"), at(4))
    assert taken(known) == []


def test_an_assumption_that_is_taken_back_leaves_what_the_informer_has() -> None:
    known, informer = tracker(at(1))
    known.assume(at(3, "a"))
    known.restore("default", "c")
    assert (known.get("default", "c"), taken(known)) == (at(1), [])
    assert informer.announced[-1] == (at(3, "a"), at(1))


def test_an_allocation_in_flight_takes_its_devices_until_it_is_written_or_given_up() -> None:
    known, _ = tracker(at(1))
    known.signal_pending_allocation("uid-c", at(1, "a"))
    assert (known.has_pending_allocation("uid-c"), taken(known)) == (True, ["a"])
    assert known.remove_pending_allocation("uid-c")
    assert not known.remove_pending_allocation("uid-c")
    assert taken(known) == []


def test_a_device_in_flight_and_written_stays_taken_when_the_flight_is_over() -> None:
    known, _ = tracker(at(1))
    known.signal_pending_allocation("uid-c", at(1, "a"))
    known.assume(at(3, "a"))
    known.remove_pending_allocation("uid-c")
    assert taken(known) == ["a"]


def test_admin_access_takes_nothing() -> None:
    known, _ = tracker(at(1, "a", adminAccess=True))
    assert taken(known) == []


def test_shares_consume_capacity_with_the_gate_alone() -> None:
    shared = at(1, "a", shareID="s", consumedCapacity={"memory": "2"})
    known, _ = tracker(shared, consumable=True)
    assert (taken(known), known.allocated().capacity) == ([], {DeviceId("d", "p", "a"): {"memory": 2 * 10**9}})
    assert taken(tracker(shared)[0]) == ["a"]


def test_what_was_given_out_does_not_change() -> None:
    known, _ = tracker(at(1, "a"))
    before = known.allocated()
    assert known.allocated() is before
    known.observe(at(1, "a"), at(2))
    assert (len(before.devices), taken(known)) == (1, [])


def test_a_copy_has_assumptions_and_flights_of_its_own() -> None:
    known, informer = tracker(at(1))
    known.assume(at(3, "a"))
    twin = known.copy()
    twin.connect(lambda: informer, False, lambda old, new: None)
    twin.signal_pending_allocation("x", at(1, "b", name="x"))
    assert (taken(twin), taken(known)) == (["a", "b"], ["a"])
