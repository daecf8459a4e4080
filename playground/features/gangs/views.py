"""The page that compares Coscheduling with the pod groups of kube 1.37 on the same inputs."""

from functools import cache
from pathlib import Path
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from playground.common.catalogs import read_yaml
from playground.presenters.amounts import duration
from playground.sessions.database.asking import in_thread
from playground.sessions.protocol.errors import SessionError
from playground.sessions.recent import remember
from playground.sessions.web.client import create_session
from playground.views.access import creator
from playground.views.responses import problem
from playground.workbench.builder import inputs_of_gangs
from scheduler_core.analysis.gangs import WAYS, Outcome, begin_way, compare_gangs

_WORDS: dict[str, dict[str, list[str]]] = read_yaml(Path(__file__).with_name("words.yaml"))
_INPUTS, _WAYS = _WORDS["inputs"], _WORDS["ways"]


@require_http_methods(["GET", "POST"])
async def gangs(request: HttpRequest) -> HttpResponse:
    """GET: what each way does with each input. POST: a session with the input `start` in the way `way`."""
    if request.method == "POST":
        name, way = request.POST.get("start", ""), request.POST.get("way", "")
        if name not in _INPUTS or way not in _WAYS:
            received = {"received": f"{name[:40]}, {way[:40]}", "inputs": ", ".join(_INPUTS), "ways": ", ".join(_WAYS)}
            text = _("Received %(received)s; expected an input (%(inputs)s) and a way (%(ways)s).")
            return problem(request, SessionError(text % received))
        title = f"{_(_INPUTS[name][0])} · {_(_WAYS[way][0])}"
        commands = begin_way(inputs_of_gangs()[name], next(each for each in WAYS if each == way))
        session = await create_session(title, commands=commands, creator=creator(request))
        await remember(request, session.edit_key)
        return HttpResponseRedirect(reverse("studio", args=[session.edit_key]))
    rows = [
        {"name": name, "title": _(title), "text": _(text), "sides": await in_thread(list_sides, name)}
        for name, (title, text) in _INPUTS.items()
    ]
    return render(request, "gangs/page.html", {"rows": rows})


def list_sides(name: str) -> list[dict[str, Any]]:
    """Return what the template shows of each way for an input."""
    return [
        {
            "way": outcome.way,
            "title": _(_WAYS[outcome.way][0]),
            "text": _(_WAYS[outcome.way][1]),
            "outcome": outcome,
            "gangs": [(each, duration(each.held if each.whole is None else each.whole)) for each in outcome.gangs],
            "messages": list(dict.fromkeys(gang.message for gang in outcome.gangs if gang.message)),
            "vain": all(gang.whole is None for gang in outcome.gangs),
        }
        for outcome in _compare(name)
    ]


@cache
def _compare(name: str) -> tuple[Outcome, ...]:
    return tuple(compare_gangs(inputs_of_gangs()[name]))
