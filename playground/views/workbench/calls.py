"""Calls of the scheduler to the API server that are to fail or to be slow."""

from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods

from playground.sessions.protocol.errors import parse_command
from playground.sessions.protocol.looking import Configuration
from playground.sessions.web.client import SessionClient
from playground.templatetags.playground_words import expected_words, in_words
from playground.views.access import opens
from playground.views.responses import FORM_ERRORS, position, reject_form, workbench
from playground.workbench.forms.world import ANSWERS, CALL_CHOICES, CallForm
from scheduler_core.world.commands import Command, FailCall, FieldProblem

MOST_KEY = 510
_WORDS = gettext_lazy("received %(received)s; expected %(expected)s")


@require_http_methods(["GET", "POST"])
@opens
async def calls(request: HttpRequest, client: SessionClient) -> HttpResponse:
    """Show the faults set for the next calls about pods, with a form to set more; `back` removes one."""
    if request.method == "POST":
        return await _ask(request, client)
    pod = request.GET.get("pod", "")[:MOST_KEY]
    form = CallForm(initial={"pod": pod, "call": request.GET.get("call", "bind")})
    return workbench(request, client, "calls", await _page(request, client, form))


async def _ask(request: HttpRequest, client: SessionClient) -> HttpResponse:
    client.require_edit()
    if "back" in request.POST:
        pod = request.POST.get("pod", "")[:MOST_KEY]
        call = request.POST.get("call", "")
        back = parse_command({"kind": "FailCall", "call": call, "pod": pod, "times": 0})
        return await _apply(request, client, back, pod, CallForm(initial={"pod": pod}), _("Fault removed."))
    form = CallForm(request.POST)
    if not form.is_valid():
        return workbench(request, client, "calls", await _page(request, client, form), 422)
    try:
        command = FailCall(**form.cleaned_data)
    except FieldProblem as problem:
        form.add_error(
            problem.field, _WORDS % {"received": repr(problem.received), "expected": expected_words(problem.expected)}
        )
        return workbench(request, client, "calls", await _page(request, client, form), 422)
    return await _apply(request, client, command, command.pod, form, _("Fault injected."))


async def _apply(
    request: HttpRequest, client: SessionClient, command: Command, pod: str, form: CallForm, said: str
) -> HttpResponse:
    try:
        await client.apply(command, at=position(request), source="calls")
        messages.success(request, said)
        url = reverse("calls", args=[client.key])
        # A fork opens in its own studio (access.opens).
        return HttpResponseRedirect(f"{url}?{urlencode({'pod': pod})}")
    except FORM_ERRORS as error:
        refusal: Any = error
        for each in error.errors:
            if form.is_bound and each.path in form.fields:
                form.add_error(each.path, _WORDS % in_words(each))
                refusal = None
        context = {**await _page(request, client, form), "refusal": refusal}
        return reject_form(request, client, "calls", error, context)


async def _page(request: HttpRequest, client: SessionClient, form: CallForm) -> dict[str, Any]:
    configured = await client.ask(Configuration(at=position(request)))
    words = dict(CALL_CHOICES)
    faults = [{**each, "what": words[each["call"]], "answer": ANSWERS.get(each["code"])} for each in configured.faults]
    return {"form": form, "faults": faults}
