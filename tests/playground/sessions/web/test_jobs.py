"""Jobs: how many at once, who waits, what is kept of them."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from playground.sessions.protocol.errors import LimitReached, SessionError, SessionGone
from playground.sessions.web.jobs import registry
from playground.sessions.web.jobs.registry import Asker, Job, Jobs, Kind

KIND = Kind("test", at_once=lambda: 2, busy="busy", failed="failed", late="late", stopped="stopped", kept=2)
ME = Asker(1, "me")


class Gate:
    """Work that ends when it may, with a number of its own."""

    def __init__(self) -> None:
        self.open = asyncio.Event()
        self.begun = 0

    async def work(self, job: Job[int]) -> int:
        self.begun += 1
        number = self.begun
        await self.open.wait()
        return number


async def made(jobs: Jobs, kind: Kind, number: int, session: int = 1) -> Job[int]:
    """A job that is over."""

    async def work(job: Job[int]) -> int:
        return number

    job = jobs.begin(kind, work, Asker(session), key=number)
    await job.finished.wait()
    return job


async def test_a_job_goes_on_by_itself_and_says_how_far_it_is() -> None:
    async def work(job: Job[str]) -> str:
        job.advance(3, 5)
        return "done"

    job = Jobs().begin(KIND, work, ME)
    assert job.going
    await job.wait(5)
    assert (job.done, job.total, job.result, job.going) == (3, 5, "done", False)


async def test_only_so_many_of_a_kind_go_on_at_once() -> None:
    jobs, gate = Jobs(), Gate()
    for session in (1, 2):
        jobs.begin(KIND, gate.work, Asker(session))
    with pytest.raises(LimitReached, match="busy"):
        jobs.begin(KIND, gate.work, Asker(3))
    gate.open.set()


async def test_a_session_may_have_only_so_many_of_them() -> None:
    jobs, gate = Jobs(), Gate()
    kind = replace(KIND, of_a_session=1)
    jobs.begin(kind, gate.work, Asker(1))
    with pytest.raises(LimitReached):
        jobs.begin(kind, gate.work, Asker(1))
    assert jobs.begin(kind, gate.work, Asker(2)).going
    gate.open.set()


async def test_who_waits_for_a_turn_gets_one_when_another_is_over() -> None:
    jobs, gate = Jobs(), Gate()
    kind = replace(KIND, at_once=lambda: 1, wait=5.0)
    first, second = (jobs.begin(kind, gate.work, Asker(session)) for session in (1, 2))
    await second.wait(0.01)
    assert gate.begun == 1
    gate.open.set()
    assert (await first.outcome(), await second.outcome()) == (1, 2)


async def test_who_gets_no_turn_in_time_is_told_so() -> None:
    jobs, gate = Jobs(), Gate()
    kind = replace(KIND, at_once=lambda: 1, wait=0.01)
    jobs.begin(kind, gate.work, Asker(1))
    with pytest.raises(LimitReached, match="busy"):
        await jobs.begin(kind, gate.work, Asker(2)).outcome()
    gate.open.set()


async def test_the_same_that_is_on_its_way_is_not_begun_again() -> None:
    jobs, gate = Jobs(), Gate()
    first = jobs.begin(KIND, gate.work, ME, key="same")
    assert jobs.begin(KIND, gate.work, ME, key="same") is first
    assert jobs.begin(KIND, gate.work, ME, key="other") is not first
    gate.open.set()


async def test_a_result_is_given_again_where_its_kind_says_so() -> None:
    jobs = Jobs()
    once, again = KIND, replace(KIND, name="again", reused=True)
    assert await made(jobs, again, 7) is await made(jobs, again, 7)
    assert await made(jobs, once, 7) is not await made(jobs, once, 7)


async def test_the_oldest_results_go_and_what_goes_on_stays() -> None:
    jobs, gate = Jobs(), Gate()
    going = jobs.begin(KIND, gate.work, ME)
    over = [await made(jobs, KIND, number) for number in range(3)]
    assert jobs.find(KIND, 1, going.token) is going
    assert [jobs.find(KIND, 1, job.token) for job in over[1:]] == over[1:]
    with pytest.raises(SessionGone):
        jobs.find(KIND, 1, over[0].token)
    gate.open.set()


async def test_a_result_goes_when_it_is_old(monkeypatch: pytest.MonkeyPatch) -> None:
    jobs = Jobs()
    job = await made(jobs, KIND, 1)
    monkeypatch.setattr(registry, "EXPIRY", -1.0)
    await made(jobs, KIND, 2)
    with pytest.raises(SessionGone):
        jobs.find(KIND, 1, job.token)


async def test_a_token_is_of_one_session_and_one_kind() -> None:
    jobs = Jobs()
    job = await made(jobs, KIND, 1)
    for kind, session in ((KIND, 2), (replace(KIND, name="other"), 1)):
        with pytest.raises(SessionGone):
            jobs.find(kind, session, job.token)


async def test_a_job_that_takes_too_long_is_ended() -> None:
    jobs, gate = Jobs(), Gate()
    with pytest.raises(LimitReached, match="late"):
        await jobs.begin(replace(KIND, seconds=0.01), gate.work, ME).outcome()


async def test_a_job_that_is_cancelled_says_so() -> None:
    jobs, gate = Jobs(), Gate()
    job = jobs.begin(KIND, gate.work, ME)
    await asyncio.sleep(0)
    assert job.cancel()
    with pytest.raises(SessionError, match="stopped"):
        await job.outcome()
    assert not job.cancel()


async def test_a_mistake_of_ours_is_no_secret_and_no_details() -> None:
    async def work(job: Job[None]) -> None:
        raise ZeroDivisionError("inside")

    with pytest.raises(SessionError) as failed:
        await Jobs().begin(KIND, work, ME).outcome()
    assert failed.value.message == "failed"


async def test_who_does_not_wait_any_longer_ends_the_job() -> None:
    jobs, gate = Jobs(), Gate()
    job = jobs.begin(KIND, gate.work, ME)
    waiting = asyncio.create_task(job.outcome())
    await asyncio.sleep(0)
    waiting.cancel()
    await job.finished.wait()
    assert str(job.error) == "stopped"


async def test_the_jobs_of_a_deleted_session_go() -> None:
    jobs, gate = Jobs(), Gate()
    job = jobs.begin(KIND, gate.work, ME)
    await asyncio.sleep(0)
    jobs.drop(1)
    await job.finished.wait()
    with pytest.raises(SessionGone):
        jobs.find(KIND, 1, job.token)
