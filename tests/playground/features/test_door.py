"""The API server of a session, asked in this process."""

from __future__ import annotations

import asyncio

import pytest
from django.test import AsyncClient

from playground.sessions.web.client import create_session
from playground.sessions.web.runtime import runtime
from tests.playground.sessions.worlds import cluster

pytestmark = pytest.mark.django_db(transaction=True)


async def test_head_of_a_watch_leaves_no_watch_behind() -> None:
    session = await create_session("Test", commands=[cluster(3, 4)])
    answer = await AsyncClient().head(f"/s/{session.edit_key}/k8s/api/v1/pods?watch=1")
    assert (answer.status_code, answer.content) == (200, b"")
    live = runtime().live(session.pk)
    async with asyncio.timeout(10):
        while len(live.watching):
            await asyncio.sleep(0.01)
