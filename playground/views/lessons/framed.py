"""A lesson within another site's page: its card, question, and task. No cookie is asked for or set; the key in the address is the right."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import wraps
from typing import Any
from urllib.parse import urlencode

import msgspec
from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils import translation
from django.utils.translation import gettext as _
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods

from playground.lessons import LANGUAGES, Lesson, command_of
from playground.presenters.look import Look
from playground.sessions.database import lessons, listing
from playground.sessions.database.asking import in_thread
from playground.sessions.limits import vouch
from playground.sessions.protocol.errors import NotAllowed, SessionError
from playground.sessions.protocol.lessons import JudgeAnswer
from playground.sessions.web.client import SessionClient
from playground.sessions.web.render import render_panels
from playground.views.access import creator, scope_of
from playground.views.lessons.course import begin_lesson, find_built_in, read_card
from playground.views.responses import whole_number
from playground.views.sharing import allow_framing
from playground.views.story import MOST_ANSWERS, SOURCE, begin_task
from playground.views.workbench.objects import problems

View = Callable[..., Coroutine[Any, Any, HttpResponse]]
RUN = 400  # transitions of one press of Run


def _framed(view: View) -> View:
    """Wrap a view for the frames of other sites.

    A frame has no cookies there, so Django's tokens have nothing to be compared with, and need not be: no right comes
    from a cookie, only from the key in the address, which another site does not know. A form is taken only where the
    browser says in Origin that a page of this server sent it, so that no other page begins lessons in somebody's name.
    """

    @csrf_exempt
    @require_http_methods(["GET", "POST"])
    @wraps(view)
    async def inner(request: HttpRequest, **rest: Any) -> HttpResponse:
        if (language := (request.POST or request.GET).get("lang", "")) in LANGUAGES:
            translation.activate(language)
        origin, own = request.headers.get("Origin", ""), f"{request.scheme}://{request.get_host()}"
        try:
            if request.method == "POST" and origin not in (own, *settings.CSRF_TRUSTED_ORIGINS):
                raise NotAllowed(_("This form was sent by a page of another server."))
            response = await view(request, **rest)
        except SessionError as error:
            response = render(request, "playground/lessons/framed_problem.html", {"error": error}, status=error.status)
        return allow_framing(response)

    return inner


@_framed
async def begin(request: HttpRequest, slug: str) -> HttpResponse:
    """Describe a lesson; POST starts it at `card`, or with `task` at its task."""
    lesson = find_built_in(slug)
    card = read_card((request.POST or request.GET).get("card", ""), lesson)
    if request.method == "GET":
        asked = {name: request.GET.get(name, "")[:8] for name in ("lang", "variant", "task")}
        return render(request, "playground/lessons/framed_begin.html", {"lesson": lesson, "card": card, **asked})
    if not request.POST.get("task"):
        return _show(request, (await begin_lesson(request, lesson, card)).edit_key)
    session = await begin_lesson(request, lesson, len(lesson.plan.cards))
    return _show(request, (await _begin_task(request, SessionClient(session, "edit"), None)).key, task="1")


def _show(request: HttpRequest, key: str, **query: object) -> HttpResponse:
    language = request.POST.get("lang", "")
    said = {**({"lang": language} if language in LANGUAGES else {}), **query}
    return HttpResponseRedirect(reverse("framed-lesson", args=[key]) + (f"?{urlencode(said)}" if said else ""))


async def _begin_task(request: HttpRequest, client: SessionClient, at: int | None) -> SessionClient:
    return await begin_task(client, await _lesson_of(client), at, creator(request))


async def _lesson_of(client: SessionClient) -> Lesson:
    lesson = await in_thread(lessons.of_story, client.session.story)
    if lesson is None:
        raise SessionError(_("This session has no lesson."))
    return lesson


@_framed
async def play(request: HttpRequest, key: str) -> HttpResponse:
    """Show the card of the step `at` with its evidence. POST takes its offer, answers, goes on, begins the task, or acts in it (`act`)."""
    client = await SessionClient.open(key)
    vouch(scope_of(request), f"session {client.session.pk}")
    client.require_edit()
    look, act, verdict = Look.from_query((request.POST or request.GET).dict()), request.POST.get("act", ""), None
    card = whole_number(request.POST.get("card", ""), 3) or 1
    if act == "answer":
        given = None if "show" in request.POST else request.POST.getlist("answer")[:MOST_ANSWERS]
        judge = JudgeAnswer(at=look.at, card=card, given=given, again="tried" not in request.POST)
        verdict = await client.ask(judge)
    elif act == "task":
        return _show(request, (await _begin_task(request, client, look.at)).key, task="1")
    elif act:
        await _act(client, act, card, request.POST.get("text", ""))
        return _show(request, key, **({"task": "1"} if request.POST.get("task") else {}))
    story = (await client.view(look, ["story"]))[0].panels["story"].context
    if (latest := story["latest"]) is not None and latest["stage"] and not look.stage:
        shows = {name: latest[name] for name in ("stage", "pod", "plugin")}
        look = msgspec.structs.replace(look, **shows)
    shown, head = await client.view(look, ["stage", "map"])
    context = {"client": client, "key": key, "story": story, "stage": shown.panels["stage"].context}
    context |= {"position": shown.position, "head": head, "verdict": verdict, "look": look, "may_edit": False}
    context |= {"task": (request.POST or request.GET).get("task", ""), "language": translation.get_language()}
    context["panels"] = render_panels(shown.panels, request, context)
    context["here"] = reverse("framed-lesson", args=[key])
    return render(request, "playground/lessons/framed.html", context)


async def _act(client: SessionClient, act: str, card: int, text: str) -> None:
    """Take a card's offer (`do`), go on to the next card (`next`), run the world (`run`), or apply a text (`apply`)."""
    await client.refresh()
    lesson = await _lesson_of(client)
    offer = lesson.plan.cards[card - 1].do if 1 <= card <= len(lesson.plan.cards) else None
    if act in ("do", "next") and offer is not None:
        command = command_of(offer)
        if await in_thread(listing.last, client.session.pk, await client.head()) != (SOURCE, command):
            await client.apply(command, source=SOURCE)
    if act == "next":
        story = (await client.view(Look(), ["story"]))[0].panels["story"].context
        now = story["latest"] or story["begin"]
        await client.walk(max((now["after"] or 0) - await client.head(), 0))
    elif act == "run":
        await client.walk(RUN)
    elif act == "apply":
        plan = (await client.apply_text(text.encode())).plan
        if found := problems(plan, False):
            raise SessionError("; ".join(str(each.text) for each in found[:3]))
