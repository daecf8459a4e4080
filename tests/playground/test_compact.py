"""What is left of a template's text when it is loaded: nothing that only its readers need, everything that a browser shows."""

from __future__ import annotations

import re

import pytest
from django.conf import settings
from django.utils.translation.template import templatize

from playground.templating.environment import compact

(TEMPLATES,) = settings.TEMPLATES[0]["DIRS"]


@pytest.mark.parametrize(
    ("written", "sent"),
    [
        ("<ul>\n  <li>one</li>\n  <li>two</li>\n</ul>\n", "<ul><li>one</li><li>two</li></ul>"),
        ("{% load i18n %}\n<p>\n  text\n</p>\n", "{% load i18n %}<p>text</p>"),
        ("<!DOCTYPE html>\n<html>", "<!DOCTYPE html><html>"),
        ("<b>one</b>\n<i>two</i>", "<b>one</b> <i>two</i>"),
        ("one\n  {{ two }}\n  three", "one {{ two }} three"),
        ("<b>one</b>{% if x %}\n  <i>two</i>\n{% endif %}", "<b>one</b>{% if x %} <i>two</i> {% endif %}"),
        ("a <b>b</b> c", "a <b>b</b> c"),
        ("<button>\n  Run\n</button>\n<kbd>R</kbd>", "<button>Run</button> <kbd>R</kbd>"),
        ('<a\n  href="{% url "x" %}"\n  class="a\n    b"\n>\n  x</a>', '<a href="{% url "x" %}" class="a b"> x</a>'),
        ('<svg>\n  <use href="#i" />\n</svg>', '<svg><use href="#i" /></svg>'),
        ("<p\n  {% if a > b %}hidden{% endif %}\n>\n  text\n", "<p{% if a > b %} hidden{% endif %}>text"),
        ('<p {% if x %}class="{{ x }}"{% endif %}>', '<p{% if x %} class="{{ x }}"{% endif %}>'),
        ("{% if a < b %}\n  <p>\n{% endif %}", "{% if a < b %}<p>{% endif %}"),
    ],
)
def test_line_breaks_and_indentation_are_taken_out(written: str, sent: str) -> None:
    assert compact(written) == sent


def test_messages_stay_what_the_catalogs_know() -> None:
    written = [file.read_text() for file in TEMPLATES.rglob("*.html")]
    assert len(written) > 90
    assert [messages(text) for text in written] == [messages(compact(text)) for text in written]


def messages(source: str) -> list[str]:
    """What of a template is for translation."""
    return re.findall(r"(?:gettext|pgettext)\(.*?\)", templatize(source), flags=re.DOTALL)


@pytest.mark.parametrize("text", ["<pre>\n a\n  b </pre>", '<textarea name="t">\n{{ text }}\n</textarea>'])
def test_text_that_keeps_its_lines_is_left_alone(text: str) -> None:
    assert compact(f"<div>\n{text}\n</div>") == f"<div>{text}</div>"
