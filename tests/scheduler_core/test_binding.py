"""Reserve, Permit and the binding cycle, driven by the demonstration plugin's annotations."""

from __future__ import annotations

import pytest

from scheduler_core.apimachinery.objects.durations import go_duration
from scheduler_core.apiserver.status import Refused
from scheduler_core.base.trace.journal import Place
from scheduler_core.base.trace.records import Record
from scheduler_core.world.commands import ApplyObjects, DecidePermit, DeleteObjects, Ref, SetSettings
from scheduler_core.world.simulation import Simulation
from tests.scheduler_core.worlds import node, nodes_of, of_kind, pod, scheduler_of

SECOND = 1_000_000_000


def demonstration(**annotations: str) -> tuple[Simulation, list[Record]]:
    """A world with one node, where the pod `web` has playground.dev/ annotations; run for 60 transitions."""
    sim = Simulation()
    sim.apply(SetSettings({"demonstration": True}))
    told = {f"playground.dev/{name.replace('_', '-')}": value for name, value in annotations.items()}
    sim.apply(ApplyObjects((node("a"), pod("web", annotations=told))))
    records = sim.run(until=lambda w: bool(w.journal.attempts)).records
    return sim, records


def test_a_refusal_in_reserve_rolls_back_and_requeues() -> None:
    sim, _ = demonstration(reserve="reject")
    records = sim.run(steps=1).records
    assert sim.journal.attempts[0].outcome == "unschedulable"
    assert scheduler_of(sim).cache.table().pod_count.tolist() == [0]
    assert sim.journal.place("default/web") in (Place.UNSCHEDULABLE, Place.BACKOFF)
    assert [e["reason"] for e in of_kind(records, "event")] in ([], ["FailedScheduling"])


def test_unreserve_runs_after_a_failed_reserve() -> None:
    _, records = demonstration(reserve="fail")
    ran = [(step["point"], step["plugin"]) for step in of_kind(records, "plugin_ran")]
    reserved = [plugin for point, plugin in ran if point == "Reserve"]
    assert reserved[-1] == "Demonstration"
    assert ran[-len(reserved) :] == [("Unreserve", plugin) for plugin in reversed(reserved)]


def test_an_error_in_reserve_backs_off() -> None:
    sim, _ = demonstration(reserve="fail")
    assert sim.journal.attempts[0].outcome == "error"
    assert sim.journal.attempts[0].message.startswith('running Reserve plugin "Demonstration": ')
    assert sim.journal.place("default/web") == Place.BACKOFF


def test_a_pod_that_waits_on_permit_is_assumed_and_not_bound() -> None:
    sim, _ = demonstration(permit="wait:10s")
    assert sim.journal.place("default/web") == Place.WAITING
    assert nodes_of(sim) == {"default/web": ""}
    assert scheduler_of(sim).cache.assumed == {"default/web": "a"}


def test_a_wait_on_permit_times_out_in_kubes_words() -> None:
    sim, _ = demonstration(permit="wait:10s")
    records = sim.run(until=lambda w: not w.schedulers[0].bindings).records
    (ended,) = of_kind(records, "binding_ended")
    assert ended["message"] == (
        "0/1 nodes are available: 1 rejected due to timeout after waiting 10s at plugin Demonstration."
    )
    assert sim.now >= 10 * SECOND


def test_no_plugin_may_have_a_pod_wait_on_permit_for_longer_than_fifteen_minutes() -> None:
    sim, _ = demonstration(permit="wait:20m")
    sim.run(until=lambda w: not w.schedulers[0].bindings)
    assert 15 * 60 * SECOND <= sim.now < 16 * 60 * SECOND


def test_an_allowed_pod_is_bound() -> None:
    sim, _ = demonstration(permit="wait:10s")
    sim.apply(DecidePermit("default/web", "allow"))
    sim.run()
    assert nodes_of(sim) == {"default/web": "a"}


def test_a_rejected_pod_is_not_bound() -> None:
    sim, _ = demonstration(permit="wait:10s")
    sim.apply(DecidePermit("default/web", "reject"))
    records = sim.run(steps=1).records
    (ended,) = of_kind(records, "binding_ended")
    assert ended["message"] == "0/1 nodes are available: 1 rejected by the user."


def test_deciding_on_a_pod_that_does_not_wait_is_refused() -> None:
    sim, _ = demonstration()
    with pytest.raises(Refused, match="waits on Permit"):
        sim.apply(DecidePermit("default/web", "allow"))


def test_deleting_a_waiting_pod_ends_its_wait() -> None:
    sim, _ = demonstration(permit="wait:10s")
    sim.apply(DeleteObjects((Ref("Pod", "default", "web"),)))
    sim.run()
    assert scheduler_of(sim).bindings == {}
    assert scheduler_of(sim).cache.table().pod_count.tolist() == [0]
    assert scheduler_of(sim).queue.in_flight == []


def test_a_failing_bind_forgets_the_pod_and_backs_off() -> None:
    sim, _ = demonstration(bind="fail")
    records = sim.run(until=lambda w: not w.schedulers[0].bindings).records
    (ended,) = of_kind(records, "binding_ended")
    assert ended["outcome"] == "error"
    assert sim.journal.place("default/web") == Place.BACKOFF
    assert scheduler_of(sim).cache.table().pod_count.tolist() == [0]


def test_pre_bind_takes_its_time() -> None:
    sim, _ = demonstration(pre_bind="delay:3s")
    sim.run(until=lambda w: not w.schedulers[0].bindings)
    assert nodes_of(sim) == {"default/web": "a"}
    assert sim.now >= 3 * SECOND


@pytest.mark.parametrize(
    ("nanoseconds", "text"),
    [
        (0, "0s"),
        (1, "1ns"),
        (1_500, "1.5µs"),
        (2_000_000, "2ms"),
        (SECOND, "1s"),
        (90 * SECOND, "1m30s"),
        (3_600 * SECOND, "1h0m0s"),
        (2_500_000_000, "2.5s"),
    ],
)
def test_a_duration_is_printed_as_go_prints_it(nanoseconds: int, text: str) -> None:
    assert go_duration(nanoseconds) == text
