"""The session itself: its name, links, copies, and branches, and a lesson in the studio."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from playground.classroom import assignments
from playground.lessons import Lesson, command_of
from playground.presenters import Look
from playground.sessions.database import lessons, links, listing
from playground.sessions.database.asking import in_thread
from playground.sessions.database.branches import family
from playground.sessions.protocol.errors import Opening, SessionError
from playground.sessions.protocol.looking import JudgeAnswer, LessonHolds
from playground.sessions.protocol.moving import Read
from playground.sessions.recent import list_recent_keys, remember
from playground.sessions.web.client import SessionClient
from playground.sessions.web.publisher import render_panels
from playground.views.access import creator, edits, opens
from playground.views.responses import by_htmx, go, position, whole_number, workbench
from scheduler_core.apiserver.door import Call

# The stage embedded in another site's page, read-only, with steps through the past. It needs no cookie; only here framing is
# allowed.

PANELS = ["transport", "pipeline", "stage", "map", "narrator"]


@opens("GET")
async def embed(request: HttpRequest, client: SessionClient) -> HttpResponse:
    """Show the stage at step `at`, or at the newest. An edit key redirects to the view link's page: all readers see an embedded address.

    With `pane`, the surrounding page steps: it shows two panes side by side (lockstep.py).
    """
    if client.may_edit:
        return HttpResponseRedirect(_address(request, client.session.view_key))
    look = Look.from_query(request.GET)
    context = {
        "client": client,
        "session": client.session,
        "key": client.key,
        "may_edit": False,
        "look": look,
        "pane": "pane" in request.GET,
    }
    try:
        shown, head = await client.view(look, PANELS)
    except Opening as opening:
        context["opening"] = opening
        return allow_framing(render(request, "playground/opening.html", context, status=202))
    context |= {
        "position": shown.position,
        "head": head,
        "following": look.at is None or look.at > head,
        "stage": shown.panels["stage"].context,
        "before": look.href(at=max(shown.position - 1, 0)),
        "after": look.href(at=min(shown.position + 1, head)),
        "fork": reverse("ask-fork", args=[client.key]) + look.href(at=shown.position),
        "studio": request.build_absolute_uri(reverse("studio", args=[client.key]) + look.href(at=shown.position)),
    }
    context["panels"] = render_panels(shown.panels, request, context)
    return allow_framing(render(request, "playground/embed.html", context))


@require_GET
async def beyond(request: HttpRequest, key: str, page: str) -> HttpResponse:
    """Redirect a panel's link to another page to that page of the session."""
    query = request.META.get("QUERY_STRING", "")
    return HttpResponseRedirect(reverse("studio", args=[key]) + page + (f"?{query}" if query else ""))


def _address(request: HttpRequest, key: str) -> str:
    query = request.META.get("QUERY_STRING", "")
    return reverse("embed", args=[key]) + (f"?{query}" if query else "")


def allow_framing(response: HttpResponse) -> HttpResponse:
    """Let any page frame a response."""
    response.xframe_options_exempt = True
    response._csp_replace = {"frame-ancestors": ["*"]}  # type: ignore[attr-defined]
    return response


DIGITS = 15


@opens("GET")
async def sharing(request: HttpRequest, client: SessionClient) -> HttpResponse:
    """Show name, links, duplicate, and delete. A view link shows neither the edit link, nor other view links, nor the delete."""
    asked = await client.ask(Read(call=Call("GET", "/version")))
    context: dict[str, Any] = {"view_link": _link(request, client.view_key), "is_live": asked.live}
    if client.may_edit:
        context["edit_link"] = _link(request, client.session.edit_key)
        found = await in_thread(links.all_of, client.session.pk)
        context["links"] = [{"link": link, "address": _link(request, link.key)} for link in found]
    return workbench(request, client, "session", context)


@edits("POST")
async def view_links(request: HttpRequest, client: SessionClient) -> HttpResponse:
    """Create a view link for a `term` (day, week, never), or revoke the one with the number `revoke`."""
    number, term = whole_number(request.POST.get("revoke", ""), DIGITS), request.POST.get("term", "")
    if number is not None:
        await in_thread(links.revoke, client.session.pk, number)
        messages.success(request, _("View link revoked."))
    elif term in links.TERMS:
        await in_thread(links.make, client.session.pk, term)
        messages.success(request, _("View link created."))
    else:
        raise SessionError(_("A view link is valid for a day, for a week, or without limit."))
    return HttpResponseRedirect(reverse("session", args=[client.key]))


def _link(request: HttpRequest, key: str) -> str:
    return request.build_absolute_uri(reverse("studio", args=[key]))


ROW = 22  # pixels from one line to the next
DEEPEST = 6  # the deepest indent of a name


@opens("GET")
async def branches(request: HttpRequest, client: SessionClient) -> HttpResponse:
    """Show all branches that this key reaches, as a tree; with `strip` only the strip, as a fragment."""
    await client.refresh()
    look = Look.from_query(request.GET)
    shown = await tree(request, client, client.session.head if look.at is None else look.at)
    if "strip" in request.GET:
        context = {"key": client.key, "client": client, "branches": shown, "look": look}
        return render(request, "playground/studio/branches.html", context)
    return workbench(request, client, "branches", {"branches": shown, "look": look})


async def tree(request: HttpRequest, client: SessionClient, position: int) -> dict[str, Any]:
    """Return the branches that the strip and the room show."""
    held = await list_recent_keys(request)
    members = await in_thread(family, client.session, client.access, held, client.link)
    return draw_branches([asdict(each) for each in members], position)


def draw_branches(family: Sequence[Mapping[str, Any]], position: int) -> dict[str, Any]:
    """Return rows with their lines; x in percent of all steps, y in pixels.

    `family`: name, key, right, at, head, parent (index, -1: none), depth, current, past; each before its branches. `position` is the
    viewer's step in the current one.
    """
    most = max((each["head"] for each in family), default=0) or 1
    rows = [{**each, **_line(family, i, most)} for i, each in enumerate(family)]
    ys = [row["y"] for row in rows if row["past"] and (row["at"] < position or row["parent"] < 0)]
    return {
        "rows": rows,
        "most": most,
        "height": len(rows) * ROW,
        "line": [[row["at"], row["y"]] for row in rows if row["past"]],
        "here": _percent(position, most),
        "here_y": (int(ys[-1]) if ys else 0),
        "tree": _below(rows, -1),
    }


def _line(family: Sequence[Mapping[str, Any]], i: int, most: int) -> dict[str, Any]:
    each = family[i]
    shared = [other["at"] for other in family if other["parent"] == i and other["past"]]
    return {
        "y": i * ROW + ROW // 2,
        "from": _percent(each["at"], most),
        "to": _percent(each["head"], most),
        "drop": max(each["parent"], 0) * ROW + ROW // 2,
        # the extent of the current session's past on this line
        "shared": _percent(shared[0], most) if each["past"] and shared else None,
        "short": each["name"].removeprefix(family[0]["name"] + " · ") if i else each["name"],
        "indent": min(each["depth"], DEEPEST),
    }


def _below(rows: Sequence[Mapping[str, Any]], parent: int) -> list[dict[str, Any]]:
    """Return the branches of one row with their own, for a tree of HTML lists."""
    mine = [i for i, row in enumerate(rows) if row["parent"] == parent]
    return [{"row": rows[i], "branches": _below(rows, i)} for i in mine]


def _percent(position: int, most: int) -> str:
    """Format a percentage for SVG, independent of the locale."""
    return f"{100 * position / most:.3f}%"


SOURCE = "story"
MOST_ANSWERS = 100
STRIDE, MOST_STRIDES = 10, 200  # transitions of a task's world between two checks; checks


@edits("POST")
async def story_act(request: HttpRequest, client: SessionClient, chapter: int) -> HttpResponse:
    """Apply the offer of a card (from 1) of the session's lesson."""
    lesson = await in_thread(lessons.of_story, client.session.story)
    cards = lesson.plan.cards if lesson else ()
    act = cards[chapter - 1].do if 1 <= chapter <= len(cards) else None
    if act is None:
        raise SessionError(_("This card of the lesson has no action."))
    command, at = command_of(act), position(request)
    await client.refresh()
    head = await client.head()
    if at in (None, head) and await in_thread(listing.last, client.session.pk, head) == (SOURCE, command):
        raise SessionError(_("This is already done. Step on to see the result."))
    await client.apply(command, at=at, source=SOURCE)
    if by_htmx(request):
        return HttpResponse(status=204)
    return HttpResponseRedirect(reverse("studio", args=[client.key]))


@opens("POST")
async def lesson_answer(request: HttpRequest, client: SessionClient, chapter: int) -> HttpResponse:
    """Show the verdict on an answer to the question of a reached card (from 1)."""
    look = Look.from_query(request.POST.dict())
    given = None if "show" in request.POST else request.POST.getlist("answer")[:MOST_ANSWERS]
    judged = await client.ask(JudgeAnswer(at=look.at, card=chapter, given=given, again="tried" not in request.POST))
    if client.may_edit:
        await in_thread(assignments.record_answer, client.session, chapter, given, judged.right)
    context = {"judged": judged, "given": given, "look": look, "studio": reverse("studio", args=[client.key])}
    template = "playground/partials/lesson_answer.html" if by_htmx(request) else "playground/lesson_answer.html"
    return render(request, template, context)


async def _go_on(twin: SessionClient, until: Mapping[str, Any]) -> None:
    """Run the fork's world until the condition is met, until its end, or up to a limit."""
    for _stride in range(MOST_STRIDES):
        if await twin.ask(LessonHolds(when=dict(until))):
            return
        await twin.walk(STRIDE)


async def begin_task(client: SessionClient, lesson: Lesson, at: int | None, creator: str) -> SessionClient:
    """Create a fork with the situation of the lesson's task. Raise SessionError."""
    if lesson.plan.task is None:
        raise SessionError(_("This lesson has no task."))
    name = _("Task: %(session)s") % {"session": client.session.name[:100]}
    twin = await client.fork(at, name, creator, True)
    for act in lesson.plan.task.start:
        await twin.apply(command_of(act), source=SOURCE)
        if act.until is not None:
            await _go_on(twin, act.until)
    twin.session.task = True
    await in_thread(twin.session.save, update_fields=["task"])
    return twin


@opens("POST")
async def lesson_task(request: HttpRequest, client: SessionClient) -> HttpResponse:
    """Create the viewer's own fork with the situation of the lesson's task."""
    lesson = await in_thread(lessons.of_story, client.session.story)
    if lesson is None:
        raise SessionError(_("This session has no lesson."))
    twin = await begin_task(client, lesson, position(request), creator(request))
    if client.may_edit:
        await in_thread(assignments.keep_fork, client.session, twin.session)
    await remember(request, twin.key)
    return go(request, reverse("studio", args=[twin.key]))
