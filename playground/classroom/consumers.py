"""The sockets of a classroom: students follow, answer, and raise hands; the teacher asks. docs/classroom.md has the messages."""

import asyncio
import logging
import time
from collections.abc import Callable
from http.cookies import CookieError, SimpleCookie
from typing import Any, ClassVar

import msgspec
import orjson
from django.conf import settings
from django.utils.translation import activate

from playground.classroom import board, messages, polls, questions, rooms
from playground.classroom.hub import Hub, hubs
from playground.common.addresses import client_name
from playground.models import Poll, Room, Student
from playground.presenters.look import Look
from playground.presenters.words import message
from playground.sessions.database.asking import in_thread
from playground.sessions.limits import SOCKETS, admit_socket, prove
from playground.sessions.protocol.errors import LimitReached, SessionError, SessionGone
from playground.sessions.web import consumers
from playground.sessions.web.client import SessionClient
from playground.sessions.web.messages import ENCODER, BadMessage, Error, Gone

log = logging.getLogger(__name__)

RATE, BURST = 10.0, 30.0  # messages a second of one page, and how many may come at once
REMOVED = '{"type":"gone","removed":true}'
FOLLOWS = ("at", "stage", "form", "about", "pod", "node", "plugin")  # what students see as their teacher does


class ClassroomConsumer(consumers.Socket):
    """The common part of both kinds of pages. A malformed message can harm at most its own connection."""

    teaches: ClassVar[bool]
    decoder: ClassVar[msgspec.json.Decoder[Any]]
    hub: Hub | None = None
    room: Room

    async def connect(self) -> None:
        """Find the room, join its hub, and send the board."""
        await self.accept()
        activate(consumers.language_of(self.scope))
        self.outbox = consumers.Outbox.of_running_loop()
        self.tokens, self.counted = BURST, time.monotonic()
        try:
            admit_socket(self, self.scope)
            await self.find()
            prove(self, self.scope, f"room {self.room.pk}")
            hub = await hubs().of(self.room.pk)
            if len(hub.sockets) >= 2 * settings.MAX_STUDENTS:
                raise LimitReached(message("This classroom is full."))
            await hub.come(self)
        except SessionGone:
            await self.send_text(ENCODER.encode(Gone()).decode())
            await self.close(consumers.CLOSE_GONE)
        except SessionError as error:
            await self.send_text(_refusal(error))
            await self.close(consumers.CLOSE_AGAIN if error.retry_after else consumers.CLOSE_LIMIT)
        else:
            self.hub = hub

    async def find(self) -> None:
        """Find the user of this page. Raise SessionGone."""
        raise NotImplementedError

    async def take(self, received: Any) -> None:
        """Carry out a message. Raise SessionError."""
        raise NotImplementedError

    def post(self, text: str) -> None:
        """Send, whenever it is this socket's turn."""
        self.outbox.put(self, text)

    def lower(self, hands: set[int]) -> None:
        """Tell the page that the teacher has lowered the hands of these students, if that concerns it."""

    def stay(self, students: set[int]) -> None:
        """These students are in the room: the page of another one ends."""

    async def deliver(self, text: str) -> None:
        """Send a posted message. A page that can't be reached connects again."""
        try:
            await self.send_text(text)
        except Exception:
            log.exception("a message could not be sent")
            await self.close(consumers.CLOSE_FAILED)

    async def send_text(self, text: str) -> None:
        """Send now, unless the socket is closed."""
        if not self.closing:
            await self.send(text_data=text)

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        """Take one message. Errors are answered, never raised."""
        if self.hub is None or self.closing:
            return
        try:
            now = time.monotonic()
            self.tokens, self.counted = min(self.tokens + (now - self.counted) * RATE, BURST), now
            if self.tokens < 1:
                raise LimitReached(message("Too many messages. The limit is %(rate)s a second.", rate=f"{RATE:g}"))
            self.tokens -= 1
            received = _read(text_data, self.decoder)
            if isinstance(received, messages.Ping):
                self.post('{"type":"pong"}')
            else:
                await self.take(received)
        except SessionError as error:
            self.post(_refusal(error))
        except Exception as error:
            log.exception("a classroom's message could not be taken")
            self.post(_refusal(error))

    async def disconnect(self, code: int) -> None:
        self.closing = True
        SOCKETS.remove(self)
        if self.hub is not None:
            self.hub.go(self)

    async def require_open(self) -> None:
        """Raise SessionError if the room has ended."""
        await in_thread(self.room.refresh_from_db, fields=["ended"])
        if rooms.is_over(self.room):
            raise SessionError(message("This classroom has ended."))


class StudentConsumer(ClassroomConsumer):
    """A student's page. The cookie from joining identifies the student."""

    teaches = False
    decoder = messages.STUDENTS
    student: Student
    leaving: asyncio.Task[None] | None = None

    async def find(self) -> None:
        self.room = await in_thread(rooms.of_code, self.scope["url_route"]["kwargs"]["code"])
        student = await in_thread(rooms.student_of, self.room, _cookie(self.scope, rooms.COOKIE + self.room.code))
        if student is None:
            raise SessionGone(message("Join the classroom first."))
        self.student = student
        await self._say_yours()

    def lower(self, hands: set[int]) -> None:
        """The own hand was seen."""
        if self.student.pk in hands:
            self.post('{"type":"hand","up":false}')

    def stay(self, students: set[int]) -> None:
        """Close the page if the teacher has removed this student."""
        if self.student.pk not in students and not self.leaving:
            self.leaving = asyncio.create_task(self._leave())

    async def _leave(self) -> None:
        await self.send_text(REMOVED)
        await self.close(consumers.CLOSE_GONE)

    async def _say_yours(self) -> None:
        self.post(orjson.dumps(await in_thread(board.yours, self.student)).decode())

    async def take(self, received: messages.FromStudent) -> None:
        assert self.hub is not None
        if isinstance(received, messages.Answer):  # the poll at hand says whether it takes any
            given = await self.hub.answer(self.student.pk, received.poll, received.given)
            self.post(orjson.dumps({"type": "kept", "poll": received.poll, "given": given}).decode())
            return
        await self.require_open()
        if isinstance(received, messages.Hand):
            await in_thread(self.student.refresh_from_db, fields=["hand"])
            await in_thread(rooms.raise_hand, self.student, received.up)
            self.post(orjson.dumps({"type": "hand", "up": received.up}).decode())
            self.hub.changed()
        elif isinstance(received, messages.Fork):
            await self._fork(received.at)

    async def _fork(self, at: int | None) -> None:
        """Return the student's fork, creating it the first time."""
        assert self.hub is not None
        fresh = await in_thread(rooms.student_of, self.room, self.student.key)
        if fresh is None:
            raise SessionGone(message("Join the classroom first."))
        self.student = fresh
        if fresh.fork is None or fresh.fork.deleted is not None:
            client = await SessionClient.open(self.room.session.view_key)
            name = f"{client.session.name[:70]}: {fresh.name or '#' + str(fresh.pk)}"
            address = client_name(str((self.scope.get("client") or [""])[0]))
            twin = await client.fork(at, name, address, False)
            await in_thread(rooms.keep_fork, fresh, twin.session)
            self.hub.changed()
        await self._say_yours()


# By message: what it does to the room, with the message's field.
_ACTS: dict[type, Callable[..., None]] = {
    messages.Close: polls.close,
    messages.Clear: polls.take_off,
    messages.Lower: rooms.lower,
    messages.Show: rooms.show,
    messages.Remove: rooms.remove,
    messages.Joining: rooms.admit,
    messages.End: rooms.end,
}


class TeacherConsumer(ClassroomConsumer):
    """The teacher's desk, opened by the room's key."""

    teaches = True
    decoder = messages.TEACHERS

    async def find(self) -> None:
        self.room = await in_thread(rooms.of_teacher, self.scope["url_route"]["kwargs"]["key"])

    async def take(self, received: messages.FromTeacher) -> None:
        assert self.hub is not None
        await self.require_open()
        if isinstance(received, messages.Stand):
            look = Look.from_query(received.look)
            seen = {name: value for name in FOLLOWS if (value := getattr(look, name)) not in (None, "")}
            await in_thread(rooms.stand, self.room.pk, seen)
        elif isinstance(received, messages.Ask):
            client = await SessionClient.open(self.room.session.view_key)
            await in_thread(polls.ask, self.room.pk, await questions.build_question(client, received))
        elif isinstance(received, messages.Reveal):
            await self._reveal()
        elif act := _ACTS.get(type(received)):
            await in_thread(act, self.room.pk, *msgspec.structs.astuple(received))
        self.hub.changed()

    async def _reveal(self) -> None:
        poll = await in_thread(polls.current, self.room.pk)
        if poll is not None and poll.state != Poll.State.REVEALED:
            client = await SessionClient.open(self.room.session.view_key)
            counts = await in_thread(polls.counts, poll)
            wrong = [given for given, _count, right in counts if right is False]
            await in_thread(polls.reveal, poll, await questions.reasons(client, poll, wrong))


def _refusal(error: Exception) -> str:
    return ENCODER.encode(Error.of(error)).decode()


def _read(text: str | None, decoder: msgspec.json.Decoder[Any]) -> Any:
    if text is None or len(text) > settings.WEBSOCKET_MAX_MESSAGE:
        raise BadMessage("A message is a text, and not so long.")
    try:
        return decoder.decode(text)
    except msgspec.MsgspecError as error:
        raise BadMessage(str(error)) from None


def _cookie(scope: dict[str, Any], name: str) -> str:
    cookies = SimpleCookie()
    for header, value in scope["headers"]:
        if header == b"cookie":
            try:
                cookies.load(value.decode("latin-1"))
            except CookieError:
                continue
    return cookies[name].value if name in cookies else ""
