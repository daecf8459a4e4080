"""The stream: what a page sends over its socket, and what it hears."""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from channels.testing import WebsocketCommunicator
from django.db import OperationalError

from playground.asgi import application
from playground.models import LogEntry, Session
from playground.sessions.database import log
from playground.sessions.web import services
from playground.sessions.web.client import SessionClient, create_session
from playground.sessions.web.engines import Worker
from playground.sessions.web.runtime import runtime
from tests.playground.sessions.conftest import Page
from tests.playground.sessions.worlds import applying, cluster, pod

pytestmark = pytest.mark.django_db(transaction=True)

Pages = Callable[[str], Awaitable[Page]]
CALL = {"type": "step", "grain": "call"}


def is_delta(message: dict[str, Any]) -> bool:
    return message["type"] == "delta"


def stands_still(message: dict[str, Any]) -> bool:
    return is_delta(message) and message["running"] is None


async def test_the_first_look_is_answered_with_everything(session: Session, pages: Pages) -> None:
    page = await pages(session.edit_key)
    delta = await page.look()
    assert (delta["seq"], delta["from"], delta["head"], delta["following"]) == (1, None, 1, True)
    assert all(f'id="panel-{name}"' in delta["html"] for name in ("transport", "queues", "map"))
    assert delta["html"].count('hx-swap-oob="true"') >= 7


async def test_a_step_sends_only_what_changed(session: Session, pages: Pages) -> None:
    page = await pages(session.edit_key)
    everything = await page.look()
    delta = await page.ask(CALL)
    assert (delta["seq"], delta["from"], delta["head"]) == (2, 1, 2)
    assert 0 < len(delta["html"]) < len(everything["html"])


async def test_a_step_of_no_given_size_passes_over_plugins_with_nothing_to_do(session: Session, pages: Pages) -> None:
    page = await pages(session.edit_key)
    await page.look()
    delta = await page.ask({"type": "step"})
    assert delta["seq"] > 2
    await page.ask({"type": "goto", "at": 1})
    assert (await page.ask({"type": "step", "grain": "plugin"}))["seq"] == delta["seq"]


async def test_a_step_is_in_the_log_before_it_is_shown(session: Session, pages: Pages) -> None:
    page = await pages(session.edit_key)
    await page.look()
    delta = await page.ask({"type": "step", "grain": "point"})
    last = await LogEntry.objects.filter(session=session).alatest("seq")
    assert (last.kind, last.at, last.to) == ("step", 1, delta["seq"])


async def test_a_step_and_what_it_shows_are_one_question_to_the_worker(
    session: Session, pages: Pages, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    call = Worker.call

    async def counted(self: Worker, of: int, request: Any, timeout: float = 20) -> Any:
        asked.append(type(request).__name__)
        return await call(self, of, request, timeout)

    page = await pages(session.edit_key)
    await page.look()
    monkeypatch.setattr(Worker, "call", counted)
    assert (await page.ask(CALL))["seq"] == 2
    await SessionClient(session, "edit").apply(applying(pod("new")))
    assert (await page.next())["seq"] == 3
    assert asked == ["Step", "Apply"]


async def test_a_step_that_cannot_be_written_is_shown_to_nobody(
    session: Session, pages: Pages, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any) -> None:
        raise OperationalError("database or disk is full")

    page = await pages(session.edit_key)
    await page.look()
    with monkeypatch.context() as patch:
        patch.setattr(log, "append", full)
        assert (await page.ask(CALL))["type"] == "error"
        assert (await page.ask({"type": "ping"}))["type"] == "pong"
    assert (await page.ask(CALL))["from"] == 1


async def test_two_pages_that_follow_show_the_same(session: Session, pages: Pages) -> None:
    one, two = await pages(session.edit_key), await pages(session.view_key)
    await one.look()
    await two.look()
    await one.send({"type": "step", "grain": "pod"})
    assert await one.next() == await two.next()


async def test_a_command_from_a_form_reaches_every_page(client: SessionClient, pages: Pages) -> None:
    page = await pages(client.session.view_key)
    await page.look()
    await client.apply(applying(pod("fresh-from-the-form")))
    delta = await page.next()
    assert delta["seq"] == 2
    assert "fresh-from-the-form" in delta["html"]


async def test_a_page_that_comes_back_gets_one_delta_from_what_it_has_seen(client: SessionClient, pages: Pages) -> None:
    page = await pages(client.session.edit_key)
    await page.look()
    seen = (await page.ask(CALL))["seq"]
    await page.socket.disconnect()
    await client.apply(applying(pod("while-away")))
    again = await pages(client.session.edit_key)
    delta = await again.look(seen=seen)
    assert (delta["from"], delta["seq"]) == (seen, 3)
    assert "while-away" in delta["html"]
    assert 'id="panel-map"' not in delta["html"]


async def test_a_page_that_comes_back_and_missed_nothing_gets_nothing_new(session: Session, pages: Pages) -> None:
    first = await pages(session.edit_key)
    await first.look()
    again = await pages(session.edit_key)
    delta = await again.look(seen=1)
    assert (delta["seq"], delta["html"]) == (1, "")


async def test_back_moves_the_cursor_and_not_the_head(session: Session, pages: Pages) -> None:
    one, two = await pages(session.edit_key), await pages(session.edit_key)
    await one.look()
    await two.look()
    await one.ask(CALL)
    await two.next()
    delta = await one.ask({"type": "back"})
    assert (delta["seq"], delta["head"], delta["following"]) == (1, 2, False)
    assert await two.socket.receive_nothing(0.3)


async def test_a_step_in_the_past_goes_on_to_what_came_next_without_a_fork(session: Session, pages: Pages) -> None:
    page = await pages(session.edit_key)
    await page.look()
    await page.ask(CALL)
    await page.ask(CALL)
    await page.ask({"type": "goto", "at": 1})
    delta = await page.ask(CALL)
    assert (delta["seq"], delta["head"], delta["following"]) == (2, 3, False)
    delta = await page.ask(CALL)
    assert (delta["seq"], delta["head"], delta["following"]) == (3, 3, True)
    assert await Session.objects.acount() == 1


async def test_following_again_leads_back_to_the_head(session: Session, pages: Pages) -> None:
    page = await pages(session.edit_key)
    await page.look()
    await page.ask(CALL)
    await page.ask({"type": "goto", "at": 0})
    delta = await page.ask({"type": "goto", "at": None})
    assert (delta["from"], delta["seq"], delta["following"]) == (0, 2, True)


async def test_a_step_where_nothing_is_left_says_so(pages: Pages) -> None:
    empty = await create_session("Empty")
    page = await pages(empty.edit_key)
    await page.look()
    assert (await page.ask({"type": "step"}))["type"] == "idle"


@pytest.mark.parametrize("kind", ["step", "play", "run", "pause"])
async def test_a_view_key_moves_nothing(session: Session, pages: Pages, kind: str) -> None:
    page = await pages(session.view_key)
    await page.look()
    answer = await page.ask({"type": kind})
    assert (answer["type"], answer["kind"]) == ("error", "not-allowed")
    assert "edit link" in answer["message"]
    assert await LogEntry.objects.acount() == 1


async def test_a_view_key_may_walk_through_the_past(client: SessionClient, pages: Pages) -> None:
    page = await pages(client.session.view_key)
    await page.look()
    assert (await page.ask({"type": "back"}))["seq"] == 0
    assert (await page.ask({"type": "step"}))["seq"] == 1


BAD = [
    "no json",
    "{",
    "[]",
    "null",
    "7",
    '"step"',
    "{}",
    '{"type": 3}',
    '{"type": "drop"}',
    '{"type": "step", "grain": "year"}',
    '{"type": "step", "grain": ["plugin"]}',
    '{"type": "goto", "at": -1}',
    '{"type": "goto", "at": "1"}',
    '{"type": "goto", "at": 1.5}',
    '{"type": "goto", "at": true}',
    '{"type": "goto", "at": 1e400}',
    '{"type": "look", "look": 3}',
    '{"type": "look", "look": {}, "seen": {}}',
    '{"type": "play", "grain": "call", "rate": 0}',
    '{"type": "play", "grain": "call", "rate": 1e9}',
    '{"type": "play", "grain": "call", "rate": "fast"}',
    "[" * 5000,
    '{"type": "' + "x" * 70_000 + '"}',
]


@pytest.mark.parametrize("text", BAD, ids=lambda text: text[:40])
async def test_a_message_that_makes_no_sense_is_answered_and_changes_nothing(
    session: Session, pages: Pages, text: str
) -> None:
    page = await pages(session.edit_key)
    await page.look()
    await page.socket.send_to(text_data=text)
    answer = await page.next()
    assert (answer["type"], answer["kind"]) == ("error", "bad-message")
    assert (await page.ask(CALL))["seq"] == 2


async def test_bytes_are_no_message(session: Session, pages: Pages) -> None:
    page = await pages(session.edit_key)
    await page.look()
    await page.socket.send_to(bytes_data=b"\x00\xff")
    assert (await page.next())["kind"] == "bad-message"


async def test_a_look_of_any_shape_is_taken_as_far_as_it_makes_sense(session: Session, pages: Pages) -> None:
    page = await pages(session.edit_key)
    look = {"at": [1], "tab": {"x": 1}, "pod": 7, "node": "x" * 9000, "page": -5, "mode": None, "?": 1}
    assert (await page.ask({"type": "look", "look": look, "seen": None}))["type"] == "delta"


async def test_too_many_messages_are_refused_and_then_the_connection_is_closed(
    session: Session, pages: Pages, settings: Any
) -> None:
    settings.WEBSOCKET_RATE, settings.WEBSOCKET_BURST = 1, 5
    page = Page(session.edit_key)
    assert await page.open()
    for _ in range(70):
        await page.send({"type": "ping"})
    answers = [await page.next() for _ in range(6)]
    assert [one["type"] for one in answers] == ["pong"] * 5 + ["error"]
    assert "Too many messages" in answers[5]["message"]
    closing = await page.socket.receive_output(5)
    assert (closing["type"], closing["code"]) == ("websocket.close", 4429)
    await page.send({"type": "ping"})
    assert await page.socket.receive_nothing()
    await page.socket.disconnect()


async def test_a_session_has_a_limited_number_of_viewers(session: Session, pages: Pages, settings: Any) -> None:
    settings.MAX_VIEWERS = 1
    first = await pages(session.edit_key)
    await first.look()
    second = Page(session.edit_key)
    assert await second.open()
    assert (await second.next())["kind"] == "limit"
    assert (await second.socket.receive_output(5))["code"] == 4429
    assert (await first.ask(CALL))["seq"] == 2


async def test_a_key_nobody_has_is_told_so(transactional_db: None) -> None:
    page = Page("nobody-has-this-key")
    assert await page.open()
    assert (await page.next())["type"] == "gone"
    assert (await page.socket.receive_output(5))["code"] == 4404


async def test_a_deleted_session_tells_its_viewers(client: SessionClient, pages: Pages) -> None:
    page = await pages(client.session.view_key)
    await page.look()
    await client.delete()
    assert (await page.next())["type"] == "gone"


@pytest.mark.parametrize(
    "origin", [b"http://evil.example", b"http://localhost:1234", b"null", b"ftp://localhost", b"", b"http://["]
)
async def test_pages_of_other_origins_open_no_socket(session: Session, origin: bytes) -> None:
    page = Page(session.edit_key, [(b"origin", origin), (b"host", b"localhost")])
    assert not await page.open()


async def test_a_socket_without_origin_is_refused(session: Session) -> None:
    socket = WebsocketCommunicator(application, f"/ws/s/{session.edit_key}/", headers=[(b"host", b"localhost")])
    assert (await socket.connect())[0] is False


async def test_a_host_that_is_not_ours_opens_no_socket(session: Session) -> None:
    page = Page(session.edit_key, [(b"origin", b"http://evil.example"), (b"host", b"evil.example")])
    assert not await page.open()


async def test_play_steps_by_itself_and_pause_stops_it(pages: Pages) -> None:
    session = await create_session("Play", commands=[cluster(3, 200)])
    page = await pages(session.edit_key)
    await page.look()
    await page.send({"type": "play", "grain": "call", "rate": 30})
    running = await page.until(lambda message: message["running"] and message["seq"] >= 5)
    assert (running["running"]["kind"], running["running"]["rate"]) == ("play", 30)
    await page.send({"type": "pause"})  # how soon it stops is measured in benchmarks/
    paused = await page.until(stands_still)
    await asyncio.sleep(0.2)
    await session.arefresh_from_db()
    assert session.head == paused["head"]
    last = await LogEntry.objects.filter(session=session).alatest("seq")
    assert (last.kind, last.at, last.to) == ("play", 1, session.head)


async def test_there_is_one_driver_whatever_the_number_of_viewers(pages: Pages) -> None:
    session = await create_session("Play", commands=[cluster(3, 200)])
    one, two = await pages(session.edit_key), await pages(session.edit_key)
    await one.look()
    await two.look()
    began = time.monotonic()
    await one.send({"type": "play", "grain": "call", "rate": 20})
    await two.send({"type": "play", "grain": "call", "rate": 20})
    await one.until(lambda message: message["running"])
    await asyncio.sleep(1)
    await one.send({"type": "pause"})
    await one.until(stands_still)
    await session.arefresh_from_db()
    assert 1 < session.head <= 6 + 30 * (time.monotonic() - began)


async def test_who_steps_waits_for_no_play_and_plays_wait_in_a_row(
    pages: Pages, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(services, "PATIENCE", 30.0)
    played = await create_session("Play", commands=[cluster(3, 200)])
    stepped = await create_session("Step", commands=[cluster(3, 200)])
    player, person = await pages(played.edit_key), await pages(stepped.edit_key)
    await player.look()
    await person.look()
    free = asyncio.Event()
    loop = runtime().services.loop
    holding = [asyncio.create_task(loop.call(lambda: _hold(free))) for _ in range(services.PLAYS_AT_ONCE)]
    await asyncio.sleep(0.1)
    await player.send({"type": "play", "grain": "call", "rate": 30})
    delta = await person.ask(CALL)
    await asyncio.sleep(0.3)
    await played.arefresh_from_db()
    assert (delta["seq"], played.head) == (2, 1)
    loop.loop.call_soon_threadsafe(free.set)
    await player.until(lambda message: message["running"] and message["seq"] >= 5)
    await player.send({"type": "pause"})
    await player.until(stands_still)
    await asyncio.gather(*holding)


async def test_a_play_goes_on_where_those_ahead_hang(pages: Pages, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(services, "PATIENCE", 0.1)
    played = await create_session("Play", commands=[cluster(3, 200)])
    player = await pages(played.edit_key)
    await player.look()
    free = asyncio.Event()
    loop = runtime().services.loop
    holding = [asyncio.create_task(loop.call(lambda: _hold(free))) for _ in range(services.PLAYS_AT_ONCE)]
    await player.send({"type": "play", "grain": "call", "rate": 30})
    await player.until(lambda message: message["running"] and message["seq"] >= 3)
    loop.loop.call_soon_threadsafe(free.set)
    await player.send({"type": "pause"})
    await player.until(stands_still)
    await asyncio.gather(*holding)


async def _hold(free: asyncio.Event) -> None:
    async with runtime().services.turns.taken():
        await free.wait()


async def test_a_play_pauses_when_nobody_has_watched_for_a_while(pages: Pages, settings: Any) -> None:
    settings.PLAY_UNWATCHED_SECONDS = 0.3
    session = await create_session("Play", commands=[cluster(3, 200)])
    page = Page(session.edit_key)
    await page.open()
    await page.look()
    await page.send({"type": "play", "grain": "call", "rate": 50})
    await page.until(lambda message: message["running"])
    await page.socket.disconnect()
    live = runtime().sessions[session.pk]
    async with asyncio.timeout(30):
        while live.driver is not None:
            await asyncio.sleep(0.05)
    await session.arefresh_from_db()
    assert 1 < session.head < 150


async def test_a_run_goes_on_without_viewers_to_the_end(pages: Pages, settings: Any) -> None:
    settings.PLAY_UNWATCHED_SECONDS = 0.1
    session = await create_session("Run", commands=[cluster(3, 100)])
    page = Page(session.edit_key)
    await page.open()
    await page.look()
    await page.send({"type": "run"})
    await page.socket.disconnect()
    live = runtime().sessions[session.pk]
    async with asyncio.timeout(30):
        while live.driver is not None or live.head < 1500:
            await asyncio.sleep(0.05)
    again = await pages(session.edit_key)
    assert (await again.look())["seq"] == live.head
    assert (await again.ask({"type": "step"}))["type"] == "idle"


async def test_a_run_tells_how_far_it_is_and_can_be_cancelled(pages: Pages) -> None:
    session = await create_session("Run", commands=[cluster(50, 3000)])
    page = await pages(session.edit_key)
    await page.look()
    await page.send({"type": "run"})
    message = await page.until(lambda message: message["running"] and message["running"]["done"])
    running = message["running"]
    assert running["kind"] == "run"
    assert 0 < running["done"] < running["total"] <= 3000
    assert running["left"] > 0
    await page.send({"type": "pause"})
    stopped = await page.until(stands_still)
    await session.arefresh_from_db()
    assert stopped["head"] == session.head
    entry = await LogEntry.objects.filter(session=session).alatest("seq")
    assert (entry.kind, entry.to) == ("run", session.head)


async def test_a_command_in_the_middle_of_a_run_is_logged_where_it_was_applied(pages: Pages) -> None:
    session = await create_session("Run", commands=[cluster(50, 3000)])
    client = await SessionClient.open(session.edit_key)
    page = await pages(session.edit_key)
    await page.look()
    await page.send({"type": "run"})
    await page.until(lambda message: message["running"] and message["seq"] > 100)
    await client.apply(applying(pod("in-between")))
    applied = await client.head()
    await page.until(lambda message: message["running"] and message["seq"] > applied + 100)
    await page.send({"type": "pause"})
    await page.until(stands_still)
    entries = [entry async for entry in LogEntry.objects.filter(session=session).order_by("seq")]
    assert [entry.kind for entry in entries] == ["command", "run", "command", "run"]
    assert all(before.to == after.at for before, after in itertools.pairwise(entries))


async def test_a_run_that_cannot_be_written_says_so_and_stops(pages: Pages, monkeypatch: pytest.MonkeyPatch) -> None:
    session = await create_session("Run", commands=[cluster(3, 50)])
    page = await pages(session.edit_key)
    await page.look()
    monkeypatch.setattr(log, "lease", lambda *_: False)
    answer = await page.ask({"type": "run"})
    assert (answer["type"], answer["kind"]) == ("error", "conflict")
    assert "Another server process" in answer["message"]
