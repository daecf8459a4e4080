"""Where a lesson of one's own begins: a session, a folder, a copy of one that there is."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.text import capfirst
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from playground.lessons import LANGUAGES, lesson_of
from playground.lessons.authoring import BEGIN, BadFolder, LessonFiles, build_plan, dump_yaml, files_in, folder_of
from playground.lessons.own import PREFIX
from playground.lessons.reading import CONTENT
from playground.presenters.commands import sentence
from playground.presenters.words import format_message
from playground.sessions.database import lessons
from playground.sessions.database.asking import in_thread
from playground.sessions.protocol.errors import SessionError
from playground.sessions.web.client import SessionClient, check_lesson
from playground.views.access import author, creator, opens
from playground.views.home import tracks
from playground.views.lessons.access import require_size
from playground.views.responses import position


def get_lesson_language() -> str:
    """The language of the page, as lessons name it."""
    language = get_language() or LANGUAGES[0]
    return language if language in LANGUAGES else LANGUAGES[0]


@require_GET
async def own_lessons(request: HttpRequest) -> HttpResponse:
    """Show how to make a lesson, with a form for a folder and one for a copy."""
    return _beginnings(request)


def _beginnings(request: HttpRequest, refusal: SessionError | None = None) -> HttpResponse:
    context = {"tracks": tracks(), "most_bytes": settings.MAX_LESSON_BYTES, "refusal": refusal}
    status = 200 if refusal is None else refusal.status
    return render(request, "playground/lessons/begin.html", context, status=status)


@require_POST
@opens
async def from_session(request: HttpRequest, client: SessionClient) -> HttpResponse:
    """A lesson that does what a session's log did, with a card where the viewer stands."""
    at, head = position(request), await client.head()
    commands = await in_thread(lessons.commands_of, client.session.pk, head)
    plan = build_plan(commands, at)
    language = get_lesson_language()
    said = {
        "title": client.session.name,
        "summary": "",
        "cards": {card["id"]: _card_words(card) for card in plan["cards"]},
    }
    files = LessonFiles(dump_yaml(plan), {language: dump_yaml(said)})
    require_size(files)
    checked = await check_lesson(files, author(request), move=True)
    files = checked.files or files
    lesson = await in_thread(lessons.create, files, creator(request))
    await in_thread(lessons.keep, lesson.pk, files, checked)
    return HttpResponseRedirect(reverse("edit-lesson", args=[lesson.edit_key]))


def _card_words(card: dict[str, Any]) -> dict[str, str]:
    if card["id"] == BEGIN:
        return {"text": _("Look at the nodes and at the waiting pods.")}
    if "do" not in card:
        return {"text": ""}
    return {
        "text": _("Now the situation changes."),
        "do": capfirst(format_message(sentence(card["do"]["command"]), _))[:120],
    }


@require_POST
async def new_lesson(request: HttpRequest) -> HttpResponse:
    """A lesson from a folder (`file`: its files or an archive), or a copy (`copy`: the name of one that there is)."""
    try:
        files = _copy_lesson(request.POST["copy"]) if request.POST.get("copy") else _read_upload(request)
        require_size(files)
        lesson = await in_thread(lessons.create, files, creator(request))
    except SessionError as error:
        return _beginnings(request, error)
    return HttpResponseRedirect(reverse("edit-lesson", args=[lesson.edit_key]))


def _copy_lesson(slug: str) -> LessonFiles:
    if slug.startswith(PREFIX) or lesson_of(slug) is None:
        raise SessionError(_("No lesson “%(slug)s” exists.") % {"slug": slug[:80]})
    return files_in(CONTENT / slug)


def _read_upload(request: HttpRequest) -> LessonFiles:
    given = [(each.name or "", each.read()) for each in request.FILES.getlist("file") if each.size]
    if not given:
        raise SessionError(_("Choose the lesson's zip, or its files lesson.yaml, en.yaml and zh-hans.yaml."))
    try:
        return folder_of(given, settings.MAX_LESSON_BYTES)
    except BadFolder as bad:
        raise SessionError(_("This is not the folder of a lesson: %(why)s") % {"why": str(bad)}) from None
