"""The page that previews an upgrade of a session, and the page of differences between releases."""

from typing import Any

import msgspec
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from playground.features.upgrade.presenter import describe_move, describe_step, name_moves
from playground.features.upgrade.query import UpgradePreview
from playground.sessions.protocol.errors import SessionError
from playground.sessions.recent import remember
from playground.sessions.web.client import SessionClient
from playground.views.access import author, creator, opens
from playground.views.responses import go, position, workbench
from playground.views.session import NAME_LENGTH
from playground.workbench.builder import clusters_of_differences
from scheduler_core.analysis.upgrade import Stage, Upgrade
from scheduler_core.scheduler.config import DIFFERENCES, NEWEST, RELEASES, Release, behaviors_of, read_release
from scheduler_core.world.commands import SetSettings

SECONDS = 2.0  # of one request; the page repeats it until the preview is complete


def list_differences() -> list[dict[str, Any]]:
    """Return the table of differences. `before` is the last release without the behavior, or "" if no cluster shows the difference."""
    rows = []
    for each in DIFFERENCES:
        lacking = [release for release in RELEASES if each.behavior not in behaviors_of(release)]
        before = lacking[-1] if each.behavior in clusters_of_differences() else ""
        rows.append({"name": each.behavior, "before": before, **each._asdict()})
    return rows


def _release_of(text: str) -> Release:
    try:
        return read_release(text) if text else NEWEST
    except ValueError as error:
        raise SessionError(str(error)) from None


@opens("GET", "POST")
async def upgrade(request: HttpRequest, client: SessionClient) -> HttpResponse:
    """GET: show the changes of the release `release` at a step. POST: fork the step with that release."""
    if request.method == "POST":
        release = _release_of(request.POST.get("release", ""))
        name = _("%(name)s (kube %(release)s)") % {"name": client.session.name, "release": release}
        twin = await client.fork(position(request), name[:NAME_LENGTH], creator(request))
        await remember(request, twin.key)
        await twin.apply(SetSettings({"release": release}))
        return go(request, f"/s/{twin.key}/")
    release = _release_of(request.GET.get("release", ""))
    at = position(request)
    token = f"upgrade {author(request)} {release}"
    answer = await client.ask(UpgradePreview(at=at, token=token, target=release, seconds=SECONDS))
    others = [each for each in RELEASES if each != answer["source"]]
    context: dict[str, Any] = {"source": answer["source"], "target": release, "releases": others}
    if answer["found"] is None:
        context |= {"stage": msgspec.convert(answer["stage"], Stage), "standing": answer["at"]}
        return workbench(request, client, "upgrade/page", context)
    preview = msgspec.convert(answer["found"], Upgrade)
    named = list(name_moves(preview))
    context |= {
        "preview": preview,
        "moved": [
            {"sentence": describe_move(each), "step": describe_step(each, preview), "of": each}
            for moves, _more in named
            for each in moves
        ],
        "more": [text for _moves, more in named for text in more],
        "on": [gate.gate for gate in preview.gates if gate.after],
        "off": [gate.gate for gate in preview.gates if not gate.after],
    }
    return workbench(request, client, "upgrade/page", context)


@require_GET
def releases(request: HttpRequest) -> HttpResponse:
    """Show each difference between the releases, with a cluster that shows it under both."""
    return render(request, "upgrade/differences.html", {"differences": list_differences(), "releases": RELEASES})
