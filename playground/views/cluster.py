"""The components around the schedulers: what each controller does and why, nodes, budgets, rollouts."""

from __future__ import annotations

from typing import Any, get_args

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from playground.presenters.surroundings import present
from playground.sessions.protocol.looking import Cluster, Part
from playground.sessions.web.client import SessionClient
from playground.views.access import opens
from playground.views.responses import by_htmx, position
from playground.views.workbench.acting import offered

LONGEST_NAME = 253


@require_GET
@opens
async def cluster(request: HttpRequest, client: SessionClient) -> HttpResponse:
    """The page; for htmx the part that moves, or 204 where nothing has moved since the step that was `seen`."""
    at = position(request)
    if by_htmx(request) and at is None and request.GET.get("seen") == str(await client.head()):
        return HttpResponse(status=204)
    asked = request.GET.get("part", "")
    part: Any = asked if asked in get_args(Part) else "controllers"
    name = request.GET.get("name", "")[:LONGEST_NAME] if part == "nodes" else ""
    reading, head = await client.ask_with_head(Cluster(at=at, part=part, name=name))
    ref = {"kind": "Node", "namespace": "", "name": name}
    context = {
        **(await offered(request, client, ref) if name else {}),
        "client": client,
        "session": client.session,
        "key": client.key,
        "head": head,
        "at": at if at is not None and at < head else None,
        **present(reading, part, name),
    }
    return render(request, f"playground/cluster{'_live' if by_htmx(request) else ''}.html", context)
