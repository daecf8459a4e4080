"""A lesson by its address, and the lessons by the document that they play."""

from __future__ import annotations

from typing import Any

from asgiref.sync import sync_to_async
from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils import translation
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods

from playground.lessons import LANGUAGES, Lesson, command_of, find_playthrough, lesson_of
from playground.lessons.figures import read_figures
from playground.lessons.own import PREFIX, hand
from playground.lessons.reading import read_documents
from playground.models import Session
from playground.sessions.database import lessons
from playground.sessions.database.asking import in_thread
from playground.sessions.protocol.errors import SessionError
from playground.sessions.recent import remember
from playground.sessions.web.client import SessionClient
from playground.views.lessons.variants import create_lesson, create_variant
from playground.views.responses import problem

SOURCE = "story"


@require_GET
def list_by_document(request: HttpRequest) -> HttpResponse:
    """The documents, each with the lessons that play it."""
    documents = [_list_sections(each) for each in read_documents()]
    return render(request, "playground/lessons/documents.html", {"documents": documents})


@require_http_methods(["GET", "POST"])
async def show_lesson(request: HttpRequest, slug: str) -> HttpResponse:
    """Describe a lesson, in the language `lang`; POST starts it, at `card` and in `variant` if they are given."""
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
    """A document with the lessons and figures of each section; `lessons` are those of no section."""
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
    """The sections of documents that a lesson plays; a whole document where no section of it is named."""
    found = []
    for document in read_documents():
        sections = [each for each in document["sections"] if slug in each.get("lessons", ())]
        whole: list[dict[str, Any]] = [{}] if slug in document["lessons"] else []
        found += [{"document": document, "section": each} for each in sections or whole]
    return found


def _present(lesson: Lesson) -> dict[str, Any]:
    return {"slug": lesson.slug, "title": lesson.titles}


def find_built_in(slug: str) -> Lesson:
    """The lesson of this name among those that come along; Http404 where there is none."""
    lesson = None if slug.startswith(PREFIX) else lesson_of(slug)
    if lesson is None:
        raise Http404(slug)
    return lesson


def read_card(text: str, lesson: Lesson) -> int:
    """The number of a card that an address asks for."""
    most = len(lesson.plan.cards)
    if text and not (text.isascii() and text.isdecimal() and 1 <= int(text[:4]) <= most):
        shown = {"card": text[:40], "most": most}
        raise SessionError(_("The card “%(card)s” is not a whole number from 1 to %(most)d.") % shown)
    return int(text or 1)


async def begin_lesson(request: HttpRequest, lesson: Lesson, card: int) -> Session:
    """A new session that plays the lesson, in the variant that the form names, up to a card."""
    if request.POST.get("variant"):
        session, lesson = await create_variant(request, lesson, lesson.slug)
    else:
        session = await create_lesson(request, lesson)
    if card > 1:
        await _advance(SessionClient(session, "edit"), lesson, card)
    return session


async def _advance(client: SessionClient, lesson: Lesson, card: int) -> None:
    """Play the session up to a card, as its lesson is played: each offer is taken."""
    data = await in_thread(lessons.document, lesson.slug)
    held = hand(data) if data else None  # for as long as it is asked below
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
