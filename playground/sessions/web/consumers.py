"""The WebSocket of a session: it validates incoming messages and sends outgoing ones. docs/stream.md describes the messages."""

import asyncio
import contextlib
import logging
import time
from collections import deque
from functools import partial
from typing import Any, ClassVar, Protocol
from weakref import WeakKeyDictionary

from channels.consumer import get_handler_name
from channels.exceptions import StopConsumer
from channels.generic.websocket import AsyncWebsocketConsumer
from django.conf import settings
from django.http import QueryDict
from django.utils.translation import activate, get_supported_language_variant

from playground.common.logs import REFUSED
from playground.presenters.words import message
from playground.sessions.database import links
from playground.sessions.database.asking import in_thread
from playground.sessions.limits import SOCKETS, admit_socket, prove
from playground.sessions.protocol.errors import LimitReached, SessionError, SessionGone, Unavailable
from playground.sessions.web.client import SessionClient
from playground.sessions.web.dialogue import Dialogue
from playground.sessions.web.messages import ENCODER, BadMessage, Error, Gone, Look, PageMessage, ToPage, read
from playground.sessions.web.runtime import runtime

log = logging.getLogger(__name__)

CLOSE_GONE = 4404
CLOSE_LIMIT = 4429
CLOSE_FAILED = 1011
CLOSE_AGAIN = 4503
PATIENCE = 50
LINK_SECONDS = 10.0
AT_ONCE = 50  # messages to send before yielding to the loop's other tasks


class Recipient(Protocol):
    """A connection that receives messages."""

    async def deliver(self, message: Any) -> None: ...


class Outbox:
    """The queue of messages to the connections of one event loop. One task sends them, and the loop is woken once per batch."""

    _of: "ClassVar[WeakKeyDictionary[asyncio.AbstractEventLoop, dict[str, Outbox]]]" = WeakKeyDictionary()

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._waiting: deque[tuple[Recipient, Any]] = deque()
        self._woken = False
        self._task: asyncio.Task[None] | None = None

    @classmethod
    def of_running_loop(cls, kind: str = "pages") -> "Outbox":
        """Return the running loop's outbox for recipients of a kind; each kind has its own, so that none waits for another."""
        loop = asyncio.get_running_loop()
        return cls._of.setdefault(loop, {}).setdefault(kind, cls(loop))

    def put(self, recipient: Recipient, message: Any) -> None:
        """Queue a message for a recipient; from any thread. If the loop has ended, nothing is sent."""
        self._waiting.append((recipient, message))
        if not self._woken:
            self._woken = True
            with contextlib.suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._begin)

    def _begin(self) -> None:
        self._woken = False  # before the queue is read: a message from now on wakes the loop again
        if self._task is None or self._task.done():
            self._task = self._loop.create_task(self._send())

    async def _send(self) -> None:
        sent = 0
        while self._waiting:
            recipient, message = self._waiting.popleft()
            await recipient.deliver(message)
            sent += 1
            if not sent % AT_ONCE:
                await asyncio.sleep(0)


class Socket(AsyncWebsocketConsumer):
    """The base of all sockets: a closed one neither sends nor processes messages.

    Channels checks database connections at each message, in one thread for all sockets, which was most of a message's cost. Here the
    callers of the database do that (database/asking.py).
    """

    closing = False  # later messages are dropped

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Process messages one after the other; there is no channel layer."""
        self.scope, self.base_send, self.channel_layer = scope, send, None
        with contextlib.suppress(StopConsumer):
            while True:
                await self.dispatch(await receive())

    async def dispatch(self, message: dict[str, Any]) -> None:
        """Call the handler method for the type of a message."""
        await getattr(self, get_handler_name(message))(message)

    async def close(self, code: int | bool | None = None, reason: str | None = None) -> None:
        if not self.closing:
            self.closing = True
            SOCKETS.remove(self)
            await super().close(code, reason)


class SessionConsumer(Socket):
    """One page's connection. An invalid message can harm at most this connection."""

    dialogue: Dialogue | None = None  # used on the sessions' loop only
    watcher: asyncio.Task[None] | None = None
    silence: asyncio.Task[None] | None = None  # closes a socket that sends nothing
    owner = ""  # the owner that the socket counts for after its first `look` (sessions/limits.py)
    open: "ClassVar[set[SessionConsumer]]" = set()

    async def connect(self) -> None:
        """Join the session's viewers; the first `look` requests the panels."""
        await self.accept()
        self.open.add(self)
        self.tokens, self.counted, self.excess = float(settings.WEBSOCKET_BURST), time.monotonic(), 0
        activate(language_of(self.scope))  # for this connection only: each is a task of its own
        try:
            admit_socket(self, self.scope)
            client = await SessionClient.open(self.scope["url_route"]["kwargs"]["key"])
            self.owner = f"session {client.session.pk}"
            self.dialogue = await client.join(self._post, language_of(self.scope))
        except SessionGone:
            await self._send(Gone())
            await self.close(CLOSE_GONE)
        except LimitReached as error:
            await self._send(Error.of(error))
            await self.close(CLOSE_LIMIT)
        except Unavailable as error:
            await self._send(Error.of(error))
            await self.close(CLOSE_AGAIN)  # the page reconnects
        else:
            self.silence = asyncio.create_task(self._end_silence())
            if client.link:
                self.watcher = asyncio.create_task(self._watch(client.link))

    async def _end_silence(self) -> None:
        """Close a socket that has not sent a `look` within REQUEST_SECONDS, as each page does at once."""
        await asyncio.sleep(settings.REQUEST_SECONDS)
        REFUSED.labels("silent socket").inc()
        await self.close(CLOSE_LIMIT)

    async def _watch(self, link: str) -> None:
        """Close the socket when its view link expires or is revoked; retry while the database does not respond."""
        stands = True
        while stands:
            await asyncio.sleep(LINK_SECONDS)
            with contextlib.suppress(Unavailable):
                stands = await in_thread(links.stands, link)
        self._post(Gone())

    def connected(self) -> None:
        """Set the outbox: messages from the sessions' thread are sent on the loop that runs here."""
        self.outbox = Outbox.of_running_loop()

    async def websocket_connect(self, message: dict[str, Any]) -> None:
        self.connected()
        await super().websocket_connect(message)

    def _post(self, message: ToPage) -> None:
        """Queue a message; called on the sessions' thread."""
        self.outbox.put(self, message)

    async def deliver(self, message: ToPage) -> None:
        """Send a queued message; on an error close the socket, so that the page reconnects and is brought up to date."""
        try:
            await self._send(message)
        except Exception:
            log.exception("a message could not be sent")
            await self.close(CLOSE_FAILED)
        else:
            if isinstance(message, Gone):
                await self.close(CLOSE_GONE)

    async def _send(self, message: ToPage) -> None:
        if not self.closing:
            await self.send(text_data=LAST.text_of(message))

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        """Process one message; an error is sent to the page, never raised."""
        dialogue = self.dialogue
        if dialogue is None or self.closing:
            return
        try:
            if not await self._within_rate():
                return
            taken = _read(text_data)
            if isinstance(taken, Look):
                prove(self, self.scope, self.owner)
                if self.silence is not None:
                    self.silence.cancel()
                runtime().services.loop.post(partial(dialogue.set_look, taken))
            else:
                await runtime().call(lambda: dialogue.take(taken))
        except SessionError as error:
            await self._send(Error.of(error))
        except Exception as error:
            log.exception("a message could not be taken")
            await self._send(Error.of(error))

    async def _within_rate(self) -> bool:
        now = time.monotonic()
        self.tokens += (now - self.counted) * settings.WEBSOCKET_RATE
        self.tokens, self.counted = min(self.tokens, settings.WEBSOCKET_BURST), now
        if self.tokens >= 1:
            self.tokens -= 1
            self.excess = 0
            return True
        self.excess += 1
        if self.excess == 1:
            raise LimitReached(
                message("Too many messages. The limit is %(rate)s a second.", rate=f"{settings.WEBSOCKET_RATE:g}")
            )
        if self.excess > PATIENCE:
            await self.close(CLOSE_LIMIT)
        return False

    async def disconnect(self, code: int) -> None:
        self.open.discard(self)
        SOCKETS.remove(self)
        self.closing = True
        for task in (self.watcher, self.silence):
            if task is not None:
                task.cancel()
        if self.dialogue is not None:
            await runtime().do(self.dialogue.leave)


class LastText:
    """A cache of the last message's text, because many viewers get the same message, one after the other."""

    def __init__(self) -> None:
        self._message: ToPage | None = None
        self._text = ""

    def text_of(self, message: ToPage) -> str:
        if message is not self._message:
            self._message, self._text = message, ENCODER.encode(message).decode()
        return self._text


LAST = LastText()


def language_of(scope: dict[str, Any]) -> str:
    """Return the page's language, which the socket's address contains."""
    asked = QueryDict(scope.get("query_string", b"")).get("language", "")
    try:
        return get_supported_language_variant(asked)
    except LookupError:
        return settings.LANGUAGE_CODE


def _read(text: str | None) -> PageMessage:
    if text is None:
        raise BadMessage("Messages must be text.")
    if len(text) > settings.WEBSOCKET_MAX_MESSAGE:
        raise BadMessage(f"A message may have at most {settings.WEBSOCKET_MAX_MESSAGE:,} characters.")
    return read(text)
