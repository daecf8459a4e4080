"""Actions on objects: what an object offers as it is now, the form of each, and the command that it becomes."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

import msgspec
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from playground.actions import Action, Subject, action, applying, offers
from playground.forms.actions import ActionForm
from playground.presenters.acting import facts
from playground.sessions.protocol.errors import SessionError, SessionGone
from playground.sessions.protocol.looking import SubjectOf
from playground.sessions.web.client import SessionClient
from playground.views.access import opens
from playground.views.responses import FORM_ERRORS, by_htmx, in_drawer, position, refused, workbench

PARTS = ("kind", "namespace", "name")
MOST_NAME = 253


@require_http_methods(["GET", "POST"])
@opens
async def act(request: HttpRequest, client: SessionClient, name: str) -> HttpResponse:
    """The form of one action on the object kind, namespace, name; POST carries it out. `any` is the first that it offers."""
    subject = await _subject(request, client)
    chosen = _chosen(subject, name)
    if request.method == "POST":
        return await _carry_out(request, client, subject, chosen)
    return workbench(request, client, "act", _page(subject, ActionForm(chosen, subject)))


async def offered(request: HttpRequest, client: SessionClient, ref: dict[str, str]) -> dict[str, Any]:
    """What another page about an object shows of its actions; nothing where the cluster is not modelled."""
    subject = await client.ask(SubjectOf(at=position(request), **ref))
    return {} if subject is None else {"subject": subject, "offers": offers(subject)}


async def _subject(request: HttpRequest, client: SessionClient) -> Subject:
    """The object as it is where the command will be applied."""
    given = request.POST if request.method == "POST" else request.GET
    ref = {part: given.get(part, "")[:MOST_NAME] for part in PARTS}
    at = None if client.past == "head" else position(request)
    subject = await client.ask(SubjectOf(at=at, **ref))
    if subject is None:
        raise SessionError(
            _(
                "This session was made before the components around the schedulers were modelled: "
                "there is no kubelet and no controller to act on."
            )
        )
    return subject


def _chosen(subject: Subject, name: str) -> Action:
    if name == "any":
        for each in applying(subject):
            return each
    chosen = action(subject.kind, name)
    if chosen is None:
        raise SessionGone(
            _("There is no action “%(name)s” for a %(kind)s.") % {"name": name, "kind": subject.kind}
        )
    return chosen


async def _carry_out(
    request: HttpRequest, client: SessionClient, subject: Subject, chosen: Action
) -> HttpResponse:
    client.require_edit()
    form = ActionForm(chosen, subject, request.POST)
    if not form.is_valid() or form.command is None:
        return workbench(request, client, "act", _page(subject, form), 422)
    try:
        await client.apply(msgspec.to_builtins(form.command), at=position(request), source="actions")
    except FORM_ERRORS as error:
        return refused(request, client, "act", error, {**_page(subject, form), "refusal": error})
    if by_htmx(request) and not in_drawer(request):
        return HttpResponse(status=204)
    messages.success(request, _(chosen.done) % {"name": subject.name})
    return HttpResponseRedirect(_next(client, subject, chosen))


def _next(client: SessionClient, subject: Subject, chosen: Action) -> str:
    """The page after an action: the same form where it has one, else what else the object offers; all objects where it has gone."""
    if chosen.name.startswith("delete"):
        return reverse("objects", args=[client.key])
    name = chosen.name if chosen.fields else "any"
    query = urlencode({part: getattr(subject, part) for part in PARTS if getattr(subject, part)})
    return f"{reverse('act', args=[client.key, name])}?{query}"


def _page(subject: Subject, form: ActionForm) -> dict[str, Any]:
    return {
        "subject": subject,
        "facts": facts(subject),
        "offers": offers(subject),
        "chosen": form.action,
        "form": form,
        "suggestions": form.suggestions(),
    }
