"""Two sessions side by side. `with` is the link or key of the other session; `a` and `b` limit the steps compared."""

import re
from typing import Any, TypedDict
from urllib.parse import urlencode

from asgiref.sync import sync_to_async
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.utils.translation import gettext as _

from playground.features.comparison.presenter import pods, present, scores
from playground.sessions.protocol.comparing import Comparison
from playground.sessions.protocol.errors import SessionError, SessionGone
from playground.sessions.web.client import SessionClient
from playground.views.access import opens
from playground.views.responses import describe_session, page_of, whole_number
from playground.views.sharing import tree

PAGE = 50
PATIENCE = 4.0
_KEY = re.compile(r"(?:.*/s/)?([\w-]{1,64})(?:/.*)?", re.DOTALL)


@opens("GET")
async def compare(request: HttpRequest, client: SessionClient) -> HttpResponse:
    """Show the comparison or its progress; without `with`, the page to choose another session."""
    wanted = request.GET.get("with", "").strip()
    if not wanted:
        return await choose(request, client, None)
    try:
        other = await other_session(client, wanted)
    except SessionError as error:
        return await choose(request, client, error)
    heads = (await _head(request, client, "a"), await _head(request, other, "b"))
    job = await client.compare(other, heads, PATIENCE)
    context: dict[str, Any] = {**sides_of(client, other, heads)}
    if job.result is None:
        return render(request, "comparison/comparing.html", {**context, "work": job}, status=202)
    level = level_heads(job.result) if not {"a", "b"} & request.GET.keys() else heads
    if level != heads:
        query = {"with": wanted, "a": level[0], "b": level[1]}
        return HttpResponseRedirect(f"?{urlencode(query)}")
    context |= await sync_to_async(_build_context, thread_sensitive=False)(request, job.result)
    context |= await _scores(request, client, other, job.result)
    return render(request, "comparison/page.html", context)


def level_heads(comparison: Comparison) -> tuple[int, int]:
    """Return the positions at which both have made equally many attempts: the end of that attempt in the longer history."""
    made = min(side.tried for side in comparison.sides)
    heads = []
    for side, head in zip(comparison.sides, comparison.heads, strict=True):
        if not made or side.tried == made:
            heads.append(head)
        else:  # without own attempts, all of them are in the common part
            heads.append(side.attempts[made - side.first - 1].last_position if made > side.first else comparison.common)
    return heads[0], heads[1]


async def choose(
    request: HttpRequest, client: SessionClient, refusal: SessionError | None, page: str = "compare"
) -> HttpResponse:
    """Show the page to choose another session, which leads to a page of this name."""
    await client.refresh()
    context = {
        **describe_session(request, client),
        "page": page,
        "branches": await tree(request, client, client.session.head),
        "wanted": request.GET.get("with", "")[:400],
        "refusal": refusal,
    }
    return render(request, "comparison/choose.html", context, status=refusal.status if refusal else 200)


async def other_session(client: SessionClient, wanted: str) -> SessionClient:
    """Return the other session, by a link to it or its key."""
    match = _KEY.fullmatch(wanted)
    try:
        other = await SessionClient.open(match[1] if match else "")
    except SessionGone:
        raise SessionGone(_("This link matches no session. Paste an edit link or a view link from Share.")) from None
    if other.session.pk == client.session.pk:
        raise SessionError(_("This link leads to the same session. Choose another session to compare."))
    return other


async def _head(request: HttpRequest, client: SessionClient, name: str) -> int:
    """Return the position up to which a session is compared: its newest step, unless the page names an earlier one."""
    head = await client.head()
    wanted = whole_number(request.GET.get(name, ""), 15)
    return head if wanted is None else min(head, wanted)


class Side(TypedDict):
    """One of the two sessions: compared up to `head`, and run up to `newest`."""

    letter: str
    name: str
    key: str
    view_key: str
    head: int
    newest: int
    seed: int


class Sides(TypedDict):
    """The context that all pages about two sessions share."""

    client: Any
    session: Any
    key: str
    other: Any
    sides: list[Side]
    query: str


def sides_of(client: SessionClient, other: SessionClient, heads: tuple[int, int]) -> Sides:
    """Return the context that all pages about two sessions share."""
    return {
        "client": client,
        "session": client.session,
        "key": client.key,
        "other": other,
        "sides": [
            {
                "letter": letter,
                "name": side.session.name,
                "key": side.key,
                "view_key": side.view_key,
                "head": head,
                "newest": side.session.head,
                "seed": side.session.seed,
            }
            for letter, side, head in zip("AB", (client, other), heads, strict=True)
        ],
        "query": urlencode({"with": other.key, "a": heads[0], "b": heads[1]}),
    }


def _build_context(request: HttpRequest, comparison: Comparison) -> dict[str, Any]:
    everything = request.GET.get("show") == "all"
    rows = pods(comparison, True)
    different = [row for row in rows if row.differs]
    return {
        "comparison": present(comparison),
        "level": len({side.tried for side in comparison.sides}) == 1,
        "everything": everything,
        "pods": page_of(rows if everything else different, request.GET.get("page", ""), PAGE),
        "different": len(different),
        "total": len(rows),
    }


async def _scores(
    request: HttpRequest, client: SessionClient, other: SessionClient, comparison: Comparison
) -> dict[str, Any]:
    """Return the scores of the first attempt that differs, or of the last attempts of the requested pod."""
    pod = request.GET.get("pod", "")[:512]
    attempts = comparison.attempts
    if pod:
        (ours, theirs), (head, their_head) = comparison.sides, comparison.heads
        attempts = (await client.attempt_of(head, ours, pod), await other.attempt_of(their_head, theirs, pod))
    return {"scores": scores(*attempts), "scored": attempts, "scored_pod": pod}
