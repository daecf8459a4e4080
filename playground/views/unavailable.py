"""What is answered while the database is away: words, and after how many seconds to come again."""

import contextlib

from django.conf import settings
from django.contrib.sessions.exceptions import SessionInterrupted
from django.contrib.sessions.middleware import SessionMiddleware
from django.http import HttpRequest, HttpResponse

from playground.sessions.database.asking import FAILURES, ask, unavailable
from playground.sessions.protocol.errors import Unavailable
from playground.storage.postgresql.outage import impatient
from playground.views.responses import come_again


class Sessions(SessionMiddleware):
    """Django's, which asks the database for what a browser is known by; and the end of whatever else could not ask it."""

    def process_request(self, request: HttpRequest) -> None:
        """A cookie that no server of ours has set is none; not every database takes the character 0."""
        if "\0" in request.COOKIES.get(settings.SESSION_COOKIE_NAME, ""):
            del request.COOKIES[settings.SESSION_COOKIE_NAME]
        super().process_request(request)

    def process_response(self, request: HttpRequest, response: HttpResponse) -> HttpResponse:
        """Keep what a view has changed, without waiting. Where that can't be, a browser's list of recent sessions stays as it was."""
        session = getattr(request, "session", None)
        if session is None or not session.modified:  # nothing to write: the database is not asked
            return super().process_response(request, response)
        with contextlib.suppress(Unavailable, SessionInterrupted), impatient():
            return ask(super().process_response, request, response)
        return response

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        """Handle a failed database or service that no view caught; return None for other exceptions."""
        if isinstance(exception, Unavailable):
            return come_again(request, exception)
        return come_again(request, unavailable(exception)) if isinstance(exception, FAILURES) else None
