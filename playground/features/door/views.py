"""A session as a Kubernetes API server over HTTP. The only place of content negotiation."""

import asyncio
import hashlib
import re
import secrets
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import UTC, datetime
from functools import partial
from http import HTTPStatus
from typing import Any, ClassVar

import msgspec
from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.views.decorators.csrf import csrf_exempt

from playground.common.kubeconfig import write_kubeconfig
from playground.common.logs import DOOR, SESSION
from playground.presenters.look import Look
from playground.sessions.limits import vouch
from playground.sessions.protocol.comparing import DropTask
from playground.sessions.protocol.errors import LimitReached, NotAllowed, SessionError, SessionGone
from playground.sessions.protocol.moving import ApiAnswer, APIWrite, BeginWatch, Read, ReadOn, StartedWatch
from playground.sessions.web.client import SessionClient
from playground.sessions.web.consumers import Outbox
from playground.sessions.web.live import LiveSession
from playground.sessions.web.runtime import runtime
from playground.views.access import edits, opens, scope_of
from playground.views.responses import attach
from scheduler_core.apiserver.door import JSON, Call, Failure, changes_nothing, impersonate, is_on
from scheduler_core.world.commands import BeginLife

WRITES = ("POST", "PUT", "PATCH", "DELETE")
BOOKMARK = 60.0  # seconds
LAST_BOOKMARK = 2.0  # seconds before the end
LONGEST_WATCH = 3600.0
_NO_VERSION = b'"resourceVersion":"0"'
MOST_EARLY = 16 << 20  # bytes that a watch buffers while its initial objects are sent
REMEMBERED, MOST_REMEMBERED = 1.0, 1000  # seconds, keys
_PROTOBUF = "application/vnd.kubernetes.protobuf"
_NOT_ACCEPTABLE = f"406: Not Acceptable\n\nAvailable representations: {JSON}, application/yaml, {_PROTOBUF}"
_FORMS = {"Table": "table", "PartialObjectMetadata": "metadata", "PartialObjectMetadataList": "metadata"}
_OBJECT: Any = "object"
_TYPED = (JSON, "*/*", "application/*", _PROTOBUF)


@csrf_exempt
async def door(request: HttpRequest, key: str, path: str = "") -> HttpResponseBase:
    """Answer a request to the API server of a session."""
    try:
        response = await _serve(request, key, path)
    except Failure as failure:
        response = _fail(failure)
    except SessionError as error:
        response = _fail(_failure_of(error))
    response.headers["X-Content-Type-Options"] = "nosniff"
    DOOR.labels(request.method, _kind_of(path), str(response.status_code)).inc()
    return response


def _kind_of(path: str) -> str:
    """Return the resource of a path for the metrics. Clients can't create metrics, so unknown paths are "other"."""
    found = re.search(r"/([a-z]{3,40})(?:/[^/]*)?(?:/[a-z]+)?/?$", f"/{path}")
    return found[1] if found and path.startswith(("api/v1/", "apis/")) else "other"


def _failure_of(error: SessionError) -> Failure:
    if isinstance(error, SessionGone):
        return Failure(401, "Unauthorized", "Unauthorized")
    if isinstance(error, NotAllowed):
        return Failure(403, "Forbidden", "this link only reads: its key may not change anything", {})
    if isinstance(error, LimitReached):
        return Failure(429, "TooManyRequests", str(error), {"retryAfterSeconds": 1})
    reason = {404: "NotFound", 409: "Conflict", 410: "Expired", 503: "ServiceUnavailable"}.get(error.status, "")
    return Failure(error.status if error.status < HTTPStatus.INTERNAL_SERVER_ERROR else 503, reason, str(error))


def _fail(failure: Failure) -> HttpResponse:
    reply = failure.reply
    return HttpResponse(reply.data, status=reply.status, content_type=reply.content_type, headers=dict(reply.headers))


_opened: dict[str, tuple[SessionClient, float]] = {}


async def _open(key: str) -> SessionClient:
    """Return the session of a key. Clients send many requests, so a lookup is kept for REMEMBERED seconds.

    The engine detects the deletion of the session in the meantime. Expired links and other server processes are always checked.
    """
    client, since = _opened.get(key, (None, 0.0))
    if client is None or time.monotonic() - since > REMEMBERED:
        if client is not None:
            _opened[key] = client, time.monotonic()  # other requests use it during this lookup
        try:
            client = await SessionClient.open(key)
        except SessionError:
            _opened.pop(key, None)
            raise
        if len(_opened) >= MOST_REMEMBERED:
            _opened.clear()
        if not client.link and not settings.REDIS_URL:
            _opened[key] = client, time.monotonic()
    SESSION.set(client.session.pk)
    return client


async def _serve(request: HttpRequest, key: str, path: str) -> HttpResponseBase:
    client = await _open(key)
    vouch(scope_of(request), f"session {client.session.pk}")
    if request.META.get("HTTP_UPGRADE", "").lower().startswith("spdy"):
        request.method = "GET"  # kubectl requests streams like this; none are supported
    method, query = str(request.method), {name: request.GET[name] for name in request.GET}
    query = {name: value for name, value in query.items() if name not in ("user", "groups", "uid")}
    if name := request.META.get("HTTP_IMPERSONATE_USER"):
        client.require_edit()
        groups = request.META.get("HTTP_IMPERSONATE_GROUP")
        query |= impersonate(name, groups.split(",") if groups else [], request.META.get("HTTP_IMPERSONATE_UID", ""))
    at = Look.from_query({"at": query.pop("at")}).at if "at" in query else None
    call = _negotiate(request, method, path, query)
    if method in WRITES:
        return await _write(request, client, call, at)
    if method != "GET":
        raise Failure(405, "MethodNotAllowed", "the server does not allow this method on the requested resource", {})
    named = call.path.split("/")[2:3] == ["watch"] or "/watch/" in call.path[:60]
    if named or is_on(call.query, "watch"):
        return await _watch(request, client, call)
    read = Read(at=at, call=call, token=secrets.token_hex(8))
    answered = await client.on_loop(lambda live: _read(live, read))
    if not answered.more:
        return _respond(request, answered)
    if request.GET.get("pretty") in ("true", "1"):
        whole = b"".join([part async for part in LongAnswer(client, read.token, answered, None)])
        return _respond(request, msgspec.structs.replace(answered, body=whole))
    return _respond(request, answered, LongAnswer(client, read.token, answered, scope_of(request).get("visit")))


class LongAnswer:
    """The rest of a long answer. Each part is built after the connection has sent the previous parts."""

    def __init__(self, client: SessionClient, token: str, first: ApiAnswer, visit: Any) -> None:
        self._client, self._token, self._last, self._visit = client, token, first, visit

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield self._last.body
        while self._last.more and (self._visit is None or await self._visit.drained()):
            try:
                self._last = await self._client.check(ReadOn(token=self._token))
            except SessionError:
                if self._visit is None:
                    raise
                self._visit.abortConnection()  # without the last chunk, a client knows that the answer was cut off
                return
            yield self._last.body

    def close(self) -> None:
        """Drop the answer because the client no longer reads it."""
        if self._last.more:
            runtime().services.loop.post(lambda: self._client.live().notify(DropTask(token=self._token)))


async def _read(live: LiveSession, read: Read) -> ApiAnswer:
    """Read the head, or the past. A live session that slept first catches up with the clock."""
    if read.at is not None:
        return await live.ask(read)
    slept, answered = live.driver is None, await live.ask_at_head(read)
    if answered.live:
        await live.go_live()
        answered = await live.ask_at_head(read) if slept else answered
    return answered


async def _go_on(client: SessionClient, live: bool) -> None:
    """Let a live session follow the clock from its first request."""
    if live:
        await client.on_loop(LiveSession.go_live)


def _negotiate(request: HttpRequest, method: str, path: str, query: dict[str, str]) -> Call:
    """Return the call, with the format of the response that the client accepts. Failure: 406."""
    accept = request.META.get("HTTP_ACCEPT") or JSON
    form, known, aggregated = _OBJECT, False, False
    for each in accept.split(","):
        type_, *parameters = (part.strip() for part in each.split(";"))
        wanted = dict(part.split("=", 1) for part in parameters if "=" in part)
        if type_ not in (*_TYPED, "application/yaml"):
            continue
        as_ = wanted.get("as", "")
        if as_ == "APIGroupDiscoveryList":
            aggregated = aggregated or wanted.get("v") == "v2"
        elif as_ and as_ not in _FORMS:
            continue
        elif not known and path.startswith(("api/", "apis/")):
            form = _FORMS.get(as_, "object")
        known = True
        if as_:
            continue
    if not known and path.startswith(("api", "apis")):
        raise Failure(406, "NotAcceptable", _NOT_ACCEPTABLE, {})
    prefix, address = request.path.removesuffix(path).rstrip("/"), request.META.get("HTTP_HOST", "")[:200]
    if request.META.get("HTTP_X_DOOR") == "root":
        prefix = ""
    as_yaml = accept.split(";")[0].split(",")[0].strip() == "application/yaml"
    protobuf = "proto-openapi.spec.v2" in accept
    return Call(method, f"/{path}", query, form, aggregated, as_yaml, protobuf, prefix, address)


def _respond(request: HttpRequest, answered: ApiAnswer, parts: LongAnswer | None = None) -> HttpResponseBase:
    body, content_type, headers = answered.body, answered.content_type, dict(answered.headers)
    if warnings := [value for name, value in answered.headers if name == "Warning"]:
        headers["Warning"] = ", ".join(warnings)
    if request.GET.get("pretty") in ("true", "1") and content_type == JSON:
        body = msgspec.json.format(body, indent=2)
    if "as=APIGroupDiscoveryList" in content_type or "/openapi/" in request.path:
        digest = hashlib.sha256(body).hexdigest().upper()
        # The index of /openapi/v3 links documents by their hash, so these never change.
        keeps = "private, immutable" if request.GET.get("hash") == digest else "private, no-cache"
        headers |= {"ETag": f'"{digest}"', "Vary": "Accept", "Cache-Control": keeps}
        if request.headers.get("If-None-Match") == headers["ETag"]:
            return HttpResponse(status=304, content_type=content_type, headers=headers)  # for caches
    response: Callable[..., HttpResponseBase] = HttpResponse if parts is None else StreamingHttpResponse
    return response(parts or body, status=answered.status, content_type=content_type, headers=headers)


async def _write(request: HttpRequest, client: SessionClient, call: Call, at: int | None) -> HttpResponseBase:
    reviews = changes_nothing(call) and "dryRun" not in call.query
    if not reviews:
        client.require_edit()
    elif not client.may_edit:
        call = msgspec.structs.replace(call, query={**call.query, "user": "viewer"})
    if at is not None:
        raise Failure(400, "BadRequest", "the past cannot be changed: leave out at=")
    product = request.META.get("HTTP_USER_AGENT", "").partition("/")[0][:60]
    agent = (request.META.get("HTTP_KUBECTL_COMMAND") or product or "a client")[:100]
    type_, manager, wall = (request.content_type or "").lower(), product or "unknown", time.time_ns()
    write = APIWrite(call=call, body=request.body, content_type=type_, agent=agent, manager=manager, wall=wall)

    async def serve(live: LiveSession) -> ApiAnswer:
        answered = await live.changes.serve(write)
        if answered.live:
            await live.go_live()
        return answered

    return _respond(request, await client.on_loop(serve))


# Watches


async def _watch(request: HttpRequest, client: SessionClient, call: Call) -> HttpResponseBase:
    path = call.path.replace("/watch/", "/", 1)
    query = {name: value for name, value in call.query.items() if name != "watch"}
    begin = BeginWatch(call=msgspec.structs.replace(call, path=path, query=query), token=secrets.token_hex(8))
    seconds = query.get("timeoutSeconds", "")
    longest = min(float(seconds), LONGEST_WATCH) if seconds.isdecimal() and len(seconds) < 8 else LONGEST_WATCH
    bookmarks = bool(is_on(query, "allowWatchBookmarks"))
    scope = scope_of(request)
    visit = scope.get("visit") if scope.get("http_version") == "1.1" else None  # others do not read chunks
    stream = Stream(client, begin, longest or LONGEST_WATCH, bookmarks, visit)
    begun = await stream.begin()
    if not begun.number:
        return HttpResponse(begun.first.body, status=begun.first.status, content_type=begun.first.content_type)
    await _go_on(client, begun.first.live)
    return stream


class Stream(StreamingHttpResponse):
    """One watch from its first event to its end. Events go from the outbox directly to the connection, without a task in between."""

    # The last part of any watch, and its frame: many watches see the same part, one after the other.
    _chunk: ClassVar[tuple[bytes, bytes]] = (b"", b"")

    def __init__(
        self, client: SessionClient, request: BeginWatch, longest: float, bookmarks: bool, visit: Any = None
    ) -> None:
        super().__init__(content_type=JSON)
        self._client, self._request, self._visit = client, request, visit
        self._end, self._bookmarks = time.monotonic() + longest, bookmarks
        self._outbox = Outbox.of_running_loop("watches")
        self._early, self._held = list[bytes](), 0
        self._send: Callable[[dict[str, Any]], Awaitable[None]] | None = None
        self._over: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    async def begin(self) -> StartedWatch:
        send = partial(self._outbox.put, self)
        self._begun = await self._client.on_loop(lambda live: live.watching.begin(self._request, send))
        self._first = LongAnswer(self._client, self._request.token, self._begun.first, self._visit)
        return self._begun

    async def deliver(self, part: bytes | None) -> None:
        """Send a part; None ends the watch."""
        if part is None:
            self._over.cancel()
        elif self._send is None:
            self._early.append(part)
            self._held += len(part)
            if self._held > MOST_EARLY and self._visit is not None:
                self._visit.abortConnection()
        elif self._visit is None:
            await self._send({"type": "http.response.body", "body": part, "more_body": True})
        elif part:
            if Stream._chunk[0] is not part:
                Stream._chunk = part, b"%x\r\n%b\r\n" % (len(part), part)
            self._visit.push(Stream._chunk[1])

    async def serve(self, gone: Awaitable[Any], send: Callable[[dict[str, Any]], Awaitable[None]]) -> None:
        """Send the events of the watch after the response's head until its timeout, or until its client is `gone`."""
        begun, ends = self._begun, {self._over, asyncio.ensure_future(gone)}
        try:
            async for part in self._first:
                await send({"type": "http.response.body", "body": part, "more_body": True})
            self._send, early, self._early = send, b"".join(self._early), []
            await self.deliver(early)
            while (left := self._end - time.monotonic()) > 0:
                soon = min(left - LAST_BOOKMARK if left > LAST_BOOKMARK else left, BOOKMARK)
                wait = soon if self._bookmarks else left
                done, _ = await asyncio.wait(ends, timeout=wait, return_when=asyncio.FIRST_COMPLETED)
                if done:
                    break
                version = await runtime().do(lambda: self._client.live().watching.version)
                if version and time.monotonic() < self._end:
                    await self.deliver(begun.mark.replace(_NO_VERSION, b'"resourceVersion":"%d"' % version))
                    await _go_on(self._client, begun.first.live)
            self._send = None
            await send({"type": "http.response.body"})
        finally:
            for end in ends:
                end.cancel()
            self.close()

    def close(self) -> None:
        """End the watch, whether or not it was served (HEAD)."""
        super().close()
        self._first.close()
        runtime().services.loop.begin_soon(lambda: self._client.live().watching.end(self._begun.number))


@edits("POST")
async def live(request: HttpRequest, client: SessionClient) -> HttpResponse:
    """Let the session follow real time (`live` 1), or stop it."""
    follows, now = request.POST.get("live") == "1", datetime.now(UTC).replace(microsecond=0)
    await client.apply(BeginLife(now.isoformat().replace("+00:00", "Z"), follows), source="actions")
    await _go_on(client, follows)
    return HttpResponseRedirect(reverse("session", args=[client.key]))


@opens("GET")
async def kubeconfig(request: HttpRequest, client: SessionClient) -> HttpResponse:
    """Return a kubeconfig for the session with this key."""
    server = request.build_absolute_uri(reverse("door", args=[client.key])).rstrip("/")
    name = f"playground-{client.session.pk}"
    return attach(write_kubeconfig(name, {"server": server}), "application/yaml", f"{name}.yaml")
