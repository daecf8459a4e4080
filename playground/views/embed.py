"""The stage inside of somebody else's page: to look at, and to step through what has happened. It needs no cookie; only here framing is
allowed.
"""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_GET

from playground.presenters import Look
from playground.sessions.protocol.errors import Opening
from playground.sessions.web.client import SessionClient
from playground.sessions.web.render import render_panels
from playground.views.access import opens

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
