"""A lesson in the studio: what its cards offer, answers to its questions, and its task on a fork."""

from collections.abc import Mapping
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from playground.classroom import assignments
from playground.lessons import Lesson, command_of
from playground.presenters.look import Look
from playground.sessions.database import lessons, listing
from playground.sessions.database.asking import in_thread
from playground.sessions.protocol.errors import SessionError
from playground.sessions.protocol.lessons import JudgeAnswer
from playground.sessions.protocol.looking import LessonHolds
from playground.sessions.recent import remember
from playground.sessions.web.client import SessionClient
from playground.views.access import creator, edits, opens
from playground.views.responses import by_htmx, go, position

SOURCE = "story"
MOST_ANSWERS = 100
STRIDE, MOST_STRIDES = 10, 200  # transitions of a task's world between two looks at it; looks


@require_POST
@edits
async def story_act(request: HttpRequest, client: SessionClient, chapter: int) -> HttpResponse:
    """Apply what a card (from 1) of the session's lesson offers."""
    lesson = await in_thread(lessons.of_story, client.session.story)
    cards = lesson.plan.cards if lesson else ()
    act = cards[chapter - 1].do if 1 <= chapter <= len(cards) else None
    if act is None:
        raise SessionError(_("This card of the lesson has no action."))
    command, at = command_of(act), position(request)
    await client.refresh()
    head = await client.head()
    if at in (None, head) and await in_thread(listing.last, client.session.pk, head) == (SOURCE, command):
        raise SessionError(_("This is already done. Step on to see the result."))
    await client.apply(command, at=at, source=SOURCE)
    if by_htmx(request):
        return HttpResponse(status=204)
    return HttpResponseRedirect(reverse("studio", args=[client.key]))


@require_POST
@opens
async def lesson_answer(request: HttpRequest, client: SessionClient, chapter: int) -> HttpResponse:
    """Show the verdict on an answer to the question of a card (from 1) that the world has come to."""
    look = Look.from_query(request.POST.dict())
    given = None if "show" in request.POST else request.POST.getlist("answer")[:MOST_ANSWERS]
    judged = await client.ask(JudgeAnswer(at=look.at, card=chapter, given=given, again="tried" not in request.POST))
    if client.may_edit:
        await in_thread(assignments.record_answer, client.session, chapter, given, judged.right)
    context = {"judged": judged, "look": look, "studio": reverse("studio", args=[client.key])}
    template = "playground/partials/lesson_answer.html" if by_htmx(request) else "playground/lesson_answer.html"
    return render(request, template, context)


async def _go_on(twin: SessionClient, until: Mapping[str, Any]) -> None:
    """Let the fork's world go on until the condition holds, or its end; not for ever."""
    for _stride in range(MOST_STRIDES):
        if await twin.ask(LessonHolds(when=dict(until))):
            return
        await twin.walk(STRIDE)


async def begin_task(client: SessionClient, lesson: Lesson, at: int | None, creator: str) -> SessionClient:
    """A fork with the situation of the lesson's task."""
    if lesson.plan.task is None:
        raise SessionError(_("This lesson has no task."))
    name = _("Task: %(session)s") % {"session": client.session.name[:100]}
    twin = await client.fork(at, name, creator, True)
    for act in lesson.plan.task.start:
        await twin.apply(command_of(act), source=SOURCE)
        if act.until is not None:
            await _go_on(twin, act.until)
    return twin


@require_POST
@opens
async def lesson_task(request: HttpRequest, client: SessionClient) -> HttpResponse:
    """A fork of the viewer's own with the situation of the lesson's task."""
    lesson = await in_thread(lessons.of_story, client.session.story)
    if lesson is None:
        raise SessionError(_("This session has no lesson."))
    twin = await begin_task(client, lesson, position(request), creator(request))
    if client.may_edit:
        await in_thread(assignments.keep_fork, client.session, twin.session)
    await remember(request, twin.key)
    return go(request, reverse("studio", args=[twin.key]) + "?task=1")
