"""JSON as Go's encoding/json reads it: the first value of a text, and the very words of its errors.

What comes after the first value is not looked at. Objects are lists of pairs, as a name may come twice; numbers keep their spelling.

go: src/encoding/json/{scanner,stream}.go @ 1.24
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

_SPACE = b" \t\r\n"
_LEADING = re.compile(r"[ \t\r\n]*")
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_LITERALS = {b"t": b"true", b"f": b"false", b"n": b"null"}
_DIGITS = b"0123456789"
_HEX = b"0123456789abcdefABCDEF"


class GoError(ValueError):
    """An error of Go's decoder."""


class Number(str):
    """A number as it is spelled."""

    __slots__ = ()


class Object(list[tuple[str, Any]]):
    """The members of an object in their order."""


def first_value(text: str) -> Any:
    """The first JSON value of a text. GoError, such as `EOF` where there is none."""
    start = _LEADING.match(text)
    assert start is not None
    try:
        value, _ = _DECODER.raw_decode(text, start.end())
    except (ValueError, RecursionError):
        _Scanner(text.encode("utf-8", "replace")).scan()
        raise GoError("exceeded max depth") from None
    if isinstance(value, Number):  # Go wants to see where it ends
        _Scanner(text.encode("utf-8", "replace")).scan()
    return value


def _refuse_constant(name: str) -> None:
    raise ValueError(name)  # Go knows neither NaN nor Infinity


_DECODER = json.JSONDecoder(
    object_pairs_hook=lambda pairs: Object((_clean(name), value) for name, value in pairs),
    parse_float=Number,
    parse_int=Number,
    parse_constant=_refuse_constant,
)


def _clean(text: str) -> str:
    return _LONE_SURROGATE.sub("\ufffd", text)


def clean(text: str) -> str:
    """A string as Go has it: half a surrogate pair becomes U+FFFD."""
    return _clean(text)


class _Scanner:
    """Walks a text that is no JSON up to its first wrong byte."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    def scan(self) -> None:
        if not self._space():
            raise GoError("EOF")
        # A stack instead of recursion: a text may be nested as deep as it likes.
        stack: list[bytes] = []
        while True:
            opened = self._begin(stack)
            if opened:
                continue
            while stack and self._close(stack):
                pass
            if not stack:
                return

    def _space(self) -> bytes:
        """The next byte that is no space; empty at the end."""
        while self.at < len(self.data) and self.data[self.at] in _SPACE:
            self.at += 1
        return self.data[self.at : self.at + 1]

    def _next(self) -> bytes:
        byte = self.data[self.at : self.at + 1]
        if not byte:
            raise GoError("unexpected EOF")
        return byte

    def _take(self) -> bytes:
        byte = self._next()
        self.at += 1
        return byte

    def _after_space(self) -> bytes:
        self._space()
        return self._next()

    def _wrong(self, context: str) -> GoError:
        return GoError(f"invalid character {_quote_byte(self._next())} {context}")

    def _begin(self, stack: list[bytes]) -> bool:
        """Reads a value, or the beginning of one that has values: then True."""
        byte = self._after_space()
        if byte in (b"{", b"["):
            self.at += 1
            following = self._after_space()
            if following == (b"}" if byte == b"{" else b"]"):
                self.at += 1
                return False
            stack.append(byte)
            if byte == b"{":
                self._name()
            return True
        if byte == b'"':
            self._string()
        elif byte in _LITERALS:
            word = _LITERALS[byte]
            for i in range(len(word)):
                if self._next() != word[i : i + 1]:
                    raise self._wrong(f"in literal {word.decode()} (expecting '{chr(word[i])}')")
                self.at += 1
        elif byte == b"-" or byte in _DIGITS:
            self._number()
        else:
            raise self._wrong("looking for beginning of value")
        return False

    def _close(self, stack: list[bytes]) -> bool:
        """After a value: True where it ends what it is in, False where another one follows."""
        byte = self._after_space()
        if stack[-1] == b"{":
            if byte == b"}":
                self.at += 1
                stack.pop()
                return True
            if byte != b",":
                raise self._wrong("after object key:value pair")
            self.at += 1
            self._name()
            return False
        if byte == b"]":
            self.at += 1
            stack.pop()
            return True
        if byte != b",":
            raise self._wrong("after array element")
        self.at += 1
        return False

    def _name(self) -> None:
        if self._after_space() != b'"':
            raise self._wrong("looking for beginning of object key string")
        self._string()
        if self._after_space() != b":":
            raise self._wrong("after object key")
        self.at += 1

    def _string(self) -> None:
        self.at += 1
        while True:
            byte = self._next()
            if byte == b'"':
                self.at += 1
                return
            if byte == b"\\":
                self.at += 1
                self._escape()
            elif byte < b" ":
                raise self._wrong("in string literal")
            else:
                self.at += 1

    def _escape(self) -> None:
        byte = self._next()
        if byte not in (b"b", b"f", b"n", b"r", b"t", b"\\", b"/", b'"', b"u"):
            raise self._wrong("in string escape code")
        self.at += 1
        if byte == b"u":
            for _ in range(4):
                if self._next() not in _HEX:
                    raise self._wrong("in \\u hexadecimal character escape")
                self.at += 1

    def _number(self) -> None:
        if self._next() == b"-":
            self.at += 1
            if self._next() not in _DIGITS:
                raise self._wrong("in numeric literal")
        if self._take() != b"0":
            self._digits()
        if self._is(b"."):
            self.at += 1
            self._some_digits("after decimal point in numeric literal")
        if self._is(b"e") or self._is(b"E"):
            self.at += 1
            if self._is(b"+") or self._is(b"-"):
                self.at += 1
            self._some_digits("in exponent of numeric literal")

    def _is(self, byte: bytes) -> bool:
        return self.data[self.at : self.at + 1] == byte

    def _digits(self) -> None:
        while self.at < len(self.data) and self.data[self.at] in _DIGITS:
            self.at += 1

    def _some_digits(self, context: str) -> None:
        if self._next() not in _DIGITS:
            raise self._wrong(context)
        self._digits()


_ESCAPES = {0x07: "\\a", 0x08: "\\b", 0x09: "\\t", 0x0A: "\\n", 0x0B: "\\v", 0x0C: "\\f", 0x0D: "\\r"}


def _quote_byte(byte: bytes) -> str:
    """A byte as Go's errors print it, as if it was a character of its own."""
    code = byte[0]
    if byte == b"'":
        return "'\\''"
    if byte == b'"':
        return "'\"'"
    if byte == b"\\":
        return "'\\\\'"
    if code in _ESCAPES:
        return f"'{_ESCAPES[code]}'"
    if code < 0x20 or code == 0x7F:
        return f"'\\x{code:02x}'"
    if 0x80 <= code < 0xA1 or code == 0xAD:
        return f"'\\u{code:04x}'"
    return f"'{chr(code)}'"


# Go's types, as far as answers have them: JSON values are read into them with the very errors of encoding/json.
#
# go: src/encoding/json/decode.go @ 1.24

_LOWEST, _HIGHEST = -(1 << 63), (1 << 63) - 1


@dataclass(frozen=True, slots=True)
class Where:
    """The struct that a value is a field of, and the names of the fields that lead to it."""

    struct: str = ""
    path: tuple[str, ...] = ()


Reader = Callable[[Any, Where], Any]
"""Reads a JSON value that is not null."""


def mismatch(value: Any, go: str, where: Where, spelled: str = "") -> GoError:
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


def text(value: Any, where: Where) -> str:
    if not isinstance(value, str) or isinstance(value, Number):
        raise mismatch(value, "string", where)
    return clean(value)


def boolean(value: Any, where: Where) -> bool:
    if not isinstance(value, bool):
        raise mismatch(value, "bool", where)
    return value


def int64(value: Any, where: Where) -> int:
    if not isinstance(value, Number):
        raise mismatch(value, "int64", where)
    number = int(value) if value.lstrip("-").isdigit() and len(value) <= 20 else None
    if number is None or not _LOWEST <= number <= _HIGHEST:
        raise mismatch(value, "int64", where, value)
    return number


def anything(value: Any, where: Where) -> Any:
    """A value as plain data, with its numbers as numbers."""
    if isinstance(value, Object):
        return {name: anything(inner, where) for name, inner in value}
    if isinstance(value, Number):
        return int(value) if value.lstrip("-").isdigit() and len(value) <= 20 else float(value)
    if isinstance(value, list):
        return [anything(inner, where) for inner in value]
    return clean(value) if isinstance(value, str) else value


def list_of(item: Reader, go: str, zero: Callable[[], Any] | None = None) -> Reader:
    """A slice; null in it is what `zero` makes (without it: None)."""

    def read(value: Any, where: Where) -> list[Any]:
        if not isinstance(value, list) or isinstance(value, Object):
            raise mismatch(value, go, where)
        return [_or_zero(inner, item, where, zero) for inner in value]

    return read


def map_of(item: Reader, go: str, zero: Callable[[], Any] | None = None) -> Reader:
    """A map with texts as keys."""

    def read(value: Any, where: Where) -> dict[str, Any]:
        if not isinstance(value, Object):
            raise mismatch(value, go, where)
        return {name: _or_zero(inner, item, where, zero) for name, inner in value}

    return read


def _or_zero(value: Any, item: Reader, where: Where, zero: Callable[[], Any] | None) -> Any:
    if value is None:
        return None if zero is None else zero()
    return item(value, where)


def struct(
    name: str, fields: Mapping[str, Reader], go: str = "", *, others: bool = False, package: str = "v1"
) -> Reader:
    """A struct as a dict of the fields that the value has; names are matched whatever their case, an exact one first.

    Null leaves a field away. `others`: fields that are not read here are kept as they are.
    """
    folded = {field.lower(): field for field in fields}

    def read(value: Any, where: Where) -> dict[str, Any]:
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
                out[field] = fields[field](inner, Where(name, (*where.path, field)))
        return out

    return read
