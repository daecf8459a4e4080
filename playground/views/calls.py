"""Calls of the scheduler to the API server that are to fail or to be slow."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from playground.sessions.client import Applied, SessionClient
from playground.sessions.errors import CommandRefused, LimitReached
from playground.views.doors import go, opens, position, workbench
from playground.worldforms import ANSWERS, CALL_CHOICES, CallForm
from scheduler_core.api.faults import CALLS, Fault
from scheduler_core.commands import FailCall

MOST_KEY = 510


@require_http_methods(["GET", "POST"])
@opens
async def calls(request: HttpRequest, client: SessionClient) -> HttpResponse:
    """What is asked of the next calls about pods, and a form to ask for more; `back` takes one back."""
    if request.method == "POST":
        return await _ask(request, client)
    pod = request.GET.get("pod", "")[:MOST_KEY]
    form = CallForm(initial={"pod": pod, "call": request.GET.get("call", "bind")})
    return workbench(request, client, "calls", await _page(request, client, form))


async def _ask(request: HttpRequest, client: SessionClient) -> HttpResponse:
    client.require_edit()
    if "back" in request.POST:
        call = request.POST.get("call", "")
        pod = request.POST.get("pod", "")[:MOST_KEY]
        fault = Fault(call if call in CALLS else "bind", pod, times=0)
        return await _apply(request, client, fault, CallForm(initial={"pod": pod}), _("It was taken back."))
    form = CallForm(request.POST)
    if not form.is_valid():
        return workbench(request, client, "calls", await _page(request, client, form), 422)
    fault = Fault(**form.cleaned_data)
    return await _apply(request, client, fault, form, _("It was asked for."))


async def _apply(
    request: HttpRequest, client: SessionClient, fault: Fault, form: CallForm, said: str
) -> HttpResponse:
    refusal: Any = None
    try:
        applied = await client.apply(FailCall(fault).to_json(), at=position(request), source="calls")
        return _done(request, client, applied, fault.pod, said)
    except (CommandRefused, LimitReached) as error:
        refusal = error
        for each in error.errors:
            if form.is_bound and each.get("path") in form.fields:
                words = _("received %(received)s; expected %(expected)s") % each
                form.add_error(each["path"], words)
                refusal = None
    context = {**await _page(request, client, form), "refusal": refusal}
    return workbench(request, client, "calls", context, 422)


def _done(request: HttpRequest, client: SessionClient, applied: Applied, pod: str, said: str) -> HttpResponse:
    messages.success(request, said)
    if applied.forked is None:
        return HttpResponseRedirect(f"{reverse('calls', args=[client.key])}?{urlencode({'pod': pod})}")
    return go(request, reverse("studio", args=[applied.forked.key]))


async def _page(request: HttpRequest, client: SessionClient, form: CallForm) -> dict[str, Any]:
    found = await client.configuration(at=position(request))
    words = dict(CALL_CHOICES)
    asked = [
        {**each, "what": words[each["call"]], "answer": ANSWERS.get(each["code"])} for each in found["faults"]
    ]
    return {"form": form, "asked": asked}
