"""Template tags that put a presenter's data into words."""

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from html import escape
from typing import Any
from urllib.parse import quote

import orjson
from django import template
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext

from playground.presenters.names import WIDE, Names, fit
from playground.presenters.scene import count_evaluated_nodes, short
from playground.presenters.terms import read_terms
from playground.presenters.words import agree, clock, close_up
from playground.workbench.forms.fields import duration_text

register = template.Library()
for name, function in (("clock", clock), ("short", short), ("examined", count_evaluated_nodes)):
    register.filter(name, function)

# Values that are names of something are shown as code; counts and texts of kube are not.
NAMES = frozenset({"pod", "node", "name", "plugin", "taint", "resource", "command", "file"})
ELIDED = frozenset({"pod", "node"})
MARKS = {"p": "✓", "r": "✕", "u": "⊘", "n": "–", "t": ""}
_INNER_CAPITAL = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[./:])(?=\w)")


@register.filter
def translated(message: Mapping[str, Any] | None) -> SafeString | str:
    """A presenter's or a worker's sentence in the reader's language, its values put in and escaped."""
    return sentence(message, gettext)


def sentence(
    message: Mapping[str, Any] | None, say: Callable[[str], str], names: Names | None = None
) -> SafeString | str:
    """Return a message in the words that `say` finds, with short forms of node and pod names if `names` is given."""
    if not message:
        return ""
    if message.get("exact"):
        return _mark_name(message["exact"], "span")
    text, values = say(message["text"]) if message["text"] else "", message.get("values")
    if not values:
        return SafeString(escape(text))
    shown = {
        name: str(sentence(value, say, names)) if isinstance(value, Mapping) else _render_value(name, value, names)
        for name, value in values.items()
    }
    return SafeString(close_up(escape(agree(text, shown)) % shown))  # text and values are escaped


def _render_value(name: str, value: Any, names: Names | None) -> str:
    text, name = str(value), name.partition("_")[0]  # node_1 is a node
    if name == "plugin":
        return _mark_name(text, "code")
    if name not in NAMES:
        return escape(text)
    return elide(text, names.fit(text) if names is not None and name in ELIDED else text, "code")


def _mark_name(text: str, element: str) -> SafeString:
    """Mark a name in a sentence. A term gets its key."""
    escaped = escape(text)
    if text in read_terms():
        return SafeString(f'<{element} class="term" data-term="{escaped}">{escaped}</{element}>')
    return SafeString(escaped if element == "span" else f"<{element}>{escaped}</{element}>")


@register.simple_tag
def query(**fields: object) -> SafeString:
    """Return an address's query without None values."""
    pairs = (f"{name}={quote(str(value))}" for name, value in fields.items() if value is not None)
    return mark_safe("?" + "&amp;".join(pairs))  # noqa: S308 - every value is quoted


@register.filter
@lru_cache(maxsize=4096)
def cells(letters: str) -> SafeString:
    """A track of the filter stage: one cell for each letter (see presenters/stage/filter/tracks.py)."""
    row = "".join(f'<i class="{letter}" role="cell">{MARKS[letter]}</i>' for letter in letters if letter in MARKS)
    return mark_safe(row)  # noqa: S308 - made of our own letters


@register.filter
@lru_cache(maxsize=256)
def breakable(name: str) -> SafeString:
    """A name that may break between its words, and loses no letter: Node<wbr>Resources<wbr>Fit."""
    return mark_safe("<wbr>".join(escape(part) for part in _INNER_CAPITAL.split(name)))  # noqa: S308 - escaped


@register.filter
def apart(name: str, most: int = WIDE) -> SafeString:
    """Return a name that is elided in the middle beyond `most` letters. Panels do better (templating/tags.py)."""
    return elide(name, fit(name, most))


def elide(name: str, shown: str, element: str = "span") -> SafeString:
    """Return a name whose short form the style sheet shows. Screen readers, copies, and the tooltip have the whole name."""
    escaped = escape(name)
    if shown == name:
        whole = ' class="short"' if "-" in name and len(name) <= WIDE else ""  # must not break at its hyphens
        return SafeString(escaped if element == "span" else f"<{element}{whole}>{escaped}</{element}>")
    return SafeString(
        f'<{element} class="apart" data-short="{escape(shown)}" title="{escaped}"><span>{escaped}</span></{element}>'
    )


@register.filter
def whole(name: str) -> SafeString | str:
    """A name for the code element of a sentence, where a short one does not break at its hyphens."""
    return SafeString(f'<span class="short">{escape(name)}</span>') if len(name) <= WIDE else name


@register.filter
def code(name: object) -> SafeString:
    """A name as code; a short one does not break at its hyphens."""
    return elide(str(name), str(name), "code")


@register.filter
def count(number: int | None) -> str:
    """A count with separators: 1,523."""
    return "" if number is None else f"{number:,}"


@register.filter
def lasting(nanoseconds: int) -> str:
    """Return a duration in one unit in the form of inputs, such as 1500ms."""
    return duration_text(nanoseconds)


@register.filter
def unlocalized(number: float) -> str:
    """Return a number for SVG, independent of the language."""
    return f"{number:g}"


@register.filter
def as_json(value: Any) -> str:
    """Plain data for a data attribute; the template escapes it."""
    return orjson.dumps(value).decode()
