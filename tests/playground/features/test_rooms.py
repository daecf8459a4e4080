"""The pages of features in the workbench: each marks its own link among the rooms."""

from __future__ import annotations

import re

import pytest
from django.test import AsyncClient
from django.urls import reverse

from playground.sessions.web.client import create_session
from tests.playground.sessions.worlds import cluster


@pytest.mark.django_db(transaction=True)
async def test_the_room_of_a_page_is_the_current_one(async_client: AsyncClient) -> None:
    session = await create_session("Test", commands=[cluster(1, 1)])
    for name in ("configuration", "records", "diff", "breakpoints", "exports", "objects"):
        url = reverse(name, args=[session.edit_key])
        text = (await async_client.get(url)).content.decode()
        rooms = re.search(r'<nav class="rooms".*?</nav>', text, flags=re.DOTALL)
        assert rooms is not None
        (current,) = re.findall(r'<a [^>]*href="([^"?]+)[^>]*aria-current="page"', rooms[0])
        assert current == url
