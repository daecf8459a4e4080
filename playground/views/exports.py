"""Ways out of a session and back in: its trace as JSON lines, the cluster as YAML, the check of a trace."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable

import orjson
from asgiref.sync import sync_to_async
from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.utils.html import escape
from django.utils.text import slugify
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from playground.presenters import Look
from playground.recent import remember
from playground.sessions.protocol.errors import SessionError
from playground.sessions.protocol.looking import AttemptEnds
from playground.sessions.web.client import SessionClient, check_trace
from playground.views.access import opens
from playground.views.offline.page import LOOK, MOST_STEPS, PANELS, Recording
from playground.views.responses import problem
from playground.views.session import creator
from scheduler_core import LATEST_EDITION
from scheduler_core.export import BROKEN_OFF

MOST = 2**31
BREATH = 50  # steps


@require_GET
@opens
async def trace(request: HttpRequest, client: SessionClient) -> StreamingHttpResponse:
    """The session as JSON lines (docs/trace.md); `first` and `last` ask for the full detail of these attempts."""
    first, last = _number(request, "first", 0), _number(request, "last", -1)
    lines = await _begun(client.trace((first, last)), _last_line)
    return _download(lines, "application/jsonl", client.session.name, "jsonl")


@require_GET
@opens
async def cluster(request: HttpRequest, client: SessionClient) -> StreamingHttpResponse:
    """The cluster's objects at a step: as they are, or (`for=kubectl`) as kubectl can apply them to another cluster."""
    plain = request.GET.get("for") == "kubectl"
    text = await _begun(client.cluster(Look.from_query(request.GET).at, plain), _last_comment)
    return _download(text, "application/yaml", client.session.name, "yaml")


@require_GET
@opens
async def replay(request: HttpRequest, client: SessionClient) -> StreamingHttpResponse:
    """Steps of the session as one HTML file that replays them offline: those of the attempts `first` to `last`, or the newest ones."""
    first, last = _number(request, "first", 1), _number(request, "last", MOST)
    steps = await _steps(client, first, last)
    page = await _begun(_recorded(client, steps), _last_tag)
    return _download(page, "text/html", client.session.name, "html")


async def _steps(client: SessionClient, first: int, last: int) -> range:
    """From the end of the attempt before the first to the end of the last one, or the head; of too many the latest."""
    head = await client.head()
    ends = [end.position for end in await client.ask(AttemptEnds(most=MOST))]
    begin = ends[min(first - 2, len(ends) - 1)] if first > 1 and ends else 0
    end = ends[last - 1] if 0 < last < len(ends) else head
    return range(max(begin, end - MOST_STEPS + 1, 0), end + 1)


async def _recorded(client: SessionClient, steps: range) -> AsyncIterator[bytes]:
    """The file. It is made as a whole; blank lines meanwhile say that it is still on its way."""
    recording = Recording(client.session.name)
    for position in steps:
        shown, _head = await client.view(LOOK.but(at=position), PANELS)
        await asyncio.to_thread(recording.add, position, shown.panels)
        if (position - steps.start) % BREATH == 0:
            yield b"\n" if position > steps.start else b"<!DOCTYPE html>\n"
    yield (await asyncio.to_thread(recording.page)).encode()


async def _begun(parts: AsyncIterator[bytes], last: Callable[[str], bytes]) -> AsyncIterator[bytes]:
    """The same parts; what goes wrong before the first one is raised now, while there can still be a page that says so.

    What goes wrong later ends the download early: its last words, in the file's own form, say that it is not whole, and why.
    """
    first = await anext(parts, b"")

    async def all_of_them() -> AsyncIterator[bytes]:
        yield first
        try:
            async for part in parts:
                yield part
        except SessionError as error:
            yield last(str(error))
            raise

    return all_of_them()


def _last_line(why: str) -> bytes:
    return orjson.dumps({"type": BROKEN_OFF, "message": why}, option=orjson.OPT_APPEND_NEWLINE)


def _last_comment(why: str) -> bytes:
    text = _("This file is not whole, its export broke off: %(why)s") % {"why": why}
    return f"\n# {' '.join(text.split())}\n".encode()


def _last_tag(why: str) -> bytes:
    text = _("This file is not whole, its export broke off: %(why)s") % {"why": why}
    return f"<p>{escape(text)}</p>".encode()


def _number(request: HttpRequest, name: str, default: int) -> int:
    text = request.GET.get(name, "")
    if not text:
        return default
    if not (text.isascii() and text.isdecimal()) or int(text[:12]) > MOST:
        raise SessionError(
            _("“%(name)s” must be an attempt's number; it is “%(text)s”.") % {"name": name, "text": text[:40]}
        )
    return int(text)


def _download(parts: AsyncIterator[bytes], kind: str, name: str, suffix: str) -> StreamingHttpResponse:
    filename = f"{slugify(name) or 'session'}.{suffix}"
    headers = {"Content-Disposition": f'attachment; filename="{filename}"'}
    return StreamingHttpResponse(parts, content_type=kind, headers=headers)


@require_POST
async def import_trace(request: HttpRequest) -> HttpResponse:
    """Compute an uploaded trace again: the page says whether it is the same; a session with its history opens."""
    file = request.FILES.get("file")
    try:
        if not isinstance(file, UploadedFile):
            raise SessionError(_("Choose the file of a trace first; the studio's Export makes one."))
        data = await sync_to_async(file.read, thread_sensitive=False)()
        name = (file.name or "").rsplit(".", 1)[0][:120] or _("Imported trace")
        checked, session = await check_trace(data, name, creator(request))
    except SessionError as error:
        return await asyncio.to_thread(problem, request, error)
    await remember(request, session.edit_key)
    context = {
        "checked": checked,
        "key": session.edit_key,
        "same": checked.difference is None,
        "latest": LATEST_EDITION,
    }
    return render(request, "playground/trace.html", context)
