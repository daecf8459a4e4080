"""Lines of the log say which request and session they are about, and hold no key; the operator has a page of them."""

from __future__ import annotations

import logging
import re
import sys
from collections import deque
from typing import Any

import orjson
import pytest
from asgiref.sync import async_to_sync
from django.test import Client
from django.test.client import RequestFactory

from playground.common.logs import MOST_KEPT, REQUEST, SESSION, JsonLines, PlainLines, RecentTroubles, WithIds
from playground.serving.gate import RequestIds
from playground.sessions.web.client import SessionClient, create_session
from playground.sessions.web.runtime import runtime
from playground.views.access import creator


def record(message: str, *values: object, error: bool = False) -> logging.LogRecord:
    about = sys.exc_info() if error else None
    line = logging.LogRecord("playground.views", logging.WARNING, "file", 1, message, values, about)
    WithIds().filter(line)
    return line


@pytest.fixture(autouse=True)
def about_nothing() -> None:
    REQUEST.set("")
    SESSION.set(0)


@pytest.fixture
def asked() -> Any:
    tokens = REQUEST.set("r-1"), SESSION.set(7)
    yield
    REQUEST.reset(tokens[0])
    SESSION.reset(tokens[1])


@pytest.mark.usefixtures("asked")
def test_a_plain_line_names_request_and_session() -> None:
    assert PlainLines().format(record("slow")).endswith("WARNING playground.views [request r-1, session 7]: slow")


def test_a_plain_line_about_nothing_names_nothing() -> None:
    assert PlainLines().format(record("slow")).endswith("WARNING playground.views: slow")


@pytest.mark.usefixtures("asked")
def test_a_json_line_is_one_object() -> None:
    line = orjson.loads(JsonLines().format(record("%s of %d", "two", 3)))
    time = line.pop("time")
    assert time.endswith("+00:00")
    assert line == {
        "level": "warning", "logger": "playground.views", "message": "two of 3", "request": "r-1", "session": 7
    }  # fmt: skip


def test_an_exception_is_part_of_the_object() -> None:
    try:
        raise ValueError("/s/secret-key/step")
    except ValueError:
        line = orjson.loads(JsonLines().format(record("failed", error=True)))
    assert "ValueError: /s/-/step" in line["exception"]


@pytest.mark.parametrize("formatter", [PlainLines(), JsonLines()])
def test_no_line_holds_the_key_of_a_session(formatter: logging.Formatter) -> None:
    said = formatter.format(record("Not found: %s", "/ws/s/abcDEF-1_2/x?at=3"))
    assert "abcDEF" not in said
    assert "/ws/s/-/x?at=3" in said


def test_the_last_troubles_are_kept() -> None:
    RecentTroubles().emit(record("the disk is full"))
    assert RecentTroubles.kept[-1]["message"] == "the disk is full"
    assert len([RecentTroubles().emit(record("again")) for _ in range(80)]) > len(RecentTroubles.kept)


def answered(*headers: tuple[bytes, bytes]) -> tuple[str, str]:
    """The id in the context of an application, and the one in its answer."""
    seen, sent = [], []

    async def application(scope: Any, receive: Any, send: Any) -> None:
        seen.append(REQUEST.get())
        await send({"type": "http.response.start", "status": 200, "headers": []})

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {"type": "http", "path": "/", "method": "GET", "headers": list(headers)}
    async_to_sync(RequestIds(application))(scope, None, send)  # type: ignore[arg-type]
    return seen[0], dict(sent[0]["headers"])[b"x-request-id"].decode()


def test_a_request_gets_an_id_and_the_answer_names_it(settings: Any) -> None:
    settings.TRUSTED_PROXIES = []
    first, second = answered((b"x-request-id", b"mine")), answered()
    assert first[0] == first[1] != "mine"
    assert len({first[0], second[0]}) == 2


@pytest.mark.parametrize(("given", "kept"), [(b"a1:b.c-d", True), (b"x" * 65, False), (b"two words", False)])
def test_a_trusted_proxys_id_is_kept_where_it_is_sound(settings: Any, given: bytes, kept: bool) -> None:
    settings.TRUSTED_PROXIES = ["127.0.0.1"]
    assert (answered((b"X-Request-ID", given))[1] == given.decode()) is kept


@pytest.mark.django_db(transaction=True)
def test_the_database_thread_and_the_sessions_loop_know_the_request() -> None:
    session = async_to_sync(create_session)("logged")

    async def ask() -> tuple[str, int, str]:
        REQUEST.set("r-2")
        await SessionClient.open(session.edit_key)

        async def on_loop() -> str:
            return await runtime().services.loop.db(REQUEST.get)

        return await runtime().call(_text), SESSION.get(), await runtime().call(on_loop)

    async def _text() -> str:
        return REQUEST.get()

    assert async_to_sync(ask)() == ("r-2", session.pk, "r-2")


@pytest.mark.django_db(transaction=True)
def test_the_operators_page_shows_the_process_to_operators_alone(settings: Any) -> None:
    RecentTroubles().emit(record("Not found: %s", "/s/abc/"))
    page = Client().get("/status")
    text = page.content.decode()
    assert page.status_code == 200
    assert "The database answers" in text
    assert "Not found: /s/-/" in text
    assert re.search(r"<td>\d+ / 8,000</td>", text)  # connections
    settings.METRICS_CLIENTS = []
    assert Client().get("/status").status_code == 404


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("2001:db8:1:2::1", "2001:db8:1:2:ffff::9", True),
        ("2001:db8:1:2::1", "2001:db8:1:3::1", False),
        ("192.0.2.1", "192.0.2.2", False),
        ("::ffff:192.0.2.1", "::ffff:192.0.2.1", True),
    ],
)
def test_an_ipv6_client_is_its_network(one: str, other: str, same: bool) -> None:
    def of(address: str) -> str:
        return creator(RequestFactory().get("/", REMOTE_ADDR=address))

    assert (of(one) == of(other)) is same


def test_what_anybody_can_cause_drives_no_other_trouble_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RecentTroubles, "kept", deque(maxlen=MOST_KEPT))
    troubles = RecentTroubles()
    for number in range(3 * MOST_KEPT):
        wrong = logging.LogRecord("django", logging.WARNING, "here", 1, "Not Found: %s", (number,), None)
        if number == 5:
            troubles.emit(logging.LogRecord("ours", logging.ERROR, "there", 2, "a worker died", (), None))
        troubles.emit(wrong)
    messages = [each["message"] for each in RecentTroubles.kept]
    assert messages[0] == "a worker died"
    assert messages[1:] == [f"Not Found: {number}" for number in range(140, 150)]
