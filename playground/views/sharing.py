"""The session itself: its name, its links, its copies."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from playground.sessions.database import links
from playground.sessions.database.asking import in_thread
from playground.sessions.protocol.errors import SessionError
from playground.sessions.protocol.moving import Read
from playground.sessions.web.client import SessionClient
from playground.views.access import edits, opens
from playground.views.responses import whole_number, workbench
from scheduler_core.apiserver.door import Call

DIGITS = 15


@require_GET
@opens
async def sharing(request: HttpRequest, client: SessionClient) -> HttpResponse:
    """Name, links, duplicate, delete. A view link sees neither the edit link, nor other view links, nor the delete."""
    asked = await client.ask(Read(call=Call("GET", "/version")))
    context: dict[str, Any] = {"view_link": _link(request, client.view_key), "is_live": asked.live}
    if client.may_edit:
        context["edit_link"] = _link(request, client.session.edit_key)
        found = await in_thread(links.all_of, client.session.pk)
        context["links"] = [{"link": link, "address": _link(request, link.key)} for link in found]
    return workbench(request, client, "session", context)


@require_POST
@edits
async def view_links(request: HttpRequest, client: SessionClient) -> HttpResponse:
    """Makes a view link for a `term` (day, week, never), or takes the one with the number `revoke` back."""
    number, term = whole_number(request.POST.get("revoke", ""), DIGITS), request.POST.get("term", "")
    if number is not None:
        await in_thread(links.revoke, client.session.pk, number)
        messages.success(request, _("View link revoked."))
    elif term in links.TERMS:
        await in_thread(links.make, client.session.pk, term)
        messages.success(request, _("View link created."))
    else:
        raise SessionError(_("A view link is valid for a day, for a week, or without limit."))
    return HttpResponseRedirect(reverse("session", args=[client.key]))


def _link(request: HttpRequest, key: str) -> str:
    return request.build_absolute_uri(reverse("studio", args=[key]))
