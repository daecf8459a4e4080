"""Lists and maps as the validation of devices goes through them: each entry, doubles, and how many there may be.

kube: pkg/apis/resource/validation/validation.go (validateSlice, validateSet, validateMap, truncateIfTooLong) @ v1.34.1
"""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from scheduler_core.apimachinery.objects.errors import FieldError, duplicate, format_key_path
from scheduler_core.apimachinery.objects.manifest import Manifest

Errors = list[FieldError]
Check = Callable[[Any, str, Errors], None]
_LEAST_SHOWN = 16


def each(entries: Sequence[Any] | None, most: int, check: Check, path: str, errors: Errors) -> None:
    """Checks every entry, and that there are no more than `most` (below 0: as many as one likes)."""
    for i, entry in enumerate(entries or ()):
        check(entry, f"{path}[{i}]", errors)
    count = len(entries or ())
    if 0 <= most < count:
        errors.append(too_many(path, count, most))


def each_once(
    entries: Sequence[Any] | None,
    most: int,
    check: Check,
    key: Callable[[Any], Hashable],
    field: str,
    path: str,
    errors: Errors,
    show: Callable[[Any], Any] | None = None,
) -> None:
    """Validate entries like `each`, with unique keys. `field`: an entry's key field; `show`: the key as errors show it."""
    each(entries, most, check, path, errors)
    seen: dict[Hashable, None] = {}
    for i, entry in enumerate(entries or ()):
        value = key(entry)
        if value in seen:
            where = f"{path}[{i}].{field}" if field else f"{path}[{i}]"
            twice = duplicate(where, value)
            errors.append(twice if show is None else replace(twice, received=format_json(show(entry))))
        seen[value] = None


def each_of_map(
    entries: Manifest | None, longest: int, check_key: Check, check: Check | None, path: str, errors: Errors
) -> None:
    """Checks the names and values of a map; names longer than `longest` are shortened in paths."""
    for name, value in (entries or {}).items():
        where = format_key_path(path, shorten_text(name, longest))
        check_key(name, where, errors)
        if check is not None:
            check(value, where, errors)


def shorten_text(text: str, longest: int) -> str:
    """A text with its middle left out where it is too long."""
    longest = max(longest, _LEAST_SHOWN)
    if len(text) <= longest:
        return text
    rest = longest - 3
    return f"{text[: (rest + 1) // 2]}...{text[len(text) - rest // 2 :]}"


def too_many(path: str, count: int, most: int) -> FieldError:
    items = "item" if most == 1 else "items"
    return FieldError(path, str(count), f"must have at most {most} {items}", kind="Too many")


def too_long(path: str, most: int) -> FieldError:
    return FieldError(path, "", f"may not be more than {most} bytes", kind="Too long")


def longer(text: str, most: int) -> bool:
    """Return whether a text has more bytes than `most`."""
    return len(text) > most or len(text.encode()) > most


def bad(path: str, shown: Any, detail: str) -> FieldError:
    """An invalid value of more than one part, as Go prints it."""
    return FieldError(path, format_json(shown), detail, kind="Invalid value")


def compact(value: Any) -> str:
    """JSON without blanks."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def format_json(value: Any) -> str:
    """JSON as Go prints it in errors: fit for HTML."""
    text = compact(value)
    for letter in "<>&":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return text


def internal(path: str, detail: str) -> FieldError:
    return FieldError(path, "", detail, kind="Internal error")


def quote_names(names: Iterable[str]) -> str:
    """Names of fields in kube's braces: {`a`, `b`}."""
    return "{" + ", ".join(f"`{name}`" for name in names) + "}"
