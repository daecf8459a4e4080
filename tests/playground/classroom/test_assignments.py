"""Assignments: lessons that students play alone, and what is kept of their first tries."""

from __future__ import annotations

from datetime import timedelta

import pytest
from asgiref.sync import sync_to_async
from django.test import AsyncClient
from django.utils import timezone

from playground.classroom import assignments, rooms
from playground.models import Room, Student, Work
from playground.sessions.web.client import SessionClient

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
async def room(transactional_db: None) -> Room:
    answer = await AsyncClient().post("/assign", {"title": "Week 1", "lesson": ["gate", "requests"]})
    assert answer.status_code == 302
    return await Room.objects.select_related("session").aget()


async def joined(room: Room, name: str = "Ada") -> AsyncClient:
    student = AsyncClient()
    await student.post(f"/join/{room.code}/", {"name": name})
    return student


async def play(student: AsyncClient, room: Room, slug: str) -> SessionClient:
    answer = await student.post(f"/join/{room.code}/", {"lesson": slug})
    client = await SessionClient.open(answer["Location"].split("/")[2])
    await client.walk(1)
    return client


async def test_the_first_try_counts_and_the_second_is_known(room: Room) -> None:
    student = await joined(room)
    client = await play(student, room, "gate")
    for given in ("job", "web"):
        await student.post(f"/s/{client.key}/lesson/1", {"answer": given})
    work = await Work.objects.aget()
    assert work.tries == {"1": ["job", False, True]}
    assert (await play(student, room, "gate")).key == client.key  # it goes on
    table = await sync_to_async(assignments.describe_room)(room)
    assert table["students"][0]["cells"][0] == {
        "begun": True, "done": False, "asked": 2, "answered": 1, "right": 0, "stuck": ""
    }  # fmt: skip
    assert [each["right"] for each in table["questions"]] == [0]


async def test_an_answer_that_was_shown_is_not_known(room: Room) -> None:
    student = await joined(room)
    client = await play(student, room, "gate")
    await student.post(f"/s/{client.key}/lesson/1", {"show": "1"})
    assert (await Work.objects.aget()).tries == {"1": ["", None, False]}
    text = (await student.get(f"/room/{room.key}/")).content.decode()
    assert "not solved yet: card 1" in text


async def test_a_lesson_is_finished_when_the_engine_agrees(room: Room) -> None:
    student = await joined(room)
    client = await play(student, room, "gate")
    assert (await student.post(f"/s/{client.key}/lesson/done")).status_code == 400  # the task is done in a fork
    await student.post(f"/s/{client.key}/lesson/task")
    work = await Work.objects.select_related("fork").aget()
    assert work.fork is not None
    assert (await student.post(f"/s/{work.fork.edit_key}/lesson/done")).status_code == 204
    await work.arefresh_from_db()
    assert work.done is None


async def test_sessions_and_view_links_of_others_count_for_nobody(room: Room) -> None:
    student = await joined(room)
    client = await play(student, room, "gate")
    await AsyncClient().post(f"/s/{client.view_key}/lesson/1", {"answer": "web"})
    assert (await Work.objects.aget()).tries == {}


async def test_who_is_removed_leaves_nothing_and_comes_back_by_joining(room: Room) -> None:
    ada = await joined(room)
    await play(ada, room, "gate")
    number = (await Student.objects.aget()).pk
    answer = await ada.post(f"/room/{room.key}/change", {"remove": str(number)})
    assert answer.status_code == 302 and not await Work.objects.aexists()
    assert "Your name" in (await ada.get(f"/join/{room.code}/")).content.decode()
    await ada.post(f"/room/{room.key}/change", {"join": "closed"})
    assert (await AsyncClient().post(f"/join/{room.code}/", {"name": "Grace"})).status_code >= 400


async def test_an_own_link_leads_back_on_another_machine(room: Room) -> None:
    await joined(room)
    key = (await Student.objects.aget()).key
    other = AsyncClient()
    assert (await other.get(f"/join/{room.code}/?me={key}")).status_code == 302
    assert "Ada" in (await other.get(f"/join/{room.code}/")).content.decode()
    assert (await AsyncClient().get(f"/join/{room.code}/?me=nobody")).status_code == 404


async def test_an_assignment_outlasts_a_lesson_hour_and_ends_on_request(room: Room) -> None:
    room.created = timezone.now() - timedelta(days=3)
    await room.asave(update_fields=["created"])
    assert not rooms.is_over(room)
    student = await joined(room)
    await student.post(f"/room/{room.key}/end")
    assert (await student.post(f"/join/{room.code}/", {"lesson": "gate"})).status_code == 400


@pytest.mark.parametrize(
    "sent", [{}, {"lesson": "nothing"}, {"lesson": "gate", "own": "https://example.com/lesson/none/"}]
)
async def test_what_is_no_lesson_is_refused(transactional_db: None, sent: dict[str, str]) -> None:
    answer = await AsyncClient().post("/assign", sent)
    assert answer.status_code in (400, 404)
    assert not await Room.objects.aexists()


async def test_variants_differ_by_student(transactional_db: None) -> None:
    await AsyncClient().post("/assign", {"lesson": "bin-packing", "varied": "1"})
    room = await Room.objects.select_related("session").aget()
    client = await play(await joined(room), room, "bin-packing")
    assert client.session.story != "bin-packing"
