"""The room that lists what happened."""

from __future__ import annotations

import re

import pytest
from django.test import AsyncClient
from django.urls import reverse

from playground.models import Session
from playground.sessions.web.client import SessionClient, create_session
from scheduler_core.base.trace.kinds import KINDS
from tests.playground.sessions.worlds import cluster

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
async def session(transactional_db: None) -> Session:
    """Two nodes, twenty pods, 300 steps made."""
    made = await create_session("Test", commands=[cluster(2, 20)])
    await (await SessionClient.open(made.edit_key)).walk(300)
    await made.arefresh_from_db()
    return made


async def page(client: AsyncClient, session: Session, status: int = 200, **query: str) -> str:
    response = await client.get(reverse("records", args=[session.view_key]), query)
    assert response.status_code == status
    return str(response.content.decode())


def words_of(text: str) -> str:
    """What a page says, without its markup and its tips."""
    return " ".join(re.sub(r"<[^>]+>", " ", text).split())


def steps(text: str) -> list[int]:
    """The positions that the lines lead to, in their order."""
    return [int(at) for at in re.findall(r'\?at=\d+" data-goto="(\d+)"', text)]


async def test_the_newest_steps_stand_first_each_a_link_to_its_moment(
    async_client: AsyncClient, session: Session
) -> None:
    found = steps(await page(async_client, session))
    assert found == list(range(session.head, session.head - len(found), -1))


async def test_the_pages_together_have_every_step_once(async_client: AsyncClient, session: Session) -> None:
    found: list[int] = []
    before = str(session.head)
    while before:
        text = await page(async_client, session, before=before)
        found += steps(text)
        older = re.search(r'rel="next" href="[^"]*before=(\d+)"', text)
        before = older[1] if older else ""
    assert found == list(range(session.head, 0, -1))


async def test_where_the_viewer_stands_the_list_begins(async_client: AsyncClient, session: Session) -> None:
    text = await page(async_client, session, at="100")
    assert steps(text)[0] == 100 and 'aria-current="step"' in text


async def test_fields_choose_records_and_a_plugins_answer_is_told(async_client: AsyncClient, session: Session) -> None:
    text = await page(async_client, session, pod="p1", plugin="NodeResourcesFit", point="Filter")
    assert len(steps(text)) == 1
    assert "Filter · NodeResourcesFit NodeResourcesFit passes all 2 nodes for p1" in words_of(text)


async def test_many_records_of_one_step_are_cut_and_counted(async_client: AsyncClient, session: Session) -> None:
    assert "more records of this step" in await page(async_client, session, at="1")


async def test_what_nothing_matches_is_said(async_client: AsyncClient, session: Session) -> None:
    assert "No record up to this step matches." in await page(async_client, session, pod="nobody")


async def test_fields_that_cannot_be_are_told_with_what_was_expected(
    async_client: AsyncClient, session: Session
) -> None:
    assert "expected one of" in await page(async_client, session, 422, point="Nowhere")


async def test_each_kind_of_record_is_offered_under_its_name(async_client: AsyncClient, session: Session) -> None:
    text = await page(async_client, session, kind="queue_moved")
    options = re.findall(r'<option value="(\w+)"[^>]*?( selected)?\s*>\s*([^<]*?)\s*</option>', text)
    assert [(value, shown) for value, _, shown in options] == [(kind, kind) for kind in KINDS]
    assert [value for value, selected, _ in options if selected] == ["queue_moved"]
