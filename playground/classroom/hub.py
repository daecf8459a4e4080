"""Hubs: the sockets of each room in this process, and their messages.

The database is authoritative. A change of a room marks it, and its hub reads the board and sends it: at once, and then at most every
PAUSE. Answers in between are collected. Redis only notifies other server processes.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import secrets
from collections.abc import Callable, Coroutine
from typing import Any, Protocol

import orjson
from django.conf import settings

from playground.classroom import board, polls
from playground.models import Poll
from playground.presenters.words import message
from playground.sessions.database.asking import in_thread
from playground.sessions.protocol.errors import SessionError
from playground.sessions.web.relay import Hint, Relay

log = logging.getLogger(__name__)

PAUSE = 0.2  # seconds between two boards
ASIDE = 0.15  # seconds that the desk's list waits for the pages of students, which look at once where the teacher does
GATHER = 0.05  # seconds for which answers are gathered
RETRY = 1.0
LOOK = 30.0  # seconds after which a room is looked at in any case: its time may be over


class Socket(Protocol):
    """One page of the room."""

    teaches: bool

    def post(self, text: str) -> None:
        """Send, whenever it is this socket's turn."""

    def lower(self, hands: set[int]) -> None:
        """Tell the page that the teacher has lowered the hands of these students."""

    def stay(self, students: set[int]) -> None:
        """Close this page if its student is not among these."""


class Hub:
    """One room in this process; on one loop."""

    def __init__(self, room: int, hubs: Hubs) -> None:
        self.room = room
        self.sockets: set[Socket] = set()
        self.poll: Poll | None = None
        self._hubs = hubs
        self._texts = {False: "", True: ""}  # the last board, for students and for the teacher
        self._hands: set[int] = set()
        self._present: set[int] | None = None  # None: the room was removed
        self._changed = asyncio.Event()
        self._answers: list[tuple[tuple[int, int, str, bool | None], asyncio.Future[bool]]] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self._sending: asyncio.Task[None] | None = None
        self._watching: asyncio.Task[None] | None = None

    def changed(self, everywhere: bool = True) -> None:
        """Send the board after a change, here and in the other processes."""
        self._changed.set()
        if self._sending is None or self._sending.done():
            self._sending = asyncio.create_task(self._send())
        if everywhere:
            self._hubs.announce(self.room)

    async def come(self, socket: Socket) -> None:
        """Add a page: send it the complete board, and notify the others."""
        self.sockets.add(socket)
        if self._watching is None or self._watching.done():
            self._watching = asyncio.create_task(self._watch())
        if not self._texts[socket.teaches]:
            await self._read()
        socket.post(self._texts[socket.teaches])
        self.changed()

    async def _watch(self) -> None:
        while self.sockets:
            await asyncio.sleep(LOOK)
            self.changed(everywhere=False)

    def go(self, socket: Socket) -> None:
        """Remove a page."""
        self.sockets.discard(socket)
        if not self.sockets:
            if self._watching is not None:
                self._watching.cancel()
            self._hubs.forget(self)

    async def answer(self, student: int, number: int, given: list[str]) -> str:
        """Keep a student's answer to the question at hand; the text that is kept. Raises SessionError."""
        poll = self.poll
        if poll is None or poll.number != number or poll.state != Poll.State.OPEN:
            raise _build_closed_error()
        text, right = polls.read_answer(poll, given)
        kept: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._answers.append(((poll.pk, student, text, right), kept))
        if len(self._answers) == 1:
            self._begin(self._keep())
        if not await kept:
            raise _build_closed_error()
        return text

    async def _keep(self) -> None:
        await asyncio.sleep(GATHER)
        answers, self._answers = self._answers, []
        try:
            taking = await in_thread(polls.save, [answer for answer, _ in answers])
        except Exception as error:
            for _, kept in answers:
                if not kept.done():
                    kept.set_exception(error)
            return
        for (poll, *_), kept in answers:
            if not kept.done():
                kept.set_result(poll in taking)
        self.changed()

    async def _send(self) -> None:
        while self._changed.is_set() and self.sockets:
            self._changed.clear()
            hands, there = self._hands, set(self.sockets)
            try:
                await self._read(self._post, ASIDE)
            except Exception as error:
                log.warning("classroom %s could not be read: %s", self.room, error)
                self._changed.set()
                await asyncio.sleep(RETRY)
                continue
            for socket in self.sockets & there:  # who came meanwhile may not be in what was read
                if hands - self._hands:
                    socket.lower(hands - self._hands)
                if self._present is not None:
                    socket.stay(self._present)
            await asyncio.sleep(PAUSE)

    async def _read(self, changed: Callable[[bool], None] = lambda teaches: None, aside: float = 0.0) -> None:
        """Read the board; `changed` hears of the students' part before the teacher's is read, so many seconds later."""
        found = await in_thread(board.board_of, self.room)
        if found is None:
            self.poll, self._present = None, None
            for teaches in (False, True):
                self._set(teaches, '{"type":"gone"}', changed)
            return
        self.poll = found.poll
        if self._set(False, orjson.dumps(found.students).decode(), changed):
            await asyncio.sleep(aside)
        desk = await in_thread(board.describe_desk, found)
        self._hands = {each["id"] for each in desk["hands"]}
        self._present = {each["id"] for each in desk["students"]}
        self._set(True, orjson.dumps(desk).decode(), changed)

    def _set(self, teaches: bool, text: str, changed: Callable[[bool], None]) -> bool:
        """Store a text. Return whether it is new."""
        if text == self._texts[teaches]:
            return False
        self._texts[teaches] = text
        changed(teaches)
        return True

    def _post(self, teaches: bool) -> None:
        for socket in list(self.sockets):
            if socket.teaches is teaches:
                socket.post(self._texts[teaches])

    def _begin(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)  # asyncio refers to its tasks weakly: one that nobody holds may vanish before its end
        task.add_done_callback(self._tasks.discard)


def _build_closed_error() -> SessionError:
    return SessionError(message("This question is closed."))


class Hubs:
    """The hubs of one loop, and its way to the other processes."""

    def __init__(self) -> None:
        self._hubs: dict[int, Hub] = {}
        self._relay: Relay | None = None
        self._work: set[asyncio.Task[None]] = set()
        if settings.REDIS_URL:
            name = f"classroom-{os.getpid()}-{secrets.token_hex(4)}"
            self._relay = Relay(name, self._hear, self._look, "-room")
            self._work.add(asyncio.create_task(self._relay.work()))

    async def of(self, room: int) -> Hub:
        if room not in self._hubs:
            self._hubs[room] = Hub(room, self)
            if self._relay is not None:
                await self._relay.join(room)
        return self._hubs[room]

    def changed(self, room: int) -> None:
        """Handle a change of a room, whether or not this process has sockets of it."""
        if room in self._hubs:
            self._hubs[room].changed()
        else:
            self.announce(room)

    def announce(self, room: int) -> None:
        """Notify the other processes that a room has changed."""
        if self._relay is not None:
            self._relay.notify(room, "moved")

    def forget(self, hub: Hub) -> None:
        """Drop the hub of a room without sockets in this process."""
        if self._hubs.get(hub.room) is not hub:
            return
        del self._hubs[hub.room]
        if self._relay is not None:
            task = asyncio.create_task(self._relay.leave(hub.room))
            self._work.add(task)
            task.add_done_callback(self._work.discard)

    async def _hear(self, hint: Hint) -> None:
        with contextlib.suppress(KeyError):
            self._hubs[hint.session].changed(everywhere=False)

    async def _look(self) -> None:
        for hub in list(self._hubs.values()):
            hub.changed(everywhere=False)


_BY_LOOP: dict[asyncio.AbstractEventLoop, Hubs] = {}


def hubs() -> Hubs:
    """The hubs of the running loop."""
    loop = asyncio.get_running_loop()
    if loop not in _BY_LOOP:
        # A loop that has ended would keep its hubs, and their rooms, in memory.
        for other in [other for other in _BY_LOOP if other.is_closed()]:
            del _BY_LOOP[other]
        _BY_LOOP[loop] = Hubs()
    return _BY_LOOP[loop]


def mark(room: int) -> None:
    """Mark a room as changed, from any thread. Forms use it."""
    for loop, known in list(_BY_LOOP.items()):
        with contextlib.suppress(RuntimeError):  # that loop has ended
            loop.call_soon_threadsafe(known.changed, room)
