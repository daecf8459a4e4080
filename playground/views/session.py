"""The studio of a session and its forms. Each message of the socket has an equivalent form."""

import re
from typing import Any

from csp.constants import SELF
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from msgspec import to_builtins

from playground.classroom import assignments
from playground.lessons import read_lessons
from playground.presenters import PANELS, Look
from playground.presenters.panel import ShownPanels
from playground.sessions.database.asking import in_thread
from playground.sessions.protocol.errors import Opening, SessionError, parse_command
from playground.sessions.protocol.looking import AttemptEnds, FindNames, NodeFacts, NodeNames, Objects
from playground.sessions.recent import forget, remember
from playground.sessions.web.client import SessionClient
from playground.sessions.web.messages import Goto, PageMessage, Pause, from_form
from playground.sessions.web.publisher import render_delta, render_panels
from playground.templatetags.lessons import in_language
from playground.views.access import creator, edits, opens
from playground.views.responses import by_htmx, describe_session, go, say, workbench
from playground.views.sharing import tree
from playground.workbench.phrases import KINDS, KnownNames, suggest
from scheduler_core.scheduler.plugins import NAMES
from scheduler_core.world.commands import Command, Redo, Undo

# Small answers for the studio's frame, as JSON: names for the palette, marks for the timeline.

MOST_NAMES = 6  # of a kind
FOUND_LENGTH = 253
MOST_ENDS = 60


@opens("GET")
async def names(request: HttpRequest, client: SessionClient) -> JsonResponse:
    """Return pods, nodes, claims and controllers whose names contain `q`, a few of each kind; and suggested sentences for `say`."""
    q = request.GET.get("q", "").strip()[:FOUND_LENGTH]
    found = await client.ask(FindNames(at=Look.from_query(request.GET).at, q=q, most=MOST_NAMES)) if q else []
    text = request.GET.get("say", "").lstrip()[:FOUND_LENGTH]
    phrases = suggest(text, await _read_names(request, client, text), client.may_edit) if text else []
    return JsonResponse({"names": to_builtins(found), "phrases": to_builtins(phrases)})


async def _read_names(request: HttpRequest, client: SessionClient, text: str) -> KnownNames:
    """Return the names that a sentence may contain; objects only after their kind is known."""
    at = Look.from_query(request.GET).at
    kinds = [kind for kind in KINDS if " " in text]
    listed = {kind: await client.ask(Objects(at=at, kind=kind)) for kind in kinds}
    objects = {kind: [(each.namespace, each.name) for each in found] for kind, found in listed.items()}
    worded = ((lesson.slug, in_language(lesson.words)) for lesson in read_lessons())
    lessons = {slug: words.title for slug, words in worded if words is not None}
    return KnownNames(objects, NAMES, lessons, await client.head())


@opens("GET")
async def ends(request: HttpRequest, client: SessionClient) -> JsonResponse:
    """Return the positions where attempts ended, spread over the whole session."""
    return JsonResponse({"ends": to_builtins(await client.ask(AttemptEnds(most=MOST_ENDS)))})


NAME_LENGTH = 120
MOST_ROWS, ROW_DIGITS = 400, 8  # of the large map
KEY = re.compile(r"[\w-]{1,64}", re.ASCII)


@opens("GET")
async def studio(request: HttpRequest, client: SessionClient) -> HttpResponse:
    """Show the whole screen for this look; the socket updates it from here."""
    look = Look.from_query(request.GET)
    await remember(request, client.key)
    try:
        shown, head = await client.view(look)
    except Opening as opening:
        context = {**describe_session(request, client), "opening": opening}
        # Not an error: the page reloads itself in a moment. A 5xx would show up as an error in logs and consoles.
        return allow_own_framing(render(request, "playground/opening.html", context, status=202))
    await client.touch()
    await in_thread(client.session.refresh_from_db, fields=["differs"])
    context = await _context(client, look, shown, head) | _links(request, client)
    context["stage"] = shown.panels["stage"].context
    context["panels"] = render_panels(shown.panels, request, context)
    if client.may_edit:
        context["work"] = await in_thread(assignments.find_work, client.session)
    context["branches"] = await tree(request, client, shown.position)
    return allow_own_framing(render(request, "playground/studio.html", context))


def allow_own_framing(response: HttpResponse) -> HttpResponse:
    """Let only pages of this server frame a response; a classroom's pages do."""
    response["X-Frame-Options"] = "SAMEORIGIN"
    response._csp_replace = {"frame-ancestors": [SELF]}  # type: ignore[attr-defined]
    return response


async def _context(client: SessionClient, look: Look, shown: ShownPanels, head: int) -> dict[str, Any]:
    session = client.session
    running, ended = await client.state()
    return {
        "client": client,
        "session": session,
        "key": client.key,
        "may_edit": client.may_edit,
        "look": look,
        "position": shown.position,
        "head": head,
        "following": look.at is None or look.at > head,  # there are no positions beyond the head
        "running": to_builtins(running and running.in_words(get_language() or "en")),
        "ended": ended,
        "profile": shown.panels["transport"].context["profile"],
        "kube_version": f"v{shown.panels['transport'].context['release']}",
        "differs": session.differs,
    }


def _links(request: HttpRequest, client: SessionClient) -> dict[str, str]:
    """Return the links to share. A view link's reader does not get the edit link."""
    keys = {"view_link": client.view_key}
    if client.may_edit:
        keys["edit_link"] = client.session.edit_key
    links = {name: request.build_absolute_uri(reverse("studio", args=[key])) for name, key in keys.items()}
    return links | {"embed_link": request.build_absolute_uri(reverse("embed", args=[client.view_key]))}


@opens("GET")
async def panel(request: HttpRequest, client: SessionClient, name: str) -> HttpResponse:
    """Return one panel as a fragment."""
    if name not in PANELS:
        raise SessionError(_("No panel “%(name)s” exists.") % {"name": name[:40]})
    shown, _head = await client.view(Look.from_query(request.GET), [name])
    return HttpResponse(render_panels(shown.panels, request)[name])


@opens("GET")
async def nodes(request: HttpRequest, client: SessionClient) -> HttpResponse:
    """Return the nodes' names in the order of the large map; with `rows`, the facts on its cards for the nodes in these rows."""
    look, rows = Look.from_query(request.GET), request.GET.get("rows")
    if rows is None:
        return JsonResponse({"names": await client.ask(NodeNames(at=look.at))})
    numbers = [int(row) for row in rows.split(",")[:MOST_ROWS] if row.isdecimal() and len(row) < ROW_DIGITS]
    facts = await client.ask(NodeFacts(at=look.at, rows=numbers, mode=look.mode))
    return JsonResponse({"nodes": facts})


async def _send(request: HttpRequest, client: SessionClient, message: PageMessage) -> HttpResponse:
    """Handle a message as the socket does. Redirect to the studio, or return the changes of the page to htmx."""
    look = Look.from_query({**request.GET.dict(), **request.POST.dict()})
    heard = await client.converse(message, look)
    say(request, heard)
    if by_htmx(request):
        return HttpResponse(render_delta(await client.changes(look, heard.look)))
    url = reverse("studio", args=[client.key])
    return HttpResponseRedirect(url + heard.look.href() if heard.look.to_query() else url)


@opens("POST")
async def step(request: HttpRequest, client: SessionClient) -> HttpResponse:
    """Make one step of a grain, at the head or of the viewer's own cursor."""
    return await _send(request, client, from_form("step", grain=request.POST.get("grain", "plugin")))


@opens("POST")
async def back(request: HttpRequest, client: SessionClient) -> HttpResponse:
    return await _send(request, client, from_form("back", grain=request.POST.get("grain", "plugin")))


@opens("POST")
async def goto(request: HttpRequest, client: SessionClient) -> HttpResponse:
    """Move the viewer to position `at`, or to the head without `at`."""
    return await _send(request, client, Goto(Look.from_query(request.POST.dict()).at))


@opens("POST")
async def play(request: HttpRequest, client: SessionClient) -> HttpResponse:
    grain, rate = request.POST.get("grain", "plugin"), request.POST.get("rate", "5")
    return await _send(request, client, from_form("play", grain=grain, rate=rate))


@opens("POST")
async def run(request: HttpRequest, client: SessionClient) -> HttpResponse:
    """Run to the end, or with `until` (KINDS of until.py) and `pod`, `seconds`, `number` or `lesson` to a condition."""
    fields = {name: request.POST.get(name, "") for name in ("until", "pod", "seconds", "number", "lesson")}
    return await _send(request, client, from_form("run", **fields))


@opens("POST")
async def pause(request: HttpRequest, client: SessionClient) -> HttpResponse:
    return await _send(request, client, Pause())


@edits("POST")
async def undo(request: HttpRequest, client: SessionClient) -> HttpResponse:
    """Undo the last change with all of its commands."""
    return await _take_back(request, client, Undo())


@edits("POST")
async def redo(request: HttpRequest, client: SessionClient) -> HttpResponse:
    return await _take_back(request, client, Redo())


async def _take_back(request: HttpRequest, client: SessionClient, command: Undo | Redo) -> HttpResponse:
    await client.take_back(command, Look.from_query(request.POST.dict()).at)
    return _follow(request, client)


@edits("POST")
async def permit(request: HttpRequest, client: SessionClient) -> HttpResponse:
    """Allow or reject a pod (namespace/name) that waits on Permit."""
    pod, decision = request.POST.get("pod", ""), request.POST.get("decision", "")
    command = parse_command({"kind": "DecidePermit", "pod": pod, "decision": decision})
    return await _command(request, client, command)


async def _command(request: HttpRequest, client: SessionClient, command: Command) -> HttpResponse:
    await client.apply(command, Look.from_query(request.POST.dict()).at, source="studio")
    return _follow(request, client)


def _follow(request: HttpRequest, client: SessionClient) -> HttpResponse:
    if by_htmx(request):
        return HttpResponse(status=204)
    return HttpResponseRedirect(reverse("studio", args=[client.key]))


@edits("POST")
async def differs(request: HttpRequest, client: SessionClient) -> HttpResponse:
    """Mark the difference of a replay under another engine as read."""
    await client.read_difference()
    return HttpResponseRedirect(reverse("studio", args=[client.key]))


@edits("POST")
async def rename(request: HttpRequest, client: SessionClient) -> HttpResponse:
    name = " ".join(request.POST.get("name", "").split())
    if not name or len(name) > NAME_LENGTH:
        raise SessionError(
            _("A name must have 1 to %(most)d characters. This one has %(has)d.")
            % {"most": NAME_LENGTH, "has": len(name)}
        )
    client.session.name = name
    await in_thread(client.session.save, update_fields=["name"])
    back = request.POST.get("back", "")  # the key of the session whose page sent the form
    if KEY.fullmatch(back):
        return HttpResponseRedirect(reverse("branches", args=[back]))
    if by_htmx(request):
        return HttpResponse(status=204)
    return HttpResponseRedirect(reverse("studio", args=[client.key]))


@opens("POST")
async def duplicate(request: HttpRequest, client: SessionClient) -> HttpResponse:
    """Create an independent session with the same past; a view link is enough."""
    name = _("%(name)s (copy)") % {"name": client.session.name}
    return await _fork_and_open(request, client, None, name, branch=False)


@opens("GET")
async def ask_fork(request: HttpRequest, client: SessionClient) -> HttpResponse:
    """Ask whether to fork at step `at`: a form in another site's frame would be sent without a cookie.

    If a page of this server led here, the page sends its form by itself.
    """
    head, at = await client.head(), Look.from_query(request.GET).at
    now = request.headers.get("Sec-Fetch-Site") == "same-origin"
    context = {**describe_session(request, client), "at": head if at is None else min(at, head), "now": now}
    return render(request, "playground/fork.html", context)


@opens("POST")
async def fork(request: HttpRequest, client: SessionClient) -> HttpResponse:
    """Create an independent session that begins at the viewer's position."""
    return await _fork_and_open(request, client, Look.from_query(request.POST.dict()).at, "", branch=True)


async def _fork_and_open(
    request: HttpRequest, client: SessionClient, at: int | None, name: str, branch: bool
) -> HttpResponse:
    twin = await client.fork(at, name[:NAME_LENGTH], creator(request), branch)
    await remember(request, twin.key)
    return go(request, reverse("studio", args=[twin.key]))


@edits("POST")
async def delete(request: HttpRequest, client: SessionClient) -> HttpResponse:
    """Delete the session for all users."""
    await client.delete()
    await forget(request, client.session.edit_key)
    await forget(request, client.session.view_key)
    return go(request, reverse("home"))


@opens("GET")
async def timeline(request: HttpRequest, client: SessionClient) -> HttpResponse:
    """Show the contents of the lanes as text."""
    look = Look.from_query(request.GET)
    shown, _head = await client.view(look, ["timeline"])
    panel = shown.panels["timeline"]
    cards = panel.cards.values()
    context = {
        "window": panel.context,
        "lanes": [card for card in cards if card["kind"] == "lane"],
        "attempts": next(card["attempts"] for card in cards if card["kind"] == "axis"),
    }
    return workbench(request, client, "timeline", context)
