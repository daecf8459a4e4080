"""The first page: the start of a session."""

import json
from collections import Counter
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, TypedDict

from asgiref.sync import sync_to_async
from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.templatetags.static import static
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_GET, require_POST

from playground import VERSION
from playground.lessons import TRACKS, Lesson, beginning, lesson_of, read_lessons
from playground.sessions.database.asking import in_thread
from playground.sessions.protocol.errors import SessionError
from playground.sessions.recent import recent, remember
from playground.sessions.web.client import SessionClient, create_session
from playground.templatetags.lessons import in_language
from playground.views.access import creator
from playground.views.responses import problem, seed_of
from playground.views.workbench.imports import begin_preview, get_pasted_text, preview_import, renames
from playground.views.workbench.texts import large_file, read_import_text
from playground.workbench.builder import CLUSTERS, begin_difference, clusters_of_differences
from scheduler_core import Cluster
from scheduler_core.formats.indication import find_release
from scheduler_core.scheduler.config import NEWEST, OLDEST, RELEASES, Release, read_release
from scheduler_core.world.commands import ApplyObjects, BeginLife, Command, SetSettings
from scheduler_core.world.readonly import parse_quantity

# The animation on the first page: a placement computed by the engine.

POD, OF = "web-1", "placement"


class FilmNode(NamedTuple):
    """A node in the film. `said` is the reason of a rejection, else `points` is its score; `used` and `after` are percentages of cpu."""

    name: str
    said: str
    points: int
    used: int
    after: int
    chosen: bool


class Film(TypedDict):
    pod: str
    waiting: list[str]
    nodes: list[FilmNode]
    feasible: int
    node: str
    place: int


@cache
def film() -> Film:
    """Schedule the first pod of a cluster that users may step through afterwards, and return each node's result."""
    manifests = CLUSTERS[OF].make()
    attempt = Cluster(*manifests).schedule(POD)
    assert attempt.scores is not None, "a picture of a placement needs several feasible nodes"
    used: Counter[str] = Counter()
    offered, asked = {}, {}
    for each in manifests:
        name = each["metadata"]["name"]
        if each["kind"] == "Node":
            offered[name] = _milli(each["status"]["allocatable"]["cpu"])
        else:
            asked[name] = _milli(each["spec"]["containers"][0]["resources"]["requests"]["cpu"])
            used[each["spec"].get("nodeName", "")] += asked[name]
    totals = attempt.scores.total
    nodes = []
    for name, whole in offered.items():
        chosen = name == attempt.node
        after = used[name] + (asked[POD] if chosen else 0)
        said = attempt.refused[name][1] if name in attempt.refused else ""
        nodes.append(FilmNode(name, said, totals.get(name, 0), 100 * used[name] // whole, 100 * after // whole, chosen))
    return {
        "pod": POD,
        "waiting": [name for name in asked if name.startswith("web-") and name != POD],
        "nodes": nodes,
        "feasible": len(totals),
        "node": attempt.node,
        "place": list(offered).index(attempt.node),
    }


def _milli(quantity: str) -> int:
    return int(1000 * parse_quantity(quantity))


TRACK_NAMES = {
    "first-steps": gettext_lazy("First steps"),
    "placement": gettext_lazy("Placement"),
    "fairness-and-packing": gettext_lazy("Fairness and packing"),
    "queue-and-time": gettext_lazy("Queue and time"),
    "preemption-and-priority": gettext_lazy("Preemption and priority"),
    "evictions": gettext_lazy("Evictions"),
    "devices": gettext_lazy("Devices"),
    "high-availability": gettext_lazy("High availability"),
    "internals": gettext_lazy("Internals"),
    "pending": gettext_lazy("Read a Pending pod"),
}


# The lessons on the first page.
CHOSEN = ("first-placement", "read-pending", "requests", "taints", "zones", "preemption", "backoff", "drain")


@require_GET
async def home(request: HttpRequest) -> HttpResponse:
    """Show the first page: start empty, from a story, from a cluster, or by import, or resume a recent session."""
    return await _home(request, {})


@require_GET
def lessons(request: HttpRequest) -> HttpResponse:
    return render(request, "playground/lessons/all.html", {"tracks": tracks()})


async def _home(request: HttpRequest, more: dict[str, Any], status: int = 200) -> HttpResponse:
    context = {
        "lessons": [_present_lesson(lesson) for slug in CHOSEN if (lesson := lesson_of(slug))],
        "all_lessons": len(read_lessons()),
        "film": await sync_to_async(film, thread_sensitive=False)(),
        "clusters": [each for slug, each in CLUSTERS.items() if slug != OF],
        "recent": await recent(request),
        "version": VERSION,
        "releases": RELEASES[::-1],
        "newest": NEWEST,
        "most_bytes": settings.MAX_UPLOAD_BYTES,
        "most_file_bytes": settings.MAX_IMPORT_BYTES,
        "large_bytes": settings.LARGE_IMPORT_BYTES,
    }
    return render(request, "playground/home.html", {**context, **more}, status=status)


def tracks() -> list[dict[str, Any]]:
    """Return the tracks with lessons, each with its name and its lessons in order."""
    lessons = read_lessons()
    return [
        {
            "slug": track,
            "name": TRACK_NAMES[track],
            "minutes": sum(each.plan.minutes for each in found),
            "lessons": list(map(_present_lesson, found)),
        }
        for track in TRACKS
        if (found := [each for each in lessons if each.plan.track == track])
    ]


def _present_lesson(lesson: Lesson) -> dict[str, Any]:
    return {
        "slug": lesson.slug,
        "minutes": lesson.plan.minutes,
        "questions": len(lesson.questions),
        "steps": len(lesson.plan.cards),
        "varies": lesson.pattern is not None,
        "words": {
            language: {"title": words.title, "summary": words.summary} for language, words in lesson.words.items()
        },
    }


@require_POST
async def new(request: HttpRequest) -> HttpResponse:
    """Create a session. `start`: empty, story:<slug>, cluster:<slug> or import (with `text` or `file`)."""
    start = request.POST.get("start", "empty")
    try:
        if start == "import":
            return await _import(request)
        chosen = _choose_release(request, start)
        release: Release = chosen[0].settings["release"] if chosen else OLDEST
        wanted = _beginning(start, release)
        wanted["commands"] = [*_life(request), *wanted["commands"]]
        name = request.POST.get("name", "").strip()[:120] or wanted.pop("name")
        seed = seed_of(request.POST.get("seed", "")) or 0
        wanted["commands"] = [*chosen, *wanted["commands"]]
        session = await create_session(**{**wanted, "name": name}, creator=creator(request), seed=seed)
    except SessionError as error:
        return problem(request, error)
    await remember(request, session.edit_key)
    return HttpResponseRedirect(reverse("studio", args=[session.edit_key]))


def _choose_release(request: HttpRequest, start: str, text: bytes = b"") -> list[SetSettings]:
    """Return the command that sets a new session's release: the requested one, or the one that its import indicates, else the newest.

    A lesson uses the oldest release, which needs no command. Raise SessionError.
    """
    live = request.POST.get("live") == "1"
    asked = request.POST.get("release", "").strip() or ("1.34.2" if live else "")  # that of the door recordings
    try:
        release = read_release(asked) if asked else find_release(text).release
    except ValueError as error:
        raise SessionError(str(error)) from None
    lesson = start.startswith("story:") and not asked
    return [] if lesson or release == OLDEST else [SetSettings({"release": release})]


KUBELETS = ("none", "removes", "runs")


def _life(request: HttpRequest) -> list[Command]:
    """Return the commands for the kubelets that a form names, and for a live session. Raises SessionError."""
    kubelet = request.POST.get("kubelet", "")
    if kubelet not in ("", *KUBELETS):
        shown = {"kubelet": kubelet[:40], "kinds": ", ".join(KUBELETS)}
        raise SessionError(
            _("“%(kubelet)s” is not a kubelet mode. Choose one of %(kinds)s, or leave the field empty.") % shown
        )
    settings = {"cluster": {"run_kubelets": False, "stand_in": kubelet.replace("none", "")}} if kubelet else {}
    commands: list[Command] = [SetSettings(settings)] if settings else []
    if request.POST.get("live") == "1":
        start = datetime.now(UTC) - timedelta(minutes=5)  # like a server that has been up for some minutes
        begin = BeginLife(start.replace(microsecond=0).isoformat().replace("+00:00", "Z"))
        commands += [begin, ApplyObjects(tuple(STANDING))]
    return commands


STANDING: list[dict[str, Any]] = json.loads(Path(__file__).with_name("standing.json").read_text(encoding="utf-8"))
"""What an API server makes in every cluster, besides namespaces and priority classes."""


def _beginning(start: str, release: Release) -> dict[str, Any]:
    """Return the arguments of create_session for a way to start. Raises SessionError."""
    kind, _colon, slug = start.partition(":")
    if kind == "story" and (chosen := lesson_of(slug)):
        return {"name": in_language(chosen.titles), "story": slug, "commands": beginning(chosen.plan)}
    if kind == "cluster" and slug in CLUSTERS:
        cluster = CLUSTERS[slug]
        return {"name": str(cluster.title), "commands": [ApplyObjects(tuple(cluster.make()))]}
    if kind == "difference" and slug in clusters_of_differences():
        return {"name": f"{slug} ({release})", "commands": begin_difference(slug, release)}
    if start == "empty":
        return {"name": _("Empty cluster"), "commands": []}
    raise SessionError(_("“%(start)s” is not a starting point. Choose one on the home page.") % {"start": start[:80]})


async def _import(request: HttpRequest) -> HttpResponse:
    """Create a session that opens with the preview of the pasted or uploaded text. If the text is invalid, create none."""
    try:
        file = large_file(request)
        text, filename = read_import_text(request) if file is None else (b"", file.name or "")
        name = "" if renames(request) else filename.rsplit(".", 1)[0][:120]
        name = name or _("Imported cluster")
        seed = seed_of(request.POST.get("seed", "")) or 0
        found = await in_thread(_choose_release, request, "import", text)
        session = await create_session(name=name, commands=found, creator=creator(request), seed=seed)
        client = SessionClient(session, "edit")
        try:
            if file is None:
                return await preview_import(request, client, text, filename)
            return await begin_preview(request, client)
        except SessionError:
            await client.delete()
            raise
    except SessionError as error:
        return await _home(
            request,
            {
                "refusal": error,
                "text": get_pasted_text(request),
                "rename": renames(request),
                "seed": request.POST.get("seed", "")[:10],
            },
            error.status,
        )


@require_GET
async def favicon(request: HttpRequest) -> HttpResponse:
    """Redirect browsers and feed readers that look for an icon at the usual place."""
    return HttpResponseRedirect(static("playground/icon.svg"))
