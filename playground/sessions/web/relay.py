"""Relay: how the server processes notify each other about sessions, over Redis.

Only hints travel here (the head moved, please pause, deleted, somebody watches); the log is the truth. A hint that finds nobody is lost, so
whoever was cut off looks into the log: again and again while Redis is away, and once when it is back.
"""

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from functools import cache
from typing import Any, Literal

from django.conf import settings
from django.utils.crypto import salted_hmac
from msgspec import Struct
from msgspec.msgpack import Decoder, Encoder
from redis.asyncio import Redis
from redis.asyncio.client import PubSub
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from playground.sessions.web.messages import Running

log = logging.getLogger(__name__)

# Seconds: in which Redis answers, between two pings, without a word after which it is taken for away, between two attempts to reach it.
ANSWER = 2.0
PING = 1.0
SILENCE = 3.0
PAUSE = 0.5
# Seconds between two looks into the log while it is away.
LOOK = 1.0

What = Literal["moved", "pause", "watched", "gone", "markers"]


class Hint(Struct, frozen=True, omit_defaults=True):
    """An event of a session in the process `by`, or a request to the session's driver; with "moved", the drive there."""

    by: str
    session: int
    what: What
    running: Running | None = None


_encoder = Encoder()
_decoder = Decoder(Hint)


class Relay:
    """This process' ear and mouth. `hear` is called with what other processes say, `look` when that may not be all.

    What is told apart by `family` has numbers of its own: sessions have "", classrooms another.
    """

    def __init__(
        self, name: str, hear: Callable[[Hint], Awaitable[None]], look: Callable[[], Awaitable[None]], family: str = ""
    ) -> None:
        self._name, self._family, self._hear, self._look = name, family, hear, look
        # By session: whether Redis has said that it is listened to.
        self._joined: dict[int, asyncio.Event] = {}
        self._ear: PubSub | None = None  # while it hears
        self._mouth: Redis | None = None
        self._lost = False  # the library made another connection meanwhile
        self._speaking = asyncio.Lock()
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def connected(self) -> bool:
        return self._ear is not None

    # To join

    async def join(self, session_id: int) -> None:
        """Listen for hints about a session; what is read of the log afterwards is followed by a hint of what comes next."""
        heard = self._joined.setdefault(session_id, asyncio.Event())
        if self._ear is None or heard.is_set():
            return
        with contextlib.suppress(Exception):  # the ear itself notices, and joins again
            async with asyncio.timeout(ANSWER):
                await self._ear.subscribe(_channel(session_id, self._family))
                await heard.wait()

    async def leave(self, session_id: int) -> None:
        """Listen to it no longer."""
        if self._joined.pop(session_id, None) is not None and self._ear is not None:
            with contextlib.suppress(Exception):
                async with asyncio.timeout(ANSWER):
                    await self._ear.unsubscribe(_channel(session_id, self._family))

    # To speak

    def notify(self, session_id: int, what: What, running: Running | None = None) -> None:
        self._begin(self.send(Hint(self._name, session_id, what, running)))

    async def send(self, hint: Hint) -> None:
        """Publish a hint to the listeners of its session, in the order of the calls. Errors are logged."""
        async with self._speaking:
            if self._ear is None or self._mouth is None:
                return
            try:
                async with asyncio.timeout(ANSWER):
                    await self._mouth.publish(_channel(hint.session, self._family), _encoder.encode(hint))
            except Exception as error:
                log.warning("the other processes were not told of session %s: %s", hint.session, error)

    def _begin(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        # asyncio itself refers to tasks only weakly: without this, one could vanish before it is done.
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    # To hear

    async def work(self) -> None:
        """Reach Redis, listen until it is lost, begin anew."""
        if not settings.REDIS_URL:
            return
        away = False
        self._begin(self._look_while_away())
        while True:
            try:
                async with self._reach() as (ear, mouth):
                    await self._join_all(ear)
                    self._ear, self._mouth = ear, mouth
                    if away:
                        log.warning("Redis answers again")
                    away = False
                    looking = asyncio.create_task(self._look_into_log())
                    try:
                        await self._listen(ear)
                    finally:
                        looking.cancel()
            except Exception as error:
                if not away:
                    log.error("Redis does not answer: %s", error)
                away = True
            finally:
                self._ear = None
                for heard in self._joined.values():
                    heard.clear()
            await asyncio.sleep(PAUSE)

    @contextlib.asynccontextmanager
    async def _reach(self) -> AsyncIterator[tuple[PubSub, Redis]]:
        redis: Redis = Redis.from_url(
            settings.REDIS_URL,
            socket_timeout=ANSWER,
            socket_connect_timeout=ANSWER,
            # No retries in the library: `work` connects again, and then looks into the log for what was missed.
            retry=Retry(NoBackoff(), 0),
        )
        ear = redis.pubsub()
        try:
            yield ear, redis
        finally:
            with contextlib.suppress(Exception):
                async with asyncio.timeout(ANSWER):
                    await ear.aclose()  # type: ignore[no-untyped-call]
                    await redis.aclose()

    async def _join_all(self, ear: PubSub) -> None:
        """Before anything else: what happens from here on is heard."""
        async with asyncio.timeout(ANSWER):
            await ear.connect()  # type: ignore[no-untyped-call]
            connection: Any = ear.connection
            self._lost = False
            connection.register_connect_callback(self._note_connection)
            await ear.subscribe(*(_channel(each, self._family) for each in (0, *self._joined)))

    async def _note_connection(self, connection: Any) -> None:
        """The library has made a new connection by itself: nobody knows what was not heard meanwhile."""
        self._lost = True

    async def _listen(self, ear: PubSub) -> None:
        heard = pinged = time.monotonic()
        while not self._lost:
            message = await ear.get_message(timeout=PING)
            now = time.monotonic()
            if message is not None:
                heard = now
                self._take(message)
            if now - heard > SILENCE:
                raise TimeoutError(f"not a word in {SILENCE} s")
            if now - pinged > PING:
                pinged = now
                async with asyncio.timeout(ANSWER):
                    await ear.ping()
        raise ConnectionError("the connection was lost")

    def _take(self, message: dict[str, Any]) -> None:
        if message["type"] == "subscribe":
            joined = self._joined.get(int(message["channel"].rsplit(b"-", 1)[1]))
            if joined is not None:
                joined.set()
        elif message["type"] == "message":
            self._begin(self._heed(message["data"]))  # who follows slowly holds up no other session

    async def _heed(self, data: bytes) -> None:
        try:
            hint = _decoder.decode(data)
            if hint.by != self._name:
                await self._hear(hint)
        except Exception as error:
            log.warning("could not follow another process: %s", error)

    # To look

    async def _look_while_away(self) -> None:
        while True:
            await asyncio.sleep(LOOK)
            if self._ear is None:
                await self._look_into_log()

    async def _look_into_log(self) -> None:
        try:
            await self._look()
        except Exception as error:
            log.warning("could not look where the other processes are: %s", error)


@cache
def _installation() -> str:
    """Return an id common to the server processes of one installation; other installations may use the same Redis."""
    return salted_hmac("playground.relay", settings.REDIS_URL).hexdigest()[:16]


def _channel(session_id: int, family: str) -> str:
    return f"playground-{_installation()}{family}-{session_id}"
