"""The page about external schedulers, and the fork in which one of them works."""

import time
from datetime import UTC, datetime
from typing import Any

import msgspec
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.urls import reverse

from playground.features.second_opinion.query import AskOutside, AuditBinding, SecondOpinion
from playground.presenters.words import clock, gettext_noop, message
from playground.sessions.protocol.base import Data
from playground.sessions.protocol.errors import SessionError
from playground.sessions.recent import remember
from playground.sessions.web.client import SessionClient
from playground.views.access import creator, opens
from playground.views.responses import page_of, position, whole_number, workbench
from scheduler_core.analysis.second_opinion import KUBES
from scheduler_core.scheduler.config import read_release
from scheduler_core.world.commands import BeginLife, Command, SetSettings, StopScheduler

SECONDS, PAGE = 10.0, 50
SETTLE = 500, 20, 10.0  # transitions, how often at most, and seconds: both schedulers should begin with a world at rest
SIDES = ("ours", "theirs")
WORDS = {
    "node": gettext_noop("Node"),
    "condition": gettext_noop("Condition PodScheduled"),
    "nominated": gettext_noop("Nominated node"),
    "events": gettext_noop("Events"),
    "gone": gettext_noop("Deleted"),
}


@opens("GET")
async def second_opinion(request: HttpRequest, client: SessionClient) -> HttpResponse:
    """Show the decisions of external schedulers beside ours. `pod` shows one pod with the verdicts of our filters."""
    at, pod = position(request), request.GET.get("pod", "")[:512]
    answer = await client.ask(SecondOpinion(at=at, seconds=SECONDS))
    rows = _rows(answer)
    shown = next((row for row in rows if row["pod"] == pod), None)
    audit = await client.ask(AuditBinding(at=at, pod=pod)) if shown else {}
    context = {"answer": answer, "pods": page_of(rows, request.GET.get("page", ""), PAGE), "audit": audit}
    context |= {"shown": shown and {**shown, "sides": _sides(shown)}}
    context |= {"different": sum(bool(row["words"]) for row in rows), "release": answer["release"]}
    return workbench(request, client, "second_opinion/page", context)


def _rows(answer: Data) -> list[Data]:
    """Return the pods, those that differ first."""
    bound = {each["pod"]: each for each in answer["bindings"]}
    rows = [{**row, **bound.pop(row["pod"], {"node": row["theirs"]["node"]})} for row in answer.get("pods", ())]
    rows += [{"ours": {}, "different": (), **each} for each in bound.values()]
    for row in rows:
        row["time"] = clock(row["at"]) if row.get("at") is not None else ""
        row["words"] = [message(WORDS[name]) for name in row["different"]]
    return sorted(rows, key=lambda row: not row["words"])


def _sides(row: Data) -> list[Data]:
    """Return the decisions of both schedulers about a pod, field by field; empty if ours did not run."""
    if "theirs" not in row:
        return []
    fields = [name for name in WORDS if name != "gone" or "gone" in row["different"]]
    return [
        {
            "name": message(WORDS[name]),
            "differs": name in row["different"],
            **{side: _texts(row[side][name]) for side in SIDES},
        }
        for name in fields
    ]


def _texts(value: Any) -> list[str]:
    if isinstance(value, list):
        return [" ".join(each.values()) for each in value]
    if isinstance(value, dict):
        value = " ".join(filter(None, value.values()))
    return [str(value)] if value else []


@opens("GET")
async def data(request: HttpRequest, client: SessionClient, name: str) -> HttpResponse:
    """Return opinion.json, the comparison (`seed` is that of our draws; while `late`, the next request continues it); progress.json, the
    scheduler's progress; or config.yaml, a configuration equal to our scheduler's (`type` is the media type that it sends).
    """
    if name == "opinion.json":
        seed = whole_number(request.GET.get("seed", ""), 15)
        return JsonResponse(await client.ask(SecondOpinion(at=position(request), seconds=SECONDS, seed=seed)))
    found = await client.ask(AskOutside(at=None, configured=name == "config.yaml"))
    if name == "progress.json":
        return JsonResponse(found)
    if name != "config.yaml":
        raise Http404
    connection = {"kubeconfig": "session.yaml", "qps": 5000, "burst": 10000}
    connection |= {"contentType": request.GET["type"][:100]} if request.GET.get("type") else {}
    more = {"parallelism": 1, "leaderElection": {"leaderElect": False}, "clientConnection": connection}
    text = msgspec.json.format(msgspec.json.encode({**KUBES, **found["configuration"], **more}), indent=2)  # YAML, too
    return HttpResponse(text, content_type="application/yaml")


@opens("POST")
async def begin(request: HttpRequest, client: SessionClient) -> HttpResponse:
    """Create a live fork with kubelets and without our schedulers, under the release `release` if given."""
    release = request.POST.get("release", "").strip()
    try:
        wanted = read_release(release) if release else ""
    except ValueError as error:
        raise SessionError(str(error)) from None
    twin = await client.fork(position(request), "", creator(request), True)
    found = await twin.ask(AskOutside(at=None))
    commands: list[Command] = []
    if wanted and wanted != found["release"]:
        commands.append(SetSettings({"release": wanted}))
    if not found["kubelets"]:
        commands.append(SetSettings({"cluster": {"run_kubelets": True}}))
    commands += [StopScheduler(name, "SIGKILL") for name in found["schedulers"]]
    for command in commands:
        await twin.apply(command, source="actions")
    steps, times, seconds = SETTLE
    end, head = time.monotonic() + seconds, 0
    for _ in range(times):
        await twin.walk(steps)
        before, head = head, await twin.head()
        if head == before or time.monotonic() > end:  # some worlds never rest
            break
    now = datetime.now(UTC).replace(microsecond=0).isoformat().replace("+00:00", "Z")
    await twin.apply(BeginLife(now), source="actions")
    await remember(request, twin.key)
    return HttpResponseRedirect(reverse("second-opinion", args=[twin.key]))
