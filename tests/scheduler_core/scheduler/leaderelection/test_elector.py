"""The election loop: when it has its turns, what it reports, how it ends."""

from __future__ import annotations

import pytest

from scheduler_core.apiserver.server import APIServer
from scheduler_core.apiserver.store import Store
from scheduler_core.base.clock.agenda import MILLISECOND, SECOND, Stream
from scheduler_core.scheduler.leaderelection.candidate import Candidate
from scheduler_core.scheduler.leaderelection.config import ElectionConfig, elector_error
from scheduler_core.scheduler.leaderelection.elector import LeaderElector, Phase, Report, ReportKind, Steps
from scheduler_core.scheduler.leaderelection.lock import LeaseAnswer, LeaseCall, carry_out
from scheduler_core.testing.conformance.timelines.elections import NO_NAMESPACES

CONFIG = ElectionConfig(renew_deadline=9 * SECOND)


def reports(steps: Steps) -> list[str]:
    return [step.what.value for step in steps if isinstance(step, Report)]


def lead(store: Store, elector: LeaderElector, now: int = 0) -> list[str]:
    """Runs an elector until nothing is to be answered."""
    return follow(store, elector, elector.run(now), now)


def follow(store: Store, elector: LeaderElector, steps: Steps, now: int) -> list[str]:
    seen = reports(steps)
    while steps and isinstance(call := steps[-1], LeaseCall):
        steps = elector.answer(now, carry_out(APIServer(store, NO_NAMESPACES, now), call))
        seen += reports(steps)
    return seen


def test_who_acquires_leads_and_renews_at_once() -> None:
    elector = LeaderElector(Candidate(CONFIG, "a"))
    seen = lead(Store(), elector)
    assert seen == ["OnNewLeader", "event", "acquired", "OnStartedLeading", "renewed"]
    assert (elector.phase, elector.wake_at) == (Phase.RENEWING, 2 * SECOND)


def test_who_does_not_acquire_tries_again_after_a_jittered_period() -> None:
    store = Store()
    lead(store, LeaderElector(Candidate(CONFIG, "a")))
    turns = []
    for seed in range(50):
        elector = LeaderElector(Candidate(CONFIG, "b"), jitter=Stream(seed))
        assert lead(store, elector) == ["OnNewLeader", "not acquired"]
        turns.append(elector.wake_at or 0)
    assert all(2 * SECOND <= turn < 4.4 * SECOND for turn in turns)
    assert len(set(turns)) == 50


def test_a_round_of_renewals_goes_on_in_periods_until_its_deadline() -> None:
    elector = LeaderElector(Candidate(CONFIG, "a"))
    lead(Store(), elector)
    turns = []
    while elector.phase is Phase.RENEWING:
        now = elector.wake_at or 0
        turns.append(now // SECOND)
        steps = elector.wake(now)
        while steps and isinstance(steps[-1], LeaseCall) and elector.phase is Phase.RENEWING:
            steps = elector.answer(now, LeaseAnswer(reason="error"))
    assert turns == [2, 4, 6, 8, 10, 11]
    assert reports(steps) == ["lost"]


def test_an_attempt_that_takes_long_is_followed_by_the_one_that_it_kept_waiting() -> None:
    elector = LeaderElector(Candidate(CONFIG, "a"))
    lead(Store(), elector)
    elector.wake(2 * SECOND)
    elector.answer(4500 * MILLISECOND, LeaseAnswer(reason="error"))
    elector.answer(5 * SECOND, LeaseAnswer(reason="error"))
    assert elector.wake_at == 5 * SECOND
    elector.wake(5 * SECOND)
    elector.answer(5 * SECOND, LeaseAnswer(reason="error"))
    elector.answer(5 * SECOND, LeaseAnswer(reason="error"))
    assert elector.wake_at == 6 * SECOND


def test_a_call_that_hangs_fails_when_the_client_has_waited_long_enough() -> None:
    elector = LeaderElector(Candidate(CONFIG, "a"))
    elector.run(0)
    assert elector.wake_at == CONFIG.call_timeout == 4500 * MILLISECOND
    assert reports(elector.wake(4500 * MILLISECOND)) == ["not acquired"]


def test_a_leader_whose_calls_hang_gives_up_at_its_deadline_and_waits_for_the_release_no_longer() -> None:
    elector = LeaderElector(Candidate(CONFIG, "a"))
    lead(Store(), elector)
    seen: list[tuple[float, list[str]]] = []
    while elector.wake_at is not None:
        now = elector.wake_at
        seen.append((now / SECOND, reports(elector.wake(now))))
    assert seen == [(2, []), (6.5, []), (11, ["lost"]), (15.5, ["not released", "event", "OnStoppedLeading"])]


@pytest.mark.parametrize(
    ("release", "seen", "holder"),
    [(True, ["released", "event", "OnStoppedLeading"], ""), (False, ["event", "OnStoppedLeading"], "a")],
)
def test_who_is_cancelled_gives_the_lease_back_where_it_is_to(release: bool, seen: list[str], holder: str) -> None:
    store, elector = Store(), LeaderElector(Candidate(ElectionConfig(release_on_cancel=release), "a"))
    lead(store, elector)
    assert follow(store, elector, elector.cancel(SECOND), SECOND) == seen
    lease = store.get("Lease", "kube-system", "kube-scheduler")
    assert lease is not None
    assert lease["spec"]["holderIdentity"] == holder


def test_who_is_cancelled_before_it_led_stops_without_a_call() -> None:
    elector = LeaderElector(Candidate(CONFIG, "a"))
    elector.run(0)
    assert elector.cancel(SECOND) == [Report(ReportKind.STOPPED_LEADING)]
    assert elector.phase is Phase.STOPPED
    assert elector.wake_at is None


def test_two_lead_when_one_believes_a_slow_clock() -> None:
    """Nothing fences: the clock of `a` goes at half the rate, so that its deadline comes after b has taken over."""
    store, a, b = Store(), LeaderElector(Candidate(CONFIG, "a")), LeaderElector(Candidate(CONFIG, "b"))
    lead(store, a)
    lead(store, b, 1 * SECOND)
    follow(store, b, b.wake(17 * SECOND), 17 * SECOND)
    a.wake(8 * SECOND)
    assert a.leads
    assert b.leads


@pytest.mark.parametrize(
    ("lease", "renew", "retry", "error"),
    [
        (15, 10, 2, ""),
        (10, 10, 2, "leaseDuration must be greater than renewDeadline"),
        (15, 2.4, 2, "renewDeadline must be greater than retryPeriod*JitterFactor"),
        (15, 2.401, 2, ""),
        (15, 10, 0, "retryPeriod must be greater than zero"),
        (0, -1, -2, "leaseDuration must be greater than zero"),
        (3, -1, -2, "renewDeadline must be greater than zero"),
    ],
)
def test_what_no_candidate_can_be_made_of(lease: float, renew: float, retry: float, error: str) -> None:
    config = ElectionConfig(round(lease * SECOND), round(renew * SECOND), round(retry * SECOND))
    assert elector_error(config) == error
