"""Fork with other weights: what the score stage's sliders imagine becomes a session in which it is so."""

from __future__ import annotations

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
from playground.workbench.builder.weights import with_weights
from scheduler_core.world.commands import SetConfiguration

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
