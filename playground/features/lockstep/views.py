"""Two sessions side by side under one transport. Both step together; common attempts and extension points are aligned.

`with` names the other session; `at` and `b` are the positions of the two, or `attempt` is the number of attempts made; `by` is the grain
of a step. `beside` creates the other session: a branch with another configuration, run as far as the session.
"""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar
from urllib.parse import urlencode

from asgiref.sync import sync_to_async
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _

from playground.features.comparison.presenter import present
from playground.features.comparison.views import PATIENCE, choose, other_session, sides_of
from playground.features.lockstep import presenter
from playground.features.lockstep.query import Moment, Stretch, StretchOf
from playground.presenters import Look
from playground.sessions.protocol.base import Query
from playground.sessions.protocol.comparing import Attempt, Comparison
from playground.sessions.protocol.errors import SessionError
from playground.sessions.recent import remember
from playground.sessions.web.client import SessionClient
from playground.sessions.web.messages import from_form
from playground.views.access import creator, opens
from playground.views.responses import position, whole_number
from playground.views.session import NAME_LENGTH
from scheduler_core.world.commands import Command

A = TypeVar("A")


@opens("GET")
async def lockstep(request: HttpRequest, client: SessionClient) -> HttpResponse:
    """Show the page; with `part`, only the part that changes from step to step."""
    wanted = request.GET.get("with", "").strip()
    if not wanted:
        return await choose(request, client, None, "lockstep")
    try:
        other = await other_session(client, wanted)
    except SessionError as error:
        return await choose(request, client, error, "lockstep")
    pair = Pair(client, other, (await client.head(), await other.head()))
    job = await client.compare(other, pair.heads, PATIENCE)
    context: dict[str, Any] = {**sides_of(client, other, pair.heads), "query": request.META.get("QUERY_STRING", "")}
    if job.result is None:
        return render(request, "comparison/comparing.html", {**context, "work": job}, status=202)
    context |= await _moment(request, pair, job.result)
    if "part" in request.GET:
        return render(request, "lockstep/live.html", context)
    shown = await sync_to_async(present, thread_sensitive=False)(job.result)
    return render(request, "lockstep/page.html", {**context, "comparison": shown})


class Pair(NamedTuple):
    """The two sessions, each up to its newest step."""

    client: SessionClient
    other: SessionClient
    heads: tuple[int, int]

    async def ask(self, query: Callable[..., Query[A]], fields: Sequence[dict[str, Any]]) -> tuple[A, A]:
        """Ask both sessions. `fields` are the arguments of each."""
        ours, theirs = await asyncio.gather(
            *(client.ask(query(**each)) for client, each in zip((self.client, self.other), fields, strict=True))
        )
        return ours, theirs

    async def rows(self, index: int) -> list[presenter.Row]:
        """Return the aligned steps of an attempt."""
        asked = [{"at": head, "index": index} for head in self.heads]
        return presenter.align_rows(*(await self.ask(Stretch, asked)))


class LockstepPosition(NamedTuple):
    """The place of the two sessions: the index of the attempt, its rows, the row among them, and the next attempt's rows."""

    attempt: int
    rows: list[presenter.Row]
    row: int
    following: list[presenter.Row]

    @property
    def at(self) -> tuple[int, int]:
        return self.rows[self.row].at


async def _moment(request: HttpRequest, pair: Pair, comparison: Comparison) -> dict[str, Any]:
    """Return the context that changes from step to step."""
    standing = await _standing(request, pair, comparison)
    by = request.GET.get("by", "")
    grain = by if by in presenter.GRAINS else "plugin"
    moments = await pair.ask(Moment, [{"at": at} for at in standing.at])
    made = max(side.tried for side in comparison.sides)
    return {
        "at": standing.at,
        "by": grain,
        "grains": presenter.GRAINS,
        "attempt": min(standing.attempt + 1, max(made, 1)),
        "attempts": made,
        "ended": standing.attempt + (standing.row == len(standing.rows) - 1),
        "moment": presenter.moment(moments),
        "parted": presenter.describe_divergence(comparison),
        "decisions": presenter.decisions(comparison, standing.attempt),
        "to": _ways(pair, comparison, standing, grain),
        "may_go_on": pair.client.may_edit and pair.other.may_edit,
    }


async def _standing(request: HttpRequest, pair: Pair, comparison: Comparison) -> LockstepPosition:
    """Return the row in the page's address; by default, the first row at which the histories differ."""
    ended = whole_number(request.GET.get("attempt", ""), 15)
    if ended is not None:
        index = max(0, ended - 1)
        rows = await pair.rows(index)
        return LockstepPosition(index, rows, len(rows) - 1 if ended else 0, await pair.rows(index + 1))
    asked = whole_number(request.GET.get("at", ""), 15)
    ours = min(comparison.common if asked is None else asked, pair.heads[0])
    asked_b = whole_number(request.GET.get("b", ""), 15)
    theirs = None if asked_b is None else min(asked_b, pair.heads[1])
    places = [
        {"at": head, "where": where}
        for head, where in zip(pair.heads, (ours, ours if theirs is None else theirs), strict=True)
    ]
    indices = await pair.ask(StretchOf, places)
    index = indices[0] if theirs is None else max(indices)
    rows, following = await asyncio.gather(pair.rows(index), pair.rows(index + 1))
    return LockstepPosition(index, rows, presenter.place_of(rows, (ours, theirs)), following)


def _ways(pair: Pair, comparison: Comparison, standing: LockstepPosition, grain: str) -> presenter.Ways:
    """Return the targets of the transport, each an address or None."""
    indices = presenter.differing(comparison)
    now = standing.attempt if standing.row == len(standing.rows) - 1 else standing.attempt - 0.5
    earlier = [i for i in indices if i < now]
    later = [i for i in indices if i > now]

    def lead(at: tuple[int, int] | None) -> str | None:
        return _address(pair.other, at, grain) if at is not None and at != standing.at else None

    return {
        "home": lead((0, 0)),
        "back": lead(presenter.back(standing.rows, standing.row, grain)),
        "step": lead(presenter.forward(standing.rows, standing.row, standing.following, grain)),
        "end": lead(pair.heads),
        "first": lead(presenter.end_of(comparison, indices[0])) if indices else None,
        "earlier": lead(presenter.end_of(comparison, earlier[-1])) if earlier else None,
        "later": lead(presenter.end_of(comparison, later[0])) if later else None,
        "grains": [(one, _address(pair.other, standing.at, one)) for one in presenter.GRAINS],
    }


def _address(other: SessionClient, at: tuple[int, int], grain: str) -> str:
    return "?" + urlencode({"with": other.key, "at": at[0], "b": at[1], "by": grain})


@opens("POST")
async def go_on(request: HttpRequest, client: SessionClient) -> HttpResponse:
    """Run both sessions from their newest steps until they are idle. `to` names the next page."""
    other = await other_session(client, request.POST.get("with", ""))
    for each in (client, other):
        each.require_edit()
    await run_on([client, other], None)
    query: dict[str, Any] = {"with": other.key}
    if request.POST.get("to") == "compare":
        query |= {"a": await client.head(), "b": await other.head()}
        return HttpResponseRedirect(f"{reverse('compare', args=[client.key])}?{urlencode(query)}")
    query |= {"at": request.POST.get("at", "0"), "b": request.POST.get("b", "0")}
    return HttpResponseRedirect(f"{reverse('lockstep', args=[client.key])}?{urlencode(query)}")


async def beside(request: HttpRequest, client: SessionClient, command: Command) -> HttpResponse:
    """Fork, apply the command there, make as many attempts as the session has made, and show both side by side.

    At the newest step, the branch starts before the first attempt, to compare the whole history.
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
    """Run sessions to the end of an attempt, or (None) until they are idle. Wait at most PATIENCE."""
    fields = {} if attempts is None else {"until": "attempt", "number": str(attempts)}
    if attempts == 0:
        return
    for client in clients:
        await client.converse(from_form("run", **fields), Look())
    waited = 0.0
    while waited < PATIENCE and any([(await client.state())[0] for client in clients]):
        await asyncio.sleep(0.1)
        waited += 0.1
