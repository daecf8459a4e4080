"""Import: paste, upload or drop what kubectl prints; look at what it would do; apply what was accepted as one command."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any
from urllib.parse import urlencode

from asgiref.sync import sync_to_async
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods, require_POST

from playground.sessions.database import previews
from playground.sessions.protocol.errors import SessionError
from playground.sessions.web.client import SessionClient
from playground.views.doors import done, edits, opens, position, workbench
from playground.views.paging import page_of
from playground.views.texts import received

ACTIONS = ("created", "changed", "unchanged", "ignored", "refused")
PAGE = 50
_KEPT = 8
_plans: OrderedDict[tuple[int, str], dict[str, Any]] = OrderedDict()


@require_http_methods(["GET", "POST"])
@opens
async def import_page(request: HttpRequest, client: SessionClient) -> HttpResponse:
    """GET: the place to paste or drop, or with `token` the preview. POST: a text; it leads to its preview."""
    if request.method == "POST":
        client.require_edit()
        try:
            return await planned(request, client, *received(request))
        except SessionError as error:
            return refused_import(request, client, error)
    if token := request.GET.get("token", ""):
        try:
            plan = await _plan(client, token)
        except SessionError as error:
            return workbench(request, client, "import", {"refusal": error}, error.status)
        return workbench(request, client, "import", {"plan": _preview(request, plan)})
    return workbench(request, client, "import", {})


@require_POST
@edits
async def import_apply(request: HttpRequest, client: SessionClient) -> HttpResponse:
    """Apply what the preview accepted, as one command."""
    token = request.POST.get("token", "")
    plan = await _plan(client, token)
    await client.apply_plan(plan["token"], at=position(request))
    _plans.pop((client.session.pk, plan["token"]), None)
    count = sum(row["action"] in ("created", "changed") for row in plan["items"])
    words = ngettext("%(count)s object imported", "%(count)s objects imported", count) % {
        "count": f"{count:,}"
    }
    return done(request, client, words, "studio")


def _preview(request: HttpRequest, plan: dict[str, Any]) -> dict[str, Any]:
    """A summary of a plan by action and kind, and one page of its rows."""
    counts = dict.fromkeys(ACTIONS, 0)
    kinds: dict[str, dict[str, int]] = {}
    for row in plan["items"]:
        counts[row["action"]] += 1
        kind = kinds.setdefault(row["kind"] or "?", dict.fromkeys(ACTIONS, 0))
        kind[row["action"]] += 1
    show = request.GET.get("show", "")
    rows = [row for row in plan["items"] if show in ("", row["action"])]
    return {
        "token": plan["token"],
        "counts": [(action, counts[action]) for action in ACTIONS if counts[action]],
        "accepted": counts["created"] + counts["changed"],
        "refused": counts["refused"],
        "kinds": [(kind, [numbers[action] for action in ACTIONS]) for kind, numbers in sorted(kinds.items())],
        "actions": ACTIONS,
        "show": show,
        "page": page_of(rows, request.GET.get("page", ""), PAGE),
        "query": urlencode({"token": plan["token"], **({"show": show} if show else {})}),
        "notes": plan["warnings"],
    }


async def _plan(client: SessionClient, token: str) -> dict[str, Any]:
    """The plan behind a token; made again where this process has not kept it."""
    key = (client.session.pk, token)
    if key in _plans:
        _plans.move_to_end(key)
        return _plans[key]
    text, filename = await sync_to_async(previews.find, thread_sensitive=False)(client.session.pk, token)
    plan = await client.plan(text, filename)
    _keep(client, plan)
    return plan


def _keep(client: SessionClient, plan: dict[str, Any]) -> None:
    _plans[client.session.pk, plan["token"]] = plan
    while len(_plans) > _KEPT:
        _plans.popitem(last=False)


def _preview_url(request: HttpRequest, client: SessionClient, token: str) -> str:
    at = position(request)
    return reverse("import", args=[client.key]) + f"?token={token}" + (f"&at={at}" if at is not None else "")


async def planned(request: HttpRequest, client: SessionClient, text: bytes, filename: str) -> HttpResponse:
    """Plan a text; the answer leads to its preview."""
    plan = await client.plan(text, filename)
    _keep(client, plan)
    return HttpResponseRedirect(_preview_url(request, client, plan["token"]))


def refused_import(request: HttpRequest, client: SessionClient, error: SessionError) -> HttpResponse:
    """The place to paste again, with what was wrong."""
    return workbench(request, client, "import", {"refusal": error, "text": pasted(request)}, error.status)


def pasted(request: HttpRequest) -> str:
    """The pasted text, to be shown again unless it is huge."""
    text = request.POST.get("text", "")
    return text if len(text) < 200_000 else ""
