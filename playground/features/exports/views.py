"""Ways out of a session and back in: its trace as JSON lines, the cluster as YAML, the check of a trace."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable

import orjson
from asgiref.sync import sync_to_async
from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.utils.text import slugify
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from playground.presenters import Look
from playground.sessions.protocol.errors import SessionError
from playground.sessions.recent import remember
from playground.sessions.web.client import SessionClient, check_trace
from playground.views.access import creator, opens
from playground.views.responses import problem
from scheduler_core import ENGINE_VERSION, KUBE_VERSION
from scheduler_core.formats.export import BROKEN_OFF

MOST = 2**31


@require_GET
@opens
async def trace(request: HttpRequest, client: SessionClient) -> StreamingHttpResponse:
    """The session as JSON lines (docs/trace.md); `first` and `last` ask for the full detail of these attempts."""
    first, last = number(request, "first", 0), number(request, "last", -1)
    lines = await _start_stream(client.trace((first, last)), _last_line)
    return download(lines, "application/jsonl", client.session.name, "jsonl")


@require_GET
@opens
async def cluster(request: HttpRequest, client: SessionClient) -> StreamingHttpResponse:
    """The cluster's objects at a step: as they are, or (`for=kubectl`) as kubectl can apply them to another cluster."""
    plain = request.GET.get("for") == "kubectl"
    text = await _start_stream(client.cluster(Look.from_query(request.GET).at, plain), _last_comment)
    return download(text, "application/yaml", client.session.name, "yaml")


async def _start_stream(parts: AsyncIterator[bytes], last: Callable[[str], bytes]) -> AsyncIterator[bytes]:
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


def number(request: HttpRequest, name: str, default: int) -> int:
    """An attempt's number that an address asks for."""
    text = request.GET.get(name, "")
    if not text:
        return default
    if not (text.isascii() and text.isdecimal()) or int(text[:12]) > MOST:
        raise SessionError(
            _("“%(name)s” must be an attempt's number; it is “%(text)s”.") % {"name": name, "text": text[:40]}
        )
    return int(text)


def download(parts: AsyncIterator[bytes], kind: str, name: str, suffix: str) -> StreamingHttpResponse:
    """A file to keep, named after the session."""
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
        "lesson": "" if not checked.lesson.story else "here" if session.story else "missing",
        "engine": ENGINE_VERSION,
        "kube": KUBE_VERSION,
    }
    return render(request, "playground/trace.html", context)
