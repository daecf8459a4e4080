"""The records of a session, step by step, with filters; each links to its step."""

from itertools import groupby
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext_lazy

from playground.features.records.query import Records, StepList
from playground.presenters.scene import short
from playground.sessions.protocol import breakpoints as core
from playground.sessions.web.client import SessionClient
from playground.views.access import opens
from playground.views.responses import position, whole_number, workbench
from scheduler_core.scheduler.plugins import NAMES
from scheduler_core.world.readonly import DESCRIPTIONS

FIELDS = ("kind", "plugin", "point", "status", "pod", "node", "to", "event", "reason")
MORE = ("to", "event", "reason")
PAGE = 60
SECONDS = 1.5
DIGITS = 15
AHEAD, LISTED = 30, 90  # steps in the list: after the present one, and in all
ENDS = {
    "scheduled": gettext_lazy("scheduled"),
    "bound": gettext_lazy("bound"),
    "unschedulable": gettext_lazy("unschedulable"),
    "error": gettext_lazy("error"),
}
STEP_KINDS = ("decisions", "changes")


@opens("GET")
async def records(request: HttpRequest, client: SessionClient) -> HttpResponse:
    """Show records, newest first, from `before` or the viewer's step. The fields are those of a breakpoint."""
    fields = {name: request.GET.get(name, "").strip()[: core.TEXT] for name in FIELDS}
    wanted = {name: value for name, value in fields.items() if value}
    here = position(request)
    head = await client.head()
    before = _before(request)
    upto = min(head, head if here is None else here) if before is None else min(head, before)
    context: dict[str, Any] = {
        "fields": fields,
        "wanted": urlencode(wanted),
        "query": urlencode({**wanted, **({} if here is None else {"at": here})}),
        "more_open": any(fields[name] for name in MORE),
        "upto": upto,
        "head": head,
        "plugins": NAMES,
        "points": core.POINTS,
        "statuses": core.STATUSES,
        "places": core.PLACES,
        "kinds": DESCRIPTIONS,
    }
    try:
        point = core.from_form(wanted) if wanted else None
    except core.BadBreakpoint as error:
        return workbench(request, client, "records/page", {**context, "refusal": error}, 422)
    matching = await client.ask(Records(at=upto, point=point, most=PAGE, seconds=SECONDS))
    return workbench(request, client, "records/page", {**context, "matching": matching})


@opens("GET")
async def steps(request: HttpRequest, client: SessionClient) -> HttpResponse:
    """Show the steps around the viewer's, or those up to `before`, grouped by pod. `q` and `kind` filter."""
    head = await client.head()
    here = min(head, head if (at := position(request)) is None else at)
    text, kind = request.GET.get("q", "").strip()[: core.TEXT], request.GET.get("kind", "")
    before = _before(request)
    upto = min(head, before if before is not None else head if text else here + AHEAD)
    asked = StepList(at=upto, text=text, kind=kind if kind in STEP_KINDS else "", most=LISTED, seconds=SECONDS)
    found = await client.ask(asked)
    listed = groupby(reversed(found.steps), key=lambda step: (step.pod, step.cycle))
    groups: list[dict[str, Any]] = [{"pod": short(pod), "steps": list(steps)} for (pod, _cycle), steps in listed]
    for group in groups:
        group["ends"] = next((step.ends for step in reversed(group["steps"]) if step.ends), "")
        group["said"] = ENDS.get(group["ends"], "")
    context = {"groups": groups, "here": here, "head": head, "upto": upto, "found": found, "q": text, "kind": kind}
    query = {"q": text, "kind": kind, "at": "" if at is None else at}
    context["query"] = urlencode({name: value for name, value in query.items() if value != ""})
    context["later"] = min(head, upto + LISTED)
    return workbench(request, client, "records/steps", {**context, "room": "steps"})


def _before(request: HttpRequest) -> int | None:
    return whole_number(request.GET.get("before", ""), DIGITS)
