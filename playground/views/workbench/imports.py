"""Import: paste, upload or drop what kubectl prints; look at what it would do; apply what was accepted as one command."""

from __future__ import annotations

import csv
import io
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods, require_POST

from playground.sessions.protocol.errors import SessionError
from playground.sessions.protocol.moving import ImportPlan
from playground.sessions.web.client import SessionClient
from playground.views.access import author, edits, opens
from playground.views.paging import page_of
from playground.views.responses import go, position, refused, warn, workbench
from playground.views.workbench.texts import received
from scheduler_core.view import snapshot_command

ACTIONS = ("created", "changed", "unchanged", "ignored", "refused")
PAGE = 50


@require_http_methods(["GET", "POST"])
@opens
async def import_page(request: HttpRequest, client: SessionClient) -> HttpResponse:
    """GET: the place to paste or drop, or with `token` the preview. POST: a text; it leads to its preview, or with `rename` is
    answered with the names, this once.
    """
    if request.method == "POST":
        client.require_edit()
        try:
            return await previewed(request, client, *received(request))
        except SessionError as error:
            return refused_import(request, client, error)
    if token := request.GET.get("token", ""):
        try:
            plan = await client.kept_preview(token)
        except SessionError as error:
            return workbench(request, client, "import", {"refusal": error}, error.status)
        return workbench(request, client, "import", {"plan": _preview(request, token, plan)})
    return workbench(request, client, "import", {"snapshot_command": snapshot_command()})


@require_POST
@edits
async def import_apply(request: HttpRequest, client: SessionClient) -> HttpResponse:
    """Apply what the preview accepted, as one command."""
    token = request.POST.get("token", "")
    plan = await client.kept_preview(token)
    await client.apply_preview(token, at=position(request))
    warn(request, plan.warnings)
    count = plan.accepted
    words = ngettext("%(count)s object imported", "%(count)s objects imported", count) % {
        "count": f"{count:,}"
    }
    messages.success(request, words)
    return go(request, reverse("studio", args=[client.key]))


def _preview(request: HttpRequest, token: str, plan: ImportPlan) -> dict[str, Any]:
    """A summary of a plan by action and kind, and one page of its rows."""
    counts = dict.fromkeys(ACTIONS, 0)
    kinds: dict[str, dict[str, int]] = {}
    for item in plan.items:
        counts[item.action] += 1
        kind = kinds.setdefault(item.kind or "?", dict.fromkeys(ACTIONS, 0))
        kind[item.action] += 1
    show = request.GET.get("show", "")
    rows = [item for item in plan.items if show in ("", item.action)]
    return {
        "token": token,
        "counts": [(action, counts[action]) for action in ACTIONS if counts[action]],
        "accepted": plan.accepted,
        "refused": counts["refused"],
        "kinds": [(kind, [numbers[action] for action in ACTIONS]) for kind, numbers in sorted(kinds.items())],
        "actions": ACTIONS,
        "show": show,
        "page": page_of(rows, request.GET.get("page", ""), PAGE),
        "query": urlencode({"token": token, **({"show": show} if show else {})}),
        "read": plan.read,
        "notes": [note for note in plan.warnings if note not in plan.without_effect],
        "without_effect": plan.without_effect,
        "missing": plan.missing,
        "left_out": plan.left_out,
        "left_out_sum": sum(plan.left_out.values()),
        "moved": plan.shift != 0,
        "renamed": plan.renamed,
        "unneeded": plan.unneeded,
        "configurations": plan.configurations,
    }


def _preview_url(request: HttpRequest, client: SessionClient, token: str) -> str:
    at = position(request)
    return reverse("import", args=[client.key]) + f"?token={token}" + (f"&at={at}" if at is not None else "")


async def previewed(request: HttpRequest, client: SessionClient, text: bytes, filename: str) -> HttpResponse:
    """Preview a text; the answer leads to it, or where it was renamed tells the names, which nobody can ask for again."""
    rename = renames(request)
    token, names = await client.keep_preview(text, filename, author(request), rename)
    address = _preview_url(request, client, token)
    if not rename:
        return HttpResponseRedirect(address)
    context = {"address": address, "count": len(names), "names": _table(names)}
    answer = workbench(request, client, "renamed", context)
    answer["Cache-Control"] = "no-store"
    return answer


def _table(names: list[tuple[str, str]]) -> str:
    """Old and new names as CSV."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(("old", "new"))
    writer.writerows(names)
    return text.getvalue()


def renames(request: HttpRequest) -> bool:
    """Whether what is brought gets other names before it is kept."""
    return bool(request.POST.get("rename"))


def refused_import(request: HttpRequest, client: SessionClient, error: SessionError) -> HttpResponse:
    """The place to paste again, with what was wrong."""
    return refused(
        request,
        client,
        "import",
        error,
        {"refusal": error, "text": pasted(request), "rename": renames(request)},
    )


def pasted(request: HttpRequest) -> str:
    """The pasted text, to be shown again."""
    return request.POST.get("text", "")
