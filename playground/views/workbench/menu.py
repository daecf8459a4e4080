"""The menu on anything that can be acted on, as a fragment that the page's script shows (static/playground/js/studio/menu.js)."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from playground.sessions.protocol.looking import SubjectOf
from playground.sessions.web.client import SessionClient
from playground.views.access import opens
from playground.views.responses import position
from playground.workbench.actions import Subject
from playground.workbench.actions.menu import SILENT, menu

MOST_NAME = 253
MOST_PLUGINS = 50


@require_GET
@opens
async def show(request: HttpRequest, client: SessionClient) -> HttpResponse:
    """Show the actions on the object kind, namespace, name at the viewer's position; a plugin or a point has no object."""
    kind, namespace, name = (request.GET.get(part, "")[:MOST_NAME] for part in ("kind", "namespace", "name"))
    many = request.GET.get("many", "")[:MOST_NAME]
    subject = await _subject(request, client, kind, namespace, name, many)
    if subject is not None and subject.kind != kind:
        kind = subject.kind
    sheets = menu(
        kind,
        namespace,
        name,
        subject,
        client.may_edit,
        request.GET.getlist("plugin")[:MOST_PLUGINS],
        request.GET.get("point", "")[:MOST_NAME],
        many,
    )
    at = position(request)
    return render(request, "playground/menu.html", {"sheets": sheets, "first": sheets[0].name, "at": at})


async def _subject(
    request: HttpRequest, client: SessionClient, kind: str, namespace: str, name: str, many: str
) -> Subject | None:
    if kind in SILENT:
        return None
    asked = SubjectOf(at=position(request), kind=kind, namespace=namespace, name=name, many=many)
    found = await client.ask(asked)
    return None if found is None else found.subject
