"""Small answers for the studio's frame, as JSON: names for the palette, marks for the timeline."""

from __future__ import annotations

from django.http import HttpRequest, JsonResponse
from django.views.decorators.http import require_GET
from msgspec import to_builtins

from playground.lessons import read_lessons
from playground.presenters import Look
from playground.sessions.protocol.looking import AttemptEnds, FindNames, Objects
from playground.sessions.web.client import SessionClient
from playground.templatetags.lessons import in_language
from playground.views.access import opens
from playground.workbench.phrases import KINDS, Known, suggest
from scheduler_core.scheduler.plugins import NAMES

MOST_NAMES = 6  # of a kind
NAME_LENGTH = 253
MOST_ENDS = 60


@require_GET
@opens
async def names(request: HttpRequest, client: SessionClient) -> JsonResponse:
    """Pods, nodes, claims and controllers whose name has `q` in it, a few of each kind; and sentences that `say` begins or is."""
    q = request.GET.get("q", "").strip()[:NAME_LENGTH]
    found = await client.ask(FindNames(at=Look.from_query(request.GET).at, q=q, most=MOST_NAMES)) if q else []
    text = request.GET.get("say", "").lstrip()[:NAME_LENGTH]
    phrases = suggest(text, await _read_names(request, client, text), client.may_edit) if text else []
    return JsonResponse({"names": to_builtins(found), "phrases": to_builtins(phrases)})


async def _read_names(request: HttpRequest, client: SessionClient, text: str) -> Known:
    """The names that a sentence may have in it; objects only once their kind is clear."""
    at = Look.from_query(request.GET).at
    kinds = [kind for kind in KINDS if " " in text]
    listed = {kind: await client.ask(Objects(at=at, kind=kind)) for kind in kinds}
    objects = {kind: [(each.namespace, each.name) for each in found] for kind, found in listed.items()}
    worded = ((lesson.slug, in_language(lesson.words)) for lesson in read_lessons())
    lessons = {slug: words.title for slug, words in worded if words is not None}
    return Known(objects, NAMES, lessons, await client.head())


@require_GET
@opens
async def ends(request: HttpRequest, client: SessionClient) -> JsonResponse:
    """Return the positions where attempts ended, spread over the whole session."""
    return JsonResponse({"ends": to_builtins(await client.ask(AttemptEnds(most=MOST_ENDS)))})
