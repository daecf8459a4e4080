"""A pod's journey as a page and as text, and the CycleState of its cycle."""

from html import unescape

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.html import strip_tags
from django.utils.translation import gettext as _

from playground.features.journey.presenter import text
from playground.features.journey.query import CycleState, Journey
from playground.presenters import Look
from playground.presenters.journey import Story
from playground.presenters.words import Message
from playground.sessions.protocol.errors import SessionGone
from playground.sessions.web.client import SessionClient
from playground.templatetags.studio import translated
from playground.views.access import opens
from playground.views.responses import by_htmx, describe_session, position

SECONDS = 1.5  # for looking into attempts


@opens("GET")
async def journey_page(request: HttpRequest, client: SessionClient, namespace: str, name: str) -> HttpResponse:
    """Show the whole journey, newest part first. The studio's drawer also uses it."""
    story, head = await _story(request, client, namespace, name)
    at = position(request)
    context = {
        **describe_session(request, client),
        "story": story,
        "text": _text(story),
        "at": at,
        "standing": at is not None and at < head,
        "here": reverse("studio", args=[client.key]) + Look(pod=story["key"], stage="aim", tab="journey", at=at).href(),
    }
    return render(request, "journey/page.html", context)


@opens("GET")
async def journey_text(request: HttpRequest, client: SessionClient, namespace: str, name: str) -> HttpResponse:
    """Return the journey as plain text, for a terminal, an issue, or a chat."""
    story, _head = await _story(request, client, namespace, name)
    return HttpResponse(_text(story), content_type="text/plain; charset=utf-8")


@opens("GET")
async def cycle_state(request: HttpRequest, client: SessionClient) -> HttpResponse:
    """Show a fragment of the inspector's tab Internals, or a page of its own."""
    look = Look.from_query(request.GET)
    fragment = by_htmx(request)
    state = await client.ask(CycleState(at=look.at, pod=look.pod))
    context = {
        **describe_session(request, client),
        "state": state,
        "at": look.at,
        "fragment": fragment,
        "base": "playground/bare.html" if fragment else "playground/base.html",
    }
    return render(request, "journey/cycle_state.html", context)


async def _story(request: HttpRequest, client: SessionClient, namespace: str, name: str) -> tuple[Story, int]:
    """Return the journey and the head. Raise SessionGone if no such pod ever existed."""
    page = Look.from_query(request.GET).page if request.GET.get("page") else None
    query = Journey(at=position(request), pod=f"{namespace}/{name}", page=page, seconds=SECONDS)
    story, head = await client.ask_with_head(query)
    if story is None:
        raise SessionGone(
            _("No pod %(namespace)s/%(name)s existed up to this step.")
            % {"namespace": namespace[:253], "name": name[:253]}
        )
    return story, head


def _text(story: Story) -> str:
    return text(story, _plain(story["why"]["sentence"]), _plain(story["stranded"]))


def _plain(sentence: Message | None) -> str:
    """Return a presenter's sentence without markup."""
    return unescape(strip_tags(translated(sentence)))
