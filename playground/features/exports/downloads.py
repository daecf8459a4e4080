"""Downloads: a replay, spans and tables. A job makes the file; who looks at the page sees how far it is, can stop it, and gets it then."""

from __future__ import annotations

import asyncio
from typing import Any

from django.http import HttpRequest, HttpResponseRedirect, JsonResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods

from playground.features.exports.offline import LOOK, MOST_STEPS, PANELS, Recording
from playground.features.exports.views import MOST, download, number
from playground.sessions.protocol.errors import SessionError
from playground.sessions.protocol.looking import AttemptEnds
from playground.sessions.protocol.traces import FileForm
from playground.sessions.web.client import SessionClient
from playground.sessions.web.jobs.downloads import MOST as MOST_BYTES
from playground.sessions.web.jobs.downloads import File, Making, file_of
from playground.sessions.web.jobs.registry import Job
from playground.views.access import author, opens
from scheduler_core.formats.export import json_schema, table_names

PATIENCE = 1.5
FORMS: dict[FileForm, tuple[str, str]] = {
    "chrome": ("application/json", "chrome.json"),
    "otlp": ("application/json", "otlp.json"),
    "csv": ("text/csv; charset=utf-8", "csv"),
    "zip": ("application/zip", "tables.zip"),
}


@require_GET
def schema(request: HttpRequest) -> JsonResponse:
    """The JSON Schema of a trace's lines."""
    return JsonResponse(json_schema(), json_dumps_params={"indent": 2})


@require_GET
@opens
async def replay(request: HttpRequest, client: SessionClient) -> HttpResponseBase:
    """Steps of the session as one HTML file that replays them offline: those of the attempts `first` to `last`, or the newest ones."""
    first, last = number(request, "first", 1), number(request, "last", MOST)
    head = await client.head()
    steps = await _steps(client, first, last, head)
    what = ("html", steps, head, get_language())
    return await _answer(request, client, what, _record_steps(client, steps, head))


@require_GET
@opens
async def of_history(request: HttpRequest, client: SessionClient, form: FileForm) -> HttpResponseBase:
    """The session as trace events, as spans, as one `table`, or with all tables."""
    table = request.GET.get("table", "attempts") if form == "csv" else ""
    if table and table not in table_names():
        raise SessionError(_("There is no table “%(name)s”.") % {"name": table[:40]})
    content_type, suffix = FORMS[form]
    named = f"{table}.{suffix}" if table else suffix
    make = client.file_of_history(form, table, content_type, named)
    return await _answer(request, client, (form, table, await client.head()), make)


@require_http_methods(["GET", "POST"])
@opens
async def show_download(request: HttpRequest, client: SessionClient, token: str) -> HttpResponseBase:
    """Show a file's progress; then the page that offers it, and with `file` send the file. POST stops the job."""
    if request.method == "POST":
        await client.stop_download(token)
        return HttpResponseRedirect(reverse("exports", args=[client.key]))
    job = await client.find_download(token, 0 if "file" in request.GET else PATIENCE)
    if job.result is not None and "file" in request.GET:
        return _file(client, job.result)
    context: dict[str, Any] = {"client": client, "session": client.session, "key": client.key, "work": job}
    context |= {"most": MOST_BYTES}
    return render(request, "exports/downloading.html", context, status=200 if job.result else 202)


async def _answer(request: HttpRequest, client: SessionClient, what: Any, make: Making) -> HttpResponseBase:
    """The file at once, where it is quickly made; else people are led to a page, and programs wait."""
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
    """Has each step shown, in the language of who asks."""

    async def make(job: Job[File]) -> File:
        recording, live = Recording(client.session.name, head), client.live()
        for position in steps:
            shown = await live.view(LOOK.but(at=position), PANELS)
            await asyncio.to_thread(recording.add, position, shown.panels)
            job.advance(position - steps.start + 1, len(steps))
        page = await asyncio.to_thread(recording.page)
        return file_of(f"<!DOCTYPE html>\n{page}".encode(), "text/html; charset=utf-8", "html")

    return make
