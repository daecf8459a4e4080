"""Lessons for learners: by address, by document, as variants, and users' own lessons."""

import secrets
from functools import partial
from typing import Any

from asgiref.sync import sync_to_async
from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils import translation
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from playground.lessons import LANGUAGES, Lesson, beginning, command_of, find_playthrough, lesson_of
from playground.lessons.authoring import CheckResult, LessonFiles
from playground.lessons.figures import read_figures
from playground.lessons.own import PREFIX, hand
from playground.lessons.reading import read_documents
from playground.models import OwnLesson, Session
from playground.sessions.database import lessons
from playground.sessions.database.asking import in_thread
from playground.sessions.protocol.errors import LimitReached, NotAllowed, SessionError
from playground.sessions.recent import remember
from playground.sessions.web.client import SessionClient, check_lesson, create_session, draw_variant
from playground.templatetags.lessons import in_language
from playground.views.access import author, creator, opens, opens_with
from playground.views.responses import problem


async def _find(request: HttpRequest, key: str) -> OwnLesson:
    """Return the lesson of a key. Raise SessionGone."""
    return await in_thread(lessons.find, key)


async def _find_to_edit(request: HttpRequest, key: str) -> OwnLesson:
    """Return the lesson of an edit key. Raise NotAllowed for its other key."""
    lesson = await in_thread(lessons.find, key)
    if key != lesson.edit_key:
        raise NotAllowed(_("This link starts the lesson. To change the lesson, ask its author for the edit link."))
    return lesson


takes, writes = partial(opens_with, _find), partial(opens_with, _find_to_edit)


async def get_or_run_check(request: HttpRequest, lesson: OwnLesson) -> CheckResult:
    """Return the result of the lesson's check. Run the check if the lesson has changed since the last one."""
    known = lessons.get_check_result(lesson)
    if known is not None:
        return known
    files = lessons.files_of(lesson)
    found = await check_lesson(files, author(request))
    await in_thread(lessons.keep, lesson.pk, files, found)
    await in_thread(lesson.refresh_from_db)
    return found


def require_size(files: LessonFiles) -> None:
    """Raise LimitReached if the files are too large to be played."""
    if files.size > settings.MAX_LESSON_BYTES:
        raise LimitReached(
            _("The files of the lesson have %(has)s bytes. The limit is %(most)s.")
            % {"has": f"{files.size:,}", "most": f"{settings.MAX_LESSON_BYTES:,}"}
        )


MOST_VARIANTS = 9999


@require_POST
async def new_variant(request: HttpRequest) -> HttpResponse:
    """Start a variant of a built-in lesson."""
    slug = request.POST.get("lesson", "")
    try:
        return await _start_variant(request, lesson_of(slug), slug)
    except SessionError as error:
        return problem(request, error)


@takes("POST")
async def own_variant(request: HttpRequest, lesson: OwnLesson) -> HttpResponse:
    """Start a variant of a user's own lesson, as learners have it."""
    await in_thread(lessons.was_used, lesson.pk)
    return await _of_story(request, lesson.document)


@opens("POST")
async def another_variant(request: HttpRequest, client: SessionClient) -> HttpResponse:
    """Start another variant of a session's lesson; the session itself does not change."""
    return await _of_story(request, client.session.story)


async def _of_story(request: HttpRequest, slug: str) -> HttpResponse:
    return await _start_variant(request, await in_thread(lessons.of_story, slug), slug)


async def _start_variant(request: HttpRequest, lesson: Lesson | None, slug: str) -> HttpResponse:
    session, _variant = await create_variant(request, lesson, slug)
    await remember(request, session.edit_key)
    return HttpResponseRedirect(reverse("studio", args=[session.edit_key]))


async def create_variant(
    request: HttpRequest, lesson: Lesson | None, slug: str, seed: str = ""
) -> tuple[Session, Lesson]:
    """Create a session for the variant of a seed (by default the form's). Return the session and the drawn lesson."""
    if lesson is None or lesson.pattern is None:
        raise SessionError(_("This lesson has no variants."))
    seed = seed or _seed(request.POST.get("variant", ""))
    handed_on = await in_thread(lessons.document, slug)
    drawn = await draw_variant(slug, handed_on, seed, author(request))
    if not drawn.document:
        raise SessionError(
            _("In variant %(variant)s, a question of this lesson has no unique answer. Try another variant.")
            % {"variant": seed}
        )
    await in_thread(lessons.keep_document, drawn.slug, drawn.document)
    variant = hand(drawn.document).lesson
    title = str(in_language(variant.titles))[:100]
    name = _("%(title)s, variant %(variant)s") % {"title": title, "variant": seed}
    return await create_lesson(request, variant, name), variant


async def create_lesson(request: HttpRequest, lesson: Lesson, name: str = "") -> Session:
    """Create a session at the beginning of a lesson, named `name` or by the lesson's title."""
    named = name or str(in_language(lesson.titles))
    commands = beginning(lesson.plan)
    return await create_session(name=named, story=lesson.slug, commands=commands, creator=creator(request))


def _seed(text: str) -> str:
    """Return the variant's number, a random one if the text is empty. Raises SessionError."""
    text = text.strip()
    if not text:
        return str(1 + secrets.randbelow(MOST_VARIANTS))
    if not (text.isascii() and text.isdecimal() and 1 <= int(text[:9]) <= MOST_VARIANTS and len(text) <= 4):
        raise SessionError(
            _("The variant “%(variant)s” is not a whole number from 1 to %(most)d.")
            % {"variant": text[:40], "most": MOST_VARIANTS}
        )
    return str(int(text))


@takes("GET", "POST")
async def own_lesson(request: HttpRequest, lesson: OwnLesson) -> HttpResponse:
    """Describe a user's own lesson; POST starts it in a new session."""
    taken = await in_thread(_document, lesson.document)
    if request.method == "POST":
        if taken is None:
            raise SessionError(_("This lesson is not ready yet: its author has problems to fix first."))
        await in_thread(lessons.was_used, lesson.pk)
        return await _start_taken(request, taken, _title(taken))
    return render(request, "playground/lessons/take.html", {"lesson": lesson, "taken": taken, "key": lesson.key})


async def try_out(request: HttpRequest, lesson: OwnLesson) -> HttpResponse:
    """Play the draft of a lesson as a learner would."""
    taken = await in_thread(_document, lesson.draft)
    if taken is None:
        raise SessionError(_("The lesson cannot be played to its end yet. Its page lists the problems."))
    return await _start_taken(request, taken, _("Try: %(title)s") % {"title": _title(taken)})


def _document(slug: str) -> Lesson | None:
    data = lessons.document(slug)
    return hand(data).lesson if data else None


def _title(lesson: Lesson) -> str:
    return str(in_language(lesson.titles) or "")


async def _start_taken(request: HttpRequest, lesson: Lesson, name: str) -> HttpResponse:
    session = await create_lesson(request, lesson, name[:120] or _("Lesson"))
    await remember(request, session.edit_key)
    return HttpResponseRedirect(reverse("studio", args=[session.edit_key]))


SOURCE = "story"


@require_GET
def list_by_document(request: HttpRequest) -> HttpResponse:
    """Return the documents, each with the lessons that play it."""
    documents = [_list_sections(each) for each in read_documents()]
    return render(request, "playground/lessons/documents.html", {"documents": documents})


@require_http_methods(["GET", "POST"])
async def show_lesson(request: HttpRequest, slug: str) -> HttpResponse:
    """Describe a lesson, in the language `lang`; POST starts it, at `card` and in `variant` if given."""
    lesson = find_built_in(slug)
    asked = request.POST if request.method == "POST" else request.GET
    try:
        card = read_card(asked.get("card", ""), lesson)
        if request.method == "POST":
            session = await begin_lesson(request, lesson, card)
            await remember(request, session.edit_key)
            started = HttpResponseRedirect(reverse("studio", args=[session.edit_key]))
            return _keep_language(started, asked.get("lang", ""))
    except SessionError as error:
        return problem(request, error)
    if (language := asked.get("lang", "")) in LANGUAGES:
        translation.activate(language)
    context = {
        "lesson": lesson,
        "card": card,
        "lang": language,
        "variant": asked.get("variant", "")[:4],
        "sections": list_played_sections(slug),
        "next": _present(following) if (following := lesson_of(lesson.plan.next)) else None,
    }
    return render(request, "playground/lessons/lesson.html", context)


def _list_sections(document: dict[str, Any]) -> dict[str, Any]:
    """Return a document with the lessons and figures of each section; `lessons` are those without a section."""
    sections = [
        {
            "section": each,
            "lessons": [_present(lesson) for slug in each.get("lessons", ()) if (lesson := lesson_of(slug))],
            "figures": [{"name": name, "title": read_figures()[name].title} for name in each.get("figures", ())],
        }
        for each in document["sections"]
    ]
    placed = {slug for each in document["sections"] for slug in each.get("lessons", ())}
    others = [_present(lesson) for slug in document["lessons"] if slug not in placed and (lesson := lesson_of(slug))]
    return {**document, "sections": sections, "lessons": others}


def list_played_sections(slug: str) -> list[dict[str, Any]]:
    """Return the sections of documents that a lesson plays; a whole document if the lesson names no section of it."""
    found = []
    for document in read_documents():
        sections = [each for each in document["sections"] if slug in each.get("lessons", ())]
        whole: list[dict[str, Any]] = [{}] if slug in document["lessons"] else []
        found += [{"document": document, "section": each} for each in sections or whole]
    return found


def _present(lesson: Lesson) -> dict[str, Any]:
    return {"slug": lesson.slug, "title": lesson.titles}


def find_built_in(slug: str) -> Lesson:
    """Return the built-in lesson of this name. Raise Http404."""
    lesson = None if slug.startswith(PREFIX) else lesson_of(slug)
    if lesson is None:
        raise Http404(slug)
    return lesson


def read_card(text: str, lesson: Lesson) -> int:
    """Return the card number in an address; 1 if it is empty. Raise SessionError."""
    most = len(lesson.plan.cards)
    if text and not (text.isascii() and text.isdecimal() and 1 <= int(text[:4]) <= most):
        shown = {"card": text[:40], "most": most}
        raise SessionError(_("The card “%(card)s” is not a whole number from 1 to %(most)d.") % shown)
    return int(text or 1)


async def begin_lesson(request: HttpRequest, lesson: Lesson, card: int) -> Session:
    """Create a session that plays the lesson, in the form's variant, up to a card."""
    if request.POST.get("variant"):
        session, lesson = await create_variant(request, lesson, lesson.slug)
    else:
        session = await create_lesson(request, lesson)
    if card > 1:
        await _advance(SessionClient(session, "edit"), lesson, card)
    return session


async def _advance(client: SessionClient, lesson: Lesson, card: int) -> None:
    """Play the session up to a card: apply each offer on the way."""
    data = await in_thread(lessons.document, lesson.slug)
    held = hand(data) if data else None  # keeps the lesson alive for the calls below
    played = await sync_to_async(find_playthrough, thread_sensitive=False)(lesson.slug, client.session.seed)
    assert played is not None and (held is None or held.lesson.slug == lesson.slug)
    for number, each in enumerate(lesson.plan.cards[:card]):
        await client.refresh()
        steps = played.positions[each.id] - await client.head()
        if steps > 0:
            await client.walk(steps)
        if each.do is not None and number < card - 1:
            await client.apply(command_of(each.do), source=SOURCE)


def _keep_language(response: HttpResponse, language: str) -> HttpResponse:
    if language in LANGUAGES:
        response.set_cookie(settings.LANGUAGE_COOKIE_NAME, language, samesite="Lax")
    return response
