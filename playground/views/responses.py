"""Responses of the workbench: a room's page, a problem, a question, or another page."""

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypedDict, cast
from urllib.parse import urlencode

from django.conf import settings
from django.contrib import messages
from django.contrib.sessions.exceptions import SessionInterrupted
from django.contrib.sessions.middleware import SessionMiddleware
from django.core.exceptions import BadRequest, SuspiciousOperation
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.middleware.csrf import get_token
from django.shortcuts import render
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django_htmx.http import HttpResponseClientRedirect
from django_htmx.middleware import HtmxDetails

from playground.presenters.problems import describe_note
from playground.presenters.words import format_message
from playground.sessions.database.asking import FAILURES, ask, unavailable
from playground.sessions.protocol import errors
from playground.sessions.web.client import DialogueResult, SessionClient
from playground.sessions.web.messages import Ended, Error, Idle, Searched
from playground.storage.postgresql.outage import impatient

# After these errors, a command's form is shown again as filled in; others get their own page (problem).
FORM_ERRORS = (errors.CommandRefused, errors.LimitReached, errors.Conflict)
MOST_NOTES = 5
MOST_ADDRESS = 4000
MOST_SEED = 2**31 - 1
# Fields that a page adds to every form.
OURS = ("csrfmiddlewaretoken", "past")


class ServerError(errors.SessionError):
    """An internal error of the server."""

    kind = "broken"
    status = 500
    unchanged = False


class HtmxRequest(HttpRequest):
    """A request with the attribute of django-htmx's middleware."""

    htmx: HtmxDetails


def by_htmx(request: HttpRequest) -> bool:
    """Return whether a script of the page sent the request and expects a fragment."""
    return bool(cast(HtmxRequest, request).htmx)


def question(request: HttpRequest, in_past: errors.PastPosition, key: str) -> HttpResponse:
    """Ask whether the form just sent is meant for a fork or for the newest step. The answer sends its fields again."""
    context = {"in_past": in_past, "fields": list_form_fields(request), "key": key, "base": base_of(request)}
    response = render(request, "playground/past.html", context, status=in_past.status)
    response["X-Asks"] = "past"  # static/playground/js/workbench.js shows it in the drawer
    return response


def problem(request: HttpRequest, error: errors.SessionError, key: str = "") -> HttpResponse:
    """Show an error and its remedy on a page, or in a drawer, and return the sent fields."""
    if isinstance(error, errors.Unavailable):
        return come_again(request, error)
    context = {"error": error, "key": key, "base": base_of(request), "fields": list_form_fields(request)}
    context["again"] = not isinstance(error, errors.SessionGone | errors.NotAllowed)
    return set_retry_after(render(request, "playground/problem.html", context, status=error.status), error)


def reject_form(
    request: HttpRequest, client: SessionClient, room: str, error: errors.SessionError, context: dict[str, Any]
) -> HttpResponse:
    """Show the room of a rejected form again, with the fields as sent."""
    response = set_retry_after(workbench(request, client, room, context, error.status), error)
    response["X-Form"] = "back"  # workbench.js shows it with any status
    return response


def set_retry_after(response: HttpResponse, error: errors.SessionError) -> HttpResponse:
    """Set the Retry-After header of a response if the error has a time."""
    if error.retry_after is not None:
        response["Retry-After"] = str(error.retry_after)
    return response


def list_form_fields(request: HttpRequest) -> list[tuple[str, str]]:
    """Return the fields of the form just sent, or none if it can't be read."""
    try:
        lists = list(request.POST.lists())
    except (BadRequest, SuspiciousOperation, OSError):
        return []
    return [(name, value) for name, values in lists if name not in OURS for value in values]


def come_again(request: HttpRequest, error: errors.Unavailable) -> HttpResponse:
    """Show a page that needs neither the database nor the browser's session. After a GET, the page reloads itself."""
    context = {
        "error": error,
        "base": base_of(request),
        "request": request,
        "csrf_token": get_token(request),
        "fields": list_form_fields(request),
        "again": True,
        "reloads": request.method == "GET" and not by_htmx(request),
    }
    page = render_to_string("playground/unavailable.html", context)
    return set_retry_after(HttpResponse(page, status=error.status), error)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Report an address without a page."""
    return problem(request, errors.SessionGone(_("Nothing exists at this address.")))


def not_understood(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Report a request that Django rejects, such as for a host that is not served here."""
    return problem(
        request,
        errors.SessionError(_("The server cannot handle this request: %(why)s") % {"why": str(exception)[:200]}),
    )


def not_from_here(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Report a form from another server's page, or from an outdated page."""
    text = _(
        "This form is from an outdated page or from another server, or the browser blocks cookies. Open the "
        "page again and send the form from there."
    )
    return problem(request, errors.NotAllowed(text))


def report_failure(request: HttpRequest) -> HttpResponse:
    """Report an internal error, which is in the log. A change may or may not have been made, but never in part."""
    return problem(
        request,
        ServerError(_("The server had an error. Its log has the details. Check the session before you try again.")),
    )


def in_drawer(request: HttpRequest) -> bool:
    """Return whether the page is shown in the studio's drawer, not on its own."""
    return "X-Drawer" in request.headers


def base_of(request: HttpRequest) -> str:
    """Return the base template of the workbench: an empty one in a drawer, else the whole page."""
    return "playground/fragment.html" if in_drawer(request) else "playground/base.html"


def whole_number(text: str, digits: int) -> int | None:
    """Return the number in a text of at most so many decimal digits, from an address or a form; None for any other text."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= digits else None


def seed_of(text: str) -> int | None:
    """Return the seed in a text, or None if the text is empty. Raise SessionError if the seed is invalid."""
    text = text.strip()
    seed = whole_number(text, len(str(MOST_SEED)))
    if text and (seed is None or seed > MOST_SEED):
        raise errors.SessionError(
            _("The seed “%(seed)s” is not a whole number from 0 to %(most)d.") % {"seed": text[:40], "most": MOST_SEED}
        )
    return seed


def position(request: HttpRequest) -> int | None:
    """Return the viewer's position, from `at`; None follows the head."""
    return whole_number(request.POST.get("at") or request.GET.get("at") or "", 15)


class SessionContext(TypedDict):
    """The context that all pages of a session share. `client` and `session` are Any: their types do not matter to the templates' checks."""

    client: Any
    session: Any
    key: str
    studio: str
    base: str
    drawer: bool


def describe_session(request: HttpRequest, client: SessionClient) -> SessionContext:
    """Return the context that all pages of a session share."""
    return {
        "client": client,
        "session": client.session,
        "key": client.key,
        "studio": reverse("studio", args=[client.key]),
        "base": base_of(request),
        "drawer": in_drawer(request),
    }


async def stands_still(request: HttpRequest, client: SessionClient) -> bool:
    """Return whether a script requests updates of a page, and nothing has changed since the step `seen`."""
    return by_htmx(request) and position(request) is None and request.GET.get("seen") == str(await client.head())


def workbench(
    request: HttpRequest, client: SessionClient, room: str, context: dict[str, Any], status: int = 200
) -> HttpResponse:
    """Render one room of the workbench: `records/page` is that template of the room `records`, and `yaml` is playground/yaml.html.

    Htmx swaps forms with errors too, so their status stays honest.
    """
    shared = {
        **describe_session(request, client),
        "room": room.partition("/")[0],
        "at": position(request),
        "most_bytes": settings.MAX_UPLOAD_BYTES,
        "most_file_bytes": settings.MAX_IMPORT_BYTES,
        "large_bytes": settings.LARGE_IMPORT_BYTES,
    }
    template = room if "/" in room else f"playground/{room}"
    return render(request, f"{template}.html", {**shared, **context}, status=status)


def say(request: HttpRequest, heard: DialogueResult) -> None:
    """Add the messages that a socket would have received to the next page."""
    for message in heard.messages:
        if isinstance(message, Error):
            messages.error(request, message.message)
        elif isinstance(message, Idle | Ended | Searched):
            messages.success(request, message.message)


def warn(request: HttpRequest, notes: Sequence[str]) -> None:
    """Add notes on applied objects to the next page, such as on a workload without pods."""
    for note in notes[:MOST_NOTES]:
        messages.warning(request, format_message(describe_note(note), _))
    if (more := len(notes) - MOST_NOTES) > 0:
        text = ngettext("and %(count)d more note", "and %(count)d more notes", more)
        messages.warning(request, text % {"count": more})


def say_forked(request: HttpRequest, client: SessionClient, fork: SessionClient) -> None:
    """Add a message that a command was applied in a fork, with a link to the form for the newest step, filled in as sent."""
    fields = urlencode([(name, value) for name, value in list_form_fields(request) if name != "at"])
    form = f"{request.path}?{fields}"
    text = _("You were viewing step %(at)s, so the change was made in a fork from there.")
    said = text % {"at": fork.session.origin_position}
    instead = _("Go to the newest step instead")
    url = form if len(form) < MOST_ADDRESS else reverse("studio", args=[client.key])
    messages.success(request, format_html('{} <a href="{}">{}</a>', said, url, instead))


def confirm_command(request: HttpRequest, client: SessionClient, said: str, page: str) -> HttpResponse:
    """After a command, add a message and redirect to `page` (a URL's name). A fork opens in its own studio (access.opens)."""
    messages.success(request, said)
    return HttpResponseRedirect(reverse(page, args=[client.key]))


def attach(content: bytes | str, content_type: str, filename: str) -> HttpResponse:
    """Return a file that the browser keeps under this name."""
    headers = {"Content-Disposition": f'attachment; filename="{filename}"'}
    return HttpResponse(content, content_type=content_type, headers=headers)


def go(request: HttpRequest, url: str) -> HttpResponse:
    """Redirect to another page, also from a drawer."""
    return HttpResponseClientRedirect(url) if by_htmx(request) else HttpResponseRedirect(url)


# One page of a long list.


@dataclass(frozen=True)
class Page:
    """One page of rows. `total` counts all rows; `number` is the page's, from 1; `first` and `last` are row numbers, from 1."""

    rows: Sequence[Any]
    number: int
    pages: int
    total: int
    first: int

    @property
    def last(self) -> int:
        return self.first + len(self.rows) - 1

    @property
    def previous(self) -> int | None:
        return self.number - 1 if self.number > 1 else None

    @property
    def following(self) -> int | None:
        return self.number + 1 if self.number < self.pages else None


def page_of(rows: Sequence[Any], wanted: str, size: int) -> Page:
    """Return the requested page, or the nearest existing one."""
    pages = max(1, -(-len(rows) // size))
    number = min(max(whole_number(wanted, 9) or 1, 1), pages)
    start = (number - 1) * size
    return Page(rows[start : start + size], number, pages, len(rows), start + 1 if rows else 0)


class Sessions(SessionMiddleware):
    """Django's session middleware. It also handles database failures of all views."""

    def process_request(self, request: HttpRequest) -> None:
        """Ignore session cookies that this server can't have set: not every database accepts the character 0."""
        if "\0" in request.COOKIES.get(settings.SESSION_COOKIE_NAME, ""):
            del request.COOKIES[settings.SESSION_COOKIE_NAME]
        super().process_request(request)

    def process_response(self, request: HttpRequest, response: HttpResponse) -> HttpResponse:
        """Save the browser's session without waiting. If that fails, its list of recent sessions is not updated."""
        session = getattr(request, "session", None)
        if session is None or not session.modified:  # nothing to write, so the database is not needed
            return super().process_response(request, response)
        with contextlib.suppress(errors.Unavailable, SessionInterrupted), impatient():
            return ask(super().process_response, request, response)
        return response

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        """Handle a failed database or service that no view caught; return None for other exceptions."""
        if isinstance(exception, errors.Unavailable):
            return come_again(request, exception)
        return come_again(request, unavailable(exception)) if isinstance(exception, FAILURES) else None
