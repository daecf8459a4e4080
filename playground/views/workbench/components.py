"""The settings of the components around the schedulers: flags, configurations, which controllers run."""

from typing import Any

import msgspec
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from playground.sessions.protocol.errors import FieldProblem
from playground.sessions.protocol.looking import Configuration, ReadConfiguration
from playground.sessions.web.client import SessionClient
from playground.templatetags.playground_words import in_words
from playground.views.access import opens
from playground.views.responses import FORM_ERRORS, confirm_command, position, reject_form, warn, workbench
from playground.views.workbench.texts import read_yaml
from playground.workbench.forms.cluster import KUBELET_DEFAULTS, YAML, ClusterForm
from playground.workbench.forms.flags import at_line, line_of
from scheduler_core.scheduler.config import without_effect
from scheduler_core.world.commands import SetSettings


@require_http_methods(["GET", "POST"])
@opens
async def components(request: HttpRequest, client: SessionClient) -> HttpResponse:
    """The form as it is set; POST changes the settings, or shows what is wrong at its line."""
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
    """The objects of the form's YAML; what is wrong with it becomes the field's error."""
    read: dict[str, Any] = {}
    for name in YAML:
        answer = await read_yaml(client, form.cleaned_data[name])
        for error in answer.errors:
            form.add_error(name, error)
        read[name] = answer.manifest or {}
    return read


async def _add_field_error(client: SessionClient, form: ClusterForm, error: FieldProblem) -> bool:
    """Shows an error at its field, with its line."""
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
