"""JSON texts: one or several values in sequence, with or without lines of `---` between them."""

import json
import re
from bisect import bisect_left
from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from typing import Any, NamedTuple

from scheduler_core.apimachinery.objects.errors import FieldError, InvalidObject
from scheduler_core.apimachinery.objects.strict import Step

# Numbers as a manifest can hold them.

_LEAST, _MOST = -(2**63), 2**64 - 1


def fitting(number: int) -> int | float:
    """Return an integer as JSON data holds it: beyond 64 bits a float, as in kubectl's reader. Raise ValueError if the number is too
    large for a float.

    kube: sigs.k8s.io/yaml and apimachinery/pkg/util/json @ v1.34.1
    """
    if _LEAST <= number <= _MOST:
        return number
    try:
        return float(number)
    except OverflowError:
        raise ValueError("a number is out of range") from None


def parse_integer(text: str) -> int | float:
    """An integer of a JSON text."""
    return fitting(int(text))


# Keys that stand twice in one object.
#
# kubectl's parser takes the last and says nothing, in YAML and in JSON; readers that are strict (those of a component's configuration)
# refuse the text.
# kube: sigs.k8s.io/yaml v1.6.0, Unmarshal and UnmarshalStrict


class RepeatedKey(NamedTuple):
    """A key that occurs again in one object. `line` (from 1) is that of the later occurrence, or None if unknown."""

    key: str
    line: int | None


def twice(key: str) -> str:
    """Return the problem with a repeated key, for a strict reader."""
    return f'the key "{key}" stands twice in one object'


# What repeats is possessive (`++`): a text that does not match is given up at once, not tried in every way it could be divided.
_SPACE = re.compile(r"[ \t\n\r]*+")
_BETWEEN = re.compile(r"(?:[ \t\n\r]++|^---(?=[ \t\n\r]|\Z)(?:[ \t]++#.*+)?)*+", re.MULTILINE)
_BEGIN = re.compile(r'\ufeff?(?:[ \t\n\r]++|---(?=[ \t\n\r]))*+(?:\{[ \t\n\r]*+(?:"|\})|\[)')
_ODD = re.compile(r"\\u(?:[dD][89a-fA-F]|0000)|\x00")


def looks_like_json(text: str) -> bool:
    """Return whether a text begins like a JSON object or list. A YAML flow mapping without quotes does not."""
    return _BEGIN.match(text) is not None


def read(text: str, max_depth: int, max_alias_nodes: int, repeated: list[RepeatedKey] | None = None) -> list[Any]:
    """Return all values of the text. Raise InvalidObject with line and column if the text is malformed.

    A repeated key is an error, unless `repeated` collects such keys: then the last value counts.
    """
    decoder = _STRICT if repeated is None else _decoder(partial(_last_of, repeated))
    text = text.removeprefix("\ufeff")
    values: list[Any] = []
    position = _next(text, 0)
    while position < len(text):
        try:
            value, end = decoder.raw_decode(text, position)
        except json.JSONDecodeError as error:
            raise _build_json_error(text, error.pos, error.msg) from error
        except RecursionError as error:
            raise _too_deep(max_depth) from error
        except ValueError as error:
            raise _build_json_error(text, position, str(error)) from error
        values.append(value)
        position = _next(text, end)
    for value in values:
        check_depth(value, max_depth)
    if ("\\u" in text or "\0" in text) and _ODD.search(text):
        _check_characters(values)
    return values


def check_depth(value: Any, limit: int) -> None:
    """InvalidObject where a value nests more than `limit` levels."""
    if _is_deeper(value, limit):
        raise _too_deep(limit)


def _is_deeper(value: Any, limit: int) -> bool:
    type_ = type(value)
    if type_ is dict:
        value = value.values()
    elif type_ is not list:
        return False
    if not limit:
        return True
    for inner in value:
        type_ = type(inner)
        if (type_ is dict or type_ is list) and _is_deeper(inner, limit - 1):
            return True
    return False


def find(text: str, document: int, steps: tuple[Step, ...]) -> tuple[int, int] | None:
    """Line and column of the value at the steps, or of the nearest above it."""
    starts = _starts(text)
    for depth in (2, 1, 0):
        position = starts.get((document, steps[:depth]))
        if position is not None and len(steps) >= depth:
            place = _find_from(text, position, steps[depth:])
            ends = _line_ends(text)
            line = bisect_left(ends, place)
            return line + 1, place - (ends[line - 1] if line else -1)
    return None


def forget() -> None:
    """Free the memory of the last text's places. Call this when no place of the text is needed any longer."""
    _starts.cache_clear()
    _line_ends.cache_clear()


@lru_cache(maxsize=1)
def _line_ends(text: str) -> list[int]:
    return [match.start() for match in re.finditer("\n", text)]


def _find_from(text: str, position: int, steps: tuple[Step, ...]) -> int:
    for step in steps:
        places = [start for name, start, _ in _members(text, position) if name == step]
        if not places:
            return position
        position = places[-1]  # of a key that stands twice, the last counts
    return position


@lru_cache(maxsize=1)
def _starts(text: str) -> dict[tuple[int, tuple[Step, ...]], int]:
    """Return the positions of values, and of entries of a top-level list and of `items`.

    One pass finds all, so that each object is then found at once.
    """
    starts: dict[tuple[int, tuple[Step, ...]], int] = {}
    position, document = _next(text, 1 if text.startswith("\ufeff") else 0), 0
    while position < len(text):
        starts[document, ()] = position
        above: tuple[Step, ...] = ()
        listed = position if text[position] == "[" else None
        for name, start, _ in _members(text, position) if listed is None else ():
            if name == "items":
                above, listed = ("items",), start
        if listed is not None:
            for name, start, _ in _members(text, listed):
                starts[document, (*above, name)] = start
        _, end = _ANY.raw_decode(text, position)
        position, document = _next(text, end), document + 1
    return starts


def _members(text: str, position: int) -> Iterator[tuple[Step, int, int]]:
    """Names or indexes of an object's or a list's members with where their values begin and end; nothing for
    other values.
    """
    closing = {"{": "}", "[": "]"}.get(text[position : position + 1])
    if closing is None:
        return
    cursor, index = _skip(text, position + 1), 0
    while text[cursor] != closing:
        name: Step = index
        if closing == "}":
            name, cursor = _ANY.raw_decode(text, cursor)
            cursor = _skip(text, _skip(text, cursor) + 1)
        _, end = _ANY.raw_decode(text, cursor)
        yield name, cursor, end
        cursor, index = _skip(text, end), index + 1
        if text[cursor] == ",":
            cursor = _skip(text, cursor + 1)


def _skip(text: str, position: int) -> int:
    match = _SPACE.match(text, position)
    return match.end() if match else position


def _next(text: str, position: int) -> int:
    """Return the position of the next value."""
    match = _BETWEEN.match(text, position)
    return match.end() if match else position


def _place(text: str, position: int) -> tuple[int, int]:
    return text.count("\n", 0, position) + 1, position - text.rfind("\n", 0, position)


class _DuplicateKeyError(ValueError):
    pass


def _list_repeated_names(pairs: list[tuple[str, Any]]) -> Iterator[str]:
    seen: set[str] = set()
    for name, _ in pairs:
        if name in seen:
            yield name
        seen.add(name)


def _only_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise _DuplicateKeyError(twice(next(_list_repeated_names(pairs))))
    return members


def _last_of(repeated: list[RepeatedKey], pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        repeated += [RepeatedKey(name, None) for name in _list_repeated_names(pairs)]
    return members


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a JSON value")


def _decoder(of_pairs: Callable[[list[tuple[str, Any]]], dict[str, Any]] | None) -> json.JSONDecoder:
    return json.JSONDecoder(object_pairs_hook=of_pairs, parse_constant=_no_constant, parse_int=parse_integer)


_STRICT = _decoder(_only_once)
_ANY = _decoder(None)


def _build_json_error(text: str, position: int, problem: str) -> InvalidObject:
    line, column = _place(text, position)
    message = f"line {line}, column {column}: {problem}"
    return InvalidObject([FieldError("", "not readable as JSON", f"({message})", line=line, column=column)])


def _too_deep(limit: int) -> InvalidObject:
    return InvalidObject([FieldError("", "the text", f"nests deeper than {limit} levels")])


def _check_characters(values: list[Any]) -> None:
    """Raise InvalidObject if escapes write half a surrogate pair or a NUL, which databases can't store."""
    try:
        text = json.dumps(values, ensure_ascii=False)
        text.encode()
    except UnicodeEncodeError as error:
        raise InvalidObject([FieldError("", "the text", "holds half of a surrogate pair")]) from error
    if "\\u0000" in text:
        raise InvalidObject([FieldError("", "the text", "holds a NUL character")])
