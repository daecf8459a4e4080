"""The timeline as a table: the same window and the same pods as the lanes, one row for each stay in a place."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_GET

from playground.presenters import Look
from playground.sessions.web.client import SessionClient
from playground.views.access import opens
from playground.views.responses import workbench


@require_GET
@opens
async def timeline(request: HttpRequest, client: SessionClient) -> HttpResponse:
    """Show the contents of the lanes as text."""
    look = Look.from_query(request.GET)
    shown, _head = await client.view(look, ["timeline"])
    panel = shown.panels["timeline"]
    cards = panel.cards.values()
    context = {
        "window": panel.context,
        "lanes": [card for card in cards if card["kind"] == "lane"],
        "attempts": next(card["attempts"] for card in cards if card["kind"] == "axis"),
        "studio": reverse("studio", args=[client.key]),
    }
    return workbench(request, client, "timeline", context)
