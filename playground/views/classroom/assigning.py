"""Pages of an assignment: the choice of lessons, the students' lessons, and the teacher's table of progress."""

from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.text import slugify
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from playground.classroom import assignments, rooms
from playground.lessons import Lesson
from playground.models import Room, Session, Student
from playground.presenters.charts import CONTENT_TYPE, csv_text
from playground.sessions.database import lessons
from playground.sessions.database.asking import in_thread
from playground.sessions.protocol.errors import SessionError
from playground.sessions.protocol.looking import LessonHolds
from playground.sessions.recent import remember
from playground.sessions.web.client import SessionClient
from playground.views.access import creator, opens
from playground.views.home import tracks
from playground.views.lessons.course import MOST_VARIANTS, create_lesson, create_variant
from playground.views.responses import attach, problem


@require_http_methods(["GET", "POST"])
async def assign(request: HttpRequest) -> HttpResponse:
    """Show the choice of lessons of an assignment; POST opens the assignment."""
    if request.method == "GET":
        context = {"tracks": tracks(), "chosen": request.GET.getlist("lesson"), "days": settings.ROOM_RETENTION_DAYS}
        return render(request, "playground/classroom/assign.html", context)
    try:
        slugs = list(dict.fromkeys(request.POST.getlist("lesson")))
        slugs += [await in_thread(_read_own, line) for line in request.POST.get("own", "").split()]
        if unknown := [slug for slug in slugs if not await in_thread(lessons.is_here, slug)]:
            raise SessionError(_("There is no lesson “%(lesson)s”.") % {"lesson": unknown[0][:80]})
        if not 1 <= len(slugs) <= assignments.MOST_LESSONS:
            shown = {"most": assignments.MOST_LESSONS, "chosen": len(slugs)}
            raise SessionError(_("An assignment has 1 to %(most)d lessons. You chose %(chosen)d.") % shown)
        title = " ".join(request.POST.get("title", "").replace("\0", " ").split())[:120] or _("Assignment")
        first = await in_thread(lessons.of_story, slugs[0])
        assert first is not None
        session = await create_lesson(request, first, title)
        room = await in_thread(rooms.open_room, session, creator(request), slugs, bool(request.POST.get("varied")))
    except SessionError as error:
        return problem(request, error)
    return HttpResponseRedirect(reverse("room", args=[room.key]))


def _read_own(link: str) -> str:
    """Return the document that learners play for the link of a user's own lesson. Raise SessionError."""
    lesson = lessons.find(link.rstrip("/").rsplit("/", 1)[-1].replace("\0", " "))
    if not lesson.document:
        raise SessionError(_("This lesson is not ready yet: its author has problems to fix first."))
    lessons.was_used(lesson.pk)
    return lesson.document


async def show_desk(request: HttpRequest, room: Room) -> HttpResponse:
    """Show the teacher's page of an assignment."""
    table = await in_thread(assignments.describe_room, room)
    context = {
        "room": room,
        "link": request.build_absolute_uri(reverse("join-room", args=[room.code])),
        "over": rooms.is_over(room),
        "days": settings.ROOM_RETENTION_DAYS,
        **table,
    }
    return render(request, "playground/classroom/assignment_desk.html", context)


def make_csv(room: Room) -> HttpResponse:
    """Build a CSV with a row for each question of each student, with the first try."""
    head = [_("lesson"), _("card"), _("question"), _("student"), _("first answer"), _("right on the first try")]
    head += [_("right in the end"), _("lesson begun"), _("lesson finished")]
    yes_no = {True: _("yes"), False: _("no"), None: _("shown")}
    rows = []
    for title, card, ask, student, tried, work in assignments.list_rows(room, get_language() or "en"):
        first, right, known = (tried[0], yes_no[tried[1]], yes_no[tried[2]]) if tried else ("", "", "")
        times = [_write_time(work and work.begun), _write_time(work and work.done)]
        rows.append([title, str(card), ask, student.name or f"#{student.pk}", first, right, known, *times])
    name = f"{slugify(room.session.name) or 'assignment'}-{room.code}.csv"
    return attach(csv_text(head, rows).encode("utf-8-sig"), CONTENT_TYPE, name)


def _write_time(time: Any) -> str:
    return time.isoformat(timespec="seconds") if time else ""


async def show_assignment(request: HttpRequest, room: Room, student: Student) -> HttpResponse:
    """Show a student's page of an assignment: the lessons and their progress."""
    found = await in_thread(assignments.list_lessons, room)
    works = await in_thread(assignments.works_of, student)
    rows = [{"lesson": lesson, **assignments.describe_work(lesson, works.get(lesson.slug))} for lesson in found]
    context = {
        "room": room,
        "student": student,
        "over": rooms.is_over(room),
        "lessons": rows,
        "finished": sum(each["done"] for each in rows),
        "back": request.build_absolute_uri(reverse("join-room", args=[room.code])) + f"?me={student.key}",
    }
    return render(request, "playground/classroom/assignment.html", context)


async def play_lesson(request: HttpRequest, room: Room, student: Student, slug: str) -> HttpResponse:
    """Start or resume a lesson of the assignment in the student's own session."""
    lesson = await in_thread(lessons.of_story, slug) if slug in room.lessons else None
    if lesson is None:
        raise SessionError(_("This lesson is not part of the assignment."))
    session = await in_thread(assignments.session_of, student, slug)
    if session is None:
        if rooms.is_over(room):
            raise SessionError(_("This assignment has ended."))
        session = await _start_lesson(request, room, student, lesson)
        await remember(request, session.edit_key)
        await in_thread(assignments.begin_work, student, slug, session)
    return HttpResponseRedirect(reverse("studio", args=[session.edit_key]))


async def _start_lesson(request: HttpRequest, room: Room, student: Student, lesson: Lesson) -> Session:
    if room.varied and lesson.pattern is not None:
        try:
            return (await create_variant(request, lesson, lesson.slug, str(1 + student.pk % MOST_VARIANTS)))[0]
        except SessionError:  # the variant has no unique answer: play the lesson itself
            pass
    return await create_lesson(request, lesson)


@opens("POST")
async def finish(request: HttpRequest, client: SessionClient) -> HttpResponse:
    """Mark a lesson of an assignment as finished if the engine confirms it: its task is done, or its last card is reached."""
    work = await in_thread(assignments.find_work, client.session)
    lesson = await in_thread(lessons.of_story, client.session.story)
    if work is None or lesson is None or not client.may_edit or rooms.is_over(work.student.room):
        raise SessionError(_("This session is not part of an open assignment."))
    when = lesson.plan.cards[-1].when if lesson.plan.task is None else lesson.plan.task.check
    if (lesson.plan.task is None) == (work.fork_id == client.session.pk):
        raise SessionError(_("Do the lesson's task in the fork of the lesson."))
    if await client.ask(LessonHolds(when=dict(when), alone=True)):
        await in_thread(assignments.finish_work, work)
    return HttpResponse(status=204)


async def change(request: HttpRequest, room: Room) -> HttpResponse:
    """Remove a student of an assignment, or open or close joining."""
    student = request.POST.get("remove", "")
    if student.isascii() and student.isdecimal() and len(student) < 16:
        await in_thread(rooms.remove, room.pk, int(student))
    elif request.POST.get("join") in ("open", "closed"):
        await in_thread(rooms.admit, room.pk, request.POST["join"] == "open")
    else:
        raise SessionError(_("Choose a student to remove, or whether students can join."))
    return HttpResponseRedirect(reverse("room", args=[room.key]))
