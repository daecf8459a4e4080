"""Actions on objects: what an object offers as it is now, the form of each, and the command that it becomes."""

from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.safestring import mark_safe
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods

from playground.presenters.acting import facts, present
from playground.sessions.protocol.errors import SessionGone
from playground.sessions.protocol.looking import SubjectFound, SubjectOf
from playground.sessions.web.client import SessionClient
from playground.templatetags.playground_words import problem_words
from playground.views.access import forks, opens
from playground.views.responses import FORM_ERRORS, by_htmx, go, in_drawer, position, reject_form, workbench
from playground.workbench.actions import Action, Subject, action, applying, offers
from playground.workbench.actions.menu import SILENT, menu
from playground.workbench.forms.actions import ActionForm

# The menu on anything that can be acted on, as a fragment that the page's script shows (static/playground/js/studio/menu.js).

MOST_PLUGINS = 50


@require_GET
@opens
async def show(request: HttpRequest, client: SessionClient) -> HttpResponse:
    """Show the actions on the object kind, namespace, name at the viewer's position; a plugin or a point has no object."""
    kind, namespace, name = (request.GET.get(part, "")[:MOST_NAME] for part in ("kind", "namespace", "name"))
    many = request.GET.get("many", "")[:MOST_NAME]
    subject = await _subject(request, client, kind, namespace, name, many)
    if subject is not None and subject.kind != kind:
        kind = subject.kind
    sheets = menu(
        kind,
        namespace,
        name,
        subject,
        client.may_edit,
        request.GET.getlist("plugin")[:MOST_PLUGINS],
        request.GET.get("point", "")[:MOST_NAME],
        many,
    )
    at = position(request)
    return render(request, "playground/menu.html", {"sheets": sheets, "first": sheets[0].name, "at": at})


async def _subject(
    request: HttpRequest, client: SessionClient, kind: str, namespace: str, name: str, many: str
) -> Subject | None:
    if kind in SILENT:
        return None
    asked = SubjectOf(at=position(request), kind=kind, namespace=namespace, name=name, many=many)
    found = await client.ask(asked)
    return None if found is None else found.subject


PARTS = ("kind", "namespace", "name", "many")
MOST_NAME = 253


@require_http_methods(["GET", "POST"])
@forks
async def act(request: HttpRequest, client: SessionClient, name: str) -> HttpResponse:
    """The form of one action on the object kind, namespace, name; POST carries it out. `any` is the first that it offers."""
    found = await _find_subject(request, client)
    chosen = _chosen(found.subject, name)
    if request.method == "POST":
        return await _carry_out(request, client, found, chosen)
    form = ActionForm(chosen, found.subject, given=request.GET.dict(), everyone=found.everyone)
    return workbench(request, client, "act", {**_page(found, form), "many": request.GET.get("many", "")})


async def build_offers_context(request: HttpRequest, client: SessionClient, ref: dict[str, str]) -> dict[str, Any]:
    """Return the context for an object's actions on another page."""
    found = await client.ask(SubjectOf(at=position(request), **ref))
    return {**_about(found), "offers": offers(found.subject)}


def _about(found: SubjectFound) -> dict[str, Any]:
    """Return the context about an object before an action: its facts, and the preview of a drain."""
    drain = found.drain
    html = render_to_string("drain.html", {"drain": drain}, using="panels") if drain else ""
    return {"subject": found.subject, "facts": facts(found.subject), "drain": mark_safe(html)}  # noqa: S308 - a template's


async def _find_subject(request: HttpRequest, client: SessionClient) -> SubjectFound:
    """The object as it is where the command will be applied."""
    given = request.POST if request.method == "POST" else request.GET
    ref = {part: given.get(part, "")[:MOST_NAME] for part in PARTS}
    at = None if client.past == "head" else position(request)
    return await client.ask(SubjectOf(at=at, **ref))


def _chosen(subject: Subject, name: str) -> Action:
    if name == "any":
        for each in applying(subject):
            return each
    chosen = action(subject.kind, name)
    if chosen is None:
        raise SessionGone(_("No action “%(name)s” exists for a %(kind)s.") % {"name": name, "kind": subject.kind})
    return chosen


async def _carry_out(request: HttpRequest, client: SessionClient, found: SubjectFound, chosen: Action) -> HttpResponse:
    client.require_edit()
    subject = found.subject
    form = ActionForm(chosen, subject, request.POST, everyone=found.everyone)
    page = {**_page(found, form), "many": request.POST.get("many", "")}
    if not form.is_valid() or form.command is None:
        return workbench(request, client, "act", page, 422)
    try:
        await client.apply(form.command, at=position(request), source="actions")
    except FORM_ERRORS as error:
        placed = not error.answer and form.take((each.path, problem_words(each)) for each in error.errors)
        refusal = None if placed else error
        return reject_form(request, client, "act", error, {**page, "refusal": refusal})
    if by_htmx(request) and not in_drawer(request):
        return HttpResponse(status=204)
    messages.success(request, _(chosen.said(form.cleaned_data)) % {"name": subject.name})
    if found.everyone:
        return go(request, reverse("studio", args=[client.key]))
    return HttpResponseRedirect(_next(client, subject, form))


def _next(client: SessionClient, subject: Subject, form: ActionForm) -> str:
    """The page after an action: the same form where it has one, else what else the object offers; all objects where it has gone."""
    chosen = form.action
    if chosen.name.startswith("delete"):
        return reverse("objects", args=[client.key])
    name = chosen.name if chosen.fields else "any"
    query = {part: value for part in ("kind", "namespace", "name") if (value := getattr(subject, part))}
    return f"{reverse('act', args=[client.key, name])}?{urlencode({**query, **form.ticked()})}"


def _page(found: SubjectFound, form: ActionForm) -> dict[str, Any]:
    return {
        **_about(found),
        "offers": [] if found.everyone else offers(found.subject),
        "everyone": found.everyone,
        "present": [] if found.everyone else present(found.subject, form.action.name),
        "chosen": form.action,
        "form": form,
        "suggestions": form.suggestions(),
    }
