"""Values as the recorded evaluations write them: each with its type."""

from __future__ import annotations

from fractions import Fraction

from scheduler_core.apimachinery.cel.environment import version_text
from scheduler_core.apimachinery.cel.library.times import timestamp_text
from scheduler_core.apimachinery.cel.texts import go_double
from scheduler_core.apimachinery.cel.types import Type
from scheduler_core.apimachinery.cel.values import (
    NOTHING,
    CidrValue,
    Duration,
    FormatValue,
    IpValue,
    Optional,
    QuantityValue,
    SemverValue,
    Timestamp,
    Uint,
    UrlValue,
    value_of_key,
)
from scheduler_core.apimachinery.objects.quantity import NANO


def written(value: object) -> object:
    match value:
        case None | bool():
            return value
        case str():
            return f"s:{value}"
        case Uint():
            return f"u:{int(value)}"
        case int():
            return f"i:{value}"
        case float():
            return f"d:{go_double(value)}"
        case bytes():
            return f"b:{value.hex()}"
        case list():
            return ["list", *map(written, value)]
        case dict():
            pairs = [[written(value_of_key(key)), written(held)] for key, held in value.items()]
            return ["map", *sorted(pairs, key=str)]
        case Optional():
            return ["none"] if value.value is NOTHING else ["optional", written(value.value)]
    return _special(value)


def _special(value: object) -> str:
    match value:
        case Duration():
            return f"dur:{value.nanoseconds}"
        case Timestamp():
            return f"ts:{timestamp_text(value)}"
        case Type():
            return f"type:{value.name}"
        case QuantityValue():
            return f"q:{Fraction(value.nanos, NANO)}"
        case SemverValue():
            return f"v:{version_text(value)}"
        case IpValue():
            return f"ip:{value.address}"
        case CidrValue():
            return f"cidr:{value.address}/{value.bits}"
        case UrlValue():
            return f"url:{value.text}"
        case FormatValue():
            return f"format:{value.name}"
    raise TypeError(value)


def read(value: object) -> object:
    """As `written`, of a recorded value: quantities are recorded as decimal numbers."""
    if isinstance(value, list):
        return [read(part) for part in value]
    if isinstance(value, str) and value.startswith("q:"):
        return f"q:{Fraction(value[2:])}"
    return value
