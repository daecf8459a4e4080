"""Sequence diagrams of a pod's history, or of a scheduler's start, as arrows between the components involved."""

from html import unescape

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.html import strip_tags

from playground.features.sequence.presenter import present
from playground.features.sequence.query import Sequence
from playground.presenters.words import Message
from playground.sessions.web.client import SessionClient
from playground.templatetags.studio import translated
from playground.views.access import opens
from playground.views.responses import describe_session, position, whole_number

SECONDS = 1.5
LONGEST = 253 + 1 + 253  # namespace/name
DIGITS = 15


@opens("GET")
async def sequence(request: HttpRequest, client: SessionClient) -> HttpResponse:
    """Show the page. Without a pod or a scheduler, it offers some."""
    at, pod = position(request), _pod(request.GET.get("pod", "").strip()[:LONGEST])
    scheduler = "" if pod else request.GET.get("scheduler", "").strip()[:LONGEST]
    first = whole_number(request.GET.get("from", ""), DIGITS) or 0
    query = Sequence(at=at, pod=pod, scheduler=scheduler, first=first, seconds=SECONDS)
    found, head = await client.ask_with_head(query)
    context = {
        **present(found, "every" in request.GET, _words),
        **describe_session(request, client),
        "head": head,
        "at": at if at is not None and at < head else None,
        "subject": pod.removeprefix("default/") or scheduler,
        "namespace": pod.partition("/")[0],
        "name": pod.partition("/")[2],
    }
    there = found["known"] or not (pod or scheduler)
    return render(request, "sequence/page.html", context, status=200 if there else 404)


def _pod(text: str) -> str:
    """Return a pod's key. A name without a namespace is in `default`."""
    return text if not text or "/" in text else f"default/{text}"


def _words(said: Message) -> str:
    """Return a presenter's message without markup, as text for SVG."""
    return unescape(strip_tags(translated(said)))
