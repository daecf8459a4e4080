"""Objects: the list of all, one of them as YAML, and its actions with their forms."""

from typing import Any, Final, TypedDict
from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.safestring import mark_safe
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from playground.presenters.acting import facts, present
from playground.sessions.protocol.errors import CommandRefused, FieldProblem, PastPosition, SessionError, SessionGone
from playground.sessions.protocol.looking import Objects, ObjectYaml, SubjectFound, SubjectOf
from playground.sessions.protocol.moving import ImportPlan
from playground.sessions.web.client import SessionClient
from playground.templatetags.playground_words import error_words, problem_words
from playground.views import responses
from playground.views.access import edits, opens
from playground.views.workbench.texts import in_words
from playground.workbench.actions import Action, Subject, action, applying, offers
from playground.workbench.actions.menu import SILENT, menu
from playground.workbench.forms.actions import ActionForm
from scheduler_core.world import commands

# The menu on objects with actions, as a fragment that the page's script shows (static/playground/js/studio/menu.js).

MOST_PLUGINS = 50


@opens("GET")
async def show(request: HttpRequest, client: SessionClient) -> HttpResponse:
    """Show the actions on the object kind, namespace, name at the viewer's position. A plugin or an extension point has no object."""
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
    at = responses.position(request)
    return render(request, "playground/menu.html", {"sheets": sheets, "first": sheets[0].name, "at": at})


async def _subject(
    request: HttpRequest, client: SessionClient, kind: str, namespace: str, name: str, many: str
) -> Subject | None:
    if kind in SILENT:
        return None
    asked = SubjectOf(at=responses.position(request), kind=kind, namespace=namespace, name=name, many=many)
    found = await client.ask(asked)
    return None if found is None else found.subject


PARTS = ("kind", "namespace", "name", "many")
MOST_NAME = 253


@opens("GET", "POST", unasked="fork")
async def act(request: HttpRequest, client: SessionClient, name: str) -> HttpResponse:
    """Show the form of an action on the object kind, namespace, name; POST carries it out. `any` is the first available action."""
    given = request.POST if request.method == "POST" else request.GET
    ref = {part: given.get(part, "")[:MOST_NAME] for part in PARTS}
    at = None if client.past == "head" else responses.position(request)
    found = await client.ask(SubjectOf(at=at, **ref))
    chosen = _chosen(found.subject, name)
    if request.method == "POST":
        return await _carry_out(request, client, found, chosen)
    form = ActionForm(chosen, found.subject, given=request.GET.dict(), everyone=found.everyone)
    return responses.workbench(request, client, "act", {**_page(found, form), "many": request.GET.get("many", "")})


class OffersContext(TypedDict):
    """The context of an object and its actions, with the workbench's own types; empty without an object."""

    subject: Any
    facts: Any
    drain: Any
    offers: Any


async def build_offers_context(
    request: HttpRequest, client: SessionClient, ref: dict[str, str] | None
) -> OffersContext:
    """Return the context for an object's actions on another page."""
    if ref is None:
        return {"subject": None, "facts": None, "drain": "", "offers": ()}
    found = await client.ask(SubjectOf(at=responses.position(request), **ref))
    about = _about(found)
    return {
        "subject": about["subject"],
        "facts": about["facts"],
        "drain": about["drain"],
        "offers": offers(found.subject),
    }


def _about(found: SubjectFound) -> dict[str, Any]:
    """Return the context about an object before an action: its facts, and the preview of a drain."""
    drain = found.drain
    html = render_to_string("drain.html", {"drain": drain}, using="panels") if drain else ""
    return {"subject": found.subject, "facts": facts(found.subject), "drain": mark_safe(html)}  # noqa: S308 - a template's


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
        return responses.workbench(request, client, "act", page, 422)
    try:
        await client.apply(form.command, at=responses.position(request), source="actions")
    except responses.FORM_ERRORS as error:
        placed = not error.answer and form.take((each.path, problem_words(each)) for each in error.errors)
        refusal = None if placed else error
        return responses.reject_form(request, client, "act", error, {**page, "refusal": refusal})
    if responses.by_htmx(request) and not responses.in_drawer(request):
        return HttpResponse(status=204)
    messages.success(request, _(chosen.said(form.cleaned_data)) % {"name": subject.name})
    if found.everyone:
        return responses.go(request, reverse("studio", args=[client.key]))
    return HttpResponseRedirect(_next(client, subject, form))


def _next(client: SessionClient, subject: Subject, form: ActionForm) -> str:
    """Return the page after an action: its form again, or the object's other actions; the list of objects if the object was deleted."""
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


PAGE = 50
PENDING = "Pending"
KUBECTLS_POLICY: Final = "Background"  # without one, the API server orphans the pods of a Job
EMPTY = """\
apiVersion: v1
kind: Pod
metadata:
  name: my-pod
  namespace: default
spec:
  containers:
    - name: main
      image: registry.k8s.io/pause:3.10
      resources:
        requests:
          cpu: 500m
          memory: 512Mi
"""


@opens("GET")
async def objects(request: HttpRequest, client: SessionClient) -> HttpResponse:
    """List all objects, fifty per page; `kind` and `q` filter."""
    listed = await client.ask(Objects(at=responses.position(request)))
    kind, q = request.GET.get("kind", ""), request.GET.get("q", "").strip()[:253]
    waiting = [each for each in listed if each.kind == "Pod" and each.summary == PENDING]
    shown = waiting if (pending := request.GET.get("state") == "pending") else listed
    kinds: dict[str, int] = {}
    for each in listed:
        kinds[each.kind] = kinds.get(each.kind, 0) + 1
    rows = [each for each in shown if kind in ("", each.kind) and q in f"{each.namespace}/{each.name}"]
    context = {
        "page": responses.page_of(rows, request.GET.get("page", ""), PAGE),
        "kinds": kinds,
        "kind": kind,
        "q": q,
        "total": len(listed),
        "pending": pending,
        "waiting": len(waiting),
        "query": _query(request),
    }
    return responses.workbench(request, client, "objects", context)


def _query(request: HttpRequest) -> str:
    """Return the filter as a query, for links to other pages of the list."""
    kept = ("kind", "q", "state", "at")
    return urlencode({name: request.GET[name] for name in kept if request.GET.get(name)})


@opens("GET", "POST")
async def edit_yaml(request: HttpRequest, client: SessionClient) -> HttpResponse:
    """Show one object, or a new one, as YAML. POST applies it, or shows the errors at their lines."""
    if request.method == "POST":
        return await _save(request, client)
    name = request.GET.get("name", "")
    if not name:
        return responses.workbench(request, client, "yaml", {"text": EMPTY, "existing": None, "errors": []})
    existing = {part: request.GET.get(part, "") for part in ("kind", "namespace", "name")}
    shown = await client.ask(ObjectYaml(at=responses.position(request), **existing))
    context = {"text": shown.text, "existing": existing, "errors": [], "silent": shown.silent}
    offered = await build_offers_context(request, client, existing)
    return responses.workbench(request, client, "yaml", {**context, **offered})


async def _save(request: HttpRequest, client: SessionClient) -> HttpResponse:
    """Apply the text as an import, but only if all its objects are accepted. With any error, show it again."""
    client.require_edit()
    text, create_only = request.POST.get("text", "").replace("\r\n", "\n"), "create" in request.POST
    at = responses.position(request)
    try:
        async with client.acting(at) as target:
            plan = (await target.apply_text(text.encode(), create_only)).plan
            if errors := problems(plan, create_only):
                raise CommandRefused(_("The text cannot be applied."), errors)
        client.landed = target
        responses.warn(request, [*in_words(plan.read), *describe_removals(plan), *plan.warnings])
        count = plan.accepted
        words = ngettext("%(count)d object applied", "%(count)d objects applied", count) % {"count": count}
        return responses.confirm_command(request, client, words, "objects")
    except PastPosition:
        raise
    except SessionError as error:
        errors = error.errors or [FieldProblem(text=error_words(error))]
        context = {"text": text, "existing": _existing(request), "errors": errors}
        return responses.reject_form(request, client, "yaml", error, context)


def _existing(request: HttpRequest) -> dict[str, str] | None:
    """Return the object that the editor was opened for, or None."""
    if "for_name" not in request.POST:
        return None
    return {part: request.POST.get(f"for_{part}", "")[:253] for part in ("kind", "namespace", "name")}


def describe_removals(plan: ImportPlan) -> list[str]:
    """Return texts about credentials removed from a text: the created objects do not have them."""
    said: list[str] = []
    if values := plan.left_out.get("values", 0):
        text = ngettext(
            "%(count)d value that looks like a credential was replaced by “(removed)”.",
            "%(count)d values that look like credentials were replaced by “(removed)”.",
            values,
        )
        said.append(text % {"count": values})
    if secrets := plan.left_out.get("secrets", 0):
        text = ngettext(
            "The data of %(count)d Secret was removed.", "The data of %(count)d Secrets was removed.", secrets
        )
        said.append(text % {"count": secrets})
    return said


def problems(plan: ImportPlan, create_only: bool) -> list[FieldProblem]:
    """Return the errors that keep a text from being applied: refused or ignored objects, and existing ones."""
    errors: list[FieldProblem] = []
    for item in plan.obstacles(create_only):
        name = f"{item.kind} {item.name}"
        if item.action == "refused":
            errors += item.errors
        elif item.action == "ignored":
            errors.append(FieldProblem(text=item.reason, object=name))
        else:
            taken = _("“%(name)s” already exists. Choose another name, or press Create or replace.")
            errors.append(FieldProblem(text=taken % {"name": name}, object=name))
    if not plan.items:
        errors.append(FieldProblem(text=_("The text contains no object."), line=1))
    elif not plan.accepted and not errors:
        errors.append(FieldProblem(text=_("The cluster already has everything in this text.")))
    return errors


@edits("POST")
async def delete_object(request: HttpRequest, client: SessionClient) -> HttpResponse:
    """Delete one object, as `kubectl delete` does."""
    ref = {part: request.POST.get(part, "")[:253] for part in ("kind", "namespace", "name")}
    try:
        command = commands.DeleteObjects((commands.Ref(**ref),), propagation_policy=KUBECTLS_POLICY)
        await client.apply(command, at=responses.position(request), source="objects")
    except commands.FieldProblem as problem:
        raise SessionError(str(problem)) from problem
    except CommandRefused as error:
        raise SessionError(error.said or error.message, error.errors) from error
    words = _("%(kind)s %(name)s deleted") % {"kind": ref["kind"], "name": ref["name"]}
    return responses.confirm_command(request, client, words, "objects")
