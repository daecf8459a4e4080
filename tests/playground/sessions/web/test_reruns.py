"""Re-runs as jobs: what they end with, which of them is which, what becomes of those that fail."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from playground.models import Session
from playground.sessions.protocol.errors import LimitReached, SessionGone
from playground.sessions.web.client import SessionClient
from playground.sessions.web.jobs import reruns
from playground.sessions.web.jobs.registry import Job
from playground.sessions.web.jobs.reruns import NewBranch

pytestmark = pytest.mark.django_db(transaction=True)


async def rerun(client: SessionClient, *skip: int, patience: float = 30) -> Job[NewBranch]:
    return await client.rerun(list(skip), "without", "", patience)


async def test_a_rerun_ends_with_a_branch(client: SessionClient) -> None:
    job = await rerun(client, 0)
    assert job.result is not None
    branch = job.result.branch
    assert (branch.name, branch.origin_id) == ("without", client.session.pk)


async def test_one_history_is_made_again_at_a_time(client: SessionClient) -> None:
    going = await rerun(client, 0, patience=0)
    assert going.going
    with pytest.raises(LimitReached, match="another re-run"):
        await rerun(client, 0, 1)


async def test_the_same_rerun_asked_for_twice_is_one(client: SessionClient) -> None:
    going = await rerun(client, 0, patience=0)
    assert going.going
    assert await rerun(client, 0) is going


async def test_a_rerun_that_takes_too_long_leaves_nothing(
    client: SessionClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reruns, "RERUN", replace(reruns.RERUN, seconds=0.0))
    job = await rerun(client, 0)
    assert isinstance(job.error, LimitReached)
    assert await Session.objects.acount() == 1


async def test_a_token_is_of_one_session_only(client: SessionClient) -> None:
    job = await rerun(client, 0)
    assert (await client.find_job(reruns.RERUN, job.token)).result == job.result
    other = await client.fork()
    with pytest.raises(SessionGone, match="no longer exists"):
        await other.find_job(reruns.RERUN, job.token)


async def test_reruns_of_several_sessions_go_on_side_by_side(client: SessionClient) -> None:
    other = await client.fork()
    jobs = await asyncio.gather(rerun(client, 0), rerun(other, 0))
    assert [job.error for job in jobs] == [None, None]
