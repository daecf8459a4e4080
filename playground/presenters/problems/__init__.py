"""What is wrong with a field, as a message: what was received, what was expected. kube's own words stay as they are."""

from __future__ import annotations

import re
from functools import cache
from typing import Protocol

from playground.presenters.problems.texts import EXPECTED, RECEIVED, SENTENCES
from playground.presenters.words import Message, exactly, gettext_noop, message

_AT = gettext_noop("%(path)s: %(said)s")
_IN_WORDS = ("expected", "type")  # values that are words themselves


class Problem(Protocol):
    """A field's problem, as the engine reports it."""

    @property
    def path(self) -> str: ...
    @property
    def received(self) -> str: ...
    @property
    def expected(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def text(self) -> str: ...


def expectation(text: str) -> Message:
    """Return the message for an expected value."""
    return _match_text(EXPECTED, text) or exactly(text)


def reception(text: str) -> Message:
    """Return the message for a received value, or the value itself."""
    return _match_text(RECEIVED, text) or exactly(text)


def problem(error: Problem) -> Message:
    """All that an error says, with its field's path."""
    said = None if error.kind else _translate_error(error)
    if said is None:
        return exactly(error.text)
    return message(_AT, path=error.path, said=said) if error.path else said


def _translate_error(error: Problem) -> Message | None:
    """An error without its path, where the words are the playground's."""
    whole = " ".join(filter(None, [error.received, error.expected]))
    if (found := _match_text(SENTENCES, whole)) is not None:
        return found
    expected = _match_text(EXPECTED, error.expected)
    if expected is None or not error.received:
        return expected
    text = gettext_noop("%(received)s %(expected)s")
    return message(text, received=reception(error.received), expected=expected)


def _match_text(texts: tuple[str, ...], said: str) -> Message | None:
    """The text that a finished one was made from, and the values put into it."""
    if said in texts:
        return message(said)
    for text in texts:
        match = _pattern(text).fullmatch(said)
        if match is not None and match.groupdict():
            values = {
                name: _match_text(EXPECTED, value) or value if name in _IN_WORDS else value
                for name, value in match.groupdict().items()
            }
            return message(text, **values)
    return None


@cache
def _pattern(text: str) -> re.Pattern[str]:
    """Return the pattern that a text matches after its values are filled in."""
    parts = re.split(r"%\((\w+)\)s", text)
    named = (f"(?P<{part}>.+?)" if i % 2 else re.escape(part) for i, part in enumerate(parts))
    return re.compile("".join(named), re.DOTALL)
