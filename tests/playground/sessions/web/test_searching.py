"""A page's search for where a breakpoint holds, and runs that end at one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from asgiref.sync import sync_to_async

from playground.models import LogEntry, Session
from playground.sessions.database import log, markers
from playground.sessions.protocol.breakpoints import from_form
from playground.sessions.web.client import SessionClient
from tests.playground.sessions.conftest import Page

Open = Callable[..., Awaitable[Page]]


def kind(*wanted: str) -> Callable[[dict[str, Any]], bool]:
    return lambda message: message["type"] in wanted


async def add(session: Session, **point: Any) -> int:
    number: int = await sync_to_async(markers.add, thread_sensitive=False)(session.pk, from_form(point))
    return number


async def hits(session: Session) -> list[int]:
    found = await sync_to_async(markers.points, thread_sensitive=False)(session.pk)
    return [count for _point, count in found]


async def test_at_the_head_the_engine_runs_to_the_breakpoint_and_the_log_keeps_its_name(
    session: Session, pages: Open
) -> None:
    await add(session, kind="attempt_ended", name="decided")
    page = await pages(session.edit_key)
    await page.look()
    await page.send({"type": "search", "back": False})
    ended = await page.until(kind("ended", "error"))
    assert ended["reason"] == "until" and "“decided” was hit at step" in ended["message"]
    entry = await LogEntry.objects.aget(session=session, seq=2)
    assert log.unpack(entry.payload) == {"until": {"kind": "break", "titles": ["decided"]}}
    assert await hits(session) == [1]


async def test_a_run_to_a_breakpoint_that_never_holds_stops_at_its_budget_and_says_what_it_waited_for(
    session: Session, pages: Open, settings: Any
) -> None:
    settings.MAX_RUN_STEPS = 20
    await add(session, pod="nobody", name="never")
    page = await pages(session.edit_key)
    await page.look()
    await page.send({"type": "search", "back": False})
    ended = await page.until(kind("ended", "error"))
    assert ended["reason"] == "budget"
    assert "after 20 steps" in ended["message"] and "breakpoint “never” is hit" in ended["message"]


async def test_a_search_back_moves_the_cursor_and_not_the_head(
    session: Session, client: SessionClient, pages: Open
) -> None:
    await add(session, kind="attempt_started")
    await client.walk(60)
    page = await pages(session.view_key)
    await page.look()
    await page.send({"type": "search", "back": True})
    delta = await page.until(lambda message: message["type"] == "delta" and not message["following"])
    assert delta["seq"] < delta["head"] == 61


async def test_a_search_counts_as_a_hit_only_for_who_may_edit(
    session: Session, client: SessionClient, pages: Open
) -> None:
    await add(session, kind="attempt_started")
    await client.walk(60)
    for key, counted in ((session.view_key, [0]), (session.edit_key, [1])):
        page = await pages(key)
        await page.look()
        await page.send({"type": "search", "back": True})
        await page.until(kind("searched"))
        assert await hits(session) == counted


async def test_what_is_kept_nowhere_can_be_searched_for_too(
    session: Session, client: SessionClient, pages: Open
) -> None:
    await client.walk(60)
    page = await pages(session.view_key)
    await page.look()
    await page.send({"type": "search", "back": True, "point": {"kind": "attempt_ended", "pod": "p0"}})
    found = await page.until(kind("searched"))
    assert found["hit"]["record"].startswith("attempt_ended default/p0")


async def test_a_point_that_can_not_be_is_answered_by_an_error_and_the_page_goes_on(
    session: Session, pages: Open
) -> None:
    page = await pages(session.edit_key)
    await page.look()
    for wrong in ({"kind": "x"}, {"pod": 7}, [], {"cel": "1 +"}, {"node": "n" * 9999}):
        await page.send({"type": "search", "back": True, "point": wrong})
        answer = await page.until(kind("error", "searched"))
        assert answer["message"] and not answer.get("hit")
    await page.send({"type": "ping"})
    assert (await page.until(kind("pong")))["type"] == "pong"


async def test_at_the_head_a_view_link_can_not_run_on(session: Session, pages: Open) -> None:
    await add(session, kind="attempt_started")
    page = await pages(session.view_key)
    await page.look()
    await page.send({"type": "search", "back": False})
    assert "Only the edit link can run further" in (await page.until(kind("searched")))["message"]


async def test_a_search_is_dropped_by_pause(
    session: Session, client: SessionClient, pages: Open, monkeypatch: Any
) -> None:
    await client.walk(60)
    page = await pages(session.view_key)
    await page.look()
    monkeypatch.setattr("playground.sessions.web.jobs.searches.TURN", 0.0)
    await page.send({"type": "search", "back": True, "point": {"pod": "nobody"}})
    await page.until(kind("searching"))
    await page.send({"type": "pause"})
    assert (await page.until(kind("searched")))["message"] == "The search was stopped."
