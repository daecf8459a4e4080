"""Values as JSON has them: to be shown, and kept in records."""

from __future__ import annotations

import base64
import math
from fractions import Fraction
from itertools import islice

from scheduler_core.apimachinery.cel.library.conversions import CONVERSIONS
from scheduler_core.apimachinery.cel.texts import go_double, go_value
from scheduler_core.apimachinery.cel.types import Type
from scheduler_core.apimachinery.cel.values import (
    NOTHING,
    CidrValue,
    Duration,
    Failure,
    FormatValue,
    IpValue,
    Optional,
    QuantityValue,
    SemverValue,
    Timestamp,
    UrlValue,
    value_of_key,
)
from scheduler_core.apimachinery.objects.quantity import NANO, format_quantity

_MOST = 100  # elements of a list or a map that are shown
_LONGEST = 1000  # characters of a text that are shown
_DEEPEST = 6
_MOST_TOGETHER = 500  # elements of all lists and maps of one value that are shown


def json_safe(value: object) -> object:
    """None, bool, int, float, str, list or dict. What is long or deep is cut short; an error is {"error": text}."""
    return _safe(value, 0, [_MOST_TOGETHER])


def _safe(value: object, depth: int, left: list[int]) -> object:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return value if len(value) <= _LONGEST else f"{value[:_LONGEST]}…"
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else go_double(value)
    if isinstance(value, list | tuple):
        if depth >= _DEEPEST or left[0] <= 0:
            return "[…]"
        left[0] -= min(len(value), _MOST)
        return [_safe(element, depth + 1, left) for element in value[:_MOST]]
    if isinstance(value, dict):
        if depth >= _DEEPEST or left[0] <= 0:
            return "{…}"
        pairs = list(islice(value.items(), _MOST))
        left[0] -= len(pairs)
        return {go_value(value_of_key(key)): _safe(held, depth + 1, left) for key, held in pairs}
    return _special(value, depth, left)


def _special(value: object, depth: int, left: list[int]) -> object:
    match value:
        case Failure():
            return {"error": value.message}
        case bytes():
            return base64.b64encode(value[:_LONGEST]).decode()
        case Optional():
            return None if value.value is NOTHING else _safe(value.value, depth, left)
        case Duration():
            return CONVERSIONS["duration_to_string"](value)
        case Timestamp():
            return CONVERSIONS["timestamp_to_string"](value)
        case Type():
            return value.name
        case QuantityValue():
            return format_quantity(Fraction(value.nanos, NANO))
        case SemverValue():
            return version_text(value)
        case IpValue():
            return str(value.address)
        case CidrValue():
            return f"{value.address}/{value.bits}"
        case UrlValue():
            return value.text
        case FormatValue():
            return value.name
    return str(value)


def version_text(version: SemverValue) -> str:
    text = f"{version.major}.{version.minor}.{version.patch}"
    if version.pre:
        text += f"-{'.'.join(map(str, version.pre))}"
    return f"{text}+{'.'.join(version.build)}" if version.build else text
