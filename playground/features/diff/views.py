"""The differences between two steps: a page, and a fragment in the inspector."""

from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from playground.features.diff.query import Changes
from playground.presenters import Look
from playground.sessions.database import markers
from playground.sessions.database.asking import in_thread
from playground.sessions.web.client import SessionClient
from playground.views.access import opens
from playground.views.responses import workbench

PAGE = 60
FEW = 12


@opens("GET")
async def diff(request: HttpRequest, client: SessionClient) -> HttpResponse:
    """Compare `from` (default: the previous step) with `to` (default: `at`, or the newest step). `kind` and `q` select rows.

    `part=foot` returns the fragment for the inspector with the first rows.
    """
    since, to = await _span(request, client)
    foot = request.GET.get("part") == "foot"
    kind, q = request.GET.get("kind", "")[:60], request.GET.get("q", "").strip()[:253]
    page = 0 if foot else Look.from_query({"page": request.GET.get("page")}).page
    first, most = page * PAGE, FEW if foot else PAGE
    difference = await client.ask(Changes(at=to, since=since, kind=kind, q=q, first=first, most=most))
    context: dict[str, Any] = {
        "difference": difference,
        "key": client.key,
        "since": since,
        "to": to,
        "more": max(0, difference["total"] - first - len(difference["rows"])),
        "url": "?" + urlencode({"from": since, "to": to}),
    }
    if foot:
        return render(request, "playground/changes.html", context)
    context |= {
        "kind": kind,
        "q": q,
        "page": page,
        "pages": -(-difference["total"] // PAGE),
        "query": urlencode({"from": since, "to": to, "kind": kind, "q": q}),
        "bookmarks": await in_thread(markers.bookmarks, client.session.pk),
    }
    return workbench(request, client, "diff/page", context)


async def _span(request: HttpRequest, client: SessionClient) -> tuple[int, int]:
    """Return the two positions in order, neither after the head."""
    positions = {name: Look.from_query({"at": request.GET.get(name)}).at for name in ("from", "to", "at")}
    head = await client.head()
    to = positions["to"] if positions["to"] is not None else positions["at"]
    to = head if to is None else min(to, head)
    since = to - 1 if positions["from"] is None else min(positions["from"], head)
    low, high = sorted((max(since, 0), to))
    return low, high
