"""Plugins of one's own in CEL: written, tried on the present world, kept in the session, put into a profile."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from playground.sessions.protocol.errors import FieldProblem, parse_command
from playground.sessions.protocol.looking import Configuration, Configured, TryPlugin
from playground.sessions.web.client import SessionClient
from playground.templatetags.playground_words import expected_words, in_words
from playground.views.access import opens
from playground.views.responses import FORM_ERRORS, confirm_command, position, reject_form, workbench
from playground.workbench.forms.plugins import PluginForm
from scheduler_core.scheduler.config import EXPRESSIONS, Definition, with_plugin_in
from scheduler_core.scheduler.plugins import OUT_OF_TREE
from scheduler_core.scheduler.plugins.registry import registry
from scheduler_core.world.commands import DefinePlugin, SetConfiguration
from scheduler_core.world.readonly import Point

MOST_NAME = 253
# Fields of a definition by the extension point that they make a plugin take part in.
POINTS = {
    "pre_enqueue": Point.PRE_ENQUEUE,
    "filter": Point.FILTER,
    "post_filter": Point.POST_FILTER,
    "score": Point.SCORE,
    "permit": Point.PERMIT,
}


@require_http_methods(["GET", "POST"])
@opens
async def plugins(request: HttpRequest, client: SessionClient) -> HttpResponse:
    """The list, and the form for one of them (`plugin`) or a new one; POST keeps it, tries it, takes it away or puts it into a profile."""
    configured = await client.ask(Configuration(at=position(request)))
    if request.method == "POST":
        client.require_edit()
        if "use" in request.POST:
            return await _use(request, client, configured)
        if "remove" in request.POST:
            command = DefinePlugin(request.POST["remove"][:MOST_NAME])
            return await _apply(request, client, configured, command, _("Removed."))
        return await _keep_or_try(request, client, configured)
    name = request.GET.get("plugin", "")[:MOST_NAME]
    form = PluginForm.of(name, configured.settings["plugins"].get(name) or {})
    return workbench(request, client, "plugins", await _page(request, client, configured, form))


async def _keep_or_try(request: HttpRequest, client: SessionClient, configured: Configured) -> HttpResponse:
    form = PluginForm(request.POST)
    if not form.is_valid():
        return workbench(request, client, "plugins", await _page(request, client, configured, form), 422)
    if "try" in request.POST:
        return await _try(request, client, configured, form)
    name = form.cleaned_data["plugin"]
    try:
        command = parse_command({"kind": "DefinePlugin", "plugin": name, "definition": form.definition})
        await client.apply(command, at=position(request), source="plugins")
        messages.success(request, _("Plugin %(name)s saved in this session.") % {"name": name})
        return HttpResponseRedirect(f"{reverse('plugins', args=[client.key])}?plugin={name}")
    except FORM_ERRORS as error:
        left = _add_field_errors(form, error.errors)
        context = await _page(request, client, configured, form)
        context["refusal"] = error if left or not error.errors else None
        return reject_form(request, client, "plugins", error, context)


async def _try(request: HttpRequest, client: SessionClient, configured: Configured, form: PluginForm) -> HttpResponse:
    """Show the plugin's result for a pod on each node."""
    pod = request.POST.get("pod", "").strip()[: 2 * MOST_NAME]
    name = form.cleaned_data["plugin"]
    asked = TryPlugin(at=position(request), name=name, definition=form.definition, pod=pod)
    tried = await client.ask(asked)
    left = _add_field_errors(form, tried.problems)
    context = {**await _page(request, client, configured, form), "tried": tried.trial, "pod": pod, "left": left}
    return workbench(request, client, "plugins", context, 422 if tried.problems else 200)


def _add_field_errors(form: PluginForm, errors: list[FieldProblem]) -> list[FieldProblem]:
    """Shows errors at their fields, with their characters; returns those that belong to none."""
    left = []
    for error in errors:
        field = error.path.removeprefix("definition.")
        if field in EXPRESSIONS and error.line is not None:
            where = _("line %(line)d, column %(column)d: %(why)s")
            said = where % {"line": error.line, "column": error.column or 1, "why": error.expected}
            form.add_error(field, said)
            _mark(form, field, error.line, error.column or 1)
        elif field == "plugin":
            form.add_error(field, _("received %(received)s; expected %(expected)s") % in_words(error))
        elif field == "definition":
            form.add_error("filter", _("expected %(expected)s") % {"expected": expected_words(error.expected)})
        else:
            left.append(error)
    return left


def _mark(form: PluginForm, field: str, line: int, column: int) -> None:
    """Has the script put the cursor on the character (workbench/expression.js)."""
    attrs = form.fields[field].widget.attrs
    attrs["data-wrong-line"], attrs["data-wrong-column"] = str(line), str(column)


async def _use(request: HttpRequest, client: SessionClient, configured: Configured) -> HttpResponse:
    """Puts a plugin into a profile: `use` is its name, `profile` "scheduler/schedulerName"."""
    name = request.POST["use"][:MOST_NAME]
    scheduler, _slash, profile = request.POST.get("profile", "").partition("/")
    manifest = next((each.manifest for each in configured.schedulers if each.name == scheduler), None)
    if manifest is None:
        messages.error(request, _("This profile no longer exists."))
        return HttpResponseRedirect(reverse("plugins", args=[client.key]))
    definition = configured.settings["plugins"].get(name)
    if definition is None and name not in OUT_OF_TREE:
        messages.error(request, _("This plugin no longer exists."))
        return HttpResponseRedirect(reverse("plugins", args=[client.key]))
    if definition is None:
        changed = with_plugin_in(manifest, profile, name)
    else:
        points = [point for field, point in POINTS.items() if definition.get(field)]
        instead_of = "DefaultPreemption" if definition.get("post_filter") else ""
        weight = definition.get("weight", 1)
        changed = with_plugin_in(manifest, profile, name, weight=weight, points=points, instead_of=instead_of)
    said = _("%(name)s added to the profile %(profile)s. The scheduler restarted.")
    command = SetConfiguration(changed, scheduler)
    return await _apply(request, client, configured, command, said % {"name": name, "profile": profile})


async def _apply(
    request: HttpRequest,
    client: SessionClient,
    configured: Configured,
    command: DefinePlugin | SetConfiguration,
    said: str,
) -> HttpResponse:
    try:
        await client.apply(command, at=position(request), source="plugins")
        return confirm_command(request, client, said, "plugins")
    except FORM_ERRORS as error:
        context = {**await _page(request, client, configured, PluginForm.of("", {})), "refusal": error}
        return reject_form(request, client, "plugins", error, context)


async def _page(
    request: HttpRequest, client: SessionClient, configured: Configured, form: PluginForm
) -> dict[str, Any]:
    asked = TryPlugin(at=position(request), name="", definition=None, pod="")
    known = await client.ask(asked)
    own = configured.settings["plugins"]
    where = _where(configured)
    return {
        "form": form,
        "own": [_row(name, definition, where) for name, definition in own.items()],
        "ready": [{"name": name, "what": _first_line(name), "profiles": where.get(name, [])} for name in OUT_OF_TREE],
        "profiles": [
            f"{scheduler.name}/{profile.get('schedulerName')}"
            for scheduler in configured.schedulers
            for profile in scheduler.manifest["profiles"]
        ],
        "pods": known.pods,
        "expressions": [
            {
                "label": str(form.fields[field].label).partition(":")[0],
                "variables": [(name, gettext(what)) for name, what in kind.variables.items()],
                "answers": [(name, gettext(what)) for name, what in kind.answers.items()],
            }
            for field, kind in EXPRESSIONS.items()
        ],
    }


def _row(name: str, definition: dict[str, Any], where: dict[str, list[str]]) -> dict[str, Any]:
    return {
        "name": name,
        "description": definition.get("description", ""),
        "points": [str(point) for field, point in POINTS.items() if definition.get(field)],
        "weight": definition.get("weight", Definition().weight),
        "profiles": where.get(name, []),
    }


def _first_line(name: str) -> str:
    return (registry()[name].__doc__ or "").split("\n", 1)[0]


def _where(configured: Configured) -> dict[str, list[str]]:
    """The profiles that name a plugin."""
    found: dict[str, list[str]] = {}
    for scheduler in configured.schedulers:
        for profile in scheduler.manifest["profiles"]:
            sets = (profile.get("plugins") or {}).values()
            names = dict.fromkeys(entry["name"] for each in sets for entry in each.get("enabled") or ())
            for name in names:
                found.setdefault(name, []).append(str(profile.get("schedulerName")))
    return found
