"""The page about schedulers from outside, and the fork that one of them works in."""

from __future__ import annotations

from datetime import UTC, datetime

import msgspec
import yaml
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST

from playground.features.second_opinion.query import AskOutside, SecondOpinion
from playground.sessions.recent import remember
from playground.sessions.web.client import SessionClient
from playground.views.access import creator, opens
from playground.views.responses import position, whole_number
from scheduler_core.scheduler.config import read_release
from scheduler_core.world.commands import BeginLife, Command, SetSettings, StopScheduler

SECONDS, LONGER = 20.0, 600.0


@require_GET
@opens
async def second_opinion(request: HttpRequest, client: SessionClient) -> HttpResponse:
    """What schedulers from outside did, beside ours; `form=json` for programs."""
    asked = SecondOpinion(at=position(request), seconds=SECONDS)
    answer = await client.ask(asked)
    return JsonResponse(answer)


@require_GET
@opens
async def opinion_json(request: HttpRequest, client: SessionClient) -> HttpResponse:
    """The same as JSON; `seed` is that of our draws."""
    seed = whole_number(request.GET.get("seed", ""), 15)
    return JsonResponse(await client.ask(SecondOpinion(at=position(request), seconds=LONGER, seed=seed)))


@require_GET
@opens
async def progress(request: HttpRequest, client: SessionClient) -> HttpResponse:
    """How far a scheduler from outside is."""
    return JsonResponse(msgspec.to_builtins(await client.ask(AskOutside(at=None))))


@require_GET
@opens
async def config(request: HttpRequest, client: SessionClient) -> HttpResponse:
    """The configuration with which a kube-scheduler works here as ours did; its answers in the media type `type`."""
    found = await client.ask(AskOutside(at=position(request)))
    api = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
    connection = {"kubeconfig": "session.yaml", "qps": 5000, "burst": 10000}
    if request.GET.get("type"):
        connection["contentType"] = request.GET["type"][:100]
    more = {"parallelism": 1, "leaderElection": {"leaderElect": False}, "clientConnection": connection}
    text = yaml.safe_dump({**api, **found.configuration, **more}, sort_keys=False)
    return HttpResponse(text, content_type="application/yaml")


@require_POST
@opens
async def begin(request: HttpRequest, client: SessionClient) -> HttpResponse:
    """A live fork without our schedulers and with kubelets, under the release `release` where one is named."""
    twin = await client.fork(position(request), "", creator(request), True)
    found = await twin.ask(AskOutside(at=None))
    now = datetime.now(UTC).replace(microsecond=0).isoformat().replace("+00:00", "Z")
    commands: list[Command] = []
    release = request.POST.get("release", "").strip()
    if release and read_release(release) != found.release:
        commands.append(SetSettings({"release": release}))
    if not found.kubelets:
        commands.append(SetSettings({"cluster": {"run_kubelets": True}}))
    commands += [BeginLife(now), *(StopScheduler(name, "SIGKILL") for name in found.schedulers)]
    for command in commands:
        await twin.apply(command, source="actions")
    await remember(request, twin.key)
    return HttpResponseRedirect(reverse("studio", args=[twin.key]))
