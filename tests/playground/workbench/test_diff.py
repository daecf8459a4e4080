"""The page of what changed between two steps."""

from __future__ import annotations

import pytest
from django.test import AsyncClient
from django.urls import reverse

from playground.models import Session
from playground.sessions.web.client import SessionClient, create_session
from tests.playground.sessions.worlds import cluster

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
async def session(transactional_db: None) -> Session:
    """Two nodes, 70 pods, their scheduling in full swing."""
    made = await create_session("Test", commands=[cluster(2, 70)])
    await (await SessionClient.open(made.edit_key)).walk(200)
    await made.arefresh_from_db()
    return made


async def page(client: AsyncClient, session: Session, **query: str) -> str:
    response = await client.get(reverse("diff", args=[session.view_key]), query)
    assert response.status_code == 200
    return str(response.content.decode())


async def test_a_view_link_sees_what_changed_between_two_steps(async_client: AsyncClient, session: Session) -> None:
    text = await page(async_client, session, **{"from": "1", "to": "60"})
    assert "default/p0" in text and "requested cpu" in text and "place" in text


async def test_without_steps_it_is_what_the_newest_step_changed(async_client: AsyncClient, session: Session) -> None:
    assert f'name="from" min="0" value="{session.head - 1}"' in await page(async_client, session)


async def test_steps_in_the_wrong_order_or_beyond_the_end_are_put_right(
    async_client: AsyncClient, session: Session
) -> None:
    text = await page(async_client, session, **{"from": "99999", "to": "7"})
    assert 'name="from" min="0" value="7"' in text and f'name="to" min="0" value="{session.head}"' in text


async def test_nonsense_instead_of_a_step_is_no_error(async_client: AsyncClient, session: Session) -> None:
    assert "What changed" in await page(
        async_client, session, **{"from": "x", "to": "-3", "page": "1e9", "kind": "<b>"}
    )


async def test_many_objects_come_in_pages(async_client: AsyncClient, session: Session) -> None:
    first = await page(async_client, session, **{"from": "0", "to": "1"})
    second = await page(async_client, session, **{"from": "0", "to": "1", "page": "1"})
    assert "72 objects changed" in first and "page=1" in first
    assert first.count('class="created"') == 60 and second.count('class="created"') == 12


async def test_places_of_pods_are_in_the_readers_language(async_client: AsyncClient, session: Session) -> None:
    steps = {"from": "1", "to": str(session.head)}
    url = reverse("diff", args=[session.view_key])
    text = (await async_client.get(url, steps, headers={"accept-language": "zh-hans"})).content.decode()
    assert '<th scope="row">位置</th>' in text
    assert '<td class="now">已绑定</td>' in text
    assert "bound" not in text
