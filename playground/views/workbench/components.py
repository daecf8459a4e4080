"""Components around the schedulers: their settings, extenders, and injected faults of calls."""

from typing import Any
from urllib.parse import urlencode

import msgspec
from django.contrib import messages
from django.forms import Form
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from playground.sessions.protocol.errors import FieldProblem, SessionError, parse_command
from playground.sessions.protocol.looking import Configuration, ConfiguredWorld, ReadConfiguration
from playground.sessions.web.client import SessionClient
from playground.templatetags.playground_words import expected_words, in_words
from playground.views.access import opens
from playground.views.responses import FORM_ERRORS, confirm_command, position, reject_form, warn, workbench
from playground.views.workbench.texts import read_yaml
from playground.workbench.forms.cluster import KUBELET_DEFAULTS, YAML, ClusterForm
from playground.workbench.forms.extenders import BehaviourForm, NewExtenderForm
from playground.workbench.forms.fields import at_line, line_of
from playground.workbench.forms.world import ANSWERS, CALL_CHOICES, CallForm
from scheduler_core.scheduler.config import without_effect
from scheduler_core.world.commands import DEFAULT_SCHEDULER_NAME, Command, FailCall, SetConfiguration, SetSettings
from scheduler_core.world.commands import FieldProblem as InvalidCall

MOST_KEY = 510
_WORDS = gettext_lazy("received %(received)s; expected %(expected)s")


@opens("GET", "POST")
async def calls(request: HttpRequest, client: SessionClient) -> HttpResponse:
    """Show the faults set for the next calls about pods, with a form to set more; `back` removes one."""
    if request.method == "POST":
        return await _ask(request, client)
    pod = request.GET.get("pod", "")[:MOST_KEY]
    form = CallForm(initial={"pod": pod, "call": request.GET.get("call", "bind")})
    return workbench(request, client, "calls", await _calls_page(request, client, form))


async def _ask(request: HttpRequest, client: SessionClient) -> HttpResponse:
    client.require_edit()
    if "back" in request.POST:
        pod = request.POST.get("pod", "")[:MOST_KEY]
        call = request.POST.get("call", "")
        back = parse_command({"kind": "FailCall", "call": call, "pod": pod, "times": 0})
        return await _apply(request, client, back, pod, CallForm(initial={"pod": pod}), _("Fault removed."))
    form = CallForm(request.POST)
    if not form.is_valid():
        return workbench(request, client, "calls", await _calls_page(request, client, form), 422)
    try:
        command = FailCall(**form.cleaned_data)
    except InvalidCall as problem:
        form.add_error(
            problem.field, _WORDS % {"received": repr(problem.received), "expected": expected_words(problem.expected)}
        )
        return workbench(request, client, "calls", await _calls_page(request, client, form), 422)
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
        context = {**await _calls_page(request, client, form), "refusal": refusal}
        return reject_form(request, client, "calls", error, context)


async def _calls_page(request: HttpRequest, client: SessionClient, form: CallForm) -> dict[str, Any]:
    configured = await client.ask(Configuration(at=position(request)))
    words = dict(CALL_CHOICES)
    faults = [{**each, "what": words[each["call"]], "answer": ANSWERS.get(each["code"])} for each in configured.faults]
    return {"form": form, "faults": faults}


@opens("GET", "POST")
async def components(request: HttpRequest, client: SessionClient) -> HttpResponse:
    """Show the form with the present settings; POST changes the settings, or shows errors at their lines."""
    configured = await client.ask(Configuration(at=position(request)))
    present = configured.settings["cluster"]
    if request.method == "POST":
        return await _change(request, client, ClusterForm(request.POST))
    return _render_form(request, client, ClusterForm.of(msgspec.to_builtins(present)))


def _render_form(request: HttpRequest, client: SessionClient, form: ClusterForm, status: int = 200) -> HttpResponse:
    context = {"form": form, "kubelet_defaults": KUBELET_DEFAULTS}
    return workbench(request, client, "components", context, status)


async def _change(request: HttpRequest, client: SessionClient, form: ClusterForm) -> HttpResponse:
    client.require_edit()
    read = await _read(client, form) if form.is_valid() else {}
    if form.errors:
        return _render_form(request, client, form, 422)
    command = SetSettings({"cluster": form.settings(read)})
    try:
        await client.apply(command, at=position(request), source="components")
    except FORM_ERRORS as error:
        left = [each for each in error.errors if not await _add_field_error(client, form, each)]
        refusal = error if left or not error.errors else None
        context = {"form": form, "refusal": refusal, "kubelet_defaults": KUBELET_DEFAULTS}
        return reject_form(request, client, "components", error, context)
    if idle := without_effect(read["kubelet"], *read["kubelets"].values()):
        warn(
            request,
            [_("These fields of KubeletConfiguration have no effect here: %(names)s.") % {"names": ", ".join(idle)}],
        )
    return confirm_command(request, client, _("Settings applied. No restart needed."), "components")


async def _read(client: SessionClient, form: ClusterForm) -> dict[str, Any]:
    """Return the objects of the form's YAML. Errors are added to the fields."""
    read: dict[str, Any] = {}
    for name in YAML:
        answer = await read_yaml(client, form.cleaned_data[name])
        for error in answer.errors:
            form.add_error(name, error)
        read[name] = answer.manifest or {}
    return read


async def _add_field_error(client: SessionClient, form: ClusterForm, error: FieldProblem) -> bool:
    """Add an error to its field, with its line. Return False if it belongs to no field."""
    name, path = form.field_at(error.path)
    if not name:
        return False
    text = form.data.get(name, "")
    if name in YAML:
        line = (await client.check(ReadConfiguration(text=text, paths=[path]))).lines.get(path)
    else:
        line = line_of(text, path.partition("[")[0])
    words = _("%(path)s: received %(received)s; expected %(expected)s")
    form.add_error(name, at_line(line, words % {"path": path, **in_words(error)}))
    return True


MOST_URL = 2048
_VERBS = ("filterVerb", "prioritizeVerb", "preemptVerb", "bindVerb")


@opens("GET", "POST")
async def extenders(request: HttpRequest, client: SessionClient) -> HttpResponse:
    """Show the extenders; `of` names the one whose server is edited. POST adds or removes one, or sets its server's behavior."""
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


def _page(configured: ConfiguredWorld, of: str, form: Form | None = None, new: Form | None = None) -> dict[str, Any]:
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


def _row(entry: dict[str, Any], configured: ConfiguredWorld) -> dict[str, Any]:
    url = entry.get("urlPrefix") or ""
    return {
        "url": url,
        "verbs": [name.removesuffix("Verb") for name in _VERBS if entry.get(name)],
        "weight": entry.get("weight"),
        "ignorable": entry.get("ignorable"),
        "names": entry.get("nodeCacheCapable"),
        "kind": (configured.behaviours.get(url) or {"type": "nobody"})["type"],
    }


async def _add(request: HttpRequest, client: SessionClient, configured: ConfiguredWorld) -> HttpResponse:
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


async def _remove(request: HttpRequest, client: SessionClient, configured: ConfiguredWorld) -> HttpResponse:
    scheduler, of = request.POST.get("scheduler", ""), _of(request)
    manifest = _manifest(configured, scheduler)
    left = [entry for entry in manifest.get("extenders") or () if entry.get("urlPrefix") != of]
    try:
        command = SetConfiguration({**manifest, "extenders": left}, scheduler)
        await client.apply(command, at=position(request), source="extenders")
    except FORM_ERRORS as error:
        return _reject_form(request, client, configured, error)
    return _confirm_change(request, client, "", _("Extender removed. The scheduler restarted."))


async def _write(request: HttpRequest, client: SessionClient, configured: ConfiguredWorld) -> HttpResponse:
    form, of = BehaviourForm(request.POST), _of(request)
    if not form.is_valid():
        return workbench(request, client, "extenders", _page(configured, of, form), 422)
    try:
        await client.apply(_setting(of, form.to_behaviour()), at=position(request), source="extenders")
    except FORM_ERRORS as error:
        return _reject_form(request, client, configured, error, form)
    return _confirm_change(request, client, of, _("Extender answers set."))


def _manifest(configured: ConfiguredWorld, scheduler: str) -> dict[str, Any]:
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
    configured: ConfiguredWorld,
    error: SessionError,
    form: BehaviourForm | None = None,
    new: NewExtenderForm | None = None,
) -> HttpResponse:
    """Show the page again, with errors of expressions at their fields and positions, and all others above the page."""
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
    """Return the line of an expression in three parts: before the error, its character, and the rest."""
    field = problem.path.removeprefix("behaviour.")
    lines = str(form.data.get(field, "")).replace("\r\n", "\n").strip().split("\n")
    line = lines[min((problem.line or 1) - 1, len(lines) - 1)]
    at = (problem.column or 1) - 1
    return {"field": field, "before": line[:at], "at": line[at : at + 1] or " ", "after": line[at + 1 :]}
