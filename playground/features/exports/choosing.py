"""The page on which somebody chooses what to take along: each form with what it is for, how it is opened, and how far it is."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_GET

from playground.features.exports.offline import MOST_STEPS
from playground.sessions.web.client import SessionClient
from playground.sessions.web.jobs.downloads import MOST, SECONDS
from playground.views.access import author, opens
from playground.views.responses import workbench
from scheduler_core.formats.export import table_names


@require_GET
@opens
async def exports(request: HttpRequest, client: SessionClient) -> HttpResponse:
    """Every form of the session; a file that is being made for this browser says how far it is, one that was made how large."""
    asked = await client.downloads_of(author(request))
    context: dict[str, Any] = {
        "head": await client.head(),
        "made": {form: {"job": job, "head": head} for (form, _part, head, *_), job in asked},
        "tables": table_names(),
        "most_steps": MOST_STEPS,
        "most_file": MOST,
        "minutes": int(SECONDS // 60),
    }
    return workbench(request, client, "exports/page", context)
