"""Users' own plugins in CEL: write them, try them on the present world, save them in the session, add them to a profile."""

from collections.abc import Mapping
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext
from django.utils.translation import gettext as _

from playground.sessions.protocol.errors import CommandRefused, FieldProblem, parse_command
from playground.sessions.protocol.looking import Configuration, ConfiguredWorld, TryPlugin
from playground.sessions.recent import remember
from playground.sessions.web.client import SessionClient
from playground.templatetags.playground_words import expected_words, in_words
from playground.views.access import creator, opens
from playground.views.responses import FORM_ERRORS, confirm_command, go, position, reject_form, workbench
from playground.views.session import NAME_LENGTH
from playground.workbench.forms.extenders import PluginForm
from scheduler_core.scheduler.config import EXPRESSIONS, Definition, with_plugin_in
from scheduler_core.scheduler.plugins import OUT_OF_TREE
from scheduler_core.scheduler.plugins.registry import registry
from scheduler_core.world.commands import DefinePlugin, SetConfiguration
from scheduler_core.world.readonly import Point

MOST_NAME = 253
# Fields of a definition by the extension point that they enable.
POINTS = {
    "pre_enqueue": Point.PRE_ENQUEUE,
    "filter": Point.FILTER,
    "post_filter": Point.POST_FILTER,
    "score": Point.SCORE,
    "permit": Point.PERMIT,
}


@opens("GET", "POST")
async def plugins(request: HttpRequest, client: SessionClient) -> HttpResponse:
    """Show the list, and the form for one (`plugin`) or a new one; POST saves, tries, removes it, or adds it to a profile."""
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


async def _keep_or_try(request: HttpRequest, client: SessionClient, configured: ConfiguredWorld) -> HttpResponse:
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


async def _try(
    request: HttpRequest, client: SessionClient, configured: ConfiguredWorld, form: PluginForm
) -> HttpResponse:
    """Show the plugin's result for a pod on each node."""
    pod = request.POST.get("pod", "").strip()[: 2 * MOST_NAME]
    name = form.cleaned_data["plugin"]
    asked = TryPlugin(at=position(request), name=name, definition=form.definition, pod=pod)
    tried = await client.ask(asked)
    left = _add_field_errors(form, tried.problems)
    context = {**await _page(request, client, configured, form), "tried": tried.trial, "pod": pod, "left": left}
    return workbench(request, client, "plugins", context, 422 if tried.problems else 200)


def _add_field_errors(form: PluginForm, errors: list[FieldProblem]) -> list[FieldProblem]:
    """Add errors to their fields, with their positions. Return those without a field."""
    left = []
    for error in errors:
        field = error.path.removeprefix("definition.")
        if field in EXPRESSIONS and error.line is not None:
            where = _("line %(line)d, column %(column)d: %(why)s")
            said = where % {"line": error.line, "column": error.column or 1, "why": error.expected}
            form.add_error(field, said)
            line = error.line
            column = error.column or 1
            attrs = form.fields[field].widget.attrs
            attrs["data-wrong-line"], attrs["data-wrong-column"] = str(line), str(column)
        elif field == "plugin":
            form.add_error(field, _("received %(received)s; expected %(expected)s") % in_words(error))
        elif field == "definition":
            form.add_error("filter", _("expected %(expected)s") % {"expected": expected_words(error.expected)})
        else:
            left.append(error)
    return left


async def _use(request: HttpRequest, client: SessionClient, configured: ConfiguredWorld) -> HttpResponse:
    """Add a plugin to a profile: `use` is its name, `profile` "scheduler/schedulerName"."""
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
    configured: ConfiguredWorld,
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
    request: HttpRequest, client: SessionClient, configured: ConfiguredWorld, form: PluginForm
) -> dict[str, Any]:
    known = await client.ask(TryPlugin(at=position(request), name="", definition=None, pod=""))
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


def _where(configured: ConfiguredWorld) -> dict[str, list[str]]:
    """Return the profiles that name a plugin."""
    found: dict[str, list[str]] = {}
    for scheduler in configured.schedulers:
        for profile in scheduler.manifest["profiles"]:
            sets = (profile.get("plugins") or {}).values()
            names = dict.fromkeys(entry["name"] for each in sets for entry in each.get("enabled") or ())
            for name in names:
                found.setdefault(name, []).append(str(profile.get("schedulerName")))
    return found


# Other weights for Score plugins in a KubeSchedulerConfiguration.

MULTI, SCORE = "multiPoint", "score"


def with_weights(configuration: Mapping[str, Any], profile: str, weights: Mapping[str, int]) -> dict[str, Any]:
    """Return the configuration with these weights in one profile. A weight of 0, which kube reads as 1, disables the plugin at Score."""
    profiles = [
        _set_profile_weights(each, weights) if each.get("schedulerName") == profile else each
        for each in configuration.get("profiles") or ()
    ]
    return {**configuration, "profiles": profiles}


def _set_profile_weights(profile: Mapping[str, Any], weights: Mapping[str, int]) -> dict[str, Any]:
    plugins = dict(profile.get("plugins") or {})
    score, multi = dict(plugins.get(SCORE) or {}), dict(plugins.get(MULTI) or {})
    named = {each["name"] for each in score.get("enabled") or ()}
    multi["enabled"] = _set_plugin_weights(multi, {name: w for name, w in weights.items() if w and name not in named})
    if named:
        kept = [each for each in score["enabled"] if weights.get(each["name"], 1)]
        score["enabled"] = _set_plugin_weights(
            {"enabled": kept}, {n: w for n, w in weights.items() if w and n in named}
        )
    off = [{"name": name} for name, weight in weights.items() if not weight]
    if off:
        score["disabled"] = [*(score.get("disabled") or ()), *off]
    if score:
        plugins[SCORE] = score
    return {**profile, "plugins": {**plugins, MULTI: multi}}


def _set_plugin_weights(plugins: Mapping[str, Any], weights: Mapping[str, int]) -> list[dict[str, Any]]:
    """Return the list with these weights. Missing plugins are appended, which replaces a default plugin of kube in place."""
    enabled = list(plugins.get("enabled") or ())
    known = {each["name"] for each in enabled}
    changed = [{**each, "weight": weights[each["name"]]} if each["name"] in weights else dict(each) for each in enabled]
    return [*changed, *({"name": n, "weight": w} for n, w in weights.items() if n not in known)]


MOST_WEIGHT = 100


@opens("POST")
async def fork_weights(request: HttpRequest, client: SessionClient) -> HttpResponse:
    """Fork at the viewer's position, and restart the fork's scheduler with these weights in the profile."""
    at, weights = position(request), _weights(request)
    configured = await client.ask(Configuration(at=at))
    name = request.POST.get("scheduler", "")
    found = next((each for each in configured.schedulers if each.name == name), None)
    if found is None or not weights:
        raise CommandRefused(_("This scheduler does not exist at this step."))
    manifest = with_weights(found.manifest, request.POST.get("profile", ""), weights)
    title = _("%(name)s (other weights)") % {"name": client.session.name}
    twin = await client.fork(at, title[:NAME_LENGTH], creator(request))
    await remember(request, twin.key)
    await twin.apply(SetConfiguration(manifest, name), source="configuration")
    return go(request, reverse("studio", args=[twin.key]))


def _weights(request: HttpRequest) -> dict[str, int]:
    """Return the weights by plugin, from the form's two lists."""
    texts = request.POST.getlist("weights")
    numbers = [int(text) if text.isascii() and text.isdecimal() else -1 for text in texts]
    if any(not 0 <= number <= MOST_WEIGHT for number in numbers):
        raise CommandRefused(_("A weight must be an integer from 0 to 100."))
    return dict(zip(request.POST.getlist("plugins"), numbers, strict=False))
