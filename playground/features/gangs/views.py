"""The pages that compare Coscheduling with the pod groups of kube 1.37: on given inputs, and on a session's own gangs."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from playground.common.catalogs import read_yaml
from playground.features.gangs.query import SessionGangs
from playground.presenters.words import duration
from playground.sessions.database.asking import in_thread
from playground.sessions.protocol.errors import SessionError, parse_command
from playground.sessions.recent import remember
from playground.sessions.web.client import SessionClient, create_session
from playground.views.access import creator, opens
from playground.views.responses import position, problem, workbench
from playground.views.session import NAME_LENGTH
from playground.workbench.builder import inputs_of_gangs
from scheduler_core.analysis.gangs import WAYS, Input, Outcome, begin_way, compare_gangs
from scheduler_core.analysis.whatif import finish
from scheduler_core.world.commands import Command

_WORDS: dict[str, dict[str, list[str]]] = read_yaml(Path(__file__).with_name("words.yaml"))
MOST = 12  # names in a list
_INPUTS, _WAYS = _WORDS["inputs"], _WORDS["ways"]


@require_http_methods(["GET", "POST"])
async def gangs(request: HttpRequest) -> HttpResponse:
    """GET: show the outcome of each way for each input. POST: create a session with the input `start` in the way `way`."""
    if request.method == "POST":
        name, way = request.POST.get("start", ""), request.POST.get("way", "")
        if name not in _INPUTS or way not in _WAYS:
            received = {"received": f"{name[:40]}, {way[:40]}", "inputs": ", ".join(_INPUTS), "ways": ", ".join(_WAYS)}
            text = _("Received %(received)s; expected an input (%(inputs)s) and a way (%(ways)s).")
            return problem(request, SessionError(text % received))
        commands = begin_way(Input(inputs_of_gangs()[name]), next(each for each in WAYS if each == way))
        return await _open(request, f"{_(_INPUTS[name][0])} · {_(_WAYS[way][0])}", commands)
    rows = [
        {"name": name, "title": _(title), "text": _(text), "sides": list_sides(await in_thread(_compare, name))}
        for name, (title, text) in _INPUTS.items()
    ]
    return render(request, "gangs/page.html", {"rows": rows})


@opens("GET", "POST")
async def session_gangs(request: HttpRequest, client: SessionClient) -> HttpResponse:
    """GET: show the outcome of each way for the gangs of the step `at`. POST: create a session with them in the way `way`."""
    at = position(request)
    if request.method == "POST":
        way = next((each for each in WAYS if each == request.POST.get("way")), WAYS[0])
        found = await client.ask(SessionGangs(at=at, way=way))
        title = f"{client.session.name} · {_(_WAYS[way][0])}"[:NAME_LENGTH]
        return await _open(request, title, [parse_command(each) for each in found["commands"]])
    answer = await client.ask(SessionGangs(at=at))
    row = {"name": "own", "sides": list_sides(msgspec.convert(answer["outcomes"], tuple[Outcome, ...]))}
    here = reverse("session-gangs", args=[client.key]) + ("" if at is None else f"?at={at}")
    return workbench(request, client, "gangs/session", {"row": row, "here": here, "refused": answer["refused"]})


async def _open(request: HttpRequest, title: str, commands: Sequence[Command]) -> HttpResponse:
    """Create a session with some commands and redirect to it."""
    session = await create_session(title, commands=commands, creator=creator(request))
    await remember(request, session.edit_key)
    return HttpResponseRedirect(reverse("studio", args=[session.edit_key]))


def list_sides(outcomes: Sequence[Outcome]) -> list[dict[str, Any]]:
    """Return the template's data for each way."""
    return [
        {
            "way": outcome.way,
            "title": _(_WAYS[outcome.way][0]),
            "text": _(_WAYS[outcome.way][1]),
            "outcome": outcome,
            "gangs": [(each, duration(each.held if each.whole is None else each.whole)) for each in outcome.gangs],
            "messages": list(dict.fromkeys(gang.message for gang in outcome.gangs if gang.message)),
            "others": outcome.others[:MOST],
            "more": max(0, len(outcome.others) - MOST),
            "gone": outcome.gone[:MOST],
            "vain": all(gang.whole is None for gang in outcome.gangs),
        }
        for outcome in outcomes
    ]


@cache
def _compare(name: str) -> tuple[Outcome, ...]:
    return finish(compare_gangs(Input(inputs_of_gangs()[name])))
