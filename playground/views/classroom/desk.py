"""The teacher's desk and the students' entry: open, join, lead, end, and delete a room; results as CSV."""

import io
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import segno
from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.text import slugify
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods

from playground.classroom import rooms
from playground.classroom.hub import mark
from playground.common.catalogs import read_yaml
from playground.models import Answer, Room
from playground.presenters.charts import CONTENT_TYPE, csv_text
from playground.sessions.database import lessons
from playground.sessions.database.asking import in_thread
from playground.sessions.limits import vouch
from playground.sessions.protocol.errors import SessionError, SessionGone
from playground.sessions.web.client import SessionClient
from playground.views.access import creator, edits, opens_with, scope_of
from playground.views.classroom import assigning
from playground.views.responses import attach, problem

WORDS = Path(__file__).with_suffix(".yaml")


def words() -> dict[str, str]:
    """Return the texts by the names that the scripts use, in the reader's language."""
    return {name: _(text) for name, text in read_yaml(WORDS).items()}


async def _find_room(request: HttpRequest, key: str) -> Room:
    """Return the room of a teacher's key. Raise SessionGone."""
    room = await in_thread(rooms.of_teacher, key)
    vouch(scope_of(request), f"room {room.pk}")
    return room


of_room = partial(opens_with, _find_room)


@edits("POST")
async def open_room(request: HttpRequest, client: SessionClient) -> HttpResponse:
    """Open a classroom around this session, with a desk for the teacher."""
    room = await in_thread(rooms.open_room, client.session, creator(request))
    return HttpResponseRedirect(reverse("room", args=[room.key]))


@of_room("GET")
async def desk(request: HttpRequest, room: Room) -> HttpResponse:
    """Show the studio beside the room's students, questions, and answers."""
    if room.lessons:
        return await assigning.show_desk(request, room)
    context = {
        "room": room,
        "session": room.session,
        "link": request.build_absolute_uri(reverse("join-room", args=[room.code])),
        "over": rooms.is_over(room),
        "lesson": await in_thread(lessons.of_story, room.session.story) is not None,
        "hours": settings.ROOM_HOURS,
        "days": settings.ROOM_RETENTION_DAYS,
        "words": words(),
    }
    return render(request, "playground/classroom/desk.html", context)


@of_room("POST")
async def end(request: HttpRequest, room: Room) -> HttpResponse:
    """End the room: no more questions, answers, or joining."""
    await in_thread(rooms.end, room.pk)
    mark(room.pk)
    return HttpResponseRedirect(reverse("room", args=[room.key]))


@of_room("POST")
async def delete(request: HttpRequest, room: Room) -> HttpResponse:
    """Delete the room with all answers; the session stays."""
    number = room.pk
    await in_thread(rooms.delete, number)
    mark(number)
    return HttpResponseRedirect(reverse("studio", args=[room.session.edit_key]))


@of_room("POST")
async def change(request: HttpRequest, room: Room) -> HttpResponse:
    """Remove a student of an assignment, or open or close joining."""
    return await assigning.change(request, room)


@of_room("GET")
async def results(request: HttpRequest, room: Room) -> HttpResponse:
    """Return all answers as CSV. No program reads a cell as a formula; the leading BOM makes Excel read UTF-8."""
    if room.lessons:
        return await in_thread(assigning.make_csv, room)
    head = [_("question"), _("asked"), _("text"), _("right answer"), _("student"), _("answer"), _("right")]
    rows = await in_thread(lambda: list(_rows(room.pk, get_language() or "en")))
    name = f"{slugify(room.session.name) or 'classroom'}-{room.code}.csv"
    return attach(csv_text(head, rows).encode("utf-8-sig"), CONTENT_TYPE, name)


def _rows(room_id: int, language: str) -> Iterator[list[str]]:
    answers = Answer.objects.filter(poll__room_id=room_id).select_related("poll", "student")
    for answer in answers.order_by("poll__number", "student_id"):
        poll = answer.poll
        asked: dict[str, str] = poll.words.get(language) or next(iter(poll.words.values()), {})
        key = ", ".join(poll.key) if isinstance(poll.key, list) else poll.key or ""
        right = {True: _("yes"), False: _("no"), None: ""}[answer.right]
        name = answer.student.name or f"#{answer.student_id}"
        yield [
            str(poll.number),
            poll.created.isoformat(timespec="seconds"),
            asked.get("ask", "").replace("`", ""),
            key,
            name,
            answer.given,
            right,
        ]


CODE_LENGTH = 2000  # of the text shown again; long enough for a link


@require_GET
async def join(request: HttpRequest) -> HttpResponse:
    """Show the form for a join code; a valid code, or a link with one, redirects to the room."""
    text = request.GET.get("code", "")
    if code := rooms.plain(text):
        return HttpResponseRedirect(reverse("join-room", args=[code]))
    if text.strip():
        return _render_refusal(request, rooms.unknown(), text)
    return render(request, "playground/classroom/join.html", {"length": rooms.NAME_LENGTH})


def _render_refusal(request: HttpRequest, error: SessionGone, code: str) -> HttpResponse:
    """Show the form again with the reason."""
    context = {"refusal": error, "code": code[:CODE_LENGTH]}
    return render(request, "playground/classroom/join.html", context, status=error.status)


@require_http_methods(["GET", "POST"])
async def room(request: HttpRequest, code: str) -> HttpResponse:
    """Show the students' page of a room. New students are asked for a name first, which may be empty."""
    try:
        found = await in_thread(rooms.of_code, code)
    except SessionGone as error:
        return _render_refusal(request, error, code)
    try:
        vouch(scope_of(request), f"room {found.pk}")
        if me := request.GET.get("me", ""):
            if await in_thread(rooms.student_of, found, me) is None:
                raise rooms.unknown()
            return _open_page(found, me)
        student = await in_thread(rooms.student_of, found, request.COOKIES.get(_cookie(found), ""))
        if request.method == "POST" and student is not None and "lesson" in request.POST:
            return await assigning.play_lesson(request, found, student, request.POST["lesson"])
        if request.method == "POST":
            return await _join_room(request, found)
        if student is not None and found.lessons:
            return await assigning.show_assignment(request, found, student)
    except SessionError as error:
        return problem(request, error)
    context = {
        "room": found,
        "session": found.session,
        "student": student,
        "over": rooms.is_over(found),
        "length": rooms.NAME_LENGTH,
        "words": words(),
        "days": settings.ROOM_RETENTION_DAYS,
    }
    page = "join" if student is None else "student"
    return render(request, f"playground/classroom/{page}.html", context)


async def _join_room(request: HttpRequest, found: Room) -> HttpResponse:
    """Add a student. A cookie identifies the student later."""
    if await in_thread(rooms.student_of, found, request.COOKIES.get(_cookie(found), "")) is None:
        student = await in_thread(rooms.join, found, request.POST.get("name", ""), creator(request))
        return _open_page(found, student.key)
    return HttpResponseRedirect(reverse("join-room", args=[found.code]))


def _open_page(found: Room, key: str) -> HttpResponse:
    response = HttpResponseRedirect(reverse("join-room", args=[found.code]))
    response.set_cookie(
        _cookie(found),
        key,
        max_age=settings.ROOM_RETENTION_DAYS * 86400 if found.lessons else settings.ROOM_HOURS * 3600,
        httponly=True,
        samesite="Lax",
        secure=settings.SESSION_COOKIE_SECURE,
    )
    return response


def _cookie(found: Room) -> str:
    return rooms.COOKIE + found.code


@require_GET
async def qr(request: HttpRequest, code: str) -> HttpResponse:
    """Return the students' link as a QR code, black on white in every theme."""
    try:
        found = await in_thread(rooms.of_code, code)
    except SessionError as error:
        return problem(request, error)
    link = request.build_absolute_uri(reverse("join-room", args=[found.code]))
    picture = io.BytesIO()
    segno.make(link, error="m", micro=False).save(picture, kind="svg", scale=8, border=4, dark="#000", light="#fff")
    return HttpResponse(picture.getvalue(), content_type="image/svg+xml")
