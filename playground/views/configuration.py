"""The scheduler's configuration as YAML, and the settings of the world around it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from asgiref.sync import sync_to_async
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from playground.forms import SettingsForm
from playground.sessions.client import SessionClient
from playground.sessions.errors import CommandRefused, LimitReached
from playground.views.doors import done, edits, opens, position, workbench
from playground.views.effective import effective
from scheduler_core.commands import SetConfiguration, SetSettings
from scheduler_core.objects.errors import InvalidObject
from scheduler_core.objects.loading import LoadLimits, load_manifests

MOST_BYTES = 128 << 10
Errors = list[dict[str, Any]]
Locate = Callable[[str], tuple[int, int] | None]


@require_http_methods(["GET", "POST"])
@opens
async def configuration(request: HttpRequest, client: SessionClient) -> HttpResponse:
    """The KubeSchedulerConfiguration with every default filled in; POST restarts the scheduler with another one."""
    if request.method == "POST":
        return await _configure(request, client)
    return workbench(request, client, "configuration", await _page(request, client))


async def _configure(request: HttpRequest, client: SessionClient) -> HttpResponse:
    client.require_edit()
    text = request.POST.get("text", "").replace("\r\n", "\n")
    manifest, locate, errors = None, None, []
    if "default" not in request.POST:
        manifest, locate, errors = await sync_to_async(read, thread_sensitive=False)(text)
    if not errors:
        try:
            command = SetConfiguration(manifest).to_json()
            applied = await client.apply(command, at=position(request), source="configuration")
            return done(request, client, applied, _("The scheduler was restarted with it."), "configuration")
        except (CommandRefused, LimitReached) as error:
            errors = [at_line(each, locate) for each in error.errors] or [
                {"text": error.message, "line": None}
            ]
    context = {**await _page(request, client), "text": text, "errors": errors}
    return workbench(request, client, "configuration", context, 422)


@require_POST
@edits
async def settings(request: HttpRequest, client: SessionClient) -> HttpResponse:
    """Change the world's settings."""
    form = SettingsForm(request.POST)
    if form.is_valid():
        try:
            command = SetSettings(form.cleaned_data).to_json()
            applied = await client.apply(command, at=position(request), source="configuration")
            return done(request, client, applied, _("The settings were changed."), "configuration")
        except (CommandRefused, LimitReached) as error:
            context = {**await _page(request, client), "form": form, "refusal": error}
            return workbench(request, client, "configuration", context, 422)
    return workbench(request, client, "configuration", {**await _page(request, client), "form": form}, 422)


async def _page(request: HttpRequest, client: SessionClient) -> dict[str, Any]:
    found = await client.configuration(at=position(request))
    manifest = found["schedulers"][0]["manifest"] if found["schedulers"] else None
    shown = await sync_to_async(effective, thread_sensitive=False)(manifest)
    return {"text": shown["text"], "errors": [], "form": SettingsForm(initial=found["settings"]), **shown}


def read(text: str) -> tuple[dict[str, Any] | None, Locate | None, Errors]:
    """The one document of a text, where its fields stand, and what is wrong with it as YAML."""
    try:
        loaded = load_manifests(text, LoadLimits(max_bytes=MOST_BYTES))
    except InvalidObject as error:
        return None, None, [each.to_json() for each in error.errors]
    if len(loaded) != 1:
        return None, None, [{"text": _("There must be one KubeSchedulerConfiguration in it."), "line": 1}]
    return loaded[0].manifest, loaded[0].locate, []


def at_line(error: dict[str, Any], locate: Locate | None) -> dict[str, Any]:
    """The error with the line of its field, where that can be found."""
    place = locate(error.get("path") or "") if locate and not error.get("line") else None
    return {**error, "line": place[0]} if place else error
