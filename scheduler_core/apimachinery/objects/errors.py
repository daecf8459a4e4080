"""Errors of objects: what was received, what was expected, and where, as a field path.

Paths are kube's: `spec.containers[0].resources.requests[cpu]`. Where the API server has words for an error,
they are used.

kube: apimachinery/pkg/util/validation/field/errors.go @ v1.34.1
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any


@dataclass(frozen=True, slots=True)
class FieldError:
    """One error. `object` names the object ("Pod default/web-1"), `kind` is kube's class of error ("Invalid
    value"), where it has one. `file` is the one of several whose line it is.
    """

    path: str
    received: str
    expected: str
    object: str = ""
    line: int | None = None
    column: int | None = None
    kind: str = ""
    file: str = ""

    @property
    def text(self) -> str:
        """The error without its path, such as `Invalid value: "x": must be no more than 63 characters`."""
        if self.kind:
            return ": ".join(part for part in (self.kind, self.received, self.expected) if part)
        return " ".join(part for part in (self.received, self.expected) if part)

    def __str__(self) -> str:
        return f"{self.path}: {self.text}" if self.path else self.text

    def receiving(self, text: str) -> FieldError:
        """Return a copy of the error with a received value that is already formatted."""
        return replace(self, received=text)

    def of(self, name: str) -> FieldError:
        """Return the error with the object's name, unless the error already names an object."""
        return self if self.object else replace(self, object=name)

    def at(self, place: tuple[int, int] | None) -> FieldError:
        """Return the error with a line and a column of a text (both from 1), unless the error already has a line."""
        return self if place is None or self.line is not None else replace(self, line=place[0], column=place[1])

    def in_file(self, file: str) -> FieldError:
        """Return the error with the name of a file; "" leaves the error unchanged."""
        return replace(self, file=file) if file else self


class Errors(list[FieldError]):
    """The errors of an object, in kube's order. A method adds an error of one class if the condition `when` holds, and returns the
    condition.
    """

    def invalid(self, path: str, value: Any, detail: str, when: object = True) -> bool:
        if when:
            self.append(invalid(path, value, detail))
        return bool(when)

    def problems(self, path: str, value: Any, problems: Iterable[str]) -> None:
        """Add each problem of one value."""
        for problem in problems:
            self.append(invalid(path, value, problem))

    def invalid_text(self, path: str, text: str, detail: str) -> None:
        """Add an invalid value that is printed already."""
        self.append(FieldError(path, text, detail, kind="Invalid value"))

    def required(self, path: str, detail: str = "", when: object = True) -> bool:
        if when:
            self.append(build_required_error(path, detail))
        return bool(when)

    def not_supported(self, path: str, value: Any, supported: Iterable[str], when: object = True) -> bool:
        if when:
            self.append(not_supported(path, value, supported))
        return bool(when)

    def not_found(self, path: str, value: Any, detail: str = "", when: object = True) -> bool:
        if when:
            self.append(not_found(path, value, detail))
        return bool(when)

    def forbidden(self, path: str, detail: str, when: object = True) -> bool:
        if when:
            self.append(forbidden(path, detail))
        return bool(when)

    def too_long(self, path: str, most: int, when: object = True) -> bool:
        if when:
            self.append(too_long(path, most))
        return bool(when)

    def too_many(self, path: str, count: int, most: int) -> bool:
        """Add an error if there are more entries than `most`. Return whether there are."""
        if count > most:
            self.append(too_many(path, count, most))
        return count > most

    def duplicate(self, path: str, value: Any, when: object = True) -> bool:
        if when:
            self.append(duplicate(path, value))
        return bool(when)

    def unique(self, seen: dict[Any, None], key: Any, path: str, shown: Any = None) -> bool:
        """Report a key met before, or the value `shown` for the key; remember a new one."""
        known = key in seen
        seen[key] = None
        return self.duplicate(path, key if shown is None else shown, when=known)


class InvalidObject(ValueError):
    """An object or a text that can't be accepted; `errors` are all that is wrong with it."""

    def __init__(self, errors: Iterable[FieldError]) -> None:
        self.errors = tuple(errors)
        super().__init__("; ".join(str(error) for error in self.errors))


def format_value(value: Any) -> str:
    """A received value as an error prints it: JSON, cut when long."""
    try:
        text = json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        text = type(value).__name__
    return text if len(text) <= 200 else text[:197] + "..."


def quote(value: Any) -> str:
    """A received value as kube's errors print it: text as Go quotes it, anything else as JSON; cut when very long."""
    if not isinstance(value, str):
        return encode(value)
    text = "".join(map(_escape_letter, json.dumps(value, ensure_ascii=False)))
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def encode(value: Any) -> str:
    """Return a value as JSON with HTML characters escaped, as kube prints values other than plain texts and numbers."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
    for letter in "<>&":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def _escape_letter(letter: str) -> str:
    if letter.isprintable():
        return letter
    code = ord(letter)
    return f"\\x{code:02x}" if code < 0x80 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


_LONGEST = 100_000


def child(path: str, name: str) -> str:
    """The path of a field below `path`."""
    return f"{path}.{name}" if path else name


def format_key_path(path: str, key: str) -> str:
    """The path of a map's entry: `requests[cpu]`."""
    return f"{path}[{key}]"


def invalid(path: str, value: Any, detail: str) -> FieldError:
    return FieldError(path, quote(value), detail, kind="Invalid value")


def build_required_error(path: str, detail: str = "") -> FieldError:
    return FieldError(path, "", detail, kind="Required value")


def not_found(path: str, value: Any, detail: str = "") -> FieldError:
    return FieldError(path, quote(value), detail, kind="Not found")


def too_long(path: str, most: int) -> FieldError:
    return FieldError(path, "", f"may not be more than {most} bytes", kind="Too long")


def too_many(path: str, count: int, most: int) -> FieldError:
    items = "item" if most == 1 else "items"
    return FieldError(path, str(count), f"must have at most {most} {items}", kind="Too many")


def not_a_key(path: str, name: Any) -> FieldError:
    return FieldError(path, format_value(name), "is a key that is not a string")


def not_supported(path: str, value: Any, supported: Iterable[str]) -> FieldError:
    """kube lists the supported values, quoted, in its own order."""
    names = ", ".join(f'"{name}"' for name in supported)
    return FieldError(path, encode(value), f"supported values: {names}", kind="Unsupported value")


def duplicate(path: str, value: Any) -> FieldError:
    return FieldError(path, quote(value), "", kind="Duplicate value")


def forbidden(path: str, detail: str) -> FieldError:
    return FieldError(path, "", detail, kind="Forbidden")


def wrong_type(path: str, value: Any, expected: str) -> FieldError:
    return FieldError(path, format_value(value), f"is {_type_name(value)}, expected {expected}")


def _type_name(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case int() | float():
            return "a number"
        case str():
            return "a string"
        case list():
            return "a list"
        case dict():
            return "an object"
    return type(value).__name__
