"""Jinja2 for the panels' templates (templates/panels; the engine `panels` of the settings).

The templates read data, mostly dicts, whose keys may be names of dict methods (`card.count`). Missing values are empty, as in Django's
templates. Filters are those of the libraries in templatetags; tags.py parses Django's tags.
"""

import re
from typing import Any

from django.template.base import Origin
from django.template.loaders import filesystem
from jinja2 import ChainableUndefined, Environment, Undefined
from jinja2.ext import Extension

from playground.templatetags import explanation, lessons, studio, terms
from playground.templating.tags import MAKERS, LookTags, TermTag, WordTags
from playground.templating.words import WordedContext

# Templates are written to be read; what is sent is short. Line breaks and indentation are taken out once, when a template is loaded.
#
# Where a line breaks stands one space, as a browser shows it; beside an element on its own (a paragraph, a row, a list) nothing, as no
# browser shows it. `pre` and `textarea` stay as they are. It takes a third off what a step sends (docs/dependencies.md).

_VERBATIM = re.compile(r"(<pre\b.*?</pre>|<textarea\b.*?</textarea>)", re.DOTALL)
_END_OF_TAG = re.compile(r"\s*\n\s*(?=/?>)")
_BREAK = re.compile(r"\s*\n\s*")
# A tag's last attribute, which may be missing: so may the space in front of it.
_OPTIONAL = re.compile(r" (\{% if [^%]*%\})((?:[^{%]|\{\{[^}]*\}\})+\{% endif %\}>)")
_REST_OF_TAG = r"(?:\{[{%].*?[}%]\}|[^<>{])*>"
# What stands in a line and has edges of its own: a blank inside of them would be one more item of a button that is laid out by flex.
_EDGES = re.compile(rf"(<(?:button|select|svg)\b{_REST_OF_TAG}) | (</(?:button|select|svg)>)")
# Elements on their own, and template code that prints nothing.
_NAMES = """html head title meta link script noscript body header main footer nav section article aside h1 h2 h3 h4 h5 h6 div p pre textarea
form fieldset legend figure figcaption details summary dialog ul ol li dl dt dd option datalist table caption thead tbody tr th td
symbol defs pattern g path rect circle line text use"""
_ALONE = re.compile(
    rf" ?(</?(?:{'|'.join(_NAMES.split())})\b{_REST_OF_TAG}|<!DOCTYPE[^>]*>"
    r"|\{% (?:load|extends|comment|endcomment|get_current_language)\b.*?%\}) ?"
)


class Loader(filesystem.Loader):
    """Loads the project's own templates."""

    def get_contents(self, origin: Origin) -> str:
        return compact(super().get_contents(origin))


def compact(source: str) -> str:
    """Return a template's text without comments and indentation."""
    parts = _VERBATIM.split(source.strip())
    return "".join(part if i % 2 else _join_lines(part) for i, part in enumerate(parts))


def _join_lines(source: str) -> str:
    source = _BREAK.sub(" ", _END_OF_TAG.sub("", source))
    source = _EDGES.sub(r"\1\2", _OPTIONAL.sub(r"\1 \2", source))
    return _ALONE.sub(r"\1", source)


class Compact(Extension):
    """Loads templates as Django's are loaded (playground/templating/environment.py)."""

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
