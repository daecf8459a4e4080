"""Fork with other weights: what the score stage's sliders imagine becomes a session in which it is so."""

from collections.abc import Mapping
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from playground.sessions.protocol.errors import CommandRefused
from playground.sessions.protocol.looking import Configuration
from playground.sessions.recent import remember
from playground.sessions.web.client import SessionClient
from playground.views.access import creator, opens
from playground.views.responses import go, position
from playground.views.session import NAME_LENGTH
from scheduler_core.world.commands import SetConfiguration

# Other weights for Score plugins in a KubeSchedulerConfiguration.

MULTI, SCORE = "multiPoint", "score"


def with_weights(configuration: Mapping[str, Any], profile: str, weights: Mapping[str, int]) -> dict[str, Any]:
    """The configuration with these weights in one profile. A weight of 0, which kube takes for 1, disables the plugin at Score."""
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
    """The list with these weights; who is not in it yet comes last, which replaces a plugin of kube's default where it stands."""
    enabled = list(plugins.get("enabled") or ())
    known = {each["name"] for each in enabled}
    changed = [{**each, "weight": weights[each["name"]]} if each["name"] in weights else dict(each) for each in enabled]
    return [*changed, *({"name": n, "weight": w} for n, w in weights.items() if n not in known)]


MOST_WEIGHT = 100


@require_POST
@opens
async def fork_weights(request: HttpRequest, client: SessionClient) -> HttpResponse:
    """A fork where the viewer stands, whose scheduler is restarted with these weights in the profile."""
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
    """Plugin -> weight, of the form's two lists."""
    texts = request.POST.getlist("weights")
    numbers = [int(text) if text.isascii() and text.isdecimal() else -1 for text in texts]
    if any(not 0 <= number <= MOST_WEIGHT for number in numbers):
        raise CommandRefused(_("A weight must be a whole number from 0 to 100."))
    return dict(zip(request.POST.getlist("plugins"), numbers, strict=False))
