"""The starts of a lesson: a session, a folder, or a copy; and a lesson within another site's page."""

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
from django.utils.text import capfirst
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from playground.lessons import LANGUAGES, Lesson, command_of, lesson_of
from playground.lessons.authoring import BEGIN, BadFolder, LessonFiles, build_plan, dump_yaml, files_in, folder_of
from playground.lessons.own import PREFIX
from playground.lessons.reading import CONTENT
from playground.presenters.commands import sentence
from playground.presenters.look import Look
from playground.presenters.words import format_message
from playground.sessions.database import lessons, listing
from playground.sessions.database.asking import in_thread
from playground.sessions.limits import vouch
from playground.sessions.protocol.errors import NotAllowed, SessionError
from playground.sessions.protocol.looking import JudgeAnswer
from playground.sessions.web.client import SessionClient, check_lesson
from playground.sessions.web.publisher import render_panels
from playground.views.access import author, creator, opens, scope_of
from playground.views.home import tracks
from playground.views.lessons.course import begin_lesson, find_built_in, read_card, require_size
from playground.views.responses import position, whole_number
from playground.views.sharing import MOST_ANSWERS, SOURCE, allow_framing, begin_task
from playground.views.workbench.objects import problems


def get_lesson_language() -> str:
    """Return the language of the page by its name in lessons."""
    language = get_language() or LANGUAGES[0]
    return language if language in LANGUAGES else LANGUAGES[0]


@require_GET
async def own_lessons(request: HttpRequest) -> HttpResponse:
    """Show how to write a lesson, with a form for a folder and one for a copy."""
    return _beginnings(request)


def _beginnings(request: HttpRequest, refusal: SessionError | None = None) -> HttpResponse:
    context = {"tracks": tracks(), "most_bytes": settings.MAX_LESSON_BYTES, "refusal": refusal}
    status = 200 if refusal is None else refusal.status
    return render(request, "playground/lessons/begin.html", context, status=status)


@opens("POST")
async def from_session(request: HttpRequest, client: SessionClient) -> HttpResponse:
    """Create a lesson from a session's log, with a card at the viewer's position."""
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
    """Create a lesson from a folder (`file`: its files or an archive), or as a copy (`copy`: the name of an existing one)."""
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


View = Callable[..., Coroutine[Any, Any, HttpResponse]]
RUN = 400  # transitions of one press of Run


def _framed(view: View) -> View:
    """Wrap a view for the frames of other sites.

    A frame has no cookies there, so Django's tokens can't be compared, and are not needed: rights come only from the key in the address,
    which another site does not know, never from a cookie. A form is accepted only if the browser's Origin header names this server, so
    that no other page starts lessons in a user's name.
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
    """Show the card of step `at` with its evidence. POST applies its offer, answers, continues, starts the task, or acts in it (`act`)."""
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
    """Apply a card's offer (`do`), continue to the next card (`next`), run the world (`run`), or apply a text (`apply`)."""
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
