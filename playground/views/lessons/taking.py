"""A lesson of somebody's own for those who take it: its page, the session that it starts, and the try of whoever writes it."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from playground.lessons import Lesson
from playground.lessons.own import hand
from playground.models import OwnLesson
from playground.sessions.database import lessons
from playground.sessions.database.asking import in_thread
from playground.sessions.protocol.errors import SessionError
from playground.sessions.recent import remember
from playground.templatetags.lessons import in_language
from playground.views.lessons.access import takes
from playground.views.lessons.variants import create_lesson


@require_http_methods(["GET", "POST"])
@takes
async def own_lesson(request: HttpRequest, lesson: OwnLesson) -> HttpResponse:
    """Describe the lesson; POST starts it in a new session."""
    taken = await in_thread(_document, lesson.document)
    if request.method == "POST":
        if taken is None:
            raise SessionError(_("This lesson is not ready yet: its author has problems to fix first."))
        await in_thread(lessons.was_used, lesson.pk)
        return await _start(request, taken, _title(taken))
    return render(request, "playground/lessons/take.html", {"lesson": lesson, "taken": taken, "key": lesson.key})


async def try_out(request: HttpRequest, lesson: OwnLesson) -> HttpResponse:
    """The lesson as it is written now, as a learner sees it."""
    taken = await in_thread(_document, lesson.draft)
    if taken is None:
        raise SessionError(_("The lesson cannot be played to its end yet. Its page lists the problems."))
    return await _start(request, taken, _("Try: %(title)s") % {"title": _title(taken)})


def _document(slug: str) -> Lesson | None:
    data = lessons.document(slug)
    return hand(data).lesson if data else None


def _title(lesson: Lesson) -> str:
    return str(in_language(lesson.titles) or "")


async def _start(request: HttpRequest, lesson: Lesson, name: str) -> HttpResponse:
    session = await create_lesson(request, lesson, name[:120] or _("Lesson"))
    await remember(request, session.edit_key)
    return HttpResponseRedirect(reverse("studio", args=[session.edit_key]))
