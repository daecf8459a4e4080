"""Middleware of all pages: refuses unreadable requests with a message, and adapts responses to browsers and proxies."""

import codecs
import logging
from collections.abc import Awaitable, Callable

from asgiref.sync import sync_to_async
from django.conf import settings
from django.core.exceptions import BadRequest, DisallowedHost, RequestDataTooBig, SuspiciousOperation
from django.http import HttpRequest, HttpResponse, QueryDict
from django.http.multipartparser import MultiPartParserError
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils.decorators import async_only_middleware
from django.utils.log import log_response
from django.utils.translation import gettext as _

from playground.common.addresses import read_address
from playground.sessions.protocol.errors import SessionError, SessionGone
from playground.views.responses import not_understood, problem
from playground.views.site import healthz, metrics

log = logging.getLogger(__name__)

GetResponse = Callable[[HttpRequest], Awaitable[HttpResponseBase]]

NUL = "\0"
# A text that is parsed says itself what is wrong in it, and in which line.
PARSED = ("text",)
ENCODINGS = ("utf-8", "ascii")
# Headers that lead to an address; and its longest, in characters: with the other headers it fits into the 4 KiB that proxies keep.
LEADING = ("Location", "HX-Redirect")
MOST_ADDRESS = 2000
MOST_HOST = 200


class UnreadableBody(SessionError):
    """The body of a request is not a valid form."""

    kind = "unreadable"


class NotUtf8(UnreadableBody):
    """It is written in another encoding."""

    status = 415


class TooLarge(UnreadableBody):
    """The body of a request exceeds the limit."""

    status = 413


@async_only_middleware
def heads(get_response: GetResponse) -> GetResponse:
    """Answer HEAD wherever GET is answered: the same status and headers, without the body (RFC 9110)."""

    async def middleware(request: HttpRequest) -> HttpResponseBase:
        is_head = request.method == "HEAD"
        if is_head:
            request.method = request.META["REQUEST_METHOD"] = "GET"
        response = await get_response(request)
        allowed = response.headers.get("Allow", "").split(", ")
        if "GET" in allowed and "HEAD" not in allowed:
            response.headers["Allow"] = ", ".join((*allowed, "HEAD"))
        return _without_body(response) if is_head else response

    return middleware


def _without_body(response: HttpResponseBase) -> HttpResponseBase:
    """Return the response without its body. The headers stay unchanged, including the length."""
    bare = HttpResponse(status=response.status_code, headers=response.headers)
    bare.cookies = response.cookies
    response.close()
    return bare


@async_only_middleware
def probes(get_response: GetResponse) -> GetResponse:
    """Answer probes and monitors before any check of the host, because they use any address of the server.

    Metrics are served only under IP addresses: a name could belong to another site that sends a browser of this machine here.
    """

    async def middleware(request: HttpRequest) -> HttpResponseBase:
        if request.path_info == reverse("healthz"):
            return await healthz(request)
        if request.path_info == reverse("server-metrics") and read_address(request.META.get("HTTP_HOST", "")):
            return await metrics(request)
        return await get_response(request)

    return middleware


@async_only_middleware
def reject_unknown_hosts(get_response: GetResponse) -> GetResponse:
    """Reject requests for unknown hosts. Anyone can send these, so each is worth only one log line."""

    async def middleware(request: HttpRequest) -> HttpResponseBase:
        try:
            request.get_host()
        except DisallowedHost as error:
            response = await sync_to_async(not_understood, thread_sensitive=False)(request, error)
            host = request.META.get("HTTP_HOST", "")[:MOST_HOST]
            log_response("The host %s is not in ALLOWED_HOSTS", host, response=response, request=request, logger=log)
            return response
        return await get_response(request)

    return middleware


@async_only_middleware
def readable_forms(get_response: GetResponse) -> GetResponse:
    """Reject forms that can't be parsed."""

    async def middleware(request: HttpRequest) -> HttpResponseBase:
        if request.method == "POST" and (
            refused := await sync_to_async(_reject_unreadable, thread_sensitive=False)(request)
        ):
            return refused
        return await get_response(request)

    return middleware


def _reject_unreadable(request: HttpRequest) -> HttpResponse | None:
    try:
        _require_utf8(request)
        _require_readable(request)
        # Not every database takes that character.
        for name, values in request.POST.lists():
            if NUL in name or (name not in PARSED and any(NUL in value for value in values)):
                raise UnreadableBody(
                    _(
                        "The field “%(name)s” contains a NUL character, which is not allowed. Remove it and send the form "
                        "again."
                    )
                    % {"name": name.replace(NUL, "")[:40]}
                )
    except UnreadableBody as error:
        return problem(request, error)
    return None


def _require_utf8(request: HttpRequest) -> None:
    name = (request.content_params or {}).get("charset")
    if name is None:
        return
    try:
        known = codecs.lookup(name).name in ENCODINGS
    except (LookupError, ValueError):
        known = False
    if not known:
        request.POST = QueryDict()
        raise NotUtf8(_("“%(name)s” must be UTF-8 text. Send it again as UTF-8.") % {"name": name[:40]})
    request.encoding = "utf-8"  # by whatever name it was called


def _require_readable(request: HttpRequest) -> None:
    """Parse the form, which later code reuses. Raise SessionError if that fails."""
    try:
        _form = request.POST
    except RequestDataTooBig:
        request.POST = QueryDict()
        most = f"{settings.MAX_UPLOAD_BYTES:,}"
        raise TooLarge(_("The form is larger than the limit of %(most)s bytes.") % {"most": most}) from None
    except (SuspiciousOperation, BadRequest, MultiPartParserError, LookupError, ValueError, OSError) as error:
        request.POST = QueryDict()
        raise UnreadableBody(
            _("The form can't be read: %(why)s") % {"why": str(error)[:200] or type(error).__name__}
        ) from None


@async_only_middleware
def short_redirects(get_response: GetResponse) -> GetResponse:
    """Shorten redirects to addresses that browsers and proxies would reject: drop the query, else answer that nothing exists there."""

    async def middleware(request: HttpRequest) -> HttpResponseBase:
        response = await get_response(request)
        for header in LEADING:
            address = response.headers.get(header, "")
            if len(address) > MOST_ADDRESS:
                response.headers[header] = address = address.partition("?")[0]
            if len(address) > MOST_ADDRESS:
                return await sync_to_async(problem, thread_sensitive=False)(
                    request, SessionGone(_("Nothing exists at this address."))
                )
        return response

    return middleware


@async_only_middleware
def secure_cookies(get_response: GetResponse) -> GetResponse:
    """Mark cookies of https responses as secure, so that no plain connection sends them."""

    async def middleware(request: HttpRequest) -> HttpResponseBase:
        response = await get_response(request)
        if request.is_secure():
            for cookie in response.cookies.values():
                cookie["secure"] = True
        return response

    return middleware


@async_only_middleware
def never_stored(get_response: GetResponse) -> GetResponse:
    """Forbid caching, because addresses and pages contain keys of sessions."""

    async def middleware(request: HttpRequest) -> HttpResponseBase:
        response = await get_response(request)
        response.headers.setdefault("Cache-Control", "no-store")
        return response

    return middleware
