"""JSON as read by Go's encoding/json: the first value of a text, with Go's error messages.

Text after the first value is ignored. Objects are lists of pairs, because a name may occur twice; numbers keep their spelling.

go: src/encoding/json/{scanner,stream}.go @ 1.24
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

_LEADING = re.compile(r"[ \t\r\n]*")
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


class GoError(ValueError):
    """An error of Go's decoder."""


class Number(str):
    """A number in its original spelling."""

    __slots__ = ()


class Object(list[tuple[str, Any]]):
    """The members of an object in their order."""


def first_value(text: str) -> Any:
    """Return the first JSON value of a text. Raise GoError, such as `EOF` for an empty text."""
    start = _LEADING.match(text)
    assert start is not None
    try:
        value, _ = _DECODER.raw_decode(text, start.end())
    except (ValueError, RecursionError):
        _scan(text.encode("utf-8", "replace"))
        raise GoError("exceeded max depth") from None
    if isinstance(value, Number):  # Go reads on until the number ends
        _scan(text.encode("utf-8", "replace"))
    return value


def _refuse_constant(name: str) -> None:
    raise ValueError(name)  # Go has neither NaN nor Infinity


_DECODER = json.JSONDecoder(
    object_pairs_hook=lambda pairs: Object((clean(name), value) for name, value in pairs),
    parse_float=Number,
    parse_int=Number,
    parse_constant=_refuse_constant,
)


def clean(text: str) -> str:
    """Return a string as Go reads it: a lone surrogate becomes U+FFFD."""
    return _LONE_SURROGATE.sub("\ufffd", text)


_VALUE = b'{["tfn-0123456789'
# The next token in a text: its name in Go's errors, and its possible first bytes.
_NEXT = {
    "value": ("looking for beginning of value", _VALUE),
    "first value": ("looking for beginning of value", _VALUE + b"]"),
    "name": ("looking for beginning of object key string", b'"'),
    "first name": ("looking for beginning of object key string", b'"}'),
    "colon": ("after object key", b":"),
    "after member": ("after object key:value pair", b",}"),
    "after element": ("after array element", b",]"),
}
_SPACES = re.compile(rb"[ \t\r\n]*+")
_STRING = re.compile(rb'"(?:[^"\\\x00-\x1f]|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*+')
_HEX = re.compile(rb"[0-9a-fA-F]*+")
_NUMBER = re.compile(rb"-?(?:0|[1-9][0-9]*+)(\.[0-9]++)?([eE][+-]?[0-9]++)?")
_LITERALS = {b"t": b"true", b"f": b"false", b"n": b"null"}


def _scan(data: bytes) -> None:
    """Scan the first value of a text. Raise GoError at its first wrong byte."""
    if not data.strip(b" \t\r\n"):
        raise GoError("EOF")
    # A stack instead of recursion, because the nesting of a text has no limit.
    at, following, stack = 0, "value", [b""]
    while True:
        at = _end(_SPACES, data, at)
        context, allowed = _NEXT[following]
        byte = data[at : at + 1]
        if not byte or byte not in allowed:
            raise _wrong(data, at, context)
        at = at + 1 if byte in b"{}[]:," else _scan_leaf(data, at)
        if byte in b"{[":
            stack.append(byte)
            following = "first name" if byte == b"{" else "first value"
            continue
        if byte in b":,":
            following = "name" if byte == b"," and stack[-1] == b"{" else "value"
            continue
        if following in ("name", "first name") and byte == b'"':
            following = "colon"
            continue
        if byte in b"}]":
            stack.pop()
        if len(stack) == 1:
            return
        following = "after member" if stack[-1] == b"{" else "after element"


def _scan_leaf(data: bytes, at: int) -> int:
    """Return the end of the string, number, or literal that begins here."""
    byte = data[at : at + 1]
    if byte == b'"':
        end = _end(_STRING, data, at)
        if data[end : end + 1] == b'"':
            return end + 1
        if data[end : end + 2] == b"\\u":
            raise _wrong(data, _end(_HEX, data, end + 2), "in \\u hexadecimal character escape")
        escaped = data[end : end + 1] == b"\\"
        raise _wrong(data, end + escaped, "in string escape code" if escaped else "in string literal")
    if word := _LITERALS.get(byte):
        for i, letter in enumerate(word):
            if data[at + i : at + i + 1] != bytes([letter]):
                raise _wrong(data, at + i, f"in literal {word.decode()} (expecting '{chr(letter)}')")
        return at + len(word)
    number = _NUMBER.match(data, at)
    if number is None:
        raise _wrong(data, at + 1, "in numeric literal")
    end, (fraction, exponent) = number.end(), number.groups()
    after = data[end : end + 1]
    if after == b"." and not fraction and not exponent:
        raise _wrong(data, end + 1, "after decimal point in numeric literal")
    if after in (b"e", b"E") and not exponent:
        signed = data[end + 1 : end + 2] in (b"+", b"-")
        raise _wrong(data, end + 1 + signed, "in exponent of numeric literal")
    return end


def _end(pattern: re.Pattern[bytes], data: bytes, at: int) -> int:
    match = pattern.match(data, at)
    return at if match is None else match.end()


def _wrong(data: bytes, at: int, context: str) -> GoError:
    byte = data[at : at + 1]
    return GoError(f"invalid character {_quote_byte(byte)} {context}" if byte else "unexpected EOF")


_ESCAPES = dict(zip(b"\a\b\t\n\v\f\r'\\", "abtnvfr'\\", strict=True))


def _quote_byte(byte: bytes) -> str:
    """Return a byte as quoted in Go's errors, as if it were a character."""
    code = byte[0]
    if code in _ESCAPES:
        return f"'\\{_ESCAPES[code]}'"
    if code < 0x20 or code == 0x7F:
        return f"'\\x{code:02x}'"
    if 0x80 <= code < 0xA1 or code == 0xAD:
        return f"'\\u{code:04x}'"
    return f"'{chr(code)}'"


# The Go types of answers: JSON values are read into them with the errors of encoding/json.
#
# go: src/encoding/json/decode.go @ 1.24

_LOWEST, _HIGHEST = -(1 << 63), (1 << 63) - 1


@dataclass(frozen=True, slots=True)
class FieldPlace:
    """The struct that a value is a field of, and the names of the fields that lead to it."""

    struct: str = ""
    path: tuple[str, ...] = ()


Reader = Callable[[Any, FieldPlace], Any]
"""Reads a JSON value that is not null."""


def mismatch(value: Any, go: str, where: FieldPlace, spelled: str = "") -> GoError:
    what = f"json: cannot unmarshal {_kind(value)}{spelled and f' {spelled}'} into Go"
    if not where.struct:
        return GoError(f"{what} value of type {go}")
    return GoError(f"{what} struct field {where.struct}.{'.'.join(where.path)} of type {go}")


def _kind(value: Any) -> str:
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, Number):
        return "number"
    if isinstance(value, str):
        return "string"
    return "object" if isinstance(value, Object) else "array"


def text(value: Any, where: FieldPlace) -> str:
    if not isinstance(value, str) or isinstance(value, Number):
        raise mismatch(value, "string", where)
    return clean(value)


def boolean(value: Any, where: FieldPlace) -> bool:
    if not isinstance(value, bool):
        raise mismatch(value, "bool", where)
    return value


def int64(value: Any, where: FieldPlace) -> int:
    if not isinstance(value, Number):
        raise mismatch(value, "int64", where)
    number = int(value) if value.lstrip("-").isdigit() and len(value) <= 20 else None
    if number is None or not _LOWEST <= number <= _HIGHEST:
        raise mismatch(value, "int64", where, value)
    return number


def anything(value: Any, where: FieldPlace) -> Any:
    """Return a value as plain data, with its numbers as numbers."""
    if isinstance(value, Object):
        return {name: anything(inner, where) for name, inner in value}
    if isinstance(value, Number):
        return int(value) if value.lstrip("-").isdigit() and len(value) <= 20 else float(value)
    if isinstance(value, list):
        return [anything(inner, where) for inner in value]
    return clean(value) if isinstance(value, str) else value


def list_of(item: Reader, go: str, zero: Callable[[], Any] | None = None) -> Reader:
    """Return a reader of a slice; `zero` makes the value for null (without it: None)."""

    def read(value: Any, where: FieldPlace) -> list[Any]:
        if not isinstance(value, list) or isinstance(value, Object):
            raise mismatch(value, go, where)
        return [_or_zero(inner, item, where, zero) for inner in value]

    return read


def map_of(item: Reader, go: str, zero: Callable[[], Any] | None = None) -> Reader:
    """Return a reader of a map with string keys."""

    def read(value: Any, where: FieldPlace) -> dict[str, Any]:
        if not isinstance(value, Object):
            raise mismatch(value, go, where)
        return {name: _or_zero(inner, item, where, zero) for name, inner in value}

    return read


def _or_zero(value: Any, item: Reader, where: FieldPlace, zero: Callable[[], Any] | None) -> Any:
    if value is None:
        return None if zero is None else zero()
    return item(value, where)


def struct(
    name: str, fields: Mapping[str, Reader], go: str = "", *, others: bool = False, package: str = "v1"
) -> Reader:
    """Return a reader of a struct as a dict of the present fields; names match regardless of case, an exact match first.

    Null leaves a field out. `others`: fields that are not read here are kept unchanged.
    """
    folded = {field.lower(): field for field in fields}

    def read(value: Any, where: FieldPlace) -> dict[str, Any]:
        if not isinstance(value, Object):
            raise mismatch(value, go or f"{package}.{name}", where)
        out: dict[str, Any] = {}
        for key, inner in value:
            field = key if key in fields else folded.get(key.lower())
            if field is None:
                if others:
                    out[key] = anything(inner, where)
            elif inner is None:
                out.pop(field, None)
            else:
                out[field] = fields[field](inner, FieldPlace(name, (*where.path, field)))
        return out

    return read
