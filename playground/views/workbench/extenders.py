"""Scheduler extenders: those of the configurations, one more, and what the server of each does."""

from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.forms import Form
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from playground.sessions.protocol.errors import FieldProblem, SessionError, parse_command
from playground.sessions.protocol.looking import Configuration, Configured
from playground.sessions.web.client import SessionClient
from playground.views.access import opens
from playground.views.responses import FORM_ERRORS, position, reject_form, workbench
from playground.workbench.forms.extenders import BehaviourForm, NewExtenderForm
from scheduler_core.world.commands import DEFAULT_SCHEDULER_NAME, Command, SetConfiguration

MOST_URL = 2048
_VERBS = ("filterVerb", "prioritizeVerb", "preemptVerb", "bindVerb")


@require_http_methods(["GET", "POST"])
@opens
async def extenders(request: HttpRequest, client: SessionClient) -> HttpResponse:
    """The extenders; `of` names the one whose server is written. POST adds one, removes it, or says what its server does."""
    configured = await client.ask(Configuration(at=position(request)))
    if request.method == "POST":
        client.require_edit()
        if "add" in request.POST:
            return await _add(request, client, configured)
        if "remove" in request.POST:
            return await _remove(request, client, configured)
        return await _write(request, client, configured)
    return workbench(request, client, "extenders", _page(configured, _of(request)))


def _of(request: HttpRequest) -> str:
    return (request.POST.get("of") or request.GET.get("of") or "")[:MOST_URL]


def _page(configured: Configured, of: str, form: Form | None = None, new: Form | None = None) -> dict[str, Any]:
    rows = [
        {**_row(entry, configured), "scheduler": scheduler.name, "index": i}
        for scheduler in configured.schedulers
        for i, entry in enumerate(scheduler.manifest.get("extenders") or ())
    ]
    of = of or (rows[0]["url"] if len(rows) == 1 else "")
    return {
        "rows": rows,
        "of": of,
        "form": form or (BehaviourForm.of(configured.behaviours.get(of)) if of else None),
        "new": new or NewExtenderForm(),
    }


def _row(entry: dict[str, Any], configured: Configured) -> dict[str, Any]:
    url = entry.get("urlPrefix") or ""
    return {
        "url": url,
        "verbs": [name.removesuffix("Verb") for name in _VERBS if entry.get(name)],
        "weight": entry.get("weight"),
        "ignorable": entry.get("ignorable"),
        "names": entry.get("nodeCacheCapable"),
        "kind": (configured.behaviours.get(url) or {"type": "nobody"})["type"],
    }


async def _add(request: HttpRequest, client: SessionClient, configured: Configured) -> HttpResponse:
    new = NewExtenderForm(request.POST)
    if not new.is_valid():
        return workbench(request, client, "extenders", _page(configured, "", new=new), 422)
    manifest = _manifest(configured, DEFAULT_SCHEDULER_NAME)
    entries = [*(manifest.get("extenders") or ()), new.to_configuration()]
    url = new.cleaned_data["url_prefix"]
    try:
        command = SetConfiguration({**manifest, "extenders": entries}, DEFAULT_SCHEDULER_NAME)
        await client.apply(command, at=position(request), source="extenders")
        if url not in configured.behaviours:
            await client.apply(_setting(url, {"type": "cel"}), at=position(request), source="extenders")
    except FORM_ERRORS as error:
        return _reject_form(request, client, configured, error, new=new)
    return _confirm_change(
        request,
        client,
        url,
        _("Extender added. The scheduler restarted. The extender keeps every node until you add rules."),
    )


async def _remove(request: HttpRequest, client: SessionClient, configured: Configured) -> HttpResponse:
    scheduler, of = request.POST.get("scheduler", ""), _of(request)
    manifest = _manifest(configured, scheduler)
    left = [entry for entry in manifest.get("extenders") or () if entry.get("urlPrefix") != of]
    try:
        command = SetConfiguration({**manifest, "extenders": left}, scheduler)
        await client.apply(command, at=position(request), source="extenders")
    except FORM_ERRORS as error:
        return _reject_form(request, client, configured, error)
    return _confirm_change(request, client, "", _("Extender removed. The scheduler restarted."))


async def _write(request: HttpRequest, client: SessionClient, configured: Configured) -> HttpResponse:
    form, of = BehaviourForm(request.POST), _of(request)
    if not form.is_valid():
        return workbench(request, client, "extenders", _page(configured, of, form), 422)
    try:
        await client.apply(_setting(of, form.to_behaviour()), at=position(request), source="extenders")
    except FORM_ERRORS as error:
        return _reject_form(request, client, configured, error, form)
    return _confirm_change(request, client, of, _("Answers of the extender set."))


def _manifest(configured: Configured, scheduler: str) -> dict[str, Any]:
    return next((dict(each.manifest) for each in configured.schedulers if each.name == scheduler), {})


def _setting(url: str, behaviour: dict[str, Any]) -> Command:
    return parse_command({"kind": "SetExtender", "url_prefix": url, "behaviour": behaviour})


def _confirm_change(request: HttpRequest, client: SessionClient, of: str, said: str) -> HttpResponse:
    messages.success(request, said)
    url = reverse("extenders", args=[client.key])
    return HttpResponseRedirect(f"{url}?{urlencode({'of': of})}" if of else url)


def _reject_form(
    request: HttpRequest,
    client: SessionClient,
    configured: Configured,
    error: SessionError,
    form: BehaviourForm | None = None,
    new: NewExtenderForm | None = None,
) -> HttpResponse:
    """Errors of expressions stand at their fields, with the place in the text; all others above the page."""
    refusal: Any = error
    for each in error.errors:
        field = each.path.removeprefix("behaviour.")
        if form is not None and field in form.fields:
            form.add_error(field, each.expected.partition("; ")[2] or each.expected)
            refusal = None
    context = {**_page(configured, _of(request), form, new), "refusal": refusal}
    if form is not None:
        context["marks"] = [_mark(form, each) for each in error.errors if each.line is not None]
    return reject_form(request, client, "extenders", error, context)


def _mark(form: BehaviourForm, problem: FieldProblem) -> dict[str, str]:
    """The line of an expression with what is before the error, its character, and what follows."""
    field = problem.path.removeprefix("behaviour.")
    lines = str(form.data.get(field, "")).replace("\r\n", "\n").strip().split("\n")
    line = lines[min((problem.line or 1) - 1, len(lines) - 1)]
    at = (problem.column or 1) - 1
    return {"field": field, "before": line[:at], "at": line[at : at + 1] or " ", "after": line[at + 1 :]}
