"""Short names in templates do not break at their hyphens, whether they stand alone or in a sentence."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.template import engines

ROOT = Path(__file__).resolve().parents[2]
LONG = "ip-10-0-1-22.eu-west-1.compute.internal"


@pytest.mark.parametrize(
    ("template", "name", "shown"),
    [
        ("{{ name|code }}", "node-a-1", '<code class="short">node-a-1</code>'),
        ("{{ name|code }}", LONG, f"<code>{LONG}</code>"),
        ("{{ name|code }}", "<b>", "<code>&lt;b&gt;</code>"),
        ("<code>{{ name|whole }}</code>", "node-a-1", '<code><span class="short">node-a-1</span></code>'),
        ("<code>{{ name|whole }}</code>", LONG, f"<code>{LONG}</code>"),
        ("<code>{{ name|whole }}</code>", "<b>", '<code><span class="short">&lt;b&gt;</span></code>'),
    ],
)
def test_a_short_name_is_marked_as_one_and_a_long_one_may_break(template: str, name: str, shown: str) -> None:
    assert engines["django"].from_string("{% load studio %}" + template).render({"name": name}) == shown


def test_no_template_writes_a_name_as_code_without_the_filter() -> None:
    bare = re.compile(r"<code>\{\{\s*[\w.]+\s*\}\}</code>")
    sentence = re.compile(r"{%\s*blocktranslate\b.*?{%\s*endblocktranslate\s*%}", re.DOTALL)
    texts = {path: sentence.sub("", path.read_text()) for path in (ROOT / "templates").rglob("*.html")}
    assert [f"{path.name}: {found[0]}" for path, text in texts.items() if (found := bare.search(text))] == []
