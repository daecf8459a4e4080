"""Conversions between types.

kube: vendor/github.com/google/cel-go/common/types/{int,uint,double,string,bool,bytes,duration,timestamp}.go
@ v1.34.1 (cel-go v0.26.0)
"""

import math
import re
from collections.abc import Callable

from scheduler_core.apimachinery.cel import values
from scheduler_core.apimachinery.cel.library.times import parse_timestamp, timestamp_text
from scheduler_core.apimachinery.cel.operators import SECOND
from scheduler_core.apimachinery.cel.texts import go_double, plain_double
from scheduler_core.apimachinery.objects.durations import parse_duration

_INTEGER = re.compile(r"[+-]?[0-9]+\Z")
_UNSIGNED = re.compile(r"[0-9]+\Z")
_NUMBER = re.compile(
    r"[+-]?(?:(?:[0-9](?:_?[0-9])*\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|inf(?:inity)?|nan)\Z", re.IGNORECASE
)
_BOOLS = dict.fromkeys(("1", "t", "T", "TRUE", "true", "True"), True)
_BOOLS |= dict.fromkeys(("0", "f", "F", "FALSE", "false", "False"), False)
_OVERFLOW = values.Failure("integer overflow")
_UNSIGNED_OVERFLOW = values.Failure("unsigned integer overflow")


def _unconvertible(value: object, wanted: str) -> values.Failure:
    return values.Failure(f"type conversion error from '{values.type_of_value(value).name}' to '{wanted}'")


def _same(value: object) -> object:
    return value


def _parse_int(text: str) -> object:
    if _INTEGER.match(text):
        digits = text.lstrip("+-").lstrip("0") or "0"
        if len(digits) <= 19:
            value = -int(digits) if text[0] == "-" else int(digits)
            if values.MIN_INT <= value <= values.MAX_INT:
                return value
    return _unconvertible(text, "int")


def _parse_uint(text: str) -> object:
    if _UNSIGNED.match(text):
        digits = text.lstrip("0") or "0"
        if len(digits) <= 20 and int(digits) <= values.MAX_UINT:
            return values.Uint(int(digits))
    return _unconvertible(text, "uint")


def _parse_double(text: str) -> object:
    if _NUMBER.match(text) and "_" not in text:
        value = float(text)
        if not math.isinf(value) or "inf" in text.lower():
            return value
    return _unconvertible(text, "double")


def _double_to_int(value: float) -> object:
    if math.isnan(value) or math.isinf(value) or value <= float(values.MIN_INT) or value >= float(values.MAX_INT):
        return _OVERFLOW
    return int(value)


def _double_to_uint(value: float) -> object:
    if math.isnan(value) or math.isinf(value) or value < 0 or value >= float(values.MAX_UINT):
        return _UNSIGNED_OVERFLOW
    return values.Uint(int(value))


def _decode_bytes(value: bytes) -> object:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return values.Failure("invalid UTF-8 in bytes, cannot convert to string")


def _duration(text: str) -> object:
    try:
        return values.Duration(parse_duration(text))
    except ValueError:
        return _unconvertible(text, "google.protobuf.Duration")


def _timestamp(text: str) -> object:
    parsed = parse_timestamp(text)
    return _unconvertible(text, "google.protobuf.Timestamp") if parsed is None else parsed


def _seconds_to_timestamp(seconds: int) -> object:
    if not -62_135_596_800 <= seconds <= 253_402_300_799:
        return values.Failure("timestamp overflow")
    return values.Timestamp(seconds * SECOND)


CONVERSIONS: dict[str, Callable[..., object]] = {
    "bool_to_bool": _same,
    "string_to_bool": lambda text: _BOOLS.get(text, _unconvertible(text, "bool")),
    "bytes_to_bytes": _same,
    "string_to_bytes": str.encode,
    "double_to_double": _same,
    "int64_to_double": float,
    "string_to_double": _parse_double,
    "uint64_to_double": float,
    "duration_to_duration": _same,
    "int64_to_duration": lambda value: _unconvertible(value, "google.protobuf.Duration"),
    "string_to_duration": _duration,
    "dyn": _same,
    "int64_to_int64": _same,
    "double_to_int64": _double_to_int,
    "duration_to_int64": lambda value: value.nanoseconds,
    "string_to_int64": _parse_int,
    "timestamp_to_int64": lambda value: value.nanoseconds // SECOND,
    "uint64_to_int64": lambda value: int(value) if value <= values.MAX_INT else _OVERFLOW,
    "string_to_string": _same,
    "bool_to_string": lambda value: "true" if value else "false",
    "bytes_to_string": _decode_bytes,
    "double_to_string": go_double,
    "duration_to_string": lambda value: f"{plain_double(value.nanoseconds / SECOND)}s",
    "int64_to_string": str,
    "timestamp_to_string": timestamp_text,
    "uint64_to_string": lambda value: str(int(value)),
    "timestamp_to_timestamp": _same,
    "int64_to_timestamp": _seconds_to_timestamp,
    "string_to_timestamp": _timestamp,
    "type": values.type_of_value,
    "uint64_to_uint64": _same,
    "double_to_uint64": _double_to_uint,
    "int64_to_uint64": lambda value: values.Uint(value) if value >= 0 else _UNSIGNED_OVERFLOW,
    "string_to_uint64": _parse_uint,
}
