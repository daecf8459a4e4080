"""The values of literals, by the kind of their token. ValueError in cel-go's words.

kube: vendor/github.com/google/cel-go/parser/parser.go @ v1.34.1 (cel-go v0.26.0)
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable

from scheduler_core.apimachinery.cel.values import MAX_INT, MAX_UINT, MIN_INT, Uint

# What is between the quotes of a string or of bytes.
#
# kube: vendor/github.com/google/cel-go/parser/unescape.go @ v1.34.1 (cel-go v0.26.0)

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


def _integer(text: str) -> int:
    sign, digits = ("-", text[1:]) if text[0] == "-" else ("", text)
    limit = 16 if digits.startswith("0x") else 10
    value = _number(digits.removeprefix("0x"), limit, "int")
    value = -value if sign else value
    if not MIN_INT <= value <= MAX_INT:
        raise ValueError("invalid int literal")
    return value


def _parse_unsigned(text: str) -> Uint:
    digits = text[:-1]
    value = _number(digits.removeprefix("0x"), 16 if digits.startswith("0x") else 10, "uint")
    if value > MAX_UINT:
        raise ValueError("invalid uint literal")
    return Uint(value)


def _number(digits: str, base: int, kind: str) -> int:
    significant = digits.lstrip("0") or "0"
    if len(significant) > 20:
        raise ValueError(f"invalid {kind} literal")
    return int(significant, base)


def _double(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise ValueError("invalid double literal")
    return value


LITERALS: dict[str, Callable[[str], object]] = {
    "NUM_INT": _integer,
    "NUM_UINT": _parse_unsigned,
    "NUM_FLOAT": _double,
    "STRING": string_of,
    "BYTES": bytes_of,
    "true": lambda _: True,
    "false": lambda _: False,
    "null": lambda _: None,
}
