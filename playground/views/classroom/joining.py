"""The students' side: by link or code into the room, with a name or without one; the QR code of the link."""

from __future__ import annotations

import io

import segno
from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods

from playground.classroom import rooms
from playground.models import Room
from playground.sessions.database.asking import in_thread
from playground.sessions.limits import vouch
from playground.sessions.protocol.errors import SessionError, SessionGone
from playground.views.access import creator, scope_of
from playground.views.classroom import assigning
from playground.views.classroom.words import words
from playground.views.responses import problem

CODE_LENGTH = 2000  # of what is given back; a whole link fits


@require_GET
async def join(request: HttpRequest) -> HttpResponse:
    """The way in for a code, or for the link that it stands in: it leads to the room."""
    text = request.GET.get("code", "")
    if code := rooms.plain(text):
        return HttpResponseRedirect(reverse("join-room", args=[code]))
    if text.strip():
        return _render_refusal(request, rooms.unknown(), text)
    return render(request, "playground/classroom/join.html", {"length": rooms.NAME_LENGTH})


def _render_refusal(request: HttpRequest, error: SessionGone, code: str) -> HttpResponse:
    """The form again, with why."""
    context = {"refusal": error, "code": code[:CODE_LENGTH]}
    return render(request, "playground/classroom/join.html", context, status=error.status)


@require_http_methods(["GET", "POST"])
async def room(request: HttpRequest, code: str) -> HttpResponse:
    """The room as its students see it; who is new is asked for a name first, which may stay empty."""
    try:
        found = await in_thread(rooms.of_code, code)
    except SessionGone as error:
        return _render_refusal(request, error, code)
    try:
        vouch(scope_of(request), f"room {found.pk}")
        if me := request.GET.get("me", ""):
            return await _come_back(found, me)
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
    """The browser keeps a cookie, by which the student is known when they come back."""
    if await in_thread(rooms.student_of, found, request.COOKIES.get(_cookie(found), "")) is None:
        student = await in_thread(rooms.join, found, request.POST.get("name", ""), creator(request))
        return _open_page(found, student.key)
    return HttpResponseRedirect(reverse("join-room", args=[found.code]))


async def _come_back(found: Room, key: str) -> HttpResponse:
    """Know a student of an assignment by their own link, on another machine, too."""
    if await in_thread(rooms.student_of, found, key) is None:
        raise rooms.unknown()
    return _open_page(found, key)


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
    """The students' link as a QR code, black on white, whatever the page's theme."""
    try:
        found = await in_thread(rooms.of_code, code)
    except SessionError as error:
        return problem(request, error)
    link = request.build_absolute_uri(reverse("join-room", args=[found.code]))
    picture = io.BytesIO()
    segno.make(link, error="m", micro=False).save(picture, kind="svg", scale=8, border=4, dark="#000", light="#fff")
    return HttpResponse(picture.getvalue(), content_type="image/svg+xml")
