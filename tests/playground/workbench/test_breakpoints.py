"""The room of breakpoints and bookmarks, and searching by a form."""

from __future__ import annotations

import re
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.test import AsyncClient
from django.urls import reverse

from playground.models import Session
from playground.sessions.database import markers
from playground.sessions.protocol.breakpoints import from_form
from playground.sessions.web.client import SessionClient, create_session
from scheduler_core.base.trace.kinds import KINDS
from tests.playground.sessions.worlds import cluster

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
async def session(transactional_db: None) -> Session:
    """Two nodes, three pods, 60 steps made."""
    made = await create_session("Test", commands=[cluster(2, 3)])
    await (await SessionClient.open(made.edit_key)).walk(60)
    await made.arefresh_from_db()
    return made


def url(name: str, session: Session, *more: Any, key: str = "") -> str:
    return reverse(name, args=[key or session.edit_key, *more])


async def points(session: Session) -> list[Any]:
    return await sync_to_async(markers.points, thread_sensitive=False)(session.pk)


async def marks(session: Session) -> list[dict[str, Any]]:
    return await sync_to_async(markers.bookmarks, thread_sensitive=False)(session.pk)


async def add(session: Session, **point: Any) -> int:
    number: int = await sync_to_async(markers.add, thread_sensitive=False)(session.pk, from_form(point))
    return number


async def test_a_breakpoint_is_set_switched_and_deleted_by_forms(async_client: AsyncClient, session: Session) -> None:
    await async_client.post(
        url("breakpoints", session), {"plugin": "NodeResourcesFit", "point": "Filter", "name": "fit"}
    )
    [(point, hits)] = await points(session)
    assert (point.title, point.words(), point.enabled, hits) == ("fit", "Filter NodeResourcesFit", True, 0)
    await async_client.post(url("breakpoint", session, point.id), {"do": "off"})
    assert not (await points(session))[0][0].enabled
    await async_client.post(url("breakpoint", session, point.id), {"do": "delete"})
    assert await points(session) == []


async def test_each_kind_of_record_is_offered_under_its_name(async_client: AsyncClient, session: Session) -> None:
    page = (await async_client.get(url("breakpoints", session))).content.decode()
    [select] = re.findall(r'<select id="bp-kind".*?</select>', page, re.S)
    assert re.findall(r">\s*([^<>]*?)\s*</option>", select) == ["any", *KINDS]


async def test_a_mistake_in_an_expression_comes_back_at_its_character_with_what_was_filled_in(
    async_client: AsyncClient, session: Session
) -> None:
    response = await async_client.post(url("breakpoints", session), {"pod": "p1", "cel": "record.kind =="})
    page = response.content.decode()
    assert response.status_code == 422
    assert "line 1, character 15" in page and "ends too early" in page and 'value="p1"' in page
    assert await points(session) == []


async def test_a_view_link_sees_the_list_and_changes_nothing(async_client: AsyncClient, session: Session) -> None:
    number = await add(session, pod="p1")
    key = session.view_key
    page = (await async_client.get(url("breakpoints", session, key=key))).content.decode()
    assert "pod default/p1" in page and 'id="new-point"' not in page
    for name, more in (("breakpoints", []), ("breakpoint", [number]), ("bookmarks", []), ("bookmark", [1])):
        response = await async_client.post(url(name, session, *more, key=key), {"do": "delete", "pod": "p2"})
        assert response.status_code == 403
    assert len(await points(session)) == 1


async def test_a_view_link_searches_back_and_forth_in_the_past(async_client: AsyncClient, session: Session) -> None:
    await add(session, kind="attempt_started")
    where = url("search", session, key=session.view_key)
    back = await async_client.post(where, {"direction": "back"})
    at = int(back["Location"].rpartition("at=")[2])
    again = await async_client.post(where, {"direction": "back", "at": str(at)})
    earlier = int(again["Location"].rpartition("at=")[2])
    assert 0 < earlier < at
    forward = await async_client.post(where, {"direction": "forward", "at": str(earlier)})
    assert forward["Location"].endswith(f"at={at}")
    await session.arefresh_from_db()
    assert session.head == 61


async def test_a_search_that_finds_nothing_says_so_and_moves_nothing(
    async_client: AsyncClient, session: Session
) -> None:
    await add(session, pod="nobody")
    response = await async_client.post(url("search", session), {"direction": "back"})
    assert response.status_code == 404
    assert "Not found in the 60 steps before this one" in response.content.decode()


async def test_without_a_breakpoint_a_search_says_what_is_missing(async_client: AsyncClient, session: Session) -> None:
    response = await async_client.post(url("search", session), {"direction": "back"})
    assert response.status_code == 400
    assert "No breakpoint is set, or all are off." in response.content.decode()


async def test_a_bookmark_is_set_where_the_viewer_stands_renamed_and_deleted(
    async_client: AsyncClient, session: Session
) -> None:
    await async_client.post(url("bookmarks", session), {"at": "17"})
    [mark] = await marks(session)
    assert (mark["position"], mark["name"]) == (17, "step 17")
    await async_client.post(url("bookmark", session, mark["id"]), {"name": " the  turn\n"})
    assert (await marks(session))[0]["name"] == "the turn"
    await async_client.post(url("bookmark", session, mark["id"]), {"do": "delete"})
    assert await marks(session) == []


async def test_the_limits_on_breakpoints_and_bookmarks_are_told(
    async_client: AsyncClient, session: Session, settings: Any
) -> None:
    settings.MAX_BREAKPOINTS = settings.MAX_BOOKMARKS = 1
    await add(session, pod="p1")
    response = await async_client.post(url("breakpoints", session), {"pod": "p2"})
    assert response.status_code == 422 and "already" in response.content.decode()
    await async_client.post(url("bookmarks", session), {"at": "1"})
    response = await async_client.post(url("bookmarks", session), {"at": "2"})
    assert response.status_code == 422


async def test_the_timeline_marks_bookmarks_and_where_breakpoints_held(
    async_client: AsyncClient, session: Session
) -> None:
    await add(session, kind="attempt_started", name="begins")
    await async_client.post(url("bookmarks", session), {"at": "30", "name": "here"})
    page = (await async_client.get(url("marks", session), {"first": "0", "last": "80"})).content.decode()
    assert page.count('class="held"') >= 2 and 'class="bookmark"' in page and 'x="37.5%"' in page


async def test_the_timeline_says_which_steps_there_was_no_time_to_look_through(
    async_client: AsyncClient, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    await add(session, cel="record.kind == 'object'")
    asked = url("marks", session, key=session.view_key), {"first": "0", "last": "60"}
    assert "not searched" not in (await async_client.get(*asked)).content.decode()
    monkeypatch.setattr("playground.features.breakpoints.views.MARKS_SECONDS", 0.0)
    page = (await async_client.get(*asked)).content.decode()
    assert re.search(r"step\s+0–60:\s+not searched", page) and 'x="0%"' in page


async def test_a_fork_takes_over_breakpoints_and_the_bookmarks_of_its_past(session: Session) -> None:
    await add(session, pod="p1")
    for at in (10, 50):
        await sync_to_async(markers.bookmark, thread_sensitive=False)(session.pk, at, "")
    twin = await (await SessionClient.open(session.edit_key)).fork(at=20)
    assert [point.pod for point, _hits in await points(twin.session)] == ["default/p1"]
    assert [mark["position"] for mark in await marks(twin.session)] == [10]
