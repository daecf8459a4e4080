"""Pages of the site, without a session: terms, also as JSON for tooltips, conformance, and joined style sheets and scripts."""

import json
from functools import cache
from pathlib import Path
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.utils.cache import patch_cache_control, patch_vary_headers
from django.utils.translation import get_language, get_supported_language_variant, gettext, override
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_GET, require_safe

from playground.presenters.terms import Term, read_groups, read_terms
from playground.templatetags.joined import KINDS, join
from scheduler_core.scheduler.plugins.registry import registry

# Style sheets and scripts that are sent as one (playground/templatetags/joined.py).

FOR_GOOD = 365 * 24 * 3600


@require_safe
def joined(request: HttpRequest, kind: str, name: str, digest: str) -> HttpResponse:
    """The file as it is now; kept by browsers where that is what the address means: a page may be older than this server."""
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


# How faithful the engine is: the last run of the conformance corpus, families by plugins. `make conformance` writes what is shown.

RUN = Path(__file__).resolve().parent / "data" / "conformance.json"


@require_GET
def conformance(request: HttpRequest) -> HttpResponse:
    """Scenarios passed by family, and in how many of them each plugin takes a part."""
    return render(request, "playground/conformance.html", {"run": present_run(last_run())})


@cache
def last_run() -> dict[str, Any]:
    """The data of the run as the command printed it."""
    data: dict[str, Any] = json.loads(RUN.read_text())
    return data


def present_run(run: dict[str, Any]) -> dict[str, Any]:
    """The run as a table: plugins in kube's order as columns, those that no scenario shows left out."""
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
    """Every term, group by group."""
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
    """A term in its reader's language."""
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
