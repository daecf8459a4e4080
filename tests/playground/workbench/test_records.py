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
from tests.playground.workbench.conftest import page_text

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


def test_the_list_of_steps_names_type_pod_and_end_and_marks_where_one_is(visitor):
    begun = visitor("story:first-placement")
    for _ in range(3):
        begun.post("step", grain="pod")
    page = page_text(begun.get("steps", at=20))
    listed = begun.get("steps", at=20).content.decode()
    assert re.search(r'data-step="20"\s+aria-current="step"', listed)
    assert "NodeResourcesFit refuses 1 of 3 nodes for web-1" in page
    assert re.search(r"web-1 (scheduled|bound), \d+ steps", page)


def test_the_list_of_steps_is_filtered_by_a_name_and_by_kind(visitor):
    begun = visitor("story:first-placement")
    for _ in range(3):
        begun.post("step", grain="pod")
    found = begun.get("steps", q="taintTOLERATION").content.decode()
    assert "TaintToleration" in found
    assert "NodeName" not in found
    changes = page_text(begun.get("steps", kind="changes"))
    assert "applied" in changes
    assert "PreFilter" not in changes


def test_a_change_is_skipped_from_the_list_of_steps(visitor):
    begun = visitor("empty")
    begun.post("build/nodes", count=1, name="node-{i}", first=1, cpu="4", memory="16Gi", pods=110, another=1)
    begun.post("build/pods", replicas=1, name="web-{i}", first=1, namespace="default", another=1)
    at = re.findall(r'name="only"\s+value="(\d+)"', begun.get("steps").content.decode())
    assert begun.post("rerun", only=at[0]).status_code == 302
