"""Relay: how the server processes notify each other about sessions, over Redis.

Only hints are sent (the head moved, please pause, deleted, a viewer is present); the log is authoritative. Undelivered hints are lost, so
a disconnected process checks the log: repeatedly while Redis is unavailable, and once after it responds again.
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

# Seconds: the time limit of Redis's answers, the ping interval, the silence after which Redis counts as lost, the reconnect pause.
ANSWER = 2.0
PING = 1.0
SILENCE = 3.0
PAUSE = 0.5
# Seconds between checks of the log while Redis is unavailable.
LOOK = 1.0

What = Literal["moved", "pause", "watched", "gone", "markers"]


class Hint(Struct, frozen=True, omit_defaults=True):
    """An event of a session in the process `by`, or a request to the session's driver; with "moved", the drive in that process."""

    by: str
    session: int
    what: What
    running: Running | None = None


_encoder = Encoder()
_decoder = Decoder(Hint)


class Relay:
    """The connection of this process to the others. `hear` is called with each hint, `look` when hints may be lost.

    Each `family` has its own ids: that of sessions is "", classrooms have another.
    """

    def __init__(
        self, name: str, hear: Callable[[Hint], Awaitable[None]], look: Callable[[], Awaitable[None]], family: str = ""
    ) -> None:
        self._name, self._family, self._hear, self._look = name, family, hear, look
        # By session: whether Redis has confirmed the subscription.
        self._joined: dict[int, asyncio.Event] = {}
        self._ear: PubSub | None = None  # None without a connection
        self._mouth: Redis | None = None
        self._lost = False  # whether the library has reconnected
        self._speaking = asyncio.Lock()
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def connected(self) -> bool:
        return self._ear is not None

    # Subscriptions

    async def join(self, session_id: int) -> None:
        """Subscribe to the hints about a session: after this, a change is either in the log already or followed by a hint."""
        heard = self._joined.setdefault(session_id, asyncio.Event())
        if self._ear is None or heard.is_set():
            return
        with contextlib.suppress(Exception):  # `work` notices the error, and subscribes again
            async with asyncio.timeout(ANSWER):
                await self._ear.subscribe(_channel(session_id, self._family))
                await heard.wait()

    async def leave(self, session_id: int) -> None:
        """Unsubscribe from the hints about a session."""
        if self._joined.pop(session_id, None) is not None and self._ear is not None:
            with contextlib.suppress(Exception):
                async with asyncio.timeout(ANSWER):
                    await self._ear.unsubscribe(_channel(session_id, self._family))

    # Sending

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
        # asyncio has only weak references to tasks: without this one, a task could be collected before it is done.
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    # Listening

    async def work(self) -> None:
        """Connect to Redis, listen until the connection is lost, and start again."""
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
            # No retries in the library: `work` reconnects, and then checks the log for missed changes.
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
        """Subscribe to all joined sessions before anything else, so that no later hint is missed."""
        async with asyncio.timeout(ANSWER):
            await ear.connect()  # type: ignore[no-untyped-call]
            connection: Any = ear.connection
            self._lost = False
            connection.register_connect_callback(self._note_connection)
            await ear.subscribe(*(_channel(each, self._family) for each in (0, *self._joined)))

    async def _note_connection(self, connection: Any) -> None:
        """Note that the library has reconnected, because hints may be lost."""
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
            self._begin(self._heed(message["data"]))  # so that a slow session does not delay others

    async def _heed(self, data: bytes) -> None:
        try:
            hint = _decoder.decode(data)
            if hint.by != self._name:
                await self._hear(hint)
        except Exception as error:
            log.warning("could not follow another process: %s", error)

    # Checks of the log

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
