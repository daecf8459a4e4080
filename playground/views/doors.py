"""How the workbench's pages open a session, and how they say what went wrong."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import wraps
from typing import Any, get_args

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext as _
from django_htmx.http import HttpResponseClientRedirect

from playground.recent import remember
from playground.sessions.protocol.errors import InThePast, SessionError, SessionGone
from playground.sessions.web.client import Heard, Past, SessionClient
from playground.sessions.web.messages import Ended, Error, Idle, Searched

View = Callable[..., Awaitable[HttpResponse]]


def opens(view: View) -> View:
    """The view gets the SessionClient of its key; a session's error becomes a page that says so."""

    @wraps(view)
    async def inner(request: HttpRequest, key: str, **rest: Any) -> HttpResponse:
        try:
            client = await SessionClient.open(key, chosen(request))
            return await _landed(request, client, await view(request, client, **rest))
        except InThePast as error:
            return question(request, error, key)
        except SessionError as error:
            return problem(request, error, key)

    return inner


def chosen(request: HttpRequest) -> Past:
    """What a form says of a command for a step that is past: nothing, so that it is asked, or a button of the question."""
    given = request.POST.get("past", "")
    return given if given in get_args(Past) else "ask"  # type: ignore[return-value]


def question(request: HttpRequest, asked: InThePast, key: str) -> HttpResponse:
    """Ask whether the form just sent is meant for a fork or for the newest step; its fields are sent again with the answer."""
    fields = [
        (name, value)
        for name, values in request.POST.lists()
        if name not in ("csrfmiddlewaretoken", "past")
        for value in values
    ]
    context = {"asked": asked, "fields": fields, "key": key, "base": base_of(request)}
    response = render(request, "playground/past.html", context, status=asked.status)
    response["X-Asks"] = "past"  # static/playground/js/workbench.js shows it in the drawer
    return response


async def _landed(request: HttpRequest, client: SessionClient, response: HttpResponse) -> HttpResponse:
    """After the question was answered: on to the studio of the fork, or to the newest step."""
    target = client.landed
    if target is None or client.past == "ask":
        return response
    if target is not client:
        await remember(request, target.key)
    studio = reverse("studio", args=[target.key])
    there = response.headers.get("HX-Redirect") or response.headers.get("Location", "")
    return response if there.startswith(studio + "?") else go(request, studio)


def edits(view: View) -> View:
    """As `opens`, for views that change the session: a view link gets NotAllowed before anything is read."""

    @opens
    @wraps(view)
    async def inner(request: HttpRequest, client: SessionClient, **rest: Any) -> HttpResponse:
        client.require_edit()
        return await view(request, client, **rest)

    return inner


def problem(request: HttpRequest, error: SessionError, key: str = "") -> HttpResponse:
    """A page, or a fragment in a drawer, that says what is wrong and what to do."""
    context = {"error": error, "key": key, "base": base_of(request)}
    return render(request, "playground/problem.html", context, status=error.status)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """An address that leads nowhere."""
    return problem(request, SessionGone(_("There is nothing at this address.")))


def in_drawer(request: HttpRequest) -> bool:
    """Whether the page is shown in the studio's drawer, not on its own."""
    return "X-Drawer" in request.headers


def author(request: HttpRequest) -> str:
    """Whose browser asks, as far as that is needed to count what it asks for."""
    who = request.session.session_key or str(request.META.get("REMOTE_ADDR", ""))
    return str(salted_hmac("playground.author", who).hexdigest())


def base_of(request: HttpRequest) -> str:
    """The template around the workbench: nothing in a drawer, the whole page elsewhere."""
    return "playground/fragment.html" if in_drawer(request) else "playground/base.html"


def position(request: HttpRequest) -> int | None:
    """Where the viewer stands, from `at`; None follows the head."""
    text = request.POST.get("at") or request.GET.get("at") or ""
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 16 else None


def workbench(
    request: HttpRequest, client: SessionClient, room: str, context: dict[str, Any], status: int = 200
) -> HttpResponse:
    """Render one room of the workbench. Htmx swaps forms with errors too, so their status stays honest."""
    shared = {
        "client": client,
        "session": client.session,
        "key": client.key,
        "room": room,
        "at": position(request),
        "base": base_of(request),
        "drawer": in_drawer(request),
    }
    return render(request, f"playground/{room}.html", {**shared, **context}, status=status)


def say(request: HttpRequest, heard: Heard) -> None:
    """What a socket would have been told, as messages on the next page."""
    for message in heard.messages:
        if isinstance(message, Error):
            messages.error(request, message.message)
        elif isinstance(message, Idle | Ended | Searched):
            messages.success(request, message.message)


def done(request: HttpRequest, client: SessionClient, said: str, page: str) -> HttpResponse:
    """After a command: say what was done and show `page` (a URL's name) again; a fork opens in its own studio (`opens`)."""
    messages.success(request, said)
    return HttpResponseRedirect(reverse(page, args=[client.key]))


def go(request: HttpRequest, url: str) -> HttpResponse:
    """Leave for another page, out of a drawer too."""
    return HttpResponseClientRedirect(url) if request.htmx else HttpResponseRedirect(url)  # type: ignore[attr-defined]
