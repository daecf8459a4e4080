"""Downloads of a session: files that jobs create, the trace and the cluster as streams, and the verification of an uploaded trace."""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import orjson
from asgiref.sync import sync_to_async
from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils.text import slugify
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from playground.features.exports.offline import LOOK, MOST_STEPS, PANELS, Recording, make_lesson_file
from playground.presenters import Look
from playground.sessions.protocol.comparing import FileForm
from playground.sessions.protocol.errors import SessionError
from playground.sessions.protocol.looking import AttemptEnds
from playground.sessions.recent import remember
from playground.sessions.web.client import SessionClient, check_trace
from playground.sessions.web.jobs.registry import Job
from playground.sessions.web.jobs.traces import DOWNLOAD, SECONDS, File, Making, file_of
from playground.sessions.web.jobs.traces import MOST as MOST_BYTES
from playground.views.access import author, creator, opens
from playground.views.lessons.course import find_built_in
from playground.views.responses import describe_session, problem, workbench
from scheduler_core import ENGINE_VERSION
from scheduler_core.formats.export import BROKEN_OFF, json_schema, table_names

MOST = 2**31


@opens("GET")
async def trace(request: HttpRequest, client: SessionClient) -> StreamingHttpResponse:
    """Return the session as JSON lines (docs/trace.md). `first` and `last` request the full detail of these attempts."""
    first, last = number(request, "first", 0), number(request, "last", -1)
    lines = await _start_stream(client.trace((first, last)), _last_line)
    return download(lines, "application/jsonl", client.session.name, "jsonl")


@opens("GET")
async def cluster(request: HttpRequest, client: SessionClient) -> StreamingHttpResponse:
    """Return the cluster's objects at a step, unchanged, or (`for=kubectl`) in a form for kubectl apply on another cluster."""
    plain = request.GET.get("for") == "kubectl"
    text = await _start_stream(client.cluster(Look.from_query(request.GET).at, plain), _last_comment)
    return download(text, "application/yaml", client.session.name, "yaml")


async def _start_stream(parts: AsyncIterator[bytes], last: Callable[[str], bytes]) -> AsyncIterator[bytes]:
    """Return the same parts. Raise errors before the first part now, while an error page is still possible.

    Later errors end the download early: `last` writes, in the file's own format, that the file is incomplete and why.
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
    text = _("This file is incomplete because its export failed: %(why)s") % {"why": why}
    return f"\n# {' '.join(text.split())}\n".encode()


def number(request: HttpRequest, name: str, default: int) -> int:
    """Return an attempt's number from the URL. Raise SessionError if it is invalid."""
    text = request.GET.get(name, "")
    if not text:
        return default
    if not (text.isascii() and text.isdecimal()) or int(text[:12]) > MOST:
        raise SessionError(
            _("“%(name)s” must be the number of an attempt, not “%(text)s”.") % {"name": name, "text": text[:40]}
        )
    return int(text)


def download(parts: AsyncIterator[bytes], kind: str, name: str, suffix: str) -> StreamingHttpResponse:
    """Return a file to save, named after the session."""
    filename = f"{slugify(name) or 'session'}.{suffix}"
    headers = {"Content-Disposition": f'attachment; filename="{filename}"'}
    return StreamingHttpResponse(parts, content_type=kind, headers=headers)


@require_POST
async def import_trace(request: HttpRequest) -> HttpResponse:
    """Replay an uploaded trace. The page shows whether the result is equal, and opens a session with the history."""
    file = request.FILES.get("file")
    try:
        if not isinstance(file, UploadedFile):
            raise SessionError(_("Choose a trace file first. Export in the studio creates one."))
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
        "kube": checked.kube,
    }
    return render(request, "playground/trace.html", context)


@opens("GET")
async def exports(request: HttpRequest, client: SessionClient) -> HttpResponse:
    """List all export formats with the progress or size of this browser's files."""
    asked = await client.downloads_of(author(request))
    context: dict[str, Any] = {
        "head": await client.head(),
        "made": {form: {"job": job, "head": head} for (form, _part, head, *_), job in asked},
        "tables": table_names(),
        "most_steps": MOST_STEPS,
        "most_file": MOST_BYTES,
        "minutes": int(SECONDS // 60),
    }
    return workbench(request, client, "exports/page", context)


PATIENCE = 1.5
FORMS: dict[FileForm, tuple[str, str]] = {
    "chrome": ("application/json", "chrome.json"),
    "otlp": ("application/json", "otlp.json"),
    "csv": ("text/csv; charset=utf-8", "csv"),
    "zip": ("application/zip", "tables.zip"),
}


@require_GET
def schema(request: HttpRequest) -> JsonResponse:
    """Return the JSON Schema of a trace's lines."""
    return JsonResponse(json_schema(), json_dumps_params={"indent": 2})


@opens("GET")
async def replay(request: HttpRequest, client: SessionClient) -> HttpResponseBase:
    """Return steps of the session as one HTML file that replays them offline: those of the attempts `first` to `last`, or the newest
    ones.
    """
    first, last = number(request, "first", 1), number(request, "last", MOST)
    head = await client.head()
    steps = await _steps(client, first, last, head)
    what = ("html", steps, head, get_language())
    return await _answer(request, client, what, _record_steps(client, steps, head))


@require_GET
def lesson_file(request: HttpRequest, slug: str) -> HttpResponse:
    """Return a lesson to play offline, as one HTML file in the reader's language."""
    lesson = find_built_in(slug)
    text = make_lesson_file(slug, get_language() if get_language() in lesson.words else "en")
    return HttpResponse(text, headers={"Content-Disposition": f'attachment; filename="{slug}.html"'})


@opens("GET")
async def of_history(request: HttpRequest, client: SessionClient, form: FileForm) -> HttpResponseBase:
    """Return the session as trace events, as spans, as one `table`, or with all tables."""
    table = request.GET.get("table", "attempts") if form == "csv" else ""
    if table and table not in table_names():
        raise SessionError(_("No table has the name “%(name)s”.") % {"name": table[:40]})
    content_type, suffix = FORMS[form]
    named = f"{table}.{suffix}" if table else suffix
    make = client.file_of_history(form, table, content_type, named)
    return await _answer(request, client, (form, table, await client.head()), make)


@opens("GET", "POST")
async def show_download(request: HttpRequest, client: SessionClient, token: str) -> HttpResponseBase:
    """Show a file's progress; then the page that offers it, and with `file` send the file. POST stops the job."""
    if request.method == "POST":
        await client.stop_job(DOWNLOAD, token)
        return HttpResponseRedirect(reverse("exports", args=[client.key]))
    job = await client.find_job(DOWNLOAD, token, 0 if "file" in request.GET else PATIENCE)
    job.check()
    if job.result is not None and "file" in request.GET:
        return _file(client, job.result)
    context: dict[str, Any] = {"work": job, "most": MOST_BYTES}
    context |= describe_session(request, client)
    return render(request, "exports/downloading.html", context, status=200 if job.result else 202)


async def _answer(request: HttpRequest, client: SessionClient, what: Any, make: Making) -> HttpResponseBase:
    """Return the file if it is ready soon. Otherwise, redirect browsers to a progress page and let programs wait."""
    job = await client.download(what, make, author(request), PATIENCE)
    if job.result is not None:
        return _file(client, job.result)
    if "text/html" not in request.headers.get("Accept", ""):
        return _file(client, await client.downloaded(job))
    return HttpResponseRedirect(reverse("download", args=[client.key, job.token]))


def _file(client: SessionClient, file: File) -> HttpResponseBase:
    response = download(file.read(), file.content_type, client.session.name, file.suffix)
    response["Content-Length"] = str(file.size)
    return response


async def _steps(client: SessionClient, first: int, last: int, head: int) -> range:
    """Return the steps from the end of the attempt before `first` to the end of `last`, or the head; at most the latest ones."""
    ends = [end.position for end in await client.ask(AttemptEnds(most=MOST))]
    begin = ends[min(first - 2, len(ends) - 1)] if first > 1 and ends else 0
    end = ends[last - 1] if 0 < last < len(ends) else head
    return range(max(begin, end - MOST_STEPS + 1, 0), end + 1)


def _record_steps(client: SessionClient, steps: range, head: int) -> Making:
    """Return a job that records each step in the reader's language."""

    async def make(job: Job[File]) -> File:
        recording, live = Recording(client.session.name, head), client.live()
        for position in steps:
            shown, _head = await live.view(LOOK.but(at=position), PANELS)
            await asyncio.to_thread(recording.add, position, shown.panels)
            job.advance(position - steps.start + 1, len(steps))
        page = await asyncio.to_thread(recording.page)
        return file_of(f"<!DOCTYPE html>\n{page}".encode(), "text/html; charset=utf-8", "html")

    return make
