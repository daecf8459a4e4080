"""Pages of the site without a session: terms, conformance, joined files, health, and the server's figures."""

import json
import secrets
import time
from collections.abc import Callable, Coroutine, Iterator
from functools import cache, wraps
from pathlib import Path
from typing import Any

import orjson
from django.conf import settings
from django.contrib.sessions.models import Session as BrowserSession
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.cache import patch_cache_control, patch_vary_headers
from django.utils.translation import get_language, get_supported_language_variant, gettext, override
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_GET, require_safe
from prometheus_client import CONTENT_TYPE_LATEST, REGISTRY, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from playground import VERSION
from playground.common.addresses import is_in, read_address
from playground.common.logs import REFUSED, RecentTroubles
from playground.models import Session
from playground.presenters.terms import Term, read_groups, read_terms
from playground.sessions.database.asking import LOCKED, in_thread
from playground.sessions.protocol.errors import Unavailable
from playground.sessions.web.runtime import runtime
from playground.storage.postgresql.outage import impatient
from playground.templatetags.joined import KINDS, join
from scheduler_core.scheduler.plugins.registry import registry

# Style sheets and scripts that are sent as one (playground/templatetags/joined.py).

FOR_GOOD = 365 * 24 * 3600


@require_safe
def joined(request: HttpRequest, kind: str, name: str, digest: str) -> HttpResponse:
    """Return the current joined file. Browsers may cache it only if the address has its digest: a page may be older than this server."""
    try:
        found = join(kind, name)
    except FileNotFoundError as error:
        raise Http404 from error
    packs = "gzip" in request.headers.get("Accept-Encoding", "")
    response = HttpResponse(found.packed if packs else found.text, content_type=f"{KINDS[kind].mime}; charset=utf-8")
    if packs:
        response.headers["Content-Encoding"] = "gzip"
    patch_vary_headers(response, ("Accept-Encoding",))
    if digest == found.digest:
        patch_cache_control(response, public=True, immutable=True, max_age=FOR_GOOD)
    else:
        patch_cache_control(response, no_cache=True)
    return response


# The engine's fidelity: the last run of the conformance corpus, families by plugins. `make conformance` writes the data.

RUN = Path(__file__).resolve().parent / "data" / "conformance.json"
RELEASES_RUN = RUN.with_name("releases.json")


@require_GET
def conformance(request: HttpRequest) -> HttpResponse:
    """Show the passed scenarios by family, and in how many of them each plugin takes part."""
    found = json.loads(RELEASES_RUN.read_text())
    families = dict.fromkeys(family for sums in found.values() for family in sums)
    rows = [
        {"name": family.replace("_", " "), "cells": [sums.get(family) for sums in found.values()]}
        for family in families
    ]
    totals = [[sum(column) for column in zip(*sums.values(), strict=True)] for sums in found.values()]
    context = {"run": present_run(last_run()), "releases": {"names": list(found), "rows": rows, "totals": totals}}
    return render(request, "playground/conformance.html", context)


@cache
def last_run() -> dict[str, Any]:
    """Return the data of the last run as the command printed it."""
    data: dict[str, Any] = json.loads(RUN.read_text())
    return data


def present_run(run: dict[str, Any]) -> dict[str, Any]:
    """Return the run as a table: plugins in kube's order as columns, without those that appear in no scenario."""
    seen = {name for family in run["families"] for name in family["plugins"]}
    plugins = [name for name in registry() if name in seen]
    plugins += sorted(seen - set(plugins))
    rows = [
        {
            **family,
            "name": family["family"].replace("_", " "),
            "whole": family["pass"] == family["scenarios"],
            "cells": [family["plugins"].get(name, 0) for name in plugins],
        }
        for family in run["families"]
    ]
    totals = [sum(row["cells"][i] for row in rows) for i in range(len(plugins))]
    whole = run["pass"] == run["scenarios"]
    return {**run, "plugins": plugins, "rows": rows, "totals": totals, "whole": whole}


@require_GET
def terms(request: HttpRequest) -> HttpResponse:
    """Show all terms, group by group."""
    groups = [
        {
            "title": gettext(group.title),
            "terms": [{"name": name, **translate_term(term)} for name, term in group.terms.items()],
        }
        for group in read_groups()
    ]
    return render(request, "playground/terms.html", {"groups": groups})


@require_GET
@cache_control(max_age=600)
def terms_json(request: HttpRequest) -> JsonResponse:
    """Return the texts of the tooltips, in the language that the page requests."""
    with override(_language(request)):
        return JsonResponse({name: translate_term(term) for name, term in read_terms().items()})


def translate_term(term: Term) -> dict[str, Any]:
    """Return a term in the reader's language."""
    return {
        "title": gettext(term.title),
        "text": gettext(term.text),
        "sources": [_source(source.document, source.section) for source in term.sources],
        "docs": term.docs,
    }


def _source(document: str, section: str) -> str:
    return gettext("“%(section)s” in “%(document)s”") % {"section": section.rstrip(":"), "document": document}


def _language(request: HttpRequest) -> str | None:
    try:
        return get_supported_language_variant(request.GET.get("language", ""))
    except LookupError:
        return get_language()


# Health: the database answers and accepts writes.

# Seconds for which a successful write counts.
BELIEVED = 5.0
# A row that is written and rolled back in one transaction, but still needs disk space.
KEY = "healthz"
ROOM = 16 << 10


class Health:
    """The health of this process's database."""

    def __init__(self) -> None:
        self._written = -BELIEVED

    def check(self) -> None:
        """Raise the database's error if it does not answer or accepts no writes."""
        self._require_writable()
        if time.monotonic() - self._written > BELIEVED:
            self._write()
            self._written = time.monotonic()

    @transaction.atomic
    def _require_writable(self) -> None:
        """Take a writer's first lock without writing: SQLite's lock, or the right to lock a row."""
        list(Session.objects.select_for_update().filter(pk=0))
        LOCKED.end()

    @transaction.atomic
    def _write(self) -> None:
        row = BrowserSession(session_key=KEY, session_data=secrets.token_urlsafe(ROOM), expire_date=timezone.now())
        row.save()
        row.delete()


HEALTH = Health()


View = Callable[[HttpRequest], Coroutine[Any, Any, HttpResponse]]

STARTED = timezone.now()
LANES = (("small", False), ("large", True))


class _Sessions(Collector):
    """Metrics of this process's sessions and workers, collected on request."""

    def describe(self) -> list[Metric]:
        """Return no metrics, so that nothing is collected before a request."""
        return []

    def collect(self) -> Iterator[Metric]:
        sessions, pool = runtime().sessions, runtime().services.pool
        known = GaugeMetricFamily(
            "playground_sessions", "Sessions known here, by whether a worker has them.", labels=["state"]
        )
        here = sum(each.engine.is_open for each in list(sessions.values()))
        known.add_metric(["open"], here)
        known.add_metric(["left"], len(sessions) - here)
        yield known
        memory = GaugeMetricFamily(
            "playground_worker_memory_bytes", "Resident memory of a worker.", labels=["lane", "worker"]
        )
        held = GaugeMetricFamily("playground_worker_sessions", "Sessions that a worker has.", labels=["lane", "worker"])
        for lane, heavy in LANES:
            for number, worker in enumerate(pool.lane(heavy)):
                memory.add_metric([lane, str(number)], worker.memory())
                held.add_metric([lane, str(number)], len(worker.sessions))
        yield memory
        yield held


REGISTRY.register(_Sessions())


@require_GET
async def healthz(request: HttpRequest) -> HttpResponse:
    """Report health to monitors: whether the database can be read, without waiting, and written; and whether Redis answers."""
    problem = await _database_problem()
    state: dict[str, Any] = {"ok": True} if problem is None else {"ok": False, "error": problem.message}
    if settings.REDIS_URL:
        state["redis"] = runtime().services.relay.connected
    answered = 200 if problem is None else problem.status
    return HttpResponse(orjson.dumps(state), content_type="application/json", status=answered)


async def _database_problem() -> Unavailable | None:
    try:
        with impatient():
            await in_thread(HEALTH.check)
    except Unavailable as error:
        return error
    return None


def for_operators(view: View) -> View:
    """Wrap a view for the clients in METRICS_CLIENTS; others get 404."""

    @wraps(view)
    async def inner(request: HttpRequest) -> HttpResponse:
        client = read_address(str(request.META.get("REMOTE_ADDR", "")))
        if client is None or not is_in(client, settings.METRICS_CLIENTS):
            raise Http404
        return await view(request)

    return inner


@require_GET
@for_operators
async def metrics(request: HttpRequest) -> HttpResponse:
    """Return the server's metrics in Prometheus' text format."""
    return HttpResponse(generate_latest(REGISTRY), content_type=CONTENT_TYPE_LATEST)


@require_GET
@for_operators
async def status(request: HttpRequest) -> HttpResponse:
    """Show this server process on one page: database, Redis, workers, sessions, connections, and the last errors of its log."""
    here = runtime()
    live = list(here.sessions.values())
    context = {
        "version": VERSION,
        "name": here.services.name,
        "since": STARTED,
        "database": await _database_problem(),
        "redis": here.services.relay.connected,
        "has_redis": bool(settings.REDIS_URL),
        "workers": [
            {
                "lane": lane,
                "number": number,
                "pid": worker.pid if worker.alive else None,
                "memory": worker.memory(),
                "sessions": len(worker.sessions),
            }
            for lane, heavy in LANES
            for number, worker in enumerate(here.services.pool.lane(heavy))
        ],
        "most_memory": settings.ENGINE_MEMORY,
        "sessions": len(live),
        "open": sum(each.engine.is_open for each in live),
        "driven": sum(each.driver is not None for each in live),
        "connections": int(REGISTRY.get_sample_value("playground_connections") or 0),
        "sockets": int(REGISTRY.get_sample_value("playground_sockets") or 0),
        "most_connections": settings.MAX_CONNECTIONS,
        "most_sockets": settings.MAX_SOCKETS,
        "refused": [
            (sample.labels["reason"], int(sample.value))
            for family in REFUSED.collect()
            for sample in family.samples
            if sample.name.endswith("_total")
        ],
        "troubles": list(reversed(RecentTroubles.kept)),
    }
    return render(request, "playground/status.html", context)
