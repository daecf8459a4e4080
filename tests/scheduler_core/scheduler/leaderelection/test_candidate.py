"""One attempt to take or renew the lock. kube: client-go/tools/leaderelection/leaderelection_test.go testTryAcquireOrRenew"""

from __future__ import annotations

from dataclasses import replace

import pytest

from scheduler_core.apiserver.server import APIServer
from scheduler_core.apiserver.store import Store
from scheduler_core.base.clock.agenda import MILLISECOND, SECOND
from scheduler_core.scheduler.leaderelection.candidate import Candidate
from scheduler_core.scheduler.leaderelection.config import ElectionConfig
from scheduler_core.scheduler.leaderelection.lock import (
    ElectionRecord,
    LeaseAnswer,
    LeaseCall,
    LeaseLock,
    Verb,
    carry_out,
    record_of,
    spec_of,
)
from scheduler_core.testing.conformance.timelines.elections import NO_NAMESPACES

CONFIG = ElectionConfig(namespace="foo", resource_name="bar")
NOW = 1_000 * SECOND
BING = ElectionRecord("bing", 10)


class Client:
    """An API server for one Lease, with the verbs of the calls made."""

    def __init__(self, record: ElectionRecord | None = None) -> None:
        self.store = Store()
        self.api = APIServer(self.store, NO_NAMESPACES, 0)
        self.verbs: list[str] = []
        if record is not None:
            call = LeaseLock("foo", "bar", "nobody").create(record)
            assert call.manifest is not None
            self.store.create(call.manifest, "Lease", 0)

    def record(self) -> ElectionRecord:
        lease = self.store.get("Lease", "foo", "bar")
        assert lease is not None
        return record_of(lease["spec"])

    def attempt(self, candidate: Candidate, now: int = NOW) -> bool:
        return self._finish(candidate, now, candidate.try_acquire_or_renew(now))

    def release(self, candidate: Candidate, now: int = NOW) -> bool:
        return self._finish(candidate, now, candidate.release(now))

    def _finish(self, candidate: Candidate, now: int, following: LeaseCall | bool) -> bool:
        while isinstance(following, LeaseCall):
            self.verbs.append(following.verb.value)
            following = candidate.answer(now, carry_out(self.api, following))
        return following


def candidate(observed: ElectionRecord | None = None, at: int = 0) -> Candidate:
    made = Candidate(CONFIG, "baz")
    if observed is not None:
        made.observed, made.observed_raw, made.observed_time = observed, observed.by_the_second, at
    return made


@pytest.mark.parametrize(
    ("there", "observed", "verbs", "holder", "transitions"),
    [
        pytest.param(None, None, ["get", "create"], "baz", 0, id="acquire from no object"),
        pytest.param(ElectionRecord(), None, ["get", "update"], "baz", 1, id="acquire from unled object"),
        pytest.param(BING, (BING, 0), ["get", "update"], "baz", 1, id="acquire from led, unacked object"),
        pytest.param(BING, (BING, NOW), ["get"], "bing", 0, id="don't acquire from led, acked object"),
        pytest.param(BING, None, ["get"], "bing", 0, id="a first look counts as a change"),
        pytest.param(
            ElectionRecord("baz", 10),
            (ElectionRecord("baz", 10), NOW),
            ["get", "update"],
            "baz",
            0,
            id="renew already acquired object, whose Lease it has not read yet",
        ),
    ],
)
def test_an_attempt(
    there: ElectionRecord | None,
    observed: tuple[ElectionRecord, int] | None,
    verbs: list[str],
    holder: str,
    transitions: int,
) -> None:
    client, one = Client(there), candidate(*observed) if observed else candidate()
    assert client.attempt(one) is (holder == "baz")
    assert client.verbs == verbs
    assert (one.observed.holder, one.observed.transitions) == (holder, transitions)
    assert one.new_leader() == holder
    assert one.new_leader() is None


def test_the_lease_in_the_record_says_how_long_it_is_to_be_believed() -> None:
    client, one = Client(ElectionRecord("bing", 3)), candidate()
    assert not client.attempt(one, NOW)
    assert not client.attempt(one, NOW + 3 * SECOND - 1)
    assert client.attempt(one, NOW + 3 * SECOND)


def test_a_leader_renews_with_one_call_while_its_lease_is_valid() -> None:
    client, one = Client(), candidate()
    client.attempt(one)
    client.verbs.clear()
    assert client.attempt(one, NOW + 14 * SECOND)
    assert client.verbs == ["update"]
    assert client.record() == ElectionRecord("baz", 15, acquired=NOW, renewed=NOW + 14 * SECOND)
    assert one.slow_paths == 0


def test_a_leader_whose_update_conflicts_reads_and_updates_again() -> None:
    client, one = Client(), candidate()
    client.attempt(one)
    lease = client.store.get("Lease", "foo", "bar")
    assert lease is not None
    client.store.overwrite({**lease, "spec": spec_of(replace(client.record(), transitions=4))}, "Lease")
    client.verbs.clear()
    assert client.attempt(one, NOW + SECOND)
    assert client.verbs == ["update", "get", "update"]
    assert client.record().transitions == 4
    assert one.slow_paths == 1


def test_a_change_of_less_than_a_second_is_not_seen() -> None:
    """The records are compared as they are printed, in whole seconds."""
    client, one = Client(replace(BING, renewed=NOW)), candidate()
    client.attempt(one, NOW)
    lease = client.store.get("Lease", "foo", "bar")
    assert lease is not None
    client.store.overwrite({**lease, "spec": spec_of(replace(BING, renewed=NOW + 300 * MILLISECOND))}, "Lease")
    client.attempt(one, NOW + SECOND)
    assert one.observed_time == NOW


def test_a_lease_that_could_not_be_created_is_not_updated_either() -> None:
    lock = LeaseLock("foo", "bar", "baz")
    lock.hear(LeaseAnswer({"metadata": {}}), Verb.GET)
    lock.hear(LeaseAnswer(reason="AlreadyExists"), Verb.CREATE)
    assert lock.update(BING) is None


def test_release_empties_the_lease_and_keeps_the_count_of_transitions() -> None:
    client, one = Client(ElectionRecord(transitions=6)), candidate()
    client.attempt(one)
    assert client.release(one, NOW + SECOND)
    assert client.record() == ElectionRecord("", 1, NOW + SECOND, NOW + SECOND, 7)
    assert not one.is_leader


def test_release_leaves_another_ones_lease_alone() -> None:
    client, one = Client(BING), candidate()
    assert client.release(one)
    assert client.verbs == ["get"]
    assert client.record() == BING


def test_release_of_no_object_fails() -> None:
    client, one = Client(), candidate()
    assert not client.release(one)


def test_a_record_survives_being_written_and_read() -> None:
    record = ElectionRecord("a", 15, NOW + 1_000, NOW + SECOND, 3, "OldestEmulationVersion", "b")
    assert record_of(spec_of(record)) == record
    assert record_of(spec_of(ElectionRecord())) == ElectionRecord()
    assert spec_of(record)["acquireTime"] == "1970-01-01T00:16:40.000001Z"
