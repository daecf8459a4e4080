"""A session beside itself with another configuration: a branch that has it, gone as far as the session, in lockstep with it."""

from __future__ import annotations

import asyncio

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext as _

from playground.features.lockstep.query import StretchOf
from playground.presenters import Look
from playground.sessions.protocol.base import Data
from playground.sessions.protocol.comparing import Attempt
from playground.sessions.protocol.errors import SessionError
from playground.sessions.recent import remember
from playground.sessions.web.client import SessionClient
from playground.sessions.web.messages import from_form
from playground.views.access import creator
from playground.views.responses import position
from playground.views.session import NAME_LENGTH

PATIENCE = 4.0  # seconds that a page waits for what it has set going


async def beside(request: HttpRequest, client: SessionClient, command: Data) -> HttpResponse:
    """Fork, apply the command there, make as many attempts as the session has made, and lead to both side by side.

    Who stands at the newest step means the whole history: the branch begins before the first attempt.
    """
    head, at = await client.head(), position(request)
    made = await client.ask(StretchOf(at=head, where=head + 1))
    if made and (at is None or at >= head):
        at = max(0, (await client.ask(Attempt(at=head, index=0))).first_position - 1)
    name = _("%(name)s, another configuration") % {"name": client.session.name}
    fork = await client.fork(at, name[:NAME_LENGTH], creator(request))
    try:
        await fork.apply(command, source="configuration")
    except SessionError:
        await fork.delete()
        raise
    await remember(request, fork.key)
    await run_on([fork], made)
    return HttpResponseRedirect(f"{reverse('lockstep', args=[client.key])}?with={fork.key}")


async def run_on(clients: list[SessionClient], attempts: int | None) -> None:
    """Let sessions run, to the end of so many attempts or (None) as far as there is anything to do, and wait for that a while."""
    fields = {} if attempts is None else {"until": "attempt", "number": str(attempts)}
    if attempts == 0:
        return
    for client in clients:
        await client.converse(from_form("run", **fields), Look())
    waited = 0.0
    while waited < PATIENCE and any([(await client.state())[0] for client in clients]):
        await asyncio.sleep(0.1)
        waited += 0.1
