"""Who may open a lesson of somebody's own: its edit key changes it, its other key takes it."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _

from playground.lessons.authoring import Checked, LessonFiles
from playground.models import OwnLesson
from playground.sessions.database import lessons
from playground.sessions.database.asking import in_thread
from playground.sessions.protocol.errors import LimitReached, NotAllowed, SessionError
from playground.sessions.web.client import check_lesson
from playground.views.access import author
from playground.views.responses import problem

View = Callable[..., Coroutine[Any, Any, HttpResponse]]


def takes(view: View) -> View:
    """The view gets the lesson that its key opens; an error becomes a page that says so."""

    @wraps(view)
    async def inner(request: HttpRequest, key: str, **rest: Any) -> HttpResponse:
        try:
            return await view(request, await in_thread(lessons.find, key), **rest)
        except SessionError as error:
            return problem(request, error)

    return inner


def writes(view: View) -> View:
    """Wrap a view like `takes`, for the edit key alone."""

    @takes
    @wraps(view)
    async def inner(request: HttpRequest, lesson: OwnLesson, **rest: Any) -> HttpResponse:
        if request.resolver_match is None or request.resolver_match.kwargs["key"] != lesson.edit_key:
            raise NotAllowed(_("This link starts the lesson. To change the lesson, ask its author for the edit link."))
        return await view(request, lesson, **rest)

    return inner


async def get_or_run_check(request: HttpRequest, lesson: OwnLesson) -> Checked:
    """Return the result of the lesson's check; check it now if it has changed since the last check."""
    known = lessons.get_check_result(lesson)
    if known is not None:
        return known
    files = lessons.files_of(lesson)
    found = await check_lesson(files, author(request))
    await in_thread(lessons.keep, lesson.pk, files, found)
    await in_thread(lesson.refresh_from_db)
    return found


def require_size(files: LessonFiles) -> None:
    """Refuses what is too large before it is played."""
    if files.size > settings.MAX_LESSON_BYTES:
        raise LimitReached(
            _("The files of the lesson have %(has)s bytes. The limit is %(most)s.")
            % {"has": f"{files.size:,}", "most": f"{settings.MAX_LESSON_BYTES:,}"}
        )
