"""Insertion of facts into a lesson's words."""

import re
from collections.abc import Mapping

from playground.lessons.facts import Value
from playground.lessons.judging import as_text

ANSWER = "answer"  # in a card that asks: its own key
_PLACEHOLDER = re.compile(r"(?<!\{)\{([a-z_][a-z0-9_]*)\}")


def placeholders(text: str) -> frozenset[str]:
    """The facts that a text names."""
    return frozenset(_PLACEHOLDER.findall(text))


def fill_placeholders(text: str, facts: Mapping[str, Value]) -> str:
    """Return the text with the values of the named facts. Other braces stay unchanged."""
    return _PLACEHOLDER.sub(lambda match: as_text(facts[match[1]]) if match[1] in facts else match[0], text.strip())
