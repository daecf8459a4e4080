"""Problems of a field as messages: the received and the expected value. Texts of kube stay unchanged."""

import re
from pathlib import Path
from typing import Protocol

from playground.common.catalogs import read_yaml
from playground.presenters.words import Message, exactly, match_text, message

# Whole texts, and patterns of texts.
PLAIN_WORDS = Path(__file__).with_name("plain.yaml")


def in_plain_words(reason: str) -> Message | None:
    """Explain one of kube's reasons, or return None if its own text is clear."""
    words = read_yaml(PLAIN_WORDS)
    if reason in words["exact"]:
        return message(words["exact"][reason])
    shapes = ((re.fullmatch(shape, reason), text) for shape, text in words["shapes"].items())
    return next((message(text, **found.groupdict()) for found, text in shapes if found), None)


# The engine's own texts about fields: expected values, received values, and whole sentences.
WORDS = Path(__file__).with_suffix(".yaml")
WHOLE_NUMBER = "a whole number of at most 64 bits"
WHOLE_TEXT = "a text without half of a surrogate pair"
_IN_WORDS = ("expected", "type")  # values that are texts themselves


class Problem(Protocol):
    """The problem of a field, as reported by the engine."""

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
    return _match_text("expected", text) or exactly(text)


def reception(text: str) -> Message:
    """Return the message for a received value, or the value itself."""
    return _match_text("received", text) or exactly(text)


def problem(error: Problem) -> Message:
    """Return an error as a message, with its field's path."""
    said = None if error.kind else _translate_error(error)
    if said is None:
        return exactly(error.text)
    return message("%(path)s: %(said)s", path=error.path, said=said) if error.path else said


def _translate_error(error: Problem) -> Message | None:
    """Return an error of the playground without its path, or None if it has no translatable text."""
    whole = " ".join(filter(None, [error.received, error.expected]))
    if (found := _match_text("sentences", whole)) is not None:
        return found
    expected = _match_text("expected", error.expected)
    if expected is None or not error.received:
        return expected
    return message("%(received)s %(expected)s", received=reception(error.received), expected=expected)


def _match_text(kind: str, said: str) -> Message | None:
    """Return the text of a kind that matches a formatted text, with its values, or None."""
    if (found := match_text(read_yaml(WORDS)[kind], said)) is None:
        return None
    text, values = found
    return message(
        text,
        **{
            name: _match_text("expected", value) or value if name in _IN_WORDS else value
            for name, value in values.items()
        },
    )


def describe_note(text: str) -> Message:
    """Return a note on objects without an effect here, with its reason. Other notes are shown unchanged."""
    form, values = match_text(read_yaml(WORDS)["notes"], text) or ("", dict[str, str]())
    return message(form, **values | {"why": message(values["why"])}) if form else exactly(text)
