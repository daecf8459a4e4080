"""The API server of a session, asked in this process."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import AsyncIterator
from typing import Any

import pytest
from django.test import AsyncClient, AsyncRequestFactory

from playground.features.door import views
from playground.features.door.views import Stream, door
from playground.models import Session
from playground.sessions.protocol.comparing import DropTask
from playground.sessions.protocol.errors import AnswerExpired
from playground.sessions.protocol.moving import APIWrite, ReadOn, Write
from playground.sessions.web import publisher
from playground.sessions.web.client import SessionClient, create_session
from playground.sessions.web.engine_connection import EngineConnection
from playground.sessions.web.engines import WorkerDied
from playground.sessions.web.live import LiveSession
from playground.sessions.web.runtime import runtime
from scheduler_core.apiserver.door import JSON, Call
from tests.playground.sessions.conftest import Page
from tests.playground.sessions.worlds import cluster

pytestmark = pytest.mark.django_db(transaction=True)

MAPS = "api/v1/namespaces/default/configmaps"


@pytest.fixture
async def session() -> Session:
    return await create_session("Test", commands=[cluster(3, 4)])


async def ask(session: Session, method: str, path: str, body: Any = None) -> Any:
    """The response to a request."""
    data = {} if body is None else {"data": json.dumps(body), "content_type": "application/json"}
    return await AsyncClient().generic(method, f"/s/{session.edit_key}/k8s/{path}", **data)


async def watch(session: Session, path: str) -> Stream:
    """The watch that a request begins."""
    request = AsyncRequestFactory().get(f"/s/{session.edit_key}/k8s/{path}")
    stream = await door(request, session.edit_key, path.partition("?")[0])
    assert isinstance(stream, Stream)
    return stream


async def make_maps(session: Session) -> list[str]:
    """Make ConfigMaps, so large that a list of them comes in parts; their names."""
    names = [f"c{number}" for number in range(6)]
    for name in names:
        body = {"metadata": {"name": name}, "data": {"a": "x" * 300_000}}
        assert (await ask(session, "POST", MAPS, body)).status_code == 201
    return names


async def test_head_of_a_watch_leaves_no_watch_behind(session: Session) -> None:
    answer = await ask(session, "HEAD", "api/v1/pods?watch=1")
    assert (answer.status_code, answer.content) == (200, b"")
    live = runtime().live(session.pk)
    async with asyncio.timeout(10):
        while len(live.watching):
            await asyncio.sleep(0.01)


async def test_a_list_in_parts_is_of_one_moment(session: Session) -> None:
    names = await make_maps(session)
    answer = await ask(session, "GET", MAPS)
    parts: AsyncIterator[bytes] = aiter(answer.streaming_content)
    body = await anext(parts)
    assert len(body) < 1_500_000
    assert (await ask(session, "DELETE", f"{MAPS}/{names[-1]}")).status_code == 200
    listed = json.loads(body + b"".join([part async for part in parts]))
    assert [each["metadata"]["name"] for each in listed["items"]] == names
    assert listed["metadata"]["resourceVersion"] == listed["items"][-1]["metadata"]["resourceVersion"]
    now = json.loads((await ask(session, "GET", f"{MAPS}?limit=2")).content)
    assert [each["metadata"]["name"] for each in now["items"]] == names[:2]


async def test_one_of_many_requests_looks_the_key_up_again_and_a_key_that_opens_nothing_is_forgotten(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    await ask(session, "GET", "version")
    monkeypatch.setattr(views, "REMEMBERED", 3600.0)
    opened, opening = list[str](), SessionClient.open

    async def count(key: str) -> SessionClient:
        opened.append(key)
        return await opening(key)

    monkeypatch.setattr(SessionClient, "open", count)
    client, _ = views._opened[session.edit_key]
    views._opened[session.edit_key] = client, -math.inf
    answers = await asyncio.gather(*(ask(session, "GET", "version") for _ in range(5)))
    assert ([each.status_code for each in answers], opened) == ([200] * 5, [session.edit_key])
    await Session.objects.filter(pk=session.pk).adelete()
    views._opened[session.edit_key] = client, -math.inf
    assert [(await ask(session, "GET", "version")).status_code for _ in range(2)] == [401, 401]


async def test_a_list_in_parts_may_be_indented(session: Session) -> None:
    names = await make_maps(session)
    answer = await ask(session, "GET", f"{MAPS}?pretty=true")
    assert answer.content.startswith(b'{\n  "kind": "ConfigMapList"')
    assert [each["metadata"]["name"] for each in json.loads(answer.content)["items"]] == names


@pytest.mark.parametrize("method", ["HEAD", "GET"])
async def test_a_list_that_nobody_reads_on_is_not_kept(
    session: Session, method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    await make_maps(session)
    monkeypatch.setattr("playground.features.door.views.secrets.token_hex", lambda _: "token")
    (await ask(session, method, MAPS)).close()
    with pytest.raises(AnswerExpired):
        await SessionClient(session, "edit").check(ReadOn(token="token"))


async def test_pages_are_shown_many_writes_together_and_the_last_of_them(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = Page(session.edit_key)
    assert await page.open()
    await page.look()
    monkeypatch.setattr(publisher, "INTERVAL", publisher.LONGEST)
    for number in range(6):
        assert (await ask(session, "POST", MAPS, {"metadata": {"name": f"c{number}"}})).status_code == 201
    shown = [await page.next()]
    while shown[-1]["seq"] < 7:
        shown.append(await page.next())
    assert len(shown) < 6
    await page.socket.disconnect()


async def test_only_the_write_at_fault_gets_the_error_of_those_that_wait_together(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    call, together = EngineConnection.call, []

    async def die(engine: EngineConnection, request: Any) -> Any:
        if isinstance(request, Write):
            together.append(len(request.calls))
            if any(b"bad" in each.body for each in request.calls):
                raise WorkerDied(at_fault=True)
        return await call(engine, request)

    monkeypatch.setattr(EngineConnection, "call", die)
    bodies = [json.dumps({"metadata": {"name": name}}).encode() for name in ("a", "b", "bad", "c", "d", "e")]

    async def write(live: LiveSession, body: bytes) -> int:
        post = APIWrite(call=Call("POST", f"/{MAPS}"), body=body, content_type=JSON, agent="", manager="", wall=0)
        try:
            return (await live.changes.serve(post)).status
        except WorkerDied as error:
            return error.status

    async def write_all(live: LiveSession) -> list[int]:
        return await asyncio.gather(*(write(live, body) for body in bodies))

    assert await SessionClient(session, "edit").on_loop(write_all) == [201, 201, 503, 201, 201, 201]
    assert max(together) > 1


async def test_what_a_watch_sees_first_goes_out_in_parts_of_one_moment_before_what_happens_meanwhile(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = await make_maps(session)
    query = "watch=1&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan"
    stream = await watch(session, f"{MAPS}?{query}")
    sent: list[bytes] = []
    read_on, over = SessionClient.check, asyncio.get_running_loop().create_future()

    async def write_meanwhile(client: SessionClient, request: Any) -> Any:
        if isinstance(request, ReadOn) and len(sent) == 1:
            assert (await ask(session, "DELETE", f"{MAPS}/{names[-1]}")).status_code == 200
        return await read_on(client, request)

    async def send(message: dict[str, Any]) -> None:
        sent.append(message.get("body", b""))
        if b"DELETED" in sent[-1]:
            over.set_result(None)

    monkeypatch.setattr(SessionClient, "check", write_meanwhile)
    async with asyncio.timeout(20):
        await stream.serve(over, send)
    assert max(map(len, sent)) < 1_500_000
    events = [json.loads(line) for line in b"".join(sent).splitlines()]
    seen = [(each["type"], each["object"]["metadata"].get("name")) for each in events]
    assert seen == [*(("ADDED", name) for name in names), ("BOOKMARK", None), ("DELETED", names[-1])]


@pytest.mark.parametrize("pretty", ["", "?pretty=true"])
async def test_the_rest_of_a_list_that_is_not_kept_any_longer_has_expired(
    session: Session, pretty: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    await make_maps(session)
    read_on = SessionClient.check

    async def drop_first(client: SessionClient, request: Any) -> Any:
        await client.on_loop(lambda live: drop(live, request.token))
        return await read_on(client, request)

    async def drop(live: LiveSession, token: str) -> None:
        live.notify(DropTask(token=token))

    monkeypatch.setattr(SessionClient, "check", drop_first)
    answer = await ask(session, "GET", MAPS + pretty)
    if pretty:
        status = json.loads(answer.content)
        said = "The resourceVersion for the provided list is too old."
        assert (answer.status_code, status["reason"], status["message"]) == (410, "Expired", said)
    else:
        with pytest.raises(AnswerExpired):
            [part async for part in answer.streaming_content]
