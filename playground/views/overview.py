"""Small answers for the studio's frame, as JSON: names for the palette, marks for the timeline."""

from __future__ import annotations

from django.http import HttpRequest, JsonResponse
from django.views.decorators.http import require_GET
from msgspec import to_builtins

from playground.presenters import Look
from playground.sessions.protocol.looking import AttemptEnds, FindNames
from playground.sessions.web.client import SessionClient
from playground.views.access import opens

MOST_NAMES = 6  # of a kind
NAME_LENGTH = 253
MOST_ENDS = 60


@require_GET
@opens
async def names(request: HttpRequest, client: SessionClient) -> JsonResponse:
    """Pods, nodes, claims and controllers whose name has `q` in it, a few of each kind."""
    q = request.GET.get("q", "").strip()[:NAME_LENGTH]
    found = await client.ask(FindNames(at=Look.from_query(request.GET).at, q=q, most=MOST_NAMES)) if q else []
    return JsonResponse({"names": to_builtins(found)})


@require_GET
@opens
async def ends(request: HttpRequest, client: SessionClient) -> JsonResponse:
    """Return the positions where attempts ended, spread over the whole session."""
    return JsonResponse({"ends": to_builtins(await client.ask(AttemptEnds(most=MOST_ENDS)))})
