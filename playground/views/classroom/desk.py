"""The teacher's desk: a room is opened around a session, led, ended and removed; its results as CSV."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterator
from functools import wraps
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.text import slugify
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from playground.classroom import rooms
from playground.classroom.hub import mark
from playground.models import Answer, Room
from playground.presenters.charts import CONTENT_TYPE, csv_text
from playground.sessions.database import lessons
from playground.sessions.database.asking import in_thread
from playground.sessions.limits import vouch
from playground.sessions.protocol.errors import SessionError
from playground.sessions.web.client import SessionClient
from playground.views.access import creator, edits, scope_of
from playground.views.classroom import assigning
from playground.views.classroom.words import words
from playground.views.responses import problem

View = Callable[..., Coroutine[Any, Any, HttpResponse]]


def of_room(view: View) -> View:
    """The view gets the room whose teacher's key it is asked with."""

    @wraps(view)
    async def inner(request: HttpRequest, key: str) -> HttpResponse:
        try:
            room = await in_thread(rooms.of_teacher, key)
            vouch(scope_of(request), f"room {room.pk}")
            return await view(request, room)
        except SessionError as error:
            return problem(request, error)

    return inner


@require_POST
@edits
async def open_room(request: HttpRequest, client: SessionClient) -> HttpResponse:
    """A classroom around this session; its desk is the teacher's from now on."""
    room = await in_thread(rooms.open_room, client.session, creator(request))
    return HttpResponseRedirect(reverse("room", args=[room.key]))


@require_GET
@of_room
async def desk(request: HttpRequest, room: Room) -> HttpResponse:
    """The studio, and beside it the room: who is there, what was asked, what was answered."""
    if room.lessons:
        return await assigning.show_desk(request, room)
    link = request.build_absolute_uri(reverse("join-room", args=[room.code]))
    context = {
        "room": room,
        "session": room.session,
        "link": link,
        "over": rooms.is_over(room),
        "lesson": await in_thread(lessons.of_story, room.session.story) is not None,
        "hours": settings.ROOM_HOURS,
        "days": settings.ROOM_RETENTION_DAYS,
        "words": words(),
    }
    return render(request, "playground/classroom/desk.html", context)


@require_POST
@of_room
async def end(request: HttpRequest, room: Room) -> HttpResponse:
    """Nobody asks, answers or joins from now on."""
    await in_thread(rooms.end, room.pk)
    mark(room.pk)
    return HttpResponseRedirect(reverse("room", args=[room.key]))


@require_POST
@of_room
async def delete(request: HttpRequest, room: Room) -> HttpResponse:
    """The room goes with all answers; the session stays."""
    number = room.pk
    await in_thread(rooms.delete, number)
    mark(number)
    return HttpResponseRedirect(reverse("studio", args=[room.session.edit_key]))


@require_POST
@of_room
async def change(request: HttpRequest, room: Room) -> HttpResponse:
    """Remove a student of an assignment, or let students join or not."""
    return await assigning.change(request, room)


@require_GET
@of_room
async def results(request: HttpRequest, room: Room) -> HttpResponse:
    """Every answer as a row; no program takes one for a formula, and Excel reads it as UTF-8 by the mark at its beginning."""
    if room.lessons:
        return await in_thread(assigning.make_csv, room)
    head = [_("question"), _("asked"), _("text"), _("right answer"), _("student"), _("answer"), _("right")]
    rows = await in_thread(lambda: list(_rows(room.pk, get_language() or "en")))
    response = HttpResponse(csv_text(head, rows).encode("utf-8-sig"), content_type=CONTENT_TYPE)
    name = f"{slugify(room.session.name) or 'classroom'}-{room.code}.csv"
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


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
