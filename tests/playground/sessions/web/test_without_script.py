"""What a socket's message does, a form does: on two sessions alike, once by each, an operation leads to the same and says the same."""

from __future__ import annotations

import html
import re
from typing import Any, NamedTuple

import orjson
import pytest
from asgiref.sync import sync_to_async
from django.test import AsyncClient
from django.urls import reverse

from playground.models import Session
from playground.sessions.database import markers
from playground.sessions.protocol.breakpoints import from_form
from playground.sessions.protocol.errors import SessionError
from playground.sessions.web.client import Access, SessionClient, create_session
from playground.sessions.web.live import LiveSession
from playground.sessions.web.messages import Ended, Error, Idle, Searched, ToPage, read
from playground.sessions.web.runtime import runtime
from scheduler_core.world.simulation import Grain
from tests.playground.sessions.worlds import cluster

pytestmark = pytest.mark.django_db(transaction=True)

PAST = 5  # an earlier position of every session here


class Came(NamedTuple):
    """Where the head is, where the viewer stands (None: at the head), and what was said: all of it, and whether it was an error."""

    head: int
    standing: int | None
    said: tuple[str, ...]
    refused: bool


async def begun(breakpoint_: bool) -> Session:
    """Three nodes, four pods, two of them tried."""
    session = await create_session("Test", commands=[cluster(3, 4)])
    client = SessionClient(session, "edit")
    for _ in range(2):
        await client.on_loop(lambda live: live.changes.step(Grain.POD))
    if breakpoint_:
        point = from_form({"pod": "default/p1", "plugin": "NodeResourcesFit", "enabled": True})
        await sync_to_async(markers.add)(session.pk, point)
    return session


async def settled(session: Session) -> int:
    """The head once nothing drives the session."""

    async def finish(live: LiveSession) -> int:
        if live.driver is not None:
            await live.driver.finished()
        return live.head

    return await SessionClient(session, "edit").on_loop(finish)


async def by_form(session: Session, access: Access, page: str, fields: dict[str, Any], at: int | None) -> Came:
    """Post the form, follow where it leads, and read what stands there."""
    browser, key = AsyncClient(), getattr(session, f"{access}_key")
    data = {**fields, **({} if at is None else {"at": at})}
    response = await browser.post(reverse(page, args=[key]), {name: str(data[name]) for name in data})
    head = await settled(session)
    if response.status_code != 302:
        text = html.unescape(response.content.decode())
        (said,) = re.findall(r'class="refusal" role="alert">\s*<h2>(.*?)</h2>', text)
        return Came(head, at, (said,), True)
    text = html.unescape((await browser.get(response["Location"])).content.decode())
    messages = re.search(r'<div class="messages".*?</div>', text, re.DOTALL)
    said = re.findall(r"<li[^>]*>(.*?)</li>", messages[0]) if messages else []
    said += re.findall(r'<p class="notice[^"]*" role="status"[^>]*>(.*?)</p>', text)  # why the run ended that led here
    where = re.search(r"[?&]at=(\d+)", response["Location"])
    return Came(head, int(where[1]) if where else None, tuple(said), False)


async def by_message(session: Session, access: Access, message: dict[str, Any], at: int | None) -> Came:
    """Send the message as a page does that follows the head, or stands at a position."""
    heard: list[ToPage] = []
    dialogue = await SessionClient(session, access).join(heard.append, "en")

    async def take(sent: dict[str, Any]) -> None:
        await runtime().call(lambda: dialogue.take(read(orjson.dumps(sent))))

    await take({"type": "look", "look": {"at": at}})
    try:
        await take({"wait": True, **message} if "back" in message else message)
    except SessionError as error:
        heard.append(Error.of(error))
    head = await settled(session)
    where = dialogue.viewer.look.at
    await runtime().do(dialogue.leave)
    said = tuple(each.message for each in heard if isinstance(each, Error | Idle | Ended | Searched))
    return Came(head, where, said, any(isinstance(each, Error) for each in heard))


OPERATIONS: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    # the form's page and fields, and the message's fields
    ("step", {"grain": "call"}, {"grain": "call"}),
    ("step", {"grain": "pod"}, {"grain": "pod"}),
    ("step", {"grain": "nonsense"}, {"grain": "nonsense"}),
    ("back", {"grain": "call"}, {"grain": "call"}),
    ("back", {"grain": "pod"}, {"grain": "pod"}),
    ("back", {"grain": ""}, {"grain": ""}),
    ("play", {"grain": "pod", "rate": "200"}, {"grain": "pod", "rate": 200}),
    ("play", {"grain": "pod", "rate": "0"}, {"grain": "pod", "rate": 0}),
    ("run", {}, {}),
    ("run", {"until": "pod", "pod": "default/p2"}, {"until": "pod", "pod": "default/p2"}),
    ("run", {"until": "pod", "pod": ""}, {"until": "pod", "pod": ""}),
    ("run", {"until": "time", "seconds": "soon"}, {"until": "time", "seconds": "soon"}),
    ("run", {"until": "attempt", "number": "1"}, {"until": "attempt", "number": 1}),
    ("run", {"until": "nonsense"}, {"until": "nonsense"}),
    ("pause", {}, {}),
    ("search", {"direction": "back"}, {"back": True}),
    ("search", {"direction": "forward"}, {"back": False}),
    ("search", {"direction": "back", "only": "7"}, {"back": True, "only": 7}),
]


@pytest.mark.parametrize("at", [None, PAST])
@pytest.mark.parametrize("access", ["edit", "view"])
@pytest.mark.parametrize(("page", "fields", "message"), OPERATIONS)
async def test_a_form_and_a_message_lead_to_the_same_and_say_the_same(
    page: str, fields: dict[str, Any], message: dict[str, Any], access: Access, at: int | None
) -> None:
    with_breakpoint = page == "search" and "only" not in fields
    one, other = await begun(with_breakpoint), await begun(with_breakpoint)
    formed = await by_form(one, access, page, fields, at)
    assert formed == await by_message(other, access, {"type": page, **message}, at)
    assert formed.refused or formed.head >= PAST


@pytest.mark.parametrize("to", [None, PAST, 10**9])
async def test_a_form_and_a_message_stand_at_the_same_place(to: int | None) -> None:
    one, other = await begun(False), await begun(False)
    formed = await by_form(one, "view", "goto", {} if to is None else {"at": to}, None)
    assert formed == await by_message(other, "view", {"type": "goto", "at": to}, None)


async def test_a_step_with_nothing_left_says_so_either_way() -> None:
    one, other = await begun(False), await begun(False)
    for session in (one, other):
        await SessionClient(session, "edit").on_loop(LiveSession.run)
        await settled(session)
    formed = await by_form(one, "edit", "step", {"grain": "pod"}, None)
    assert formed == await by_message(other, "edit", {"type": "step", "grain": "pod"}, None)
    assert formed.said == ("The simulation has nothing more to do.",)
