"""Words in the reader's language, each looked up once."""

from functools import cache
from typing import Any

from django.utils.translation import get_language, gettext, override
from jinja2 import Environment
from jinja2.runtime import Context

from playground.presenters.names import Names

MOST_WORDS = 10_000


class Words(dict[str, str]):
    """The translations of texts into one language."""

    def __init__(self, language: str | None) -> None:
        self.language = language

    def __missing__(self, text: str) -> str:
        with override(self.language):
            said = gettext(text)
        if len(self) < MOST_WORDS:
            self[text] = said
        return said


words_of = cache(Words)


def words_now() -> Words:
    """Return the words of the active language."""
    return words_of(get_language())


class WordedContext(Context):
    """A template context with the reader's words. Looking up the language at each word would dominate the rendering time."""

    def __init__(self, environment: Environment, parent: dict[str, Any], *rest: Any, **more: Any) -> None:
        super().__init__(environment, parent, *rest, **more)
        if "words" not in parent:
            parent["words"] = words_now()
        self.words: Words = parent["words"]
        self.short_names: Names = parent.get("short_names") or Names()
