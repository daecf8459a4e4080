"""The values of literals, by the kind of their token. ValueError in cel-go's words.

kube: vendor/github.com/google/cel-go/parser/parser.go @ v1.34.1 (cel-go v0.26.0)
"""

from __future__ import annotations

import math
from collections.abc import Callable

from scheduler_core.apimachinery.cel.syntax.unescape import bytes_of, string_of
from scheduler_core.apimachinery.cel.values import MAX_INT, MAX_UINT, MIN_INT, Uint


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
