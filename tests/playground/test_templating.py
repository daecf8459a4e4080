"""The panels' templates: read by Jinja2, written with the tags and filters of all other templates."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.template import TemplateDoesNotExist, TemplateSyntaxError, engines
from django.test import RequestFactory
from django.utils import translation
from django.utils.translation.template import templatize
from jinja2 import TemplateSyntaxError as JinjaError
from jinja2 import nodes

from playground.templating.words import Words

PANELS = engines["panels"]
LITERAL = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\""""
(FOLDER,) = settings.TEMPLATES[1]["DIRS"]


def rendered(text: str, **context: Any) -> str:
    return PANELS.from_string(text).render(context)


def test_each_template_is_read_by_one_engine() -> None:
    names = PANELS.env.list_templates()
    assert len(names) > 25
    for name in names:
        PANELS.get_template(name)
        with pytest.raises(TemplateDoesNotExist):
            engines["django"].get_template(name)


@pytest.mark.parametrize(
    ("tag", "html"),
    [
        ('look_link tab="fix"', 'href="?tab=fix" data-tab="fix"'),
        ("look_link pod=p.key", 'href="?pod=ns/a%26b" data-pod="ns/a&amp;b"'),
        ("look_link page=n + 1", 'href="?page=8" data-page="8"'),
        ('look_link node=p.key href_tab="node"', 'href="?node=ns/a%26b&amp;tab=node" data-node="ns/a&amp;b"'),
        ("look_link to=studio at=n href_pod=p.nothing", 'href="/s/x/?at=7" data-goto="7"'),
        ("look_data span=0 start=none", 'data-span="0" data-start=""'),
        ("look_query at=n pod=p.key", "?at=7&amp;pod=ns/a%26b"),
        ("look_query at=nothing", ""),
        ('look_field "q"', 'name="q" data-look="q" maxlength="253"'),
        ('look_choice "group"', 'name="group" data-look="group"'),
        ("standing_field", '<input type="hidden" name="at" value="7" data-standing>'),
    ],
)
def test_links_and_fields_of_a_look_are_as_in_other_templates(tag: str, html: str) -> None:
    context = {"p": {"key": "ns/a&b"}, "studio": "/s/x/", "n": 7, "position": 7}
    assert rendered(f"{{% {tag} %}}", **context) == html


@pytest.mark.parametrize("tag", ["look_link pods=key", "look_data", "look_query href_x=1", 'look_field "pods"'])
def test_what_is_no_field_of_a_look_is_an_error_when_the_template_is_compiled(tag: str) -> None:
    with pytest.raises((TemplateSyntaxError, JinjaError), match=r"a look has no field|fields of a look"):
        PANELS.from_string(f"{{% {tag} %}}")


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("{{ card.count }} {{ card.items|length }}", "3 0"),
        ("{{ card.nothing.at.all }}|{% if card.nothing is none %}yes{% endif %}", "|yes"),
        ("{{ card.text }}", "&lt;b&gt;"),
        ("{{ card.count|count }} {{ card.ratio|unlocalized }}", "3 0.5"),
        ("<p>\n  {% if card.count %}\n    one\n  {% endif %}\n</p>", "<p> one </p>"),
    ],
)
def test_data_is_read_as_in_other_templates(text: str, html: str) -> None:
    card = {"count": 3, "text": "<b>", "items": [], "ratio": 0.5}
    assert rendered(text, card=card) == html


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ('{% translate "Why?" %}', "Why?"),
        ("{% translate word %}", "&lt;i&gt;"),
        ("{% blocktranslate trimmed %}\n  100% of\n  it{% endblocktranslate %}", "100% of it"),
        ("{% blocktranslate %}<b>{{ word }}</b>{% endblocktranslate %}", "<b>&lt;i&gt;</b>"),
        ("{% blocktranslate with a=n b=word %}{{ a }} {{ b }}{% endblocktranslate %}", "2 &lt;i&gt;"),
        (
            "{% blocktranslate count k=n %}{{ k }} pod{% plural %}{{ k }} pods of {{ word }}{% endblocktranslate %}",
            "2 pods of &lt;i&gt;",
        ),
    ],
)
def test_words_are_translated_and_values_in_them_escaped(text: str, html: str) -> None:
    assert rendered(text, word="<i>", n=2) == html


def test_words_are_those_of_the_readers_language() -> None:
    page = PANELS.from_string('{% translate "January" %}')  # a word of Django's own catalogues
    said = []
    for language in ("de", "en", "de"):
        with translation.override(language):
            said.append(page.render())
    assert said == ["Januar", "January", "Januar"]


def test_few_words_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("playground.templating.words.MOST_WORDS", 1)
    words = Words("de")
    assert [words["January"], words["March"], len(words)] == ["Januar", "März", 1]


def test_between_words_stands_no_other_tag() -> None:
    with pytest.raises(JinjaError, match="stands no other tag, such as if"):
        PANELS.from_string("{% blocktranslate %}a{% if b %}c{% endif %}{% endblocktranslate %}")


def words_said(source: str) -> set[str]:
    """The constants that a template has translated."""
    calls = PANELS.env.parse(source).find_all(nodes.Filter)
    said = [call.args for call in calls if call.name.startswith("translated_")]
    return {arg.value for args in said for arg in args[:2] if isinstance(arg, nodes.Const) and arg.value}


def test_makemessages_finds_every_word() -> None:
    found = 0
    for file in FOLDER.glob("*.html"):
        source = file.read_text()
        listed = {ast.literal_eval(text) for text in re.findall(LITERAL, templatize(source))}
        assert words_said(source) - listed == set(), file
        found += len(listed)
    assert found > 200


def test_a_form_on_a_page_carries_its_token() -> None:
    text = "<form>{{ csrf_input }}</form>"
    page = PANELS.from_string(text)
    assert 'name="csrfmiddlewaretoken"' in page.render({}, RequestFactory().get("/"))
    assert page.render({}) == "<form></form>"


def test_each_template_is_one_that_its_engine_can_read() -> None:
    root = Path(FOLDER).parent
    names = [str(path.relative_to(root)) for path in root.rglob("*.html") if Path(FOLDER) not in path.parents]
    assert len(names) > 200
    for name in names:
        engines["django"].get_template(name)
    for name in PANELS.env.list_templates():
        PANELS.get_template(name)
