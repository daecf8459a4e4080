"""Decoding of bodies into objects of a type: unknown fields, values of a wrong type (with Go's messages), protobuf, and YAML.

kube: sigs.k8s.io/json, apimachinery/pkg/runtime/serializer/{json,protobuf}, apiserver/pkg/endpoints/handlers/{create,rest}.go @ v1.34.1
"""

import base64
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import yaml

from scheduler_core.apimachinery.objects.quantity import (
    BadQuantity,
    format_quantity,
    milli_of_nanos,
    nanos,
    parse_quantity,
)
from scheduler_core.apimachinery.objects.times import SECOND, format_micro_time, format_time, parse_time
from scheduler_core.apiserver.object_defaults import convert_pod_spec
from scheduler_core.apiserver.schema.api import fields_of, read_api
from scheduler_core.apiserver.schema.zeros import is_left_out

_WRAPPED = re.compile(r"(\*|\[\]|\{\})(.*)", re.DOTALL)
_INTEGERS = {"int32": 1 << 31, "int64": 1 << 63, "int": 1 << 63, "uint8": 256, "uint16": 1 << 16, "uint32": 1 << 32}
_WITH_TYPE = ("core.v1.PersistentVolumeClaim",)  # in templates
_WORDS = {str: "string", bool: "bool", list: "array", dict: "object", int: "number", float: "number"}
_READ_THEMSELVES = ("quantity", "time", "microtime", "intorstring")
_ZEROS = {"string": "", "bool": False, **dict.fromkeys(_INTEGERS, 0)}
_QUANTITY = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"


class DecodingError(ValueError):
    """A value of a wrong type for its field; the message is Go's. `at`: the path with indices."""

    at: str = ""
    value: Any = None
    go: str = ""


class _Place(NamedTuple):
    struct: str  # Go's name of the innermost type
    path: str  # of field names alone, as Go has it
    at: str  # with indices


class Decoder:
    """A decoder of objects. `unknown` collects the paths of fields that the types do not have; these fields are left out.

    `stores`: the object will be stored, so apply Go's conversions.
    """

    def __init__(self, stores: bool = False) -> None:
        self.unknown: list[str] = []
        self._stores = stores
        self._wrong: list[
            DecodingError
        ] = []  # Go's types with their own decoders stop at once, others report at the end

    def object(self, value: Any, type_: str) -> Any:
        """Return the object without nulls and unknown fields. Raise DecodingError."""
        found = self._struct(value, type_, _Place("", "", ""), type_)
        if self._wrong:
            raise self._wrong[0]
        return found

    def _struct(self, value: Any, type_: str, place: _Place, go: str) -> Any:
        if not isinstance(value, Mapping):
            return self._wrong.append(_mismatch(value, place, go))
        known, found = fields_of(type_), {}
        name_of = type_.rpartition(".")[2]
        for name, each in value.items():
            inner_path = f"{place.path}.{name}" if place.path else name
            at = f"{place.at}.{name}" if place.at else name
            if name in ("apiVersion", "kind") and (not place.at or type_ in _WITH_TYPE):
                found[name] = each
            elif name not in known:
                self.unknown.append(at)
            elif each is not None:
                value = self._value(each, known[name][1], _Place(name_of, inner_path, at), known[name][3])
                if not (self._stores and is_left_out(known[name], each)):
                    found[name] = value
        return convert_pod_spec(found) if type_ == "core.v1.PodSpec" and self._stores else found

    def _value(self, value: Any, expression: str, place: _Place, go: str) -> Any:
        if value is None:  # in a list
            value = {} if expression in read_api()["types"] else _ZEROS.get(expression)
        wrapped = _WRAPPED.match(expression)
        if wrapped is not None:
            wrap, inner = wrapped.groups()
            if wrap == "*":
                return self._value(value, inner, place, go.removeprefix("*"))
            return self._list(value, inner, place, go) if wrap == "[]" else self._map(value, inner, place, go)
        if expression in read_api()["types"]:
            return self._struct(value, expression, place, go)
        try:
            _check_leaf(value, expression, place, go)
        except DecodingError as wrong:
            if expression in _READ_THEMSELVES:
                raise
            self._wrong.append(wrong)
            return None
        return write_quantity(value) if expression == "quantity" else value

    def _list(self, value: Any, inner: str, place: _Place, go: str) -> Any:
        if not isinstance(value, list):
            return self._wrong.append(_mismatch(value, place, go))
        go = go.removeprefix("[]")
        return [self._value(each, inner, place._replace(at=f"{place.at}[{i}]"), go) for i, each in enumerate(value)]

    def _map(self, value: Any, inner: str, place: _Place, go: str) -> Any:
        if not isinstance(value, Mapping):
            return self._wrong.append(_mismatch(value, place, go))
        go = go.partition("]")[2] or go
        found = {
            name: self._value(each, inner, place._replace(at=f"{place.at}.{name}"), go)
            for name, each in value.items()
            if each is not None or inner == "string"
        }
        return {name: _round_up(each) for name, each in found.items()} if inner == "quantity" else found


def _mismatch(value: Any, place: _Place, go: str) -> DecodingError:
    word = _WORDS.get(type(value), "null")
    if word == "number" and go in _INTEGERS:
        word = f"number {value}"
    where = f"{place.struct}.{place.path}" if place.struct else "value"
    said = f"Go struct field {where}" if place.struct else "Go value"
    wrong = DecodingError(f"json: cannot unmarshal {word} into {said} of type {go}")
    wrong.at, wrong.value, wrong.go = place.at, value, go
    return wrong


def write_quantity(quantity: Any) -> str:
    """Return a quantity as Go prints it after parsing."""
    text = str(quantity)
    return text if re.search(r"[eE][+-]?\d", text) else format_quantity(text, binary=text.endswith("i"))


def _round_up(amount: str) -> str:
    """Round an amount of a resource up to thousandths, the finest unit of objects."""
    return f"{milli_of_nanos(nanos(amount))}m" if amount.endswith(("n", "u")) else amount


def _check_leaf(value: Any, expression: str, place: _Place, go: str) -> None:
    if expression == "string" or expression == "bytes":
        good = isinstance(value, str)
    elif expression == "bool":
        good = isinstance(value, bool)
    elif expression in _INTEGERS:
        most = _INTEGERS[expression]
        good = isinstance(value, int) and not isinstance(value, bool) and -most <= value < most
    elif expression.startswith("float"):
        good = isinstance(value, int | float) and not isinstance(value, bool)
    else:
        _check_special(value, expression, place)
        return
    if not good:
        wrong = _mismatch(value, place, go)
        wrong.go = "string" if expression == "bytes" else expression
        raise wrong
    if expression == "bytes":
        bad = re.search(r"[^A-Za-z0-9+/=\r\n]", value)
        if bad or len(re.sub(r"\s", "", value)) % 4:
            raise DecodingError(f"illegal base64 data at input byte {bad.start() if bad else len(value) // 4 * 4}")


def _check_special(value: Any, expression: str, place: _Place) -> None:
    if expression == "quantity" and not _is_quantity(value):
        raise DecodingError(_QUANTITY)
    if expression in ("time", "microtime") and not isinstance(value, str):
        raise _mismatch(value, place, "string")
    if expression in ("time", "microtime") and not is_time(value):
        form = "2006-01-02T15:04:05Z07:00" if expression == "time" else "2006-01-02T15:04:05.000000Z07:00"
        raise DecodingError(f'parsing time "{value}" as "{form}": cannot parse "{value}" as "2006"')
    if expression == "intorstring" and (isinstance(value, bool) or not isinstance(value, str | int)):
        raise _mismatch(value, place, "int32")


def _is_quantity(value: Any) -> bool:
    try:
        parse_quantity(value)
    except (BadQuantity, ValueError, TypeError):
        return False
    return True


def is_time(value: Any) -> bool:
    """Return whether a value is an RFC 3339 time."""
    try:
        parse_time(value)
    except (ValueError, TypeError):
        return False
    return True


# YAML 1.1, as in Go's yaml package.


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]  # libyaml's if it is installed
    """A YAML loader that keeps times as text. `repeated`: the messages about repeated keys."""

    def __init__(self, stream: bytes) -> None:
        super().__init__(stream)
        self.repeated: list[str] = []

    def construct_mapping(self, node: Any, deep: bool = False) -> Any:
        keys = [key.value for key, _ in node.value]
        for i, (key, _) in enumerate(node.value):
            if key.value in keys[:i]:
                self.repeated.append(f'line {key.start_mark.line + 1}: key "{key.value}" already set in map')
        return super().construct_mapping(node, deep)


_Loader.yaml_implicit_resolvers = {
    letter: [(tag, pattern) for tag, pattern in found if tag != "tag:yaml.org,2002:timestamp"]
    for letter, found in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


_PLACES = (
    ("Expecting property name", "looking for beginning of object key string"),
    ("Expecting ',' delimiter", "after object key:value pair"),
    ("Expecting ':' delimiter", "after object key"),
    ("Extra data", "after top-level value"),
)


class _DuplicateFields(dict[str, Any]):
    """An object with a repeated field."""

    fields: tuple[str, ...] = ()


def _collect(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) == len(pairs):
        return found
    twice, names = _DuplicateFields(found), [name for name, _ in pairs]
    twice.fields = tuple(name for i, name in enumerate(names) if name in names[:i])
    return twice


def _list_repeated(value: Any, path: str = "") -> Iterator[str]:
    if isinstance(value, dict):
        yield from (f'duplicate field "{path}{name}"' for name in getattr(value, "fields", ()))
        for name, each in value.items():
            yield from _list_repeated(each, f"{path}{name}.")
    for i, each in enumerate(value if isinstance(value, list) else ()):
        yield from _list_repeated(each, f"{path[:-1]}[{i}].")


def read_json(body: bytes, repeated: list[str] | None = None) -> Any:
    """Parse JSON. Raise ValueError, with Go's message if possible. `repeated` collects messages about repeated fields."""
    if not body.strip():
        raise ValueError("unexpected end of JSON input")
    try:
        if repeated is None:
            return json.loads(body, parse_constant=_refuse_constant)
        data = json.loads(body, parse_constant=_refuse_constant, object_pairs_hook=_collect)
        repeated += _list_repeated(data)
        return data
    except json.JSONDecodeError as wrong:
        if wrong.pos >= len(wrong.doc.rstrip()) or wrong.msg.startswith("Unterminated"):
            raise ValueError("unexpected end of JSON input") from None
        place = next((said for words, said in _PLACES if wrong.msg.startswith(words)), "looking for beginning of value")
        raise ValueError(f"invalid character {wrong.doc[wrong.pos]!r} {place}") from None
    except (UnicodeDecodeError, RecursionError) as wrong:
        raise ValueError("the JSON text is not readable") from wrong


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"invalid character {name[0]!r} looking for beginning of value")


def read_yaml(body: bytes, repeated: list[str]) -> Any:
    """Parse the first YAML document into JSON data. Raise ValueError."""
    loader = None
    try:
        loader = _Loader(body)
        data = json.loads(json.dumps(loader.get_data() if loader.check_data() else None))
        repeated += loader.repeated
        return data
    except (yaml.YAMLError, TypeError, UnicodeDecodeError, RecursionError) as wrong:
        mark, line = getattr(wrong, "problem_mark", None), 0
        if mark is not None and mark.line:
            line = mark.line + isinstance(wrong, yaml.scanner.ScannerError)  # as Go's package counts
        where = f"line {line}: " if line else ""
        raise ValueError(f"yaml: {where}{getattr(wrong, 'problem', None) or wrong}") from wrong
    finally:
        if loader is not None:
            loader.dispose()


# Protobuf in kube's envelope: a prefix, and an Unknown with kind and object.

_MAGIC = b"k8s\0"


def read_protobuf(body: bytes) -> Any:
    """Parse an object of a built-in kind. Raise ValueError if it is invalid."""
    if not body.startswith(_MAGIC):
        raise ValueError("provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]")
    try:
        unknown = _scan(body[len(_MAGIC) :])
        about = _texts(unknown[1][0])
        type_ = read_api()["kinds"].get(f"{about.get(1, '')} {about.get(2, '')}")
        if about.get(2) == "DeleteOptions":
            type_ = "meta.v1.DeleteOptions"
        if type_ is None:
            raise ValueError(f'no kind "{about.get(2)}" is registered for version "{about.get(1)}"')
        raw = unknown.get(2, [b""])[0]
        return {"apiVersion": about.get(1, ""), "kind": about.get(2, ""), **_message(raw, type_)}
    except (IndexError, KeyError, TypeError, AttributeError, UnicodeDecodeError, RecursionError) as wrong:
        raise ValueError("the protobuf message is not readable") from wrong


def _varint(data: bytes, at: int) -> tuple[int, int]:
    number = shift = 0
    while True:
        byte = data[at]
        number |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if not byte & 0x80:
            return number, at
        if shift > 63:
            raise ValueError("the protobuf message is not readable")


def _scan(data: bytes) -> dict[int, list[Any]]:
    """Return the fields of a message by number, with all occurrences."""
    found: dict[int, list[Any]] = {}
    at = 0
    while at < len(data):
        tag, at = _varint(data, at)
        number, wire = tag >> 3, tag & 7
        value: Any
        if wire == 0:
            value, at = _varint(data, at)
        elif wire in (1, 5):
            size = 8 if wire == 1 else 4
            value, at = data[at : at + size], at + size
        elif wire == 2:
            size, at = _varint(data, at)
            if at + size > len(data):
                raise IndexError
            value, at = data[at : at + size], at + size
        else:
            raise ValueError("the protobuf message is not readable")
        found.setdefault(number, []).append(value)
    return found


def _texts(data: bytes) -> dict[int, str]:
    return {number: values[-1].decode() for number, values in _scan(data).items()}


def _message(data: bytes, type_: str) -> dict[str, Any]:
    given = _scan(data)
    found: dict[str, Any] = {}
    for name, (number, expression, *rest) in read_api()["types"][type_].items():
        if number not in given:
            continue
        if name.startswith("~"):
            found |= _message(given[number][-1], expression.lstrip("*"))
            continue
        value = _field(given[number], expression)
        is_pointer = expression.startswith("*")
        if value not in ("", 0, False, None, {}, []) or is_pointer or not rest[0]:
            found[name] = value
    return {name: value for name, value in found.items() if value is not None}


def _field(values: list[Any], expression: str) -> Any:
    if expression.startswith("[]"):
        return [_field([each], expression[2:]) for each in values]
    if expression.startswith("{}"):
        entries = [_scan(each) for each in values]
        return {each.get(1, [b""])[0].decode(): _field(each.get(2, [b""]), expression[2:]) for each in entries}
    expression, value = expression.lstrip("*"), values[-1]
    if expression in read_api()["types"]:
        return _message(value, expression)
    return _READERS.get(expression, _integer)(value)


def _integer(value: int) -> int:
    return value - (1 << 64) if value >= 1 << 63 else value


def _time(data: bytes) -> str | None:
    given = _scan(data)
    if not given.get(1):
        return None
    moment = _integer(given[1][0]) * SECOND + given.get(2, [0])[0]
    return format_micro_time(moment) if given.get(2, [0])[0] else format_time(moment)


def _int_or_string(data: bytes) -> Any:
    given = _scan(data)
    if given.get(1, [0])[0]:
        return given.get(3, [b""])[0].decode()
    return _integer(given.get(2, [0])[0])


def _raw(data: bytes) -> Any:
    given = _scan(data).get(1)
    return json.loads(given[0]) if given and given[0] else None


_READERS: Mapping[str, Any] = {
    "string": lambda value: value.decode(),
    "bytes": lambda value: base64.b64encode(value).decode(),
    "bool": bool,
    "quantity": lambda value: _scan(value).get(1, [b"0"])[0].decode(),
    "time": _time,
    "microtime": _time,
    "intorstring": _int_or_string,
    "raw": _raw,
    "fields": _raw,
    "duration": lambda value: f"{_integer(_scan(value).get(1, [0])[0])}ns",
}
