"""The session itself: its name, its links, its copies, its ways out."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_GET

from playground.sessions.web.client import SessionClient
from playground.views.access import opens
from playground.views.responses import workbench
from scheduler_core.export import table_names


@require_GET
@opens
async def sharing(request: HttpRequest, client: SessionClient) -> HttpResponse:
    """Name, edit link, view link, duplicate, export, delete. A view link sees neither the edit link nor the delete."""
    links = {"view_link": _link(request, client.session.view_key)}
    if client.may_edit:
        links["edit_link"] = _link(request, client.session.edit_key)
    return workbench(request, client, "session", {**links, "tables": table_names()})


def _link(request: HttpRequest, key: str) -> str:
    return request.build_absolute_uri(reverse("studio", args=[key]))
