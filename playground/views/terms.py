"""The terms of the pages: all of them on one, and as JSON for the tooltips."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.utils.translation import get_language, get_supported_language_variant, gettext, override
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_GET

from playground.presenters.terms import Term, read_groups, read_terms


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
