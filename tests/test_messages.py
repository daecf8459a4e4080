"""The message catalogs: whole, up to date, and with the same values in them as the texts that they translate."""

from __future__ import annotations

import re

import pytest

from tests.messages import LANGUAGES, find_untranslated, folder, read, render_catalog

VALUE = re.compile(r"%\(\w+\)[sd]|%[sd]|\{\w+\}|</?\w+[^>]*>")


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_text_has_words(language: str) -> None:
    """`make messages` writes the texts that lack them into locale/."""
    assert find_untranslated(language) == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_words_hold_the_values_of_their_text(language: str) -> None:
    wrong = []
    for message in read(language):
        texts = message.id if isinstance(message.id, (tuple, list)) else (message.id,)
        words = message.string if isinstance(message.string, (tuple, list)) else (message.string,)
        wanted = set(VALUE.findall(texts[-1])) if texts[-1] else set()
        wrong += [str(message.id) for said in words if message.id and said and set(VALUE.findall(said)) != wanted]
    assert wrong == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_catalog_changes_only_with_its_words(language: str) -> None:
    """It is what `make messages` writes: sorted, without texts that nothing says, dates, or places of texts."""
    written = render_catalog(language)
    assert (folder(language) / "django.po").read_bytes() == written
    assert re.findall(rb"^#:.*|^.*-Date:.*", written, flags=re.MULTILINE) == []
