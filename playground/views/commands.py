"""The commands of a session's log, and re-runs of its history as a branch: without some of them, or with another seed."""

from bisect import bisect_left
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from playground.presenters.words import clock, format_message
from playground.sessions.database import listing
from playground.sessions.database.asking import in_thread
from playground.sessions.database.branches import build_fork_name
from playground.sessions.protocol.comparing import Moments
from playground.sessions.protocol.errors import SessionError
from playground.sessions.recent import remember
from playground.sessions.web.client import SessionClient
from playground.sessions.web.jobs.reruns import RERUN, NewBranch, Reruns
from playground.views.access import creator, edits, opens
from playground.views.responses import describe_session, page_of, position, seed_of, whole_number, workbench

PAGE = 50
MOST_SKIPPED = 500
NAMED = 2  # commands mentioned in the name of a branch
SECONDS = 0.6  # the time limit for computing virtual times
PATIENCE = 1.5
DIGITS = 15
MOST_TEXT = 253


@opens("GET")
async def commands(request: HttpRequest, client: SessionClient) -> HttpResponse:
    """List the commands by page, by default the viewer's. `q` filters the list."""
    await client.refresh()
    pk, head, here = client.session.pk, await client.head(), position(request)
    q = request.GET.get("q", "").strip()[:MOST_TEXT]
    positions = await in_thread(listing.positions, pk, head)
    done = bisect_left(positions, head if here is None else here)  # commands before the viewer's position
    chosen = await in_thread(listing.naming, pk, q, head) if q else range(len(positions))
    wanted = request.GET.get("page", "") or str((bisect_left(chosen, done) - 1) // PAGE + 1)
    page = page_of(chosen, wanted, PAGE)
    rows = await in_thread(listing.rows, pk, positions, page.rows, head)
    times = await client.ask(Moments(positions=[row.at for row in rows], seconds=SECONDS))
    context = {
        "rows": [
            {
                "command": row,
                "step": row.at + 1,
                "time": "" if time is None else clock(time),
                "later": here is not None and row.number > done,
                "here": here is not None and row.number == done,
            }
            for row, time in zip(rows, times, strict=True)
        ],
        "pages": page,
        "query": urlencode({name: value for name, value in (("at", here), ("q", q or None)) if value is not None}),
        "q": q,
        "total": len(positions),
        "head": head,
    }
    return workbench(request, client, "commands", context)


@edits("POST")
async def rerun(request: HttpRequest, client: SessionClient) -> HttpResponse:
    """Re-run the history without the commands at the positions `only`, or else `skip`; or with another `seed`."""
    if (seed := seed_of(request.POST.get("seed", ""))) is not None:
        name = await in_thread(build_fork_name, client.session, _("seed %(seed)d") % {"seed": seed})
        job = await client.rerun([], name, creator(request), PATIENCE, seed)
        return HttpResponseRedirect(reverse("rerun-result", args=[client.key, job.token]))
    ticked = request.POST.getlist("only") or request.POST.getlist("skip")
    skip = sorted({at for each in ticked if (at := whole_number(each, DIGITS)) is not None})
    if not skip:
        raise SessionError(_("Select the commands to leave out first."))
    if len(skip) > MOST_SKIPPED:
        raise SessionError(
            _("%(has)d commands are selected. At most %(most)d can be left out at once.")
            % {"has": len(skip), "most": MOST_SKIPPED}
        )
    left = await in_thread(listing.list_skipped_commands, client.session.pk, skip)
    name = await in_thread(build_fork_name, client.session, _without(left))
    job = await client.rerun(skip, name, creator(request), PATIENCE)
    return HttpResponseRedirect(reverse("rerun-result", args=[client.key, job.token]))


def _without(left: list[listing.SkippedCommand]) -> str:
    """Return the text about the skipped commands, for a branch's name."""
    named = [_(command.short["text"]) % command.short.get("values", {}) for command in left[:NAMED]]
    what, more = ", ".join(named), len(left) - NAMED
    if more > 0:
        what = ngettext("%(what)s and %(more)d more", "%(what)s and %(more)d more", more) % {"what": what, "more": more}
    return _("without %(what)s") % {"what": what}


@edits("GET")
async def rerun_result(request: HttpRequest, client: SessionClient, token: str) -> HttpResponse:
    """Show the progress of a re-run; then its result: the branch, and the commands that no longer applied."""
    job = await client.find_job(RERUN, token, PATIENCE)
    job.check()
    context = {
        **describe_session(request, client),
        "work": job,
        "seed": Reruns.seed(job),
        "skipped": await in_thread(listing.list_skipped_commands, client.session.pk, Reruns.skipped(job)),
    }
    if job.result is None:
        return render(request, "playground/rerunning.html", context, status=202)
    await remember(request, job.result.branch.edit_key)
    return render(request, "playground/rerun.html", {**context, **await _result(client, job.result)})


async def _result(client: SessionClient, new_branch: NewBranch) -> dict[str, Any]:
    result = new_branch.result
    reasons = {left.at: format_message(left.said, _) for left in result.left}
    refused = await in_thread(listing.list_skipped_commands, client.session.pk, reasons)
    return {
        "branch": new_branch.branch,
        "original": client.session.seed,
        "result": result,
        "kept": len(result.kept),
        "refused": [
            {"at": command.at, "sentence": command.sentence, "message": reasons[command.at]} for command in refused
        ],
        "more": result.refused - len(refused),
        "now": clock(result.now),
        "before": clock(result.before),
    }
