"""A classroom: rooms, students and answers, and the sockets of its pages."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import timedelta
from typing import Any
from urllib.parse import quote

import orjson
import pytest
from asgiref.sync import sync_to_async
from channels.testing import WebsocketCommunicator
from django.core.management import call_command
from django.test import AsyncClient
from django.utils import timezone

from playground.asgi import application
from playground.classroom import rooms
from playground.models import Answer, Poll, Room, Session, Student
from playground.sessions.protocol.errors import LimitReached, SessionGone, TooOften
from playground.sessions.web.client import SessionClient, create_session
from scheduler_core.formats.export import harmless
from tests.playground.sessions.conftest import ORIGIN
from tests.playground.sessions.worlds import applying, node, pod

pytestmark = pytest.mark.django_db(transaction=True)


class Seat:
    """A page of the room: the desk, or a student's."""

    def __init__(self, path: str, cookie: str = "") -> None:
        headers = [*ORIGIN, (b"cookie", cookie.encode())]
        self.socket = WebsocketCommunicator(application, path, headers=headers)

    async def next(self) -> dict[str, Any]:
        message: dict[str, Any] = orjson.loads(await self.socket.receive_from(10))
        return message

    async def until(self, wanted: Callable[[dict[str, Any]], Any]) -> dict[str, Any]:
        while not wanted(message := await self.next()):
            pass
        return message

    async def say(self, **message: Any) -> None:
        await self.socket.send_to(text_data=orjson.dumps(message).decode())


Seats = Callable[..., Awaitable[Seat]]


@pytest.fixture
async def session(transactional_db: None) -> Session:
    """A small node that refuses the pod, and two that take it, of which the larger one has more points."""
    objects = [node("small", cpu="1"), node("medium", cpu="4"), node("large", cpu="32"), pod("web", cpu="2")]
    return await create_session("Test", commands=[applying(*objects)])


@pytest.fixture
async def room(session: Session) -> Room:
    return await sync_to_async(rooms.open_room)(session, "1.2.3.4")


@pytest.fixture
async def seats() -> AsyncIterator[Seats]:
    open_seats: list[Seat] = []

    async def take(path: str, cookie: str = "") -> Seat:
        seat = Seat(path, cookie)
        connected, _ = await seat.socket.connect(timeout=10)
        assert connected
        open_seats.append(seat)
        return seat

    yield take
    for seat in open_seats:
        await seat.socket.disconnect()


@pytest.fixture
async def desk(room: Room, seats: Seats) -> Seat:
    return await seats(f"/ws/room/{room.key}/")


@pytest.fixture
async def student(room: Room, seats: Seats) -> Seat:
    return await seated(room, seats, "Ada")


async def seated(room: Room, seats: Seats, name: str) -> Seat:
    joined = await sync_to_async(rooms.join)(room, name)
    return await seats(f"/ws/join/{room.code}/", f"student-{room.code}={joined.key}")


def polled(message: dict[str, Any]) -> bool:
    return bool(message.get("poll")) and message["type"] in ("room", "board")


async def test_students_see_what_the_teacher_looks_at(desk: Seat, student: Seat) -> None:
    await desk.say(type="stand", look={"at": 1, "pod": "default/web", "page": 7})
    board = await student.until(lambda told: told["type"] == "room" and told["standing"])
    assert (board["standing"]["at"], board["standing"]["pod"]) == (1, "default/web")
    assert "page" not in board["standing"]


async def test_a_question_has_the_engines_key_and_wrong_answers_have_reasons(
    desk: Seat, student: Seat, room: Room, seats: Seats
) -> None:
    others = [await seated(room, seats, name) for name in ("Grace", "Edsger")]
    await desk.say(type="ask", kind="node", pod="default/web")
    for seat, answer in zip((student, *others), ("large", "small", "medium"), strict=True):
        asked = (await seat.until(polled))["poll"]
        assert sorted(asked["options"]) == ["large", "medium", "small"]
        assert "key" not in asked and "counts" not in asked
        await seat.say(type="answer", poll=asked["number"], given=[answer])
        await seat.until(lambda told: told["type"] == "kept")
    counted = await desk.until(lambda told: polled(told) and told["poll"]["answered"] == 3)
    assert sorted(counted["poll"]["counts"]) == [["large", 1, True], ["medium", 1, False], ["small", 1, False]]
    await desk.say(type="reveal")
    seen = await student.until(lambda told: polled(told) and told["poll"]["state"] == "revealed")
    groups = {group["why"]: group for group in seen["poll"]["groups"]}
    assert seen["poll"]["key"] == "large"
    assert groups["refused"]["text"] == "NodeResourcesFit: Insufficient cpu"
    assert groups["refused"]["given"] == ["small"] and groups["lower"]["given"] == ["medium"]
    assert [(each["answered"], each["right"], each["asked"]) for each in counted["students"]] == [(True, 0, 0)] * 3
    revealed = await desk.until(lambda told: polled(told) and told["poll"]["state"] == "revealed")
    told = {each["name"]: each for each in revealed["students"]}
    assert told["Grace"]["answered"] and (told["Grace"]["right"], told["Grace"]["asked"]) == (0, 1)
    assert [each["right"] for each in revealed["students"]] == [1, 0, 0]


@pytest.mark.parametrize(("kind", "key"), [("scheduled", "yes"), ("feasible", "2"), ("next", "web"), ("node", "large")])
async def test_the_engine_foresees(desk: Seat, kind: str, key: str, session: Session) -> None:
    await desk.say(type="ask", kind=kind)
    told = await desk.until(polled)
    assert told["poll"]["key"] == key
    assert await (await SessionClient.open(session.view_key)).head() == 1


async def test_what_never_comes_is_no_question(desk: Seat) -> None:
    await desk.say(type="ask", kind="node", pod="default/nobody")
    assert "no answer" in (await desk.until(lambda told: told["type"] == "error"))["message"]


async def test_the_last_answer_counts_and_none_after_the_end(desk: Seat, student: Seat) -> None:
    await desk.say(type="ask", kind="free", ask="Tea?", options=["yes", "no"], right="")
    number = (await student.until(polled))["poll"]["number"]
    for answer in ("yes", "no"):
        await student.say(type="answer", poll=number, given=[answer])
        await student.until(lambda told: told["type"] == "kept")
    assert [each async for each in Answer.objects.values_list("given", "right")] == [("no", None)]
    await desk.say(type="close")
    await student.until(lambda told: polled(told) and told["poll"]["state"] == "closed")
    await student.say(type="answer", poll=number, given=["yes"])
    assert (await student.next())["message"] == "This question is closed."


@pytest.mark.parametrize("given", [["perhaps"], [], ["yes", "no"], ["=cmd"]], ids=["unknown", "none", "two", "formula"])
async def test_an_answer_is_one_of_those_to_choose_from(desk: Seat, student: Seat, given: list[str]) -> None:
    await desk.say(type="ask", kind="free", ask="Tea?", options=["yes", "no"])
    number = (await student.until(polled))["poll"]["number"]
    await student.say(type="answer", poll=number, given=given)
    assert (await student.next())["type"] == "error"
    assert not await Answer.objects.aexists()


@pytest.mark.parametrize(
    "message",
    [
        {"type": "reveal"},
        {"type": "ask", "kind": "node"},
        {"type": "show", "student": 1},
        {"type": "end"},
        {"type": "answer", "poll": 1, "given": ["x" * 1000]},
        {"type": "answer", "poll": "1", "given": "x"},
        {"type": ["end"]},
        {},
        [],
    ],
)
async def test_a_student_says_nothing_that_a_teacher_says(student: Seat, room: Room, message: Any) -> None:
    await student.until(lambda told: told["type"] == "room")
    await student.socket.send_to(text_data=orjson.dumps(message).decode())
    assert (await student.next())["kind"] == "bad-message"
    await room.arefresh_from_db()
    assert room.ended is None


async def test_who_floods_is_refused(student: Seat) -> None:
    await student.until(lambda told: told["type"] == "room")
    for _ in range(60):
        await student.say(type="ping")
    assert (await student.until(lambda told: told["type"] == "error"))["kind"] == "limit"


async def test_hands_stand_in_a_row_until_they_are_lowered(desk: Seat, student: Seat, room: Room, seats: Seats) -> None:
    other = await seated(room, seats, "Grace")
    await other.say(type="hand", up=True)
    await other.until(lambda told: told["type"] == "hand")
    await student.say(type="hand", up=True)
    board = await desk.until(lambda told: len(told.get("hands", ())) == 2)
    assert [each["name"] for each in board["hands"]] == ["Grace", "Ada"]
    await desk.say(type="lower", student=board["hands"][0]["id"])
    assert [each["name"] for each in (await desk.until(lambda told: len(told.get("hands", ())) == 1))["hands"]] == [
        "Ada"
    ]


async def test_a_students_fork_comes_on_every_screen(desk: Seat, student: Seat, session: Session) -> None:
    await student.say(type="fork", at=None)
    fork = (await student.until(lambda told: told["type"] == "you" and told["fork"]))["fork"]
    twin = await Session.objects.aget(edit_key=fork)
    assert twin.origin_id == session.pk
    board = await desk.until(lambda told: told.get("forks"))
    await desk.say(type="show", student=board["forks"][0]["id"])
    shown = (await student.until(lambda told: told["type"] == "room" and told["shown"]))["shown"]
    assert shown["key"] == twin.view_key
    await desk.say(type="show", student=None)
    await student.until(lambda told: told["type"] == "room" and not told["shown"])
    await student.say(type="fork", at=0)
    assert (await student.until(lambda told: told["type"] == "you"))["fork"] == fork


async def test_who_comes_back_finds_everything_as_it_was(desk: Seat, room: Room, seats: Seats) -> None:
    seat = await seated(room, seats, "Ada")
    await desk.say(type="ask", kind="free", ask="Tea?", options=["yes", "no"])
    number = (await seat.until(polled))["poll"]["number"]
    await seat.say(type="answer", poll=number, given=["yes"])
    await seat.until(lambda told: told["type"] == "kept")
    await seat.say(type="hand", up=True)
    await seat.until(lambda told: told["type"] == "hand")
    key = (await Student.objects.aget()).key
    again = await seats(f"/ws/join/{room.code}/", f"student-{room.code}={key}")
    yours = await again.until(lambda told: told["type"] == "you")
    assert (yours["name"], yours["hand"], yours["answers"]) == ("Ada", True, {str(number): "yes"})
    assert (await again.until(polled))["poll"]["number"] == number


@pytest.mark.parametrize("path", ["/ws/room/{code}/", "/ws/join/{key}/", "/ws/join/{code}/"])
async def test_without_its_key_nobody_gets_in(room: Room, seats: Seats, path: str) -> None:
    seat = await seats(path.format(code=room.code, key=room.key))
    assert (await seat.next())["type"] == "gone"


async def test_rooms_and_students_are_limited(session: Session, room: Room, settings: Any) -> None:
    settings.MAX_STUDENTS, settings.MAX_ROOMS_PER_CLIENT = 1, 1
    await sync_to_async(rooms.join)(room, "x" * 500)
    assert len((await Student.objects.aget()).name) == rooms.NAME_LENGTH
    with pytest.raises(LimitReached):
        await sync_to_async(rooms.join)(room, "")
    with pytest.raises(LimitReached):
        await sync_to_async(rooms.open_room)(session, "1.2.3.4")
    await sync_to_async(rooms.end)(room.pk)
    await sync_to_async(rooms.open_room)(session, "1.2.3.4")


async def test_one_address_joins_so_often_in_a_minute(room: Room, settings: Any) -> None:
    settings.MAX_JOINS_PER_MINUTE = 2
    for name in ("Ada", "Grace"):
        joined = await sync_to_async(rooms.join)(room, name, "192.0.2.1")
        await sync_to_async(rooms.remove)(room.pk, joined.pk)
    with pytest.raises(TooOften):
        await sync_to_async(rooms.join)(room, "Edsger", "192.0.2.1")
    await sync_to_async(rooms.join)(room, "Barbara", "192.0.2.2")
    await Student.objects.aupdate(joined=timezone.now() - timedelta(seconds=61))
    await sync_to_async(rooms.join)(room, "Edsger", "192.0.2.1")


async def test_a_removed_student_is_told_so_and_gone_with_all_answers(
    desk: Seat, student: Seat, room: Room, seats: Seats
) -> None:
    other = await seated(room, seats, "Grace")
    await desk.say(type="ask", kind="free", ask="Tea?", options=["yes", "no"])
    for seat in (student, other):
        number = (await seat.until(polled))["poll"]["number"]
        await seat.say(type="answer", poll=number, given=["yes"])
        await seat.until(lambda told: told["type"] == "kept")
    board = await desk.until(lambda told: polled(told) and told["poll"]["answered"] == 2)
    ada, grace = board["students"]
    assert (ada["name"], grace["name"]) == ("Ada", "Grace")
    await desk.say(type="remove", student=ada["id"])
    gone = await student.until(lambda told: told["type"] == "gone")
    assert gone["removed"] is True
    assert (await student.socket.receive_output(10))["code"] == 4404
    board = await desk.until(lambda told: told["type"] == "board" and told["joined"] == 1)
    assert board["students"] == [grace] and board["poll"]["answered"] == 1
    key = (await Student.objects.aget(pk=ada["id"])).key
    again = await seats(f"/ws/join/{room.code}/", f"student-{room.code}={key}")
    assert (await again.next())["type"] == "gone"
    await desk.say(type="remove", student=None)
    await other.until(lambda told: told["type"] == "gone")


async def test_nobody_joins_where_the_teacher_has_closed_joining(
    desk: Seat, room: Room, async_client: AsyncClient
) -> None:
    await desk.say(type="joining", open=False)
    await desk.until(lambda told: told["type"] == "board" and not told["joining"])
    page = await async_client.get(f"/join/{room.code}/")
    assert "The teacher has closed this classroom" in page.content.decode() and b'name="name"' not in page.content
    refused = await async_client.post(f"/join/{room.code}/", {"name": "Ada"})
    assert refused.status_code == 422 and not await Student.objects.aexists()
    await desk.say(type="joining", open=True)
    await desk.until(lambda told: told["type"] == "board" and told["joining"])
    assert (await async_client.post(f"/join/{room.code}/", {"name": "Ada"})).status_code == 302


async def test_a_student_removes_nobody_and_closes_nothing(student: Seat, room: Room) -> None:
    for asked in ({"type": "remove", "student": None}, {"type": "joining", "open": False}):
        await student.say(**asked)
        await student.until(lambda told: told["type"] == "error")
    await room.arefresh_from_db()
    assert not room.locked and await Student.objects.filter(removed=None).aexists()


async def test_a_room_ends_by_itself_and_is_removed_with_its_answers(desk: Seat, room: Room, settings: Any) -> None:
    assert not await sync_to_async(rooms.is_over)(room)
    await Room.objects.aupdate(created=timezone.now() - timedelta(hours=settings.ROOM_HOURS))
    found = await sync_to_async(rooms.of_code)(room.code)
    assert await sync_to_async(rooms.is_over)(found)
    await sync_to_async(call_command)("cleanup_sessions")
    assert await Room.objects.aexists()
    await Room.objects.aupdate(created=timezone.now() - timedelta(days=settings.ROOM_RETENTION_DAYS + 1))
    await sync_to_async(call_command)("cleanup_sessions")
    assert not await Room.objects.aexists() and await Session.objects.aexists()
    with pytest.raises(SessionGone):
        await sync_to_async(rooms.of_code)(room.code)


async def test_pages_from_share_to_results(session: Session, async_client: AsyncClient) -> None:
    assert (await async_client.post(f"/s/{session.view_key}/room")).status_code == 403
    opened = await async_client.post(f"/s/{session.edit_key}/room")
    room = await Room.objects.aget()
    assert opened["Location"] == f"/room/{room.key}/"
    desk = (await async_client.get(opened["Location"])).content.decode()
    assert room.code in desk
    assert (await async_client.get(f"/join/?code={room.code[:4].lower()}-{room.code[4:]}"))[
        "Location"
    ] == f"/join/{room.code}/"
    assert b"<svg" in (await async_client.get(f"/join/{room.code}/qr.svg")).content
    joined = await async_client.post(f"/join/{room.code}/", {"name": "<b>=1+1"})
    assert joined.cookies[f"student-{room.code}"]["httponly"]
    page = (await async_client.get(f"/join/{room.code}/")).content.decode()
    assert room.key not in page and session.edit_key not in page
    student = await Student.objects.aget()
    poll = await Poll.objects.acreate(room=room, number=1, kind="choice", words={"en": {"ask": "=cmd()"}}, key="a")
    await Answer.objects.acreate(poll=poll, student=student, given="a", right=True, changed=timezone.now())
    rows = (await async_client.get(f"/room/{room.key}/results.csv")).content.decode().splitlines()
    assert len(rows) == 2 and "'=cmd()" in rows[1] and rows[1].endswith("a,<b>=1+1,a,yes")
    assert rows[0].startswith("\ufeffquestion,")
    async_client.cookies["language"] = "zh-hans"
    chinese = (await async_client.get(f"/room/{room.key}/results.csv")).content.decode("utf-8-sig")
    assert chinese.startswith("问题,") and chinese.rstrip().endswith(",是")
    await async_client.post(f"/room/{room.key}/delete")
    assert not await Answer.objects.aexists() and not await Student.objects.aexists()


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "＝1+1", "＠SUM(A1)"])
def test_no_cell_is_a_formula(text: str) -> None:
    assert harmless(text) == f"'{text}"


async def test_many_answers_come_in_few_boards(desk: Seat, room: Room, seats: Seats) -> None:
    crowd = [await seated(room, seats, str(number)) for number in range(20)]
    await desk.say(type="ask", kind="free", ask="Tea?", options=["yes", "no"])
    number = (await desk.until(polled))["poll"]["number"]
    await asyncio.gather(*(seat.until(polled) for seat in crowd))
    await asyncio.gather(*(seat.say(type="answer", poll=number, given=["yes"]) for seat in crowd))
    boards = 1
    while (await desk.until(polled))["poll"]["answered"] < len(crowd):
        boards += 1
    assert boards < len(crowd) / 2


PASTED = (
    "{code}",
    " {lower} ",
    "http://localhost/join/{code}/",
    "https://play.example/join/{lower}",
    "localhost:8000/JOIN/{code}/qr.svg?x=1#y",
    "Come in: http://localhost/join/{code}/ (until noon)",
    "\u200b{code}\u200b",
    "{wide}",
)


@pytest.mark.parametrize("text", PASTED)
async def test_the_code_is_taken_out_of_whatever_was_pasted(async_client: AsyncClient, room: Room, text: str) -> None:
    wide = "".join(chr(ord(sign) + 0xFEE0) for sign in room.code)
    pasted = text.format(code=room.code, lower=room.code.lower(), wide=wide)
    answer = await async_client.get("/join/", {"code": pasted})
    assert answer["Location"] == f"/join/{room.code}/"


@pytest.mark.parametrize(
    "text", ["/", "///", "http://localhost/join//", "../..", "é", "%2F", "\0", "\ud83d", "x" * 5000]
)
async def test_a_text_without_the_code_of_a_room_is_refused_in_words(
    async_client: AsyncClient, room: Room, text: str
) -> None:
    answer = await async_client.get(f"/join/?code={quote(text, errors='surrogatepass')}", follow=True)
    assert answer.status_code == 404
    assert "No classroom has this link or code." in answer.content.decode()
