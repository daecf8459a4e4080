"""The builder: nodes and pods by forms, with a live preview of the YAML that they make."""

from __future__ import annotations

from typing import Any

import msgspec
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods, require_POST

from playground.builder import to_yaml
from playground.builder.names import next_index
from playground.forms.build import BuilderForm, NodesForm, PodsForm
from playground.sessions.protocol.looking import Objects
from playground.sessions.web.client import SessionClient
from playground.views.access import edits, opens
from playground.views.responses import FORM_ERRORS, by_htmx, done, position, refused, workbench
from scheduler_core.commands import ApplyObjects

FORMS: dict[str, type[BuilderForm]] = {"nodes": NodesForm, "pods": PodsForm}
KINDS = {"nodes": "Node", "pods": "Pod"}
SHOWN = 3


@require_http_methods(["GET", "POST"])
@opens
async def build(request: HttpRequest, client: SessionClient, what: str) -> HttpResponse:
    """A form for nodes or pods; POST creates them, all or none."""
    if request.method == "POST":
        return await _create(request, client, what)
    values = first_values(FORMS[what])
    taken = await client.ask(Objects(at=position(request), kind=KINDS[what]))
    values["first"] = next_index(values["name"], (listed.name for listed in taken))
    return workbench(request, client, "build", _page(what, FORMS[what](initial=values)))


async def _create(request: HttpRequest, client: SessionClient, what: str) -> HttpResponse:
    client.require_edit()
    form = FORMS[what](request.POST)
    if not form.is_valid():
        return workbench(request, client, "build", _page(what, form), 422)
    try:
        command = msgspec.to_builtins(ApplyObjects(tuple(form.manifests), create_only=True))
        await client.apply(command, at=position(request), source="builder")
    except FORM_ERRORS as error:
        return refused(request, client, "build", error, {**_page(what, form), "refusal": error})
    return done(request, client, said(what, len(form.manifests)), f"build-{what}")


@require_POST
@edits
async def preview(request: HttpRequest, client: SessionClient, what: str) -> HttpResponse:
    """The YAML that the form makes as it is filled in; nothing is created."""
    form = FORMS[what](request.POST)
    form.is_valid()
    if not by_htmx(request):
        return workbench(request, client, "build", _page(what, form))
    return render(request, "playground/build_preview.html", {"preview": previewed(form)})


def _page(what: str, form: BuilderForm) -> dict[str, Any]:
    if form.is_bound:
        shown = form
    else:
        shown = type(form)(form.initial)
        shown.is_valid()
    return {"what": what, "form": form, "preview": previewed(shown)}


def first_values(form: type[BuilderForm]) -> dict[str, Any]:
    """What the form holds before anything is filled in."""
    return {name: field.initial for name, field in form.base_fields.items() if field.initial is not None}


def previewed(form: BuilderForm) -> dict[str, Any]:
    """The first objects as YAML, and how many more there are."""
    manifests = getattr(form, "manifests", [])
    return {
        "yaml": to_yaml(manifests, SHOWN),
        "count": len(manifests),
        "more": max(0, len(manifests) - SHOWN),
        "errors": [(form.fields[name].label if name in form.fields else "", text)
                   for name, texts in form.errors.items() for text in texts],
    }  # fmt: skip


def said(what: str, count: int) -> str:
    """What was created, in words."""
    if what == "nodes":
        return ngettext("%(count)d node created", "%(count)d nodes created", count) % {"count": count}
    return ngettext("%(count)d pod created", "%(count)d pods created", count) % {"count": count}
