"""Import: paste, upload or drop kubectl's output; preview its effect; apply the accepted objects as one command."""

import csv
import io
from collections import Counter
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.core.files.uploadedfile import SimpleUploadedFile
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop, ngettext
from django_htmx.http import HTMX_STOP_POLLING, HttpResponseClientRefresh

from playground.presenters.problems import describe_note
from playground.presenters.words import beside, cpu, thousands
from playground.sessions.database.asking import in_thread
from playground.sessions.protocol.errors import SessionError
from playground.sessions.protocol.moving import ImportPlan
from playground.sessions.web.client import SessionClient
from playground.sessions.web.jobs.imports import IMPORT, ImportResult, take_file
from playground.sessions.web.jobs.registry import Cancelled, Job
from playground.views.access import author, edits, opens
from playground.views.responses import by_htmx, describe_session, go, page_of, position, reject_form, warn, workbench
from playground.views.workbench.texts import large_file, read_import_text
from scheduler_core.formats.export import harmless
from scheduler_core.world.readonly import snapshot_command

PATIENCE = 1.0  # seconds that a page waits before it shows the progress of a large import
STAGES = {
    "": gettext_noop("Waiting for another large import to finish."),
    "read": gettext_noop("Reading the file"),
    "clean": gettext_noop("Removing credentials and shifting timestamps to now"),
    "try": gettext_noop("Trying each object"),
    "keep": gettext_noop("Collecting the changes"),
    "save": gettext_noop("Saving the preview"),
    "apply": gettext_noop("Importing the objects"),
}
PARTS = ("read", "clean", "try", "keep", "save")  # the stages of a preview
ACTIONS = ("created", "changed", "unchanged", "ignored", "refused")
PAGE = 50


@opens("GET", "POST")
async def import_page(request: HttpRequest, client: SessionClient) -> HttpResponse:
    """Show the import form, or with `token` the preview. POST previews a text; with `rename`, the response shows the new names once."""
    if request.method == "POST":
        client.require_edit()
        try:
            return await begin_preview(request, client)
        except SessionError as error:
            # The form again, with the error.
            return reject_form(
                request,
                client,
                "import",
                error,
                {"refusal": error, "text": get_pasted_text(request), "rename": renames(request)},
            )
    if token := request.GET.get("token", ""):
        try:
            plan = await client.kept_preview(token)
        except SessionError as error:
            return workbench(request, client, "import", {"refusal": error}, error.status)
        return workbench(request, client, "import", {"plan": _preview(request, token, plan)})
    return workbench(request, client, "import", {"snapshot_command": snapshot_command()})


@edits("POST")
async def import_apply(request: HttpRequest, client: SessionClient) -> HttpResponse:
    """Apply the preview's accepted objects as one command."""
    token = request.POST.get("token", "")
    plan = await client.kept_preview(token)
    if plan.large:
        async with client.acting(position(request)) as target:
            if target is client:
                job = await client.begin_apply(token, plan.accepted, PATIENCE)
            else:
                text = SimpleUploadedFile("import", await client.preview_text(token))
                path = await in_thread(take_file, text)
                job = await target.begin_import(path, "", author(request), plan.renamed, PATIENCE)
        warn(request, plan.warnings)
        return _to_job(request, target, job)
    await client.apply_preview(token, at=position(request))
    warn(request, plan.warnings)
    return _confirm_import(request, client, plan.accepted)


@edits("GET")
async def importing(request: HttpRequest, client: SessionClient, token: str) -> HttpResponse:
    """Show the progress of a large import; then its preview, or after it is applied the studio.

    A script's request gets the progress, and reloads the page at the end.
    """
    try:
        job = await client.find_job(IMPORT, token, PATIENCE)
        job.check()
    except SessionError as error:
        if by_htmx(request):
            return _over(error)
        return workbench(request, client, "import", {"refusal": error}, error.status)
    if job.result is None:
        return _waiting(request, client, job)
    if by_htmx(request):
        return HttpResponseClientRefresh()
    found = await client.import_outcome(token)
    assert found is not None
    if found.applied:
        return _confirm_import(request, client, found.applied)
    return _show_preview(request, client, found.token, found.names)


@edits("POST")
async def import_cancel(request: HttpRequest, client: SessionClient, token: str) -> HttpResponse:
    """Cancel a large import."""
    if await client.stop_job(IMPORT, token):
        messages.success(request, _("The import was canceled. Nothing was saved."))
        return HttpResponseRedirect(_with_position(request, reverse("import", args=[client.key])))
    return HttpResponseRedirect(_with_position(request, reverse("importing", args=[client.key, token])))


async def begin_preview(request: HttpRequest, client: SessionClient) -> HttpResponse:
    """Preview a pasted or uploaded text; for a large file, begin a job and show its progress."""
    file = large_file(request)
    if file is None:
        return await preview_import(request, client, *read_import_text(request))
    name, path = file.name or "", await in_thread(take_file, file)
    job = await client.begin_import(path, name, author(request), renames(request), PATIENCE)
    return _to_job(request, client, job)


def _to_job(request: HttpRequest, client: SessionClient, job: Job[ImportResult]) -> HttpResponse:
    """Redirect to the page with the progress of a large import, out of a drawer too."""
    return go(request, _with_position(request, reverse("importing", args=[client.key, job.token])))


def _waiting(request: HttpRequest, client: SessionClient, job: Job[ImportResult]) -> HttpResponse:
    context = {
        "work": job,
        "said": _(STAGES[job.stage]),
        "percent": 100 * job.done // max(job.total, 1),
        "part": PARTS.index(job.stage) + 1 if job.stage in PARTS else 0,
        "parts": len(PARTS),
    }
    if by_htmx(request):
        context["says"] = request.GET.get("stage") != job.stage
        return render(request, "playground/partials/importing_progress.html", context, status=202)
    context |= {**describe_session(request, client), "at": position(request)}
    return render(request, "playground/importing.html", context, status=202)


def _over(error: SessionError) -> HttpResponse:
    """Return the response to a page that waited for an import: a note if it was cancelled, otherwise a refresh."""
    if isinstance(error, Cancelled):
        said = format_html('<p id="importing-said" role="status" hx-swap-oob="innerHTML">{}</p>', error)
        return HttpResponse(said, status=HTMX_STOP_POLLING)
    return HttpResponseClientRefresh()


def _confirm_import(request: HttpRequest, client: SessionClient, count: int) -> HttpResponse:
    words = ngettext("%(count)s object imported", "%(count)s objects imported", count) % {"count": f"{count:,}"}
    messages.success(request, words)
    return go(request, reverse("studio", args=[client.key]))


def _preview(request: HttpRequest, token: str, plan: ImportPlan) -> dict[str, Any]:
    """Return a summary of a plan, and one page of its rows."""
    counts = dict.fromkeys(ACTIONS, 0) | Counter(item.action for item in plan.items)
    kinds = Counter(item.kind or "?" for item in plan.items)
    show = request.GET.get("show", "")
    rows = [item for item in plan.items if show in ("", item.action)]
    sums, others = plan.amounts, {kind: n for kind, n in sorted(kinds.items()) if kind not in ("Node", "Pod")}
    (memory,) = beside("memory", sums.get("memory", 0))
    offered = _("%(cpu)s cpu, %(memory)s") % {"cpu": cpu(sums.get("cpu", 0)), "memory": memory}
    placed = _("%(placed)s on nodes, %(pending)s Pending") % {
        "placed": thousands(sums.get("placed", 0)),
        "pending": thousands(sums.get("pending", 0)),
    }
    tiles = [
        {"title": _("Nodes"), "value": thousands(kinds["Node"]), "more": offered if sums.get("cpu") else ""},
        {"title": _("Pods"), "value": thousands(kinds["Pod"]), "more": placed},
    ]
    more = ", ".join(f"{thousands(n)} {kind}" for kind, n in others.items())
    return {
        "token": token,
        "counts": [(action, counts[action]) for action in ACTIONS if counts[action]],
        "accepted": plan.accepted,
        "refused": counts["refused"],
        "kinds": bool(kinds),
        "total": len(plan.items),
        "tiles": (
            tiles + ([{"title": _("Others"), "value": thousands(sum(others.values())), "more": more}] if others else [])
        ),
        "show": show,
        "page": page_of(rows, request.GET.get("page", ""), PAGE),
        "query": urlencode({"token": token, **({"show": show} if show else {})}),
        "read": plan.read,
        "notes": [note for note in plan.warnings if note not in plan.without_effect],
        "without_effect": [describe_note(note) for note in plan.without_effect],
        "missing": plan.missing,
        "left_out": plan.left_out,
        "left_out_sum": sum(plan.left_out.values()),
        "moved": plan.shift != 0,
        "renamed": plan.renamed,
        "unneeded": plan.unneeded,
        "configurations": plan.configurations,
    }


def _with_position(request: HttpRequest, address: str) -> str:
    at = position(request)
    return address if at is None else f"{address}{'&' if '?' in address else '?'}at={at}"


async def preview_import(request: HttpRequest, client: SessionClient, text: bytes, filename: str) -> HttpResponse:
    """Preview a text and redirect to the preview; for a renamed text, show the new names, which are not stored."""
    rename = renames(request)
    token, names = await client.keep_preview(text, filename, author(request), rename)
    return _show_preview(request, client, token, names)


def _show_preview(
    request: HttpRequest, client: SessionClient, token: str, names: list[tuple[str, str]]
) -> HttpResponse:
    address = _with_position(request, reverse("import", args=[client.key]) + f"?token={token}")
    if not names:
        return HttpResponseRedirect(address)
    context = {"address": address, "count": len(names), "names": _table(names)}
    answer = workbench(request, client, "renamed", context)
    answer["Cache-Control"] = "no-store"
    return answer


def _table(names: list[tuple[str, str]]) -> str:
    """Return old and new names as CSV."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(("old", "new"))
    writer.writerows([harmless(old), harmless(new)] for old, new in names)
    return text.getvalue()


def renames(request: HttpRequest) -> bool:
    """Return whether to rename imported objects before they are stored."""
    return bool(request.POST.get("rename"))


def get_pasted_text(request: HttpRequest) -> str:
    """Return the pasted text, to show it again."""
    return request.POST.get("text", "")
