"""The scheduler's configuration as YAML, and the settings of the world around it."""

import json
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext as _
from msgspec import structs

from playground.features.lockstep.views import beside
from playground.sessions.protocol.errors import FieldProblem
from playground.sessions.protocol.looking import (
    Configuration,
    ConfigurationRead,
    ConfiguredWorld,
    EffectiveConfiguration,
    ReadConfiguration,
)
from playground.sessions.protocol.opening import AdoptConfiguration, Offer
from playground.sessions.web.client import SessionClient
from playground.templatetags.playground_words import error_words
from playground.views.access import edits, opens
from playground.views.responses import FORM_ERRORS, confirm_command, position, reject_form, warn, workbench
from playground.views.workbench.objects import build_offers_context
from playground.views.workbench.texts import with_source
from playground.workbench.forms.world import GatesForm, SettingsForm, restarts
from scheduler_core.formats.unsupported import notes_of_configuration
from scheduler_core.scheduler.config import format_gates
from scheduler_core.scheduler.plugins.registry import problems
from scheduler_core.world.commands import DEFAULT_SCHEDULER_NAME, SetConfiguration, SetSettings
from scheduler_core.world.readonly import subdomain_errors

MOST_NAME = 253
NEW = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
  - schedulerName: %(name)s
"""
Errors = list[FieldProblem]


@opens("GET", "POST")
async def configuration(request: HttpRequest, client: SessionClient) -> HttpResponse:
    """Show a scheduler's KubeSchedulerConfiguration with all defaults; POST restarts the scheduler with another one.

    `beside` applies the new one in a branch, which is shown side by side with the session. `scheduler` selects one of several schedulers.
    `new` shows the initial configuration of another scheduler for pods of this schedulerName.
    """
    if request.method == "POST":
        return await _configure(request, client)
    return workbench(request, client, "configuration/page", await _page(request, client))


async def _configure(request: HttpRequest, client: SessionClient) -> HttpResponse:
    client.require_edit()
    text, name = request.POST.get("text", "").replace("\r\n", "\n"), _name(request)
    if "edit" in request.POST:
        return workbench(request, client, "configuration/page", {**await _page(request, client), "text": text})
    manifest, status, errors = None, 422, await _name_errors(request, client, name)
    offers: list[Offer] = []
    if not errors and not {"default", "remove"} & set(request.POST):
        manifest, offers, errors = await _read(request, client, text)
    if not errors and not offers:
        try:
            command = SetConfiguration(manifest, name)
            if "beside" in request.POST:
                return await beside(request, client, command)
            await client.apply(command, at=position(request), source="configuration")
            warn(request, notes_of_configuration(manifest or {}))
            return confirm_command(request, client, _describe_change(request, name), "configuration")
        except FORM_ERRORS as error:
            status = error.status
            errors = await _at_lines(client, text, error.errors) or [FieldProblem(text=error_words(error))]
    context = {**await _page(request, client), "text": text, "errors": with_source(errors, text)}
    context["adoptions"] = [structs.replace(each, errors=with_source(each.errors, text)) for each in offers]
    return workbench(request, client, "configuration/page", context, status)


def _name(request: HttpRequest) -> str:
    return (request.POST.get("scheduler") or DEFAULT_SCHEDULER_NAME).strip()[:MOST_NAME]


async def _name_errors(request: HttpRequest, client: SessionClient, name: str) -> Errors:
    """Return the errors in the name of a further scheduler."""
    if "new" not in request.POST:
        return []
    if wrong := subdomain_errors(name):
        why = _("Scheduler name “%(name)s”: %(why)s") % {"name": name, "why": wrong[0]}
        return [FieldProblem(text=why)]
    configured = await client.ask(Configuration(at=position(request)))
    if name in [scheduler.name for scheduler in configured.schedulers]:
        taken = _("A scheduler “%(name)s” already exists. Choose another name.") % {"name": name}
        return [FieldProblem(text=taken)]
    return []


def _describe_change(request: HttpRequest, name: str) -> str:
    if "remove" in request.POST:
        return _("Scheduler “%(name)s” removed. Its pods stay Pending.") % {"name": name}
    if "new" in request.POST:
        return _("Scheduler “%(name)s” started.") % {"name": name}
    return _("Configuration applied. The scheduler restarted.")


@edits("POST")
async def settings(request: HttpRequest, client: SessionClient) -> HttpResponse:
    """Change the world's settings, as far as they differ."""
    configured = await client.ask(Configuration(at=position(request)))
    form = SettingsForm(request.POST, **_list_releases(configured))
    if not form.is_valid():
        return workbench(request, client, "configuration/page", {**await _page(request, client), "form": form}, 422)
    return await _change(request, client, form.differing(configured.settings), {"form": form})


@edits("POST")
async def gates(request: HttpRequest, client: SessionClient) -> HttpResponse:
    """Change all feature gates at once. The input has the format of kube-scheduler's flag."""
    configured = await client.ask(Configuration(at=position(request)))
    form = GatesForm(request.POST, release=configured.settings["release"])
    if not form.is_valid():
        context = {**await _page(request, client), "gates_form": form}
        return workbench(request, client, "configuration/page", context, 422)
    wanted = form.cleaned_data["gates"]
    changes = {name: on for name, on in wanted.settings.items() if on != configured.settings[name]}
    if wanted.idle:
        messages.info(
            request, _("These feature gates have no effect here: %(names)s.") % {"names": ", ".join(wanted.idle)}
        )
    return await _change(request, client, changes, {"gates_form": form})


async def _change(
    request: HttpRequest, client: SessionClient, changes: dict[str, Any], forms: dict[str, Any]
) -> HttpResponse:
    """Change settings and confirm that. If the change is refused, the page shows the forms with their input."""
    if not changes:
        messages.info(request, _("No changes."))
        return HttpResponseRedirect(reverse("configuration", args=[client.key]))
    said = _("Settings applied. The schedulers restarted.")
    if not restarts(changes):
        said = _("Settings applied. No restart needed.")
    try:
        await client.apply(SetSettings(changes), at=position(request), source="configuration")
        return confirm_command(request, client, said, "configuration")
    except FORM_ERRORS as error:
        context = {**await _page(request, client), **forms, "refusal": error}
        return reject_form(request, client, "configuration/page", error, context)


def _list_releases(configured: ConfiguredWorld) -> dict[str, Any]:
    """Return the release of the world and, if there are several schedulers, of each."""
    release, own = configured.settings["release"], configured.settings["scheduler_releases"]
    names = [scheduler.name for scheduler in configured.schedulers]
    several = {name: own.get(name, release) for name in names} if len(names) > 1 else {}
    return {"release": release, "schedulers": several}


async def _page(request: HttpRequest, client: SessionClient) -> dict[str, Any]:
    configured = await client.ask(Configuration(at=position(request)))
    parameters = request.POST if request.method == "POST" else request.GET
    names = [scheduler.name for scheduler in configured.schedulers]
    name = parameters.get("scheduler") or next(iter(names), DEFAULT_SCHEDULER_NAME)
    effective = await client.ask(EffectiveConfiguration(at=position(request), scheduler=name))
    release = configured.settings["release"]
    page = {"errors": [], "form": SettingsForm(initial=configured.settings, **_list_releases(configured))}
    page |= effective
    page["gates_form"] = GatesForm(initial={"gates": format_gates(configured.settings, release)})
    page["unusable"] = sorted(problems().items())
    page |= {"schedulers": names, "scheduler": name, "unknown_schedulers": configured.unknown_schedulers}
    if "new" not in parameters:
        page |= await build_offers_context(
            request, client, {"kind": "Scheduler", "namespace": "", "name": name if name in names else ""}
        )
    page["removable"] = name != DEFAULT_SCHEDULER_NAME and name in names
    if "new" in parameters:
        page |= _new(parameters["new"][:MOST_NAME], name if "scheduler" in parameters else "")
    return page


def _new(wanted: str, name: str) -> dict[str, Any]:
    """Return the context for a further scheduler, for pods of a schedulerName."""
    wanted = wanted or "my-scheduler"
    text = NEW % {"name": json.dumps(wanted, ensure_ascii=False)}
    return {"new": wanted, "scheduler": name or wanted, "text": text, "profiles": [], "lines": [], "removable": False}


async def _read(
    request: HttpRequest, client: SessionClient, text: str
) -> tuple[dict[str, Any] | None, list[Offer], Errors]:
    """Return the one configuration of a text, or the configurations found in it with the errors."""
    adopted = await client.ask(AdoptConfiguration(at=position(request), text=text))
    if adopted.manifest is not None:
        return adopted.manifest, [], []
    if len(adopted.offers) == 1 or adopted.errors:
        return None, adopted.offers, adopted.errors
    read = await client.check(ReadConfiguration(text=text))
    if not read.errors and read.documents != 1:
        one = FieldProblem(text=_("The text must contain exactly one KubeSchedulerConfiguration."), line=1)
        return None, adopted.offers, [one]
    return read.manifest, adopted.offers, read.errors


async def _at_lines(client: SessionClient, text: str, errors: Errors) -> Errors:
    """Return the errors with the lines of their fields, if these are found."""
    paths = [each.path for each in errors if not each.line]
    read = await client.check(ReadConfiguration(text=text, paths=paths)) if paths else ConfigurationRead()
    return [
        structs.replace(
            each,
            line=each.line or read.lines.get(each.path),
            column=each.column if each.line else read.columns.get(each.path),
        )
        for each in errors
    ]
