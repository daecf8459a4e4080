"""Re-runs as tasks of the runtime: how many at once, what becomes of those that fail."""

from __future__ import annotations

import asyncio

import pytest

from playground.models import Session
from playground.sessions.protocol.errors import LimitReached, SessionGone
from playground.sessions.web.client import SessionClient
from playground.sessions.web.jobs import rerunning
from playground.sessions.web.jobs.rerunning import Work
from playground.sessions.web.runtime import runtime

pytestmark = pytest.mark.django_db(transaction=True)


async def begin(client: SessionClient, *skip: int) -> str:
    reruns = runtime().reruns
    return await runtime().call(lambda: reruns.begin(client.session, list(skip), "without", "", 30))


async def outcome(client: SessionClient, token: str) -> Work:
    return await runtime().call(lambda: runtime().reruns.wait(client.session.pk, token, 30))


def going(client: SessionClient, skip: int, monkeypatch: pytest.MonkeyPatch) -> str:
    """Pretend that a re-run is on its way; its token."""
    work = Work(client.session.pk, [skip])
    monkeypatch.setattr(runtime().reruns, "_works", type(runtime().reruns._works)(token=work))
    return "token"


async def test_a_rerun_ends_with_a_branch(client: SessionClient) -> None:
    work = await outcome(client, await begin(client, 0))
    assert work.error is None
    assert work.branch is not None
    assert (work.branch.name, work.branch.origin_id) == ("without", client.session.pk)


async def test_one_history_is_made_again_at_a_time(
    client: SessionClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    going(client, 1, monkeypatch)
    with pytest.raises(LimitReached, match="just now"):
        await begin(client, 0)


async def test_the_same_rerun_asked_for_twice_is_one(
    client: SessionClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = going(client, 0, monkeypatch)
    assert await begin(client, 0) == token


async def test_a_rerun_that_takes_too_long_leaves_nothing(
    client: SessionClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rerunning, "SECONDS", 0.0)
    work = await outcome(client, await begin(client, 0))
    assert isinstance(work.error, LimitReached)
    assert await Session.objects.acount() == 1


async def test_a_token_is_of_one_session_only(client: SessionClient) -> None:
    token = await begin(client, 0)
    with pytest.raises(SessionGone, match="not known any more"):
        await runtime().call(lambda: runtime().reruns.wait(client.session.pk + 1, token, 0))


async def test_reruns_of_several_sessions_go_on_side_by_side(client: SessionClient) -> None:
    other = await client.fork()
    tokens = await asyncio.gather(begin(client, 0), begin(other, 0))
    works = [await outcome(one, token) for one, token in zip((client, other), tokens, strict=True)]
    assert [work.error for work in works] == [None, None]
