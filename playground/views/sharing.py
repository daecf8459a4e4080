"""The session itself: its name, its links, its copies."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from playground.presenters import Look
from playground.sessions.database import links
from playground.sessions.database.asking import in_thread
from playground.sessions.protocol.errors import Opening, SessionError
from playground.sessions.protocol.moving import Read
from playground.sessions.web.client import SessionClient
from playground.sessions.web.render import render_panels
from playground.views.access import edits, opens
from playground.views.responses import whole_number, workbench
from scheduler_core.apiserver.door import Call

# The stage inside of somebody else's page: to look at, and to step through what has happened. It needs no cookie; only here framing is
# allowed.

PANELS = ["transport", "pipeline", "stage", "map", "narrator"]


@require_GET
@opens
async def embed(request: HttpRequest, client: SessionClient) -> HttpResponse:
    """The stage at the step `at`, or the newest one. An edit key leads to the view link's page: what is embedded, everybody reads.

    With `pane` the page around it steps: it is one of two side by side (lockstep.py).
    """
    if client.may_edit:
        return HttpResponseRedirect(_address(request, client.session.view_key))
    look = Look.from_query(request.GET)
    context = {
        "client": client,
        "session": client.session,
        "key": client.key,
        "may_edit": False,
        "look": look,
        "pane": "pane" in request.GET,
    }
    try:
        shown, head = await client.view(look, PANELS)
    except Opening as opening:
        context["opening"] = opening
        return allow_framing(render(request, "playground/opening.html", context, status=202))
    context |= {
        "position": shown.position,
        "head": head,
        "following": look.at is None or look.at > head,
        "stage": shown.panels["stage"].context,
        "before": look.href(at=max(shown.position - 1, 0)),
        "after": look.href(at=min(shown.position + 1, head)),
        "fork": reverse("ask-fork", args=[client.key]) + look.href(at=shown.position),
        "studio": request.build_absolute_uri(reverse("studio", args=[client.key]) + look.href(at=shown.position)),
    }
    context["panels"] = render_panels(shown.panels, request, context)
    return allow_framing(render(request, "playground/embed.html", context))


@require_GET
async def beyond(request: HttpRequest, key: str, page: str) -> HttpResponse:
    """Redirect a panel's link to another page to that page of the session."""
    query = request.META.get("QUERY_STRING", "")
    return HttpResponseRedirect(reverse("studio", args=[key]) + page + (f"?{query}" if query else ""))


def _address(request: HttpRequest, key: str) -> str:
    query = request.META.get("QUERY_STRING", "")
    return reverse("embed", args=[key]) + (f"?{query}" if query else "")


def allow_framing(response: HttpResponse) -> HttpResponse:
    """A response that any page may frame."""
    response.xframe_options_exempt = True
    response._csp_replace = {"frame-ancestors": ["*"]}  # type: ignore[attr-defined]
    return response


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
