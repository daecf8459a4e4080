"""Access to a session: keys with read or edit rights, and commands sent from a past step."""

from collections.abc import Awaitable, Callable, Coroutine
from functools import wraps
from typing import Any, get_args

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils.crypto import salted_hmac
from django.views.decorators.http import require_http_methods

from playground.common.addresses import client_name
from playground.sessions.limits import vouch
from playground.sessions.protocol.errors import PastPosition, SessionError
from playground.sessions.recent import remember
from playground.sessions.web.client import Past, SessionClient
from playground.views.responses import go, problem, question, say_forked

View = Callable[..., Coroutine[Any, Any, HttpResponseBase]]


def opens(*methods: str, unasked: Past = "ask") -> Callable[[View], View]:
    """Wrap a view with these methods, which gets the SessionClient of its key. A session's error becomes an error page.

    `unasked`: the treatment of a command from a past step if its form does not specify one. With "fork", the command is applied in a new
    fork; the fork's studio reports that, and links to the newest step.
    """

    def wrap(view: View) -> View:
        @require_http_methods(list(methods))
        @wraps(view)
        async def inner(request: HttpRequest, key: str, **rest: Any) -> HttpResponseBase:
            try:
                client = await SessionClient.open(key, chosen(request, unasked))
                vouch(scope_of(request), f"session {client.session.pk}")
                return await _redirect_after_answer(request, client, await view(request, client, **rest))
            except PastPosition as error:
                return question(request, error, key)
            except SessionError as error:
                return problem(request, error, key)

        return inner

    return wrap


def opens_with(find: Callable[[HttpRequest, str], Awaitable[Any]], *methods: str) -> Callable[[View], View]:
    """Wrap a view with these methods, which gets the result of `find` for its key. A session's error becomes an error page."""

    def wrap(view: View) -> View:
        @require_http_methods(list(methods))
        @wraps(view)
        async def inner(request: HttpRequest, key: str, **rest: Any) -> HttpResponseBase:
            try:
                return await view(request, await find(request, key), **rest)
            except SessionError as error:
                return problem(request, error)

        return inner

    return wrap


def chosen(request: HttpRequest, unasked: Past = "ask") -> Past:
    """Return a form's choice for a command on a past step: `unasked`, or the answer to the question."""
    past: dict[str, Past] = {answer: answer for answer in get_args(Past)}
    return past.get(request.POST.get("past", ""), unasked)


async def _redirect_after_answer(
    request: HttpRequest, client: SessionClient, response: HttpResponseBase
) -> HttpResponseBase:
    """After an answered question, redirect to the studio of the fork, or to the newest step."""
    target = client.landed
    if target is None or client.past == "ask" or (target is client and "past" not in request.POST):
        return response
    if target is not client:
        await remember(request, target.key)
        if "past" not in request.POST:
            say_forked(request, client, target)
    studio = reverse("studio", args=[target.key])
    there = response.headers.get("HX-Redirect") or response.headers.get("Location", "")
    return response if there.startswith(studio + "?") else go(request, studio)


def edits(*methods: str) -> Callable[[View], View]:
    """Wrap a view that changes the session like `opens`: a view link gets NotAllowed before anything is read."""

    def wrap(view: View) -> View:
        @opens(*methods)
        @wraps(view)
        async def inner(request: HttpRequest, client: SessionClient, **rest: Any) -> HttpResponseBase:
            client.require_edit()
            return await view(request, client, **rest)

        return inner

    return wrap


def scope_of(request: HttpRequest) -> dict[str, Any]:
    """Return the ASGI scope of a request, or {} for a request that a test has built."""
    return getattr(request, "scope", {})


def creator(request: HttpRequest) -> str:
    """Return the client that creates sessions, for the limits per client."""
    return client_name(str(request.META.get("REMOTE_ADDR", "")))


def author(request: HttpRequest) -> str:
    """Return a hash that identifies the requesting browser, to count its requests."""
    who = request.session.session_key or str(request.META.get("REMOTE_ADDR", ""))
    return str(salted_hmac("playground.author", who).hexdigest())
