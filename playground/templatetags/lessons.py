"""Template tags for words in all languages at once, as lessons have them."""

import re
from collections.abc import Mapping
from html import escape
from typing import Any, TypeVar

from django import template
from django.template.loader import get_template
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import get_language

register = template.Library()
T = TypeVar("T")


@register.filter
def in_language(words: Mapping[str, T]) -> T | None:
    """Return the value in the reader's language, or in the first language available."""
    return words.get(get_language() or "en") or next(iter(words.values()), None)


@register.simple_tag
def evidence(card: Mapping[str, Any]) -> SafeString:
    """Return the known evidence before a card's answer, as the studio shows it."""
    known = get_template("lesson_given.html", using="panels")
    return mark_safe(known.render({"given": card["given"], "asked": card["question"]}))  # noqa: S308 - a template's


@register.filter
def lesson_prose(text: str | None) -> SafeString:
    """A lesson's text: paragraphs end in a blank line, `code`, *stressed* and **strong** words."""
    paragraphs = [part for part in (text or "").strip().split("\n\n") if part.strip()]
    return mark_safe("".join(f"<p>{_inline(escape(part))}</p>" for part in paragraphs))  # noqa: S308 - escaped first


def _inline(escaped: str) -> str:
    escaped = re.sub(r"`([^`]+)`", r"<code>\1</code>", escaped)
    escaped = re.sub(r"\*\*([^*]+)\*\*", r"<strong>\1</strong>", escaped)
    return re.sub(r"\*([^*]+)\*", r"<em>\1</em>", escaped)


@register.filter
def code_free(text: str) -> str:
    """A lesson's text without the marks of `code`, where markup can't be."""
    return text.replace("`", "")
