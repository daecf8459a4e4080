"""How a session fared up to a step: charts over virtual time and by plugin, and the numbers of each as CSV."""

from __future__ import annotations

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.text import slugify
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from playground.features.statistics.presenter import present
from playground.features.statistics.query import Statistics
from playground.presenters.charts.table import CONTENT_TYPE, csv_text
from playground.sessions.web.client import SessionClient
from playground.views.access import opens
from playground.views.responses import by_htmx, position

LONGEST_NAME = 253


@require_GET
@opens
async def statistics(request: HttpRequest, client: SessionClient) -> HttpResponse:
    """The page; for htmx the part that moves, or 204 where nothing has moved since the step that was `seen`."""
    at = position(request)
    if by_htmx(request) and at is None and request.GET.get("seen") == str(await client.head()):
        return HttpResponse(status=204)
    readings, head = await client.ask_with_head(_question(request))
    context = {
        "session": client.session,
        "key": client.key,
        "head": head,
        "at": at if at is not None and at < head else None,
        **present(readings),
    }
    name = "live" if by_htmx(request) else "page"
    return render(request, f"statistics/{name}.html", context)


@require_GET
@opens
async def statistics_csv(request: HttpRequest, client: SessionClient, chart: str) -> HttpResponse:
    """All numbers of one chart; 404 where there is no such chart."""
    readings = await client.ask(_question(request))
    shown = present(readings)
    return download(shown["charts"], chart, f"{client.session.name} {shown['position']}")


def _question(request: HttpRequest) -> Statistics:
    name = request.GET.get("scheduler", "")[:LONGEST_NAME]
    return Statistics(at=position(request), scheduler=name)


def download(charts: list[dict[str, Any]], name: str, title: str) -> HttpResponse:
    """The chart of that name as a file; an empty one where nothing was counted yet."""
    found = next((each for each in charts if each["id"] == name), None)
    if found is None:
        raise Http404(_("There is no such chart."))
    response = HttpResponse(csv_text(*found["csv"]), content_type=CONTENT_TYPE)
    response["Content-Disposition"] = f'attachment; filename="{slugify(title) or "session"}-{name}.csv"'
    return response
