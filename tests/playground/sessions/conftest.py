"""What tests of live sessions share."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import orjson
import pytest
from channels.testing import WebsocketCommunicator

from playground.asgi import application
from playground.models import Session
from playground.sessions.web.client import SessionClient, create_session
from tests.playground.sessions.worlds import cluster

ORIGIN = [(b"origin", b"http://localhost"), (b"host", b"localhost")]


class Page:
    """An open page: a socket in this process."""

    def __init__(self, key: str, headers: list[tuple[bytes, bytes]] | None = None) -> None:
        self.socket = WebsocketCommunicator(application, f"/ws/s/{key}/", headers=headers or ORIGIN)

    async def open(self) -> bool:
        """Connect; whether the server let it."""
        connected, _ = await self.socket.connect(timeout=10)
        return connected

    async def send(self, message: Any) -> None:
        await self.socket.send_to(text_data=orjson.dumps(message).decode())

    async def next(self, timeout: float = 10) -> dict[str, Any]:
        message: dict[str, Any] = orjson.loads(await self.socket.receive_from(timeout))
        return message

    async def until(self, wanted: Callable[[dict[str, Any]], Any], timeout: float = 10) -> dict[str, Any]:
        """The next message that is wanted."""
        while not wanted(message := await self.next(timeout)):
            pass
        return message

    async def ask(self, message: dict[str, Any]) -> dict[str, Any]:
        """Send, then the next message."""
        await self.send(message)
        return await self.next()

    async def look(self, seen: int | None = None, **look: Any) -> dict[str, Any]:
        return await self.ask({"type": "look", "look": look, "seen": seen})


@pytest.fixture
async def session(transactional_db: None) -> Session:
    """A session with three nodes and four pending pods, at position 1."""
    return await create_session("Test", commands=[cluster(3, 4)])


@pytest.fixture
async def client(session: Session) -> SessionClient:
    """The session by its edit key."""
    return await SessionClient.open(session.edit_key)


@pytest.fixture
async def pages(transactional_db: None) -> AsyncIterator[Callable[..., Awaitable[Page]]]:
    """Opens pages on a key; closes them when the test is over."""
    opened: list[Page] = []

    async def open_page(key: str, **look: Any) -> Page:
        page = Page(key)
        assert await page.open()
        opened.append(page)
        return page

    yield open_page
    for page in opened:
        await page.socket.disconnect()
