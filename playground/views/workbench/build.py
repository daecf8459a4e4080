"""The builder: nodes, pods, devices and claims by forms, with a live preview of the YAML."""

from typing import Any
from urllib.parse import quote

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from playground.sessions.protocol.looking import Objects
from playground.sessions.web.client import SessionClient
from playground.views import responses
from playground.views.access import edits, opens
from playground.workbench.builder import to_yaml
from playground.workbench.builder.grammar import next_index
from playground.workbench.forms.build import PRESETS, BuilderForm, NodesForm, PodsForm, find_preset, list_instances
from playground.workbench.forms.devices import ClaimsForm, DevicesForm
from scheduler_core.world.commands import ApplyObjects, SetSettings

FORMS: dict[str, type[BuilderForm]] = {
    "nodes": NodesForm,
    "pods": PodsForm,
    "devices": DevicesForm,
    "claims": ClaimsForm,
}
KINDS = {"nodes": "Node", "pods": "Pod", "claims": "Pod"}  # whose first free number is searched
TITLES = {
    "nodes": _("Create nodes"),
    "pods": _("Create pods"),
    "devices": _("Add devices to nodes"),
    "claims": _("Claim devices"),
}
LENGTH = 4000  # the longest text that an address may fill in
SHOWN = 3


@opens("GET", "POST")
async def build(request: HttpRequest, client: SessionClient, what: str) -> HttpResponse:
    """Show a form for nodes, pods, devices or claims; POST creates them, all or none."""
    if request.method == "POST":
        return await _create(request, client, what)
    preset = find_preset(FORMS[what], request.GET.get("preset", ""))
    values = first_values(FORMS[what]) | (dict(preset.fields) if preset else {})
    values |= {name: text[:LENGTH] for name in FORMS[what].base_fields if (text := request.GET.get(name))}
    if what in KINDS and "first" not in request.GET:
        taken = await client.ask(Objects(at=responses.position(request), kind=KINDS[what]))
        pattern = values.get("pod_name") or values["name"]
        values["first"] = next_index(pattern, (listed.name for listed in taken))
    if what == "claims":
        values["name"] = await _free_name(request, client, values["name"])
    page = await _page(request, client, what, FORMS[what](initial=values))
    return responses.workbench(request, client, "build", {**page, "preset": preset.name if preset else ""})


async def _free_name(request: HttpRequest, client: SessionClient, name: str) -> str:
    """Return the name, or the name with a number, that is free among both claims and templates."""
    taken: set[str] = set()
    for kind in ("ResourceClaim", "ResourceClaimTemplate"):
        listed = await client.ask(Objects(at=responses.position(request), kind=kind))
        taken.update(each.name for each in listed)
    return name if name not in taken else f"{name}-{max(next_index(f'{name}-{{i}}', taken), 2)}"


async def _create(request: HttpRequest, client: SessionClient, what: str) -> HttpResponse:
    client.require_edit()
    form = await _form(request, client, what, request.POST)
    if not form.is_valid():
        return responses.workbench(request, client, "build", await _page(request, client, what, form), 422)
    try:
        await _carry_out(request, client, form)
    except responses.FORM_ERRORS as error:
        page = await _page(request, client, what, form)
        return responses.reject_form(request, client, "build", error, {**page, "refusal": error})
    said = describe_creation(what, len(form.manifests))
    if request.POST.get("another"):
        return responses.confirm_command(request, client, said, f"build-{what}")
    if responses.in_drawer(request):
        return HttpResponse(status=204, headers={"X-Done": quote(said)})  # workbench.js closes the drawer, shows it
    return responses.confirm_command(request, client, said, "studio")


async def _carry_out(request: HttpRequest, client: SessionClient, form: BuilderForm) -> None:
    """Apply a valid form's objects; before devices, the gates that they need. The form replaces existing devices."""
    at, devices = responses.position(request), isinstance(form, DevicesForm)
    command = ApplyObjects(tuple(form.manifests), create_only=not devices)
    if isinstance(form, DevicesForm) and (gates := form.settings):
        await client.apply(SetSettings(gates), at=at, source="builder")
        at = None
    await client.apply(command, at=at, source="builder")


async def _form(request: HttpRequest, client: SessionClient, what: str, data: Any) -> BuilderForm:
    """Build a form with its data; the one for devices also gets the nodes."""
    if what != "devices":
        return FORMS[what](data)
    listed = await client.ask(Objects(at=responses.position(request), kind="Node"))
    return DevicesForm(data, nodes=tuple(each.name for each in listed))


@edits("POST")
async def preview(request: HttpRequest, client: SessionClient, what: str) -> HttpResponse:
    """Show the YAML of the form as filled in; nothing is created."""
    form = await _form(request, client, what, request.POST)
    form.is_valid()
    if not responses.by_htmx(request):
        return responses.workbench(request, client, "build", await _page(request, client, what, form))
    context = {"preview": build_preview_context(form), "what": what, "swapped": True}
    return render(request, "playground/build_preview.html", context)


async def _page(request: HttpRequest, client: SessionClient, what: str, form: BuilderForm) -> dict[str, Any]:
    if form.is_bound:
        shown = form
    else:
        shown = await _form(request, client, what, form.initial)
        shown.is_valid()
    clouds = list_instances() if what == "nodes" else {}
    return {
        "what": what,
        "title": TITLES[what],
        "presets": PRESETS.get(FORMS[what], ()),
        "clouds": {cloud: types.values() for cloud, types in clouds.items()},
        "url": f"build-{what}",
        "preview_url": f"preview-{what}",
        "form": form,
        "preview": build_preview_context(shown),
    }


def first_values(form: type[BuilderForm]) -> dict[str, Any]:
    return {name: field.initial for name, field in form.base_fields.items() if field.initial is not None}


def build_preview_context(form: BuilderForm) -> dict[str, Any]:
    """Return the first objects as YAML, and the number of the others."""
    manifests = getattr(form, "manifests", [])
    return {
        "yaml": to_yaml(manifests, SHOWN),
        "count": len(manifests),
        "more": max(0, len(manifests) - SHOWN),
        "errors": [(form.fields[name].label if name in form.fields else "", text)
                   for name, texts in form.errors.items() for text in texts],
    }  # fmt: skip


def describe_creation(what: str, count: int) -> str:
    """Return the text that names the number of created objects."""
    if what == "nodes":
        return ngettext("%(count)d node created", "%(count)d nodes created", count) % {"count": count}
    if what in ("devices", "claims"):
        return ngettext("%(count)d object created", "%(count)d objects created", count) % {"count": count}
    return ngettext("%(count)d pod created", "%(count)d pods created", count) % {"count": count}
