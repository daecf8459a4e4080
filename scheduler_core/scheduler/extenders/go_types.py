"""Go's types, as far as answers have them: JSON values are read into them with the very errors of encoding/json.

go: src/encoding/json/decode.go @ 1.24
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from scheduler_core.scheduler.extenders.go_json import GoError, Number, Object, clean

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
