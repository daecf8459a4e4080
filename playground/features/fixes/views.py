"""The problems of a cluster, fixes for unschedulable pods (applied here or in a fork), and the reasons why a pod is not on a node."""

from collections.abc import Mapping
from typing import Any, cast
from urllib.parse import urlencode

import orjson
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _

from playground.features.fixes.presenter import ProblemRow, describe_findings
from playground.features.fixes.query import Fixes, Problems
from playground.features.fixes.why_not import name_pod
from playground.presenters import Look
from playground.presenters.look import AIM
from playground.presenters.names import Names
from playground.sessions.database.listing import JOINED
from playground.sessions.protocol.errors import CommandRefused, SessionGone, parse_command
from playground.sessions.protocol.looking import WhyNot
from playground.sessions.recent import remember
from playground.sessions.web.client import SessionClient
from playground.sessions.web.messages import from_form
from playground.templatetags.studio import elide, sentence
from playground.views.access import creator, opens
from playground.views.responses import by_htmx, describe_session, go, position, workbench
from playground.views.session import NAME_LENGTH
from scheduler_core.world.commands import Command

MOST_STEPS = 10_000
MOST_COMMANDS = 20
SECONDS = 3.0
LONGER = 20.0  # if the user continues the search
FOR_PROBLEMS, FOR_BEST = 1.0, 2.0
BEST = 3  # fixes of which the best one is named beside a problem
SHOWN, SEARCHED = 8, 5  # problems shown, and problems whose fix is searched


@opens("GET")
async def problems(request: HttpRequest, client: SessionClient) -> HttpResponse:
    """Show the problems of the cluster as a fragment of the stage, or as a page. Each row loads its best fix separately."""
    at, longer = position(request), bool(request.GET.get("longer"))
    found = await client.ask(Problems(at=at, seconds=LONGER if longer else FOR_PROBLEMS))
    rows = found["rows"] if longer else found["rows"][:SHOWN]
    context = {
        **_page(request, client),
        "at": at,
        "rows": _present_rows(rows, _names(found), at),
        "hidden": len(found["rows"]) - len(rows),
        "fitting": found["fitting"],
        "late": found["late"] and not longer,
        "searched": SEARCHED,
    }
    return render(request, "fixes/problems.html", context)


def _present_rows(rows: list[dict[str, Any]], names: Names, at: int | None) -> list[ProblemRow]:
    at_step = {} if at is None else {"at": at}
    shown = [
        {**row, "said": sentence(row["said"], _, names), "query": urlencode({"pod": row["key"]} | at_step)}
        for row in rows
    ]
    return cast(list[ProblemRow], shown)


def _page(request: HttpRequest, client: SessionClient) -> dict[str, Any]:
    """Return the context that a page and a fragment of the studio share."""
    fragment = by_htmx(request)
    return {
        **describe_session(request, client),
        "fragment": fragment,
        "base": "playground/bare.html" if fragment else "playground/base.html",
    }


def _names(answer: Mapping[str, Any]) -> Names:
    """Return the short names of an answer."""
    return Names(others={name: (form, form) for name, form in answer["short"].items()})


@opens("GET")
async def fixes(request: HttpRequest, client: SessionClient) -> HttpResponse:
    """Show the fixes that the search found, as a fragment of the inspector's tab or a page of its own."""
    look = Look.from_query(request.GET)
    if request.GET.get("best"):
        asked = Fixes(at=look.at, pod=look.pod, seconds=FOR_BEST, most=BEST)
        answer = (await client.ask_with_head(asked))[0]
        found, names = describe_findings(answer), _names(answer)
        best = next(iter(found["fixes"]), None)
        lines = [sentence(line, _, names) for line in best["lines"]] if best else []
        node = best["node"] if best else ""
        lands = node and elide(node, names.fit(node), "code")
        proven = bool(best and best["proven"])
        context = {"findings": found, "lines": lines, "node": lands, "proven": proven}
        return render(request, "fixes/best.html", context)
    fragment, longer = by_htmx(request), bool(request.GET.get("longer"))
    first = fragment and not longer and not request.GET.get("all")
    seconds = LONGER if longer else SECONDS
    asked = Fixes(at=look.at, pod=look.pod, seconds=seconds, first=first, longer=longer)
    findings, head = await client.ask_with_head(asked)
    context = {
        **_page(request, client),
        "findings": describe_findings(findings),
        "at": look.at,
        "goes_on": first and not findings["late"] and bool(findings["fixes"]),
        "may_go_on": not longer and (findings["late"] or (findings["cut"] > 0 and not first)),
        "standing": look.at is not None and look.at < head,
    }
    return render(request, "fixes/page.html", context)


@opens("POST")
async def apply_fix(request: HttpRequest, client: SessionClient) -> HttpResponse:
    """Apply a fix where it was proven: here if that is the head, else in a fork. `how=show` always forks and makes the steps."""
    commands, at = _commands(request.POST.get("command", "")), position(request)
    count = len(commands)
    given = [int(each) for each in request.POST.get("pauses", "").split(",") if each.isdecimal() and len(each) < 6]
    pauses = [min(each, MOST_STEPS) for each in given] if len(given) == count else [0] * count
    look = Look.from_query(request.POST)
    if request.POST.get("how") == "show":
        return await _show(request, client, commands, pauses, at, look)
    applied = await client.apply(commands[0], at, source="fix")
    target = applied.forked or client
    await _carry_out(target, commands[1:], pauses, begun=True)
    return await _land(request, target, look)


async def _land(request: HttpRequest, client: SessionClient, look: Look) -> HttpResponse:
    """Make the steps that proved the fix, or run to the pod's next attempt, and show the pod's node."""
    steps = Look.from_query({"page": request.POST.get("steps", "")}).page
    if 0 < steps <= MOST_STEPS:
        await client.walk(steps)
    elif look.pod.count("/") == 1:
        await client.converse(from_form("run", until="pod", pod=look.pod), look)
    return go(request, (reverse("studio", args=[client.key]) + Look(pod=look.pod, node=look.node, stage=AIM).href()))


async def _show(
    request: HttpRequest, client: SessionClient, commands: list[Command], pauses: list[int], at: int | None, look: Look
) -> HttpResponse:
    """Show a fork with the fix applied, at the end of the attempt that proved it."""
    name = _("%(name)s (fixed)") % {"name": client.session.name}
    twin = await client.fork(at, name[:NAME_LENGTH], creator(request))
    await remember(request, twin.key)
    await _carry_out(twin, commands, pauses)
    return await _land(request, twin, look)


async def _carry_out(client: SessionClient, commands: list[Command], pauses: list[int], *, begun: bool = False) -> None:
    """Apply commands, each after the pause of the previous one. `begun`: the first command is already applied."""
    waits = pauses[:-1] if begun else [0, *pauses[:-1]]
    for pause, command in zip(waits, commands, strict=True):
        if pause:
            await client.walk(pause)
        await client.apply(command, source=JOINED if begun else "fix")
        begun = True


def _commands(text: str) -> list[Command]:
    """Return the command or commands of a form field. Raise CommandRefused if there is none."""
    try:
        data = orjson.loads(text)
    except orjson.JSONDecodeError:
        data = None
    commands = data if isinstance(data, list) else [data]
    if not commands or len(commands) > MOST_COMMANDS or not all(isinstance(c, dict) for c in commands):
        raise CommandRefused(_("This is not a command. Use the button of a fix."))
    return [parse_command(command) for command in commands]


MOST_NAME = 253


@opens("GET")
async def why(request: HttpRequest, client: SessionClient) -> HttpResponse:
    """Show every Filter plugin's verdict on the pod `pod` on the node `node` at the viewer's position. Changes nothing."""
    pod = request.GET.get("pod", "")[: 2 * MOST_NAME + 1]
    node = request.GET.get("node", "").strip()[:MOST_NAME]
    answer = await client.ask(WhyNot(at=position(request), pod=pod, node=node))
    if answer is None:
        raise SessionGone(_("No pod %(name)s exists at this step.") % {"name": pod})
    return workbench(request, client, "fixes/why_not", {**name_pod(answer)})
