"""The components around the schedulers: each controller's actions with reasons, nodes, budgets, and rollouts."""

from typing import Any, get_args
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.safestring import mark_safe

from playground.features.cluster.presenter import present
from playground.features.cluster.query import Cluster, Part
from playground.presenters.look import MAX_KEY, MAX_NAME
from playground.sessions.web.client import SessionClient
from playground.views.access import opens
from playground.views.responses import by_htmx, describe_session, in_drawer, position, stands_still, whole_number
from playground.views.workbench.objects import build_offers_context

_LONGEST = {"nodes": MAX_NAME, "devices": MAX_KEY, "claims": MAX_KEY}  # parts of which one thing can be named


@opens("GET")
async def cluster(request: HttpRequest, client: SessionClient) -> HttpResponse:
    """Show the page; for htmx, the changing part, or 204 if nothing has changed since the step `seen`."""
    if await stands_still(request, client):
        return HttpResponse(status=204)
    at = position(request)
    asked = request.GET.get("part", "")
    part: Any = asked if asked in get_args(Part) else "controllers"
    name = request.GET.get("name", "")[: _LONGEST[part]] if part in _LONGEST else ""
    chosen: dict[str, Any] = {
        "q": request.GET.get("q", "").strip()[:MAX_KEY],
        "state": request.GET.get("state", "")[:20],
        "page": whole_number(request.GET.get("page", ""), 6) or 0,
    }
    reading, head = await client.ask_with_head(Cluster(at=at, part=part, name=name, **chosen))
    ref = {"kind": "Node", "namespace": "", "name": name} if name and part == "nodes" else None
    context = {
        **(await build_offers_context(request, client, ref)),
        **describe_session(request, client),
        "head": head,
        "at": at if at is not None and at < head else None,
        **present(reading, part, name),
        **chosen,
        **_addresses(request, client, part, name, chosen),
        "devices": _pools(reading, reverse("studio", args=[client.key])),
    }
    live = by_htmx(request) and not in_drawer(request)
    return render(request, "cluster/live.html" if live else "cluster/page.html", context)


def _addresses(
    request: HttpRequest, client: SessionClient, part: str, name: str, chosen: dict[str, Any]
) -> dict[str, Any]:
    """Return `page_url`, this page without a step, for further query fields, and `here`, the same rows at the same step without a page
    number.
    """
    at = position(request)
    page_url = reverse("cluster", args=[client.key])
    fields = {"part": part, "name": name, "q": chosen["q"], "state": chosen["state"], "at": at}
    kept = {key: value for key, value in fields.items() if value not in ("", None)}
    return {"page_url": page_url, "here": f"{page_url}?{urlencode(kept)}"}


def _pools(reading: dict[str, Any], base: str) -> str:
    """Render the devices of one pool, or of one node, as the inspector does."""
    found = reading.get("found") or {}
    node = reading.get("node") or {}
    pools = [found] if "devices" in found else node.get("devices") or []
    return mark_safe(  # noqa: S308 - a template's
        render_to_string("devices.html", {"pools": pools, "base": base}, using="panels") if pools else ""
    )
