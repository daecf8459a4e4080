"""A lesson with other numbers and names: a variant is drawn and proven, then started in a session of one's own."""

from __future__ import annotations

import secrets

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from playground.lessons import Lesson, beginning, lesson_of
from playground.lessons.own import hand
from playground.models import OwnLesson, Session
from playground.sessions.database import lessons
from playground.sessions.database.asking import in_thread
from playground.sessions.protocol.errors import SessionError
from playground.sessions.recent import remember
from playground.sessions.web.client import SessionClient, create_session, draw_variant
from playground.templatetags.lessons import in_language
from playground.views.access import author, creator, opens
from playground.views.lessons.access import takes
from playground.views.responses import problem

MOST_VARIANTS = 9999


@require_POST
async def new_variant(request: HttpRequest) -> HttpResponse:
    """Start a variant of one of the lessons that there are."""
    slug = request.POST.get("lesson", "")
    try:
        return await _start(request, lesson_of(slug), slug)
    except SessionError as error:
        return problem(request, error)


@require_POST
@takes
async def own_variant(request: HttpRequest, lesson: OwnLesson) -> HttpResponse:
    """Start a variant of a lesson of somebody's own, as learners have it."""
    await in_thread(lessons.was_used, lesson.pk)
    return await _of_story(request, lesson.document)


@require_POST
@opens
async def another_variant(request: HttpRequest, client: SessionClient) -> HttpResponse:
    """Start another variant of a session's lesson; the session stays as it is."""
    return await _of_story(request, client.session.story)


async def _of_story(request: HttpRequest, slug: str) -> HttpResponse:
    return await _start(request, await in_thread(lessons.of_story, slug), slug)


async def _start(request: HttpRequest, lesson: Lesson | None, slug: str) -> HttpResponse:
    session, _variant = await create_variant(request, lesson, slug)
    await remember(request, session.edit_key)
    return HttpResponseRedirect(reverse("studio", args=[session.edit_key]))


async def create_variant(
    request: HttpRequest, lesson: Lesson | None, slug: str, seed: str = ""
) -> tuple[Session, Lesson]:
    """Create the session of the variant of a seed, or the one that a form asks for; return it and the lesson as it was drawn."""
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
    """Create a session at the beginning of a lesson, with the lesson's title as its name unless there is another."""
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
