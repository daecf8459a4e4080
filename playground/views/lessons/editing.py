"""The page on which a lesson is made: its cards and their words, what they ask, and what is wrong with it."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.text import slugify
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from playground.lessons import LANGUAGES
from playground.lessons.authoring import LessonFiles, pack_folder
from playground.lessons.authoring.files import BadFile, read_files
from playground.models import OwnLesson
from playground.sessions.database import lessons
from playground.sessions.database.asking import in_thread
from playground.views.home import TRACK_NAMES
from playground.views.lessons import taking
from playground.views.lessons.access import get_or_run_check, require_size, writes
from playground.views.lessons.changes import apply_changes
from playground.views.lessons.making import get_lesson_language
from playground.views.lessons.page import page_of
from playground.views.lessons.words import of_findings


@require_http_methods(["GET", "POST"])
@writes
async def edit(request: HttpRequest, lesson: OwnLesson) -> HttpResponse:
    """The lesson's cards as one form. Every button keeps all of it, and then does what it says."""
    files = lessons.files_of(lesson)
    language = _language(request, files)
    if not await in_thread(_readable, files):
        return HttpResponseRedirect(reverse("lesson-files", args=[lesson.edit_key]))
    known = await get_or_run_check(request, lesson)
    if request.method == "POST":
        change = await in_thread(apply_changes, request.POST, files, language, known)
        await _keep(lesson, change.files)
        found = await get_or_run_check(request, lesson)
        return await _after(request, lesson, change.goes, change.anchor, bool(found.findings))
    context = await in_thread(page_of, files, known, language)
    context |= {
        "lesson": lesson,
        "key": lesson.edit_key,
        "languages": LANGUAGES,
        "tracks": TRACK_NAMES,
        "problems": of_findings(known.findings),
        "share_link": _address(request, "own-lesson", lesson.key),
        "edit_link": _address(request, "edit-lesson", lesson.edit_key),
    }
    return render(request, "playground/lessons/edit.html", context)


def _language(request: HttpRequest, files: LessonFiles) -> str:
    """The language whose words are written: the one that is asked for; the page's, or else another in which the lesson has words."""
    asked = request.POST.get("words") or request.GET.get("words", "")
    if asked in LANGUAGES:
        return asked
    there = [language for language in LANGUAGES if files.words.get(language, "").strip()]
    own = get_lesson_language()
    return own if own in there or not there else there[0]


async def _keep(lesson: OwnLesson, files: LessonFiles) -> None:
    require_size(files)
    if files != lessons.files_of(lesson):
        await in_thread(lessons.write, lesson.pk, files)
        await in_thread(lesson.refresh_from_db)


async def _after(request: HttpRequest, lesson: OwnLesson, goes: str, anchor: str, wrong: bool) -> HttpResponse:
    """Back to the page, at the card that was changed; in the other language's words; to the files, or a try."""
    page = reverse("edit-lesson", args=[lesson.edit_key])
    if goes == "try":
        return await taking.try_out(request, lesson)
    if goes == "files":
        return HttpResponseRedirect(reverse("lesson-files", args=[lesson.edit_key]))
    if goes in LANGUAGES:
        return HttpResponseRedirect(f"{page}?words={goes}")
    if goes == "share":
        anchor = "#share"
    if not anchor:
        said = (
            _("Saved. The lesson has problems to fix.") if wrong else _("Saved. The lesson can be played to its end.")
        )
        (messages.warning if wrong else messages.success)(request, said)
    return HttpResponseRedirect(f"{page}?words={_language(request, lessons.files_of(lesson))}{anchor}")


@require_http_methods(["GET", "POST"])
@writes
async def files(request: HttpRequest, lesson: OwnLesson) -> HttpResponse:
    """The lesson's files as they are."""
    if request.method == "POST":
        sent = {language: _text(request, language) for language in LANGUAGES}
        await _keep(lesson, LessonFiles(_text(request, "plan"), sent))
        await get_or_run_check(request, lesson)
        return HttpResponseRedirect(reverse("lesson-files", args=[lesson.edit_key]))
    known = await get_or_run_check(request, lesson)
    written = lessons.files_of(lesson)
    readable = await in_thread(_readable, written)
    rooms = [("plan", "lesson.yaml", written.plan)]
    rooms += [(language, f"{language}.yaml", written.words[language]) for language in LANGUAGES]
    context = {
        "lesson": lesson,
        "key": lesson.edit_key,
        "rooms": rooms,
        "problems": of_findings(known.findings),
        "readable": readable,
    }
    return render(request, "playground/lessons/files.html", context)


def _readable(files: LessonFiles) -> bool:
    """Return whether the files can be shown as cards."""
    try:
        read_files(files)
    except BadFile:
        return False
    return True


def _text(request: HttpRequest, name: str) -> str:
    return request.POST.get(name, "").replace("\r\n", "\n")


@require_GET
@writes
async def download(request: HttpRequest, lesson: OwnLesson) -> HttpResponse:
    """The lesson's folder as a zip."""
    written = lessons.files_of(lesson)
    known = await get_or_run_check(request, lesson)
    title = next(iter(known.titles.values()), "")
    name = slugify(title)[:60] or "lesson"
    response = HttpResponse(pack_folder(name, written), content_type="application/zip")
    response["Content-Disposition"] = f'attachment; filename="{name}.zip"'
    return response


@require_POST
@writes
async def delete(request: HttpRequest, lesson: OwnLesson) -> HttpResponse:
    """The lesson goes for good; sessions that were begun with it keep theirs."""
    await in_thread(lessons.delete, lesson.pk)
    messages.success(request, _("Lesson deleted."))
    return HttpResponseRedirect(reverse("own-lessons"))


def _address(request: HttpRequest, name: str, key: str) -> str:
    return request.build_absolute_uri(reverse(name, args=[key]))
