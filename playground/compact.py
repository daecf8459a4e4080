"""Templates are written to be read; what is sent is short. Line breaks and indentation are taken out once, when a template is loaded.

Where a line breaks beside an element that stands on its own (a paragraph, a row, a list), nothing is left: no browser shows it. Elsewhere
a line break becomes one space, as a browser shows it. `pre` and `textarea` stay as they are.
"""

from __future__ import annotations

import re

from django.template.base import Origin
from django.template.loaders import filesystem

_CODE = r"\{%.*?%\}|\{\{.*?\}\}|\{#.*?#\}"
_TAG = rf"""</?[a-zA-Z][\w-]*(?:"(?:{_CODE}|[^"])*"|'(?:{_CODE}|[^'])*'|{_CODE}|[^<>"'])*>"""
_TEXTS = r"<(?P<texts>pre|textarea)\b.*?</(?P=texts)>"
_BREAK = re.compile(r"\s*\n\s*")
_TOKEN = re.compile(rf"{_TEXTS}|{_TAG}|<!DOCTYPE.*?>|{_CODE}|{_BREAK.pattern}", re.DOTALL)
_NAME = re.compile(r"<([/!]?)([a-zA-Z][\w-]*)")
# An attribute, or a part of one, that may be missing, with the space in front of it.
_OPTIONAL = re.compile(r" (\{% if (?:(?!%\}).)*%\})(?=\S)((?:(?!\{%).)*\{% endif %\})")

# What stands on its own: white space before, inside and after it is not shown.
_BLOCKS = frozenset(
    """
    DOCTYPE html head title meta link script body header main footer nav section article aside h1 h2 h3 h4 h5 h6 div p pre figure figcaption
    details summary dialog ul ol li dl dt dd form fieldset legend option table caption thead tbody tr th td
    symbol defs pattern g path rect circle line text use
    """.split()  # noqa: SIM905 - sixty strings are harder to read
)
_VERBATIM = ("pre", "textarea")
# Code that prints nothing.
_SILENT = re.compile(r"\{% (load|extends|get_current_language\w*|comment|endcomment)\b|\{#")
# What stands in a line, with edges of its own: white space inside of them is not shown.
_BOXES = frozenset(["button", "select", "svg"])


class Loader(filesystem.Loader):
    """Loads the project's own templates."""

    def get_contents(self, origin: Origin) -> str:
        return compact(super().get_contents(origin))


def compact(source: str) -> str:
    """A template's text without what only its readers need."""
    tokens = _tokens(source)
    edges = ["", *tokens, ""]
    return "".join(_shortened(*three) for three in zip(edges, tokens, edges[2:], strict=False))


def _tokens(source: str) -> list[str]:
    """Tags, template code, line breaks, and what is between them."""
    found, end = [], 0
    for match in _TOKEN.finditer(source):
        found += [source[end : match.start()], match[0]]
        end = match.end()
    return [token for token in [*found, source[end:]] if token]


def _shortened(before: str, token: str, after: str) -> str:
    if _BREAK.fullmatch(token):
        return "" if _is_hidden(before, after) else " "
    name = _NAME.match(token)
    if not name or name[2] in _VERBATIM:
        return token
    tag = re.sub(r"\s*(/?>)$", r"\1", _BREAK.sub(" ", token))
    return _OPTIONAL.sub(r"\1 \2", tag)


def _is_hidden(before: str, after: str) -> bool:
    """Whether white space between two tokens is shown nowhere."""
    return not before or not after or _ends_line(before, "") or _ends_line(after, "/")


def _ends_line(token: str, closing: str) -> bool:
    name = _NAME.match(token)
    if not name:
        return bool(_SILENT.match(token))
    return name[2] in _BLOCKS or (name[2] in _BOXES and name[1] == closing)
