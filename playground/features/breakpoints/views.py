"""Breakpoints, watches, and bookmarks: the list with its forms, and the search backward and forward."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from msgspec import structs

from playground.features.breakpoints.query import Hits, HitsFound
from playground.presenters import Look
from playground.presenters.words import clock
from playground.sessions.database import markers
from playground.sessions.database.asking import in_thread
from playground.sessions.protocol import breakpoints as core
from playground.sessions.protocol.breakpoints import EXPRESSION_LENGTH, FIELDS, ExpressionProblem, Hit
from playground.sessions.protocol.errors import LimitReached, SessionError
from playground.sessions.protocol.looking import ListedObject, Objects
from playground.sessions.protocol.until import CheckExpression
from playground.sessions.web.client import SessionClient
from playground.sessions.web.messages import Search
from playground.views.access import edits, opens
from playground.views.responses import by_htmx, go, in_drawer, position, say, whole_number, workbench
from scheduler_core.scheduler.plugins import NAMES
from scheduler_core.world.readonly import DESCRIPTIONS

REASONS = ("FailedScheduling", "Scheduled", "Preempted")
MOST_NAMES = 500
NUMBER = 14  # digits
WINDOW = 5_000  # positions searched for marks in one request
MOST_MARKS = 300
MARKS_SECONDS = 2.0


@opens("GET", "POST")
async def breakpoints(request: HttpRequest, client: SessionClient) -> HttpResponse:
    """Show the list with the form for a new one. A query fills in the form, as `break here` does. POST adds a breakpoint."""
    if request.method == "GET":
        return await _list(request, client, request.GET.dict())
    client.require_edit()
    fields = request.POST.dict()
    try:
        point = core.from_form({**fields, "enabled": True, "watch": "watch" in fields, "changes": "changes" in fields})
        wrong = await _problems(client, point)
        if not wrong:
            await in_thread(markers.add, client.session.pk, point)
            await client.markers_changed()
            if by_htmx(request) and not in_drawer(request):
                return HttpResponse(status=204)
            messages.success(request, _("Breakpoint “%(title)s” set.") % {"title": point.title[:80]})
            return _back_to_list(request, client)
    except (core.BadBreakpoint, LimitReached) as error:
        return await _list(request, client, fields, error=error)
    return await _list(request, client, fields, wrong=wrong)


async def _problems(client: SessionClient, point: core.Breakpoint) -> list[ExpressionProblem]:
    """Return the problems of a breakpoint's expression, checked in the session's worker, which evaluates it."""
    return await client.check(CheckExpression(point=point)) if point.cel else []


async def _list(
    request: HttpRequest,
    client: SessionClient,
    fields: dict[str, Any],
    wrong: list[ExpressionProblem] | None = None,
    error: SessionError | None = None,
) -> HttpResponse:
    at = position(request)
    rows = await in_thread(markers.points, client.session.pk)
    objects = await client.ask(Objects(at=at))
    context = {
        "rows": [{"point": point, "hits": hits} for point, hits in rows],
        "bookmarks": await in_thread(markers.bookmarks, client.session.pk),
        "fields": {name: str(fields.get(name, ""))[: core.TEXT if name != "cel" else 2 * EXPRESSION_LENGTH] for name in ("name", *FIELDS)},
        "watch": "watch" in fields,
        "changes": "changes" in fields,
        "filled": any(fields.get(name) for name in FIELDS),
        "wrong": wrong,
        "refusal": error,
        "pods": _names(objects, "Pod"),
        "nodes": _names(objects, "Node"),
        "plugins": NAMES,
        "points": core.POINTS,
        "statuses": core.STATUSES,
        "places": core.PLACES,
        "kinds": DESCRIPTIONS,
        "reasons": REASONS,
        "length": EXPRESSION_LENGTH,
    }  # fmt: skip
    return workbench(request, client, "breakpoints/page", context, 422 if wrong or error else 200)


def _names(objects: list[ListedObject], kind: str) -> list[str]:
    """Return suggestions for a field: names of a kind with their namespaces, at most MOST_NAMES."""
    names = (
        f"{listed.namespace}/{listed.name}" if listed.namespace else listed.name
        for listed in objects
        if listed.kind == kind
    )
    return sorted(names)[:MOST_NAMES]


def _back_to_list(request: HttpRequest, client: SessionClient) -> HttpResponse:
    at = position(request)
    url = reverse("breakpoints", args=[client.key])
    return HttpResponseRedirect(url if at is None else f"{url}?at={at}")


@edits("POST")
async def breakpoint_(request: HttpRequest, client: SessionClient, number: int) -> HttpResponse:
    """Switch a breakpoint `on` or `off`, or `delete` it."""
    do = request.POST.get("do", "")
    if do not in ("on", "off", "delete"):
        raise SessionError(_("A breakpoint can be switched on or off, or deleted."))
    await in_thread(markers.change, client.session.pk, number, None if do == "delete" else do == "on")
    await client.markers_changed()
    return _back_to_list(request, client)


@edits("POST")
async def bookmarks(request: HttpRequest, client: SessionClient) -> HttpResponse:
    """Set a bookmark at `at`, or at the newest step, with a `name` or without."""
    at = position(request)
    head = await client.head()
    where = head if at is None else min(at, head)
    await in_thread(markers.bookmark, client.session.pk, where, request.POST.get("name", ""))
    await client.markers_changed()
    if by_htmx(request) and not in_drawer(request):
        return HttpResponse(status=204)
    messages.success(request, _("Bookmark set at step %(at)d.") % {"at": where})
    return _back_to_list(request, client)


@edits("POST")
async def bookmark(request: HttpRequest, client: SessionClient, number: int) -> HttpResponse:
    """Rename a bookmark to `name`, or `delete` it."""
    name = None if request.POST.get("do") == "delete" else request.POST.get("name", "")
    await in_thread(markers.rename, client.session.pk, number, name)
    await client.markers_changed()
    return _back_to_list(request, client)


@opens("POST")
async def search(request: HttpRequest, client: SessionClient) -> HttpResponse:
    """Search in `direction` back or forward for a step where a breakpoint holds: only breakpoint `only`, if given; from `at`, or the
    newest step.
    """
    look = Look.from_query({**request.GET.dict(), **request.POST.dict()})
    number = whole_number(request.POST.get("only", ""), NUMBER)
    wanted = Search(back=request.POST.get("direction") == "back", only=number, wait=True)
    heard = await client.converse(wanted, look)
    say(request, heard)
    return go(request, reverse("studio", args=[client.key]) + heard.look.href())


@opens("GET")
async def marks(request: HttpRequest, client: SessionClient) -> HttpResponse:
    """Show the timeline's marks between `first` and `last`: bookmarks, and hits of breakpoints and watches."""
    first, last = (Look.from_query({"at": request.GET.get(name)}).at or 0 for name in ("first", "last"))
    rows = await in_thread(markers.points, client.session.pk)
    bookmarks = await in_thread(markers.bookmarks, client.session.pk)
    end = min(last, await client.head())
    points = {point.id: point for point, _hits in rows if point.enabled}
    found = HitsFound([], end)
    if points and 0 < end - first <= WINDOW:
        wanted = Hits(at=end, points=list(points.values()), first=first, most=MOST_MARKS, seconds=MARKS_SECONDS)
        found = await client.ask(wanted)
    width = max(last - first, 1)
    context = {
        "bookmarks": bookmarks,
        "kept": [
            {**one, "x": _x(one["position"], first, width)} for one in bookmarks if first <= one["position"] <= last
        ],
        "hits": [_mark(hit, points[hit.id], _x(hit.position, first, width)) for hit in found.hits],
        "unlooked": _describe_unsearched(found.upto, end, first, width),
        "live": bool(points),
    }
    return render(request, "timeline_marks.html", context, using="panels")


def _describe_unsearched(upto: int, end: int, first: int, width: int) -> dict[str, Any] | None:
    """Return the range of steps that the search did not reach in time, or None."""
    if upto >= end:
        return None
    return {"from": upto, "to": end, "x": _x(upto, first, width), "width": _x(end, upto, width)}


def _mark(hit: Hit, point: core.Breakpoint, x: float) -> dict[str, Any]:
    """Build a mark. A watch shows the value of its expression."""
    shown = "" if hit.value is None or hit.value is True else str(hit.value)
    return {
        **structs.asdict(hit),
        "x": x,
        "t": clock(hit.t),
        "watch": point.watch,
        "shown": shown[:80],
        "label": shown[:16],
    }


def _x(position: int, first: int, width: int) -> float:
    return round(100 * (position - first) / width, 2)
