"""Jinja2 as the panels' templates use it (templates/panels; the engine `panels` of the settings).

What they read is data: dicts before all, whose keys may be named as a dict's methods are (`card.count`). What is missing is empty, as it
is in Django's templates. Filters are those of the libraries in templatetags; tags.py reads Django's tags.
"""

from __future__ import annotations

from typing import Any

from jinja2 import ChainableUndefined, Environment, Undefined
from jinja2.ext import Extension

from playground.templatetags import explanation, lessons, studio, terms
from playground.templating.compact import compact
from playground.templating.tags import MAKERS, LookTags, TermTag, WordTags
from playground.templating.words import WordedContext


class Compact(Extension):
    """Loads templates as Django's are loaded (playground/templating/compact.py)."""

    def preprocess(self, source: str, name: str | None, filename: str | None = None) -> str:
        return compact(source)


class PanelEnvironment(Environment):
    context_class = WordedContext

    def __init__(self, **options: Any) -> None:
        extensions = [Compact, LookTags, TermTag, WordTags]
        super().__init__(**{**options, "undefined": ChainableUndefined, "extensions": extensions})
        self.filters |= (
            explanation.register.filters
            | lessons.register.filters
            | studio.register.filters
            | terms.register.filters
            | MAKERS
        )
        self.tests["none"] = is_none

    def getattr(self, obj: Any, attribute: str) -> Any:
        """An item of a dict, or else an attribute."""
        try:
            return obj[attribute]
        except (TypeError, LookupError):
            return super().getattr(obj, attribute)


def is_none(value: Any) -> bool:
    """Return whether a value is None or missing, which is None to Django's `{% if %}`."""
    return value is None or isinstance(value, Undefined)
