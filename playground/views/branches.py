"""The branches of a session: the strip at the timeline, and the room where they are named, opened and compared."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from playground.presenters import Look
from playground.presenters.branches import present
from playground.sessions.database.asking import in_thread
from playground.sessions.database.branches import family
from playground.sessions.recent import list_recent_keys
from playground.sessions.web.client import SessionClient
from playground.views.access import opens
from playground.views.responses import workbench


@require_GET
@opens
async def branches(request: HttpRequest, client: SessionClient) -> HttpResponse:
    """All branches that this key reaches, as a tree; with `strip` only the strip, as a fragment."""
    await client.refresh()
    look = Look.from_query(request.GET)
    shown = await tree(request, client, client.session.head if look.at is None else look.at)
    if "strip" in request.GET:
        context = {"key": client.key, "client": client, "branches": shown, "look": look}
        return render(request, "playground/studio/branches.html", context)
    return workbench(request, client, "branches", {"branches": shown, "look": look})


async def tree(request: HttpRequest, client: SessionClient, position: int) -> dict[str, Any]:
    """Return the branches that the strip and the room show (presenters/branches.py)."""
    held = await list_recent_keys(request)
    members = await in_thread(family, client.session, client.access, held, client.link)
    return present([asdict(each) for each in members], position)
