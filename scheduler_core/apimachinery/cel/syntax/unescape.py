"""What is between the quotes of a string or of bytes.

kube: vendor/github.com/google/cel-go/parser/unescape.go @ v1.34.1 (cel-go v0.26.0)
"""

from __future__ import annotations

import re

_ESCAPE = re.compile(
    r"\\(?:([abfnrtv\"'\\?`])|([0-3][0-7][0-7])|[xX]([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8}))"
)
_SIMPLE = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}


def string_of(text: str) -> str:
    """A string's value. ValueError in cel-go's words."""
    inner, raw = _inner(text)
    return inner if raw else _ESCAPE.sub(_character, inner)


def bytes_of(text: str) -> bytes:
    """The value of bytes, `text` with its b. ValueError in cel-go's words."""
    inner, raw = _inner(text[1:])
    if raw:
        return inner.encode()
    parts, at = [], 0
    for match in _ESCAPE.finditer(inner):
        parts += [inner[at : match.start()].encode(), _byte(match)]
        at = match.end()
    return b"".join([*parts, inner[at:].encode()])


def _inner(text: str) -> tuple[str, bool]:
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    raw = text[0] in "rR"
    if raw:
        text = text[1:]
    quotes = 3 if len(text) >= 6 and text[:3] in ('"""', "'''") else 1
    return text[quotes:-quotes], raw


def _character(match: re.Match[str]) -> str:
    simple, octal, *hexes = match.groups()
    if simple is not None:
        return _SIMPLE.get(simple, simple)
    code = int(octal, 8) if octal is not None else int(next(digits for digits in hexes if digits), 16)
    if code > 0x10FFFF or 0xD800 <= code <= 0xDFFF:
        raise ValueError("invalid unicode code point")
    return chr(code)


def _byte(match: re.Match[str]) -> bytes:
    simple, octal, two, four, eight = match.groups()
    if four is not None or eight is not None:
        raise ValueError("unable to unescape string")
    if simple is not None:
        return _SIMPLE.get(simple, simple).encode()
    return bytes([int(octal, 8) if octal is not None else int(two, 16)])
