"""Validation of names of drivers, pools, devices, requests, attributes, and capacities.

kube: pkg/apis/resource/validation/validation.go, pkg/apis/core/validation/validation.go (ValidateCSIDriverName),
apimachinery/pkg/util/validation/validation.go (IsCIdentifier) @ v1.34.1
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from scheduler_core.apimachinery.dra.features import SelectorError
from scheduler_core.apimachinery.dra.selectors import is_too_complex
from scheduler_core.apimachinery.objects.errors import Errors, FieldError, duplicate, encode, format_key_path
from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apimachinery.objects.names import (
    label_errors,
    label_value_errors,
    list_qualified_name_errors,
    subdomain_errors,
)

# Lists and maps in the validation of devices: each entry, duplicates, and the maximum number.
# kube: pkg/apis/resource/validation/validation.go (validateSlice, validateSet, validateMap, truncateIfTooLong) @ v1.34.1

Check = Callable[..., None]
"""(entry, path, *context, errors)"""
_LEAST_SHOWN = 16


def each(entries: Sequence[Any] | None, most: int, check: Check, path: str, errors: Errors, *context: Any) -> None:
    """Check each entry, and that there are at most `most` (negative: no limit)."""
    for i, entry in enumerate(entries or ()):
        check(entry, f"{path}[{i}]", *context, errors)
    if most >= 0:
        errors.too_many(path, len(entries or ()), most)


def each_once(
    entries: Sequence[Any] | None,
    most: int,
    check: Check,
    field: str,
    path: str,
    errors: Errors,
    *context: Any,
    key: Callable[[Any], Hashable] | None = None,
    show: Callable[[Any], Any] | None = None,
) -> None:
    """Validate entries like `each`, with unique keys. `field`: an entry's key field ("": the entry is its key); `show`: the key as
    errors show it.
    """
    each(entries, most, check, path, errors, *context)
    seen: dict[Hashable, None] = {}
    for i, entry in enumerate(entries or ()):
        value = key(entry) if key is not None else (entry.get(field) or "") if field else entry
        if value in seen:
            where = f"{path}[{i}].{field}" if field else f"{path}[{i}]"
            twice = duplicate(where, value)
            errors.append(twice if show is None else replace(twice, received=encode(show(entry))))
        seen[value] = None


def each_of_map(
    entries: Manifest | None, longest: int, check_key: Check, check: Check | None, path: str, errors: Errors
) -> None:
    """Check the names and values of a map; paths shorten names that are longer than `longest`."""
    for name, value in (entries or {}).items():
        where = format_key_path(path, shorten_text(name, longest))
        check_key(name, where, errors)
        if check is not None:
            check(value, where, errors)


def shorten_text(text: str, longest: int) -> str:
    """Return a text, without its middle if it is too long."""
    longest = max(longest, _LEAST_SHOWN)
    if len(text) <= longest:
        return text
    rest = longest - 3
    return f"{text[: (rest + 1) // 2]}...{text[len(text) - rest // 2 :]}"


def longer(text: str, most: int) -> bool:
    """Return whether a text has more bytes than `most`."""
    return len(text) > most or len(text.encode()) > most


def compact(value: Any) -> str:
    """Return a value as JSON without spaces."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def internal(path: str, detail: str) -> FieldError:
    return FieldError(path, "", detail, kind="Internal error")


def quote_names(names: Iterable[str]) -> str:
    """Return names of fields in kube's format: {`a`, `b`}."""
    return "{" + ", ".join(f"`{name}`" for name in names) + "}"


LONGEST_DRIVER = LONGEST_DOMAIN = 63
LONGEST_POOL = 253
LONGEST_ID = 32
LONGEST_KEY = LONGEST_DOMAIN + 1 + LONGEST_ID  # of an attribute or a capacity
LONGEST_LABEL = 63
_is_identifier = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z").match
_IDENTIFIER = (
    "a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric characters or '_' "
    "(e.g. 'my_name',  or 'MY_NAME',  or 'MyName', regex used for validation is '[A-Za-z_][A-Za-z0-9_]*')"
)
_HEX = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\Z").match
_NORMAL = "uid must be in RFC 4122 normalized form, `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx` with lowercase hexadecimal characters"


def label(name: Any, path: str, errors: Errors) -> None:
    """Validate a name of a request, a device, or a counter."""
    errors.problems(path, name or "", label_errors(name or ""))


def subdomain(name: Any, path: str, errors: Errors) -> None:
    """Validate a name of a node or a device class."""
    errors.problems(path, name, subdomain_errors(name))


def require_class_name(name: Any, path: str, errors: Errors) -> None:
    if name:
        subdomain(name, path, errors)
    else:
        errors.required(path)


def driver(name: Any, path: str, errors: Errors) -> None:
    name = name or ""
    errors.required(path, when=not name)
    errors.too_long(path, LONGEST_DRIVER, when=longer(name, LONGEST_DRIVER))
    errors.problems(path, name, subdomain_errors(name.lower()))


def pool(name: Any, path: str, errors: Errors) -> None:
    if errors.required(path, when=not name):
        return
    errors.too_long(path, LONGEST_POOL, when=longer(name, LONGEST_POOL))
    for part in name.split("/"):
        errors.problems(path, part, subdomain_errors(part))


def label_name(name: Any, path: str, errors: Errors) -> None:
    """Validate the key of a taint or the type of a condition."""
    errors.problems(path, name or "", list_qualified_name_errors(name or ""))


def label_value(value: Any, path: str, errors: Errors) -> None:
    errors.problems(path, value or "", label_value_errors(value or ""))


def validate_qualified_name(name: Any, path: str, errors: Errors) -> None:
    """Validate the name of an attribute or a capacity: an identifier, optionally after a domain and "/"."""
    if errors.required(path, "name required", when=not name):
        return
    parts = name.split("/")
    if len(parts) == 1:
        _identifier(parts[0], path, errors)
    elif len(parts) == 2:
        if parts[0]:
            driver(parts[0], path, errors)
        else:
            errors.required(path, "the domain must not be empty")
        if parts[1]:
            _identifier(parts[1], path, errors)
        else:
            errors.required(path, "the name must not be empty")


def fully_qualified(name: Any, path: str, errors: Errors) -> None:
    """Validate the name of an attribute with its domain."""
    validate_qualified_name(name, path, errors)
    errors.invalid(path, name, "must include a domain", when=name and "/" not in name)


def _identifier(name: str, path: str, errors: Errors) -> None:
    errors.too_long(path, LONGEST_ID, when=longer(name, LONGEST_ID))
    errors.invalid(path, name, _IDENTIFIER, when=not _is_identifier(name))


def uid(text: Any, path: str, errors: Errors) -> None:
    text = text or ""
    if problem := _uuid_problem(text):
        errors.invalid(path, text, f"error validating uid: {problem}")
    elif len(text) != 36 or text != text.lower():
        errors.invalid(path, text, _NORMAL)


def _uuid_problem(text: str) -> str:
    """Return the reason why a text is not a UUID in any accepted form; "" if it is a UUID."""
    match len(text.encode()):
        case 36:
            return "" if _HEX(text) else "invalid UUID format"
        case 45:
            if text[:9].lower() != "urn:uuid:":
                return f'invalid urn prefix: "{text[:9]}"'
            return "" if _HEX(text[9:]) else "invalid UUID format"
        case 38:
            if text[0] != "{" or text[-1] != "}":
                return "invalid bracketed UUID format"
            return "" if _HEX(text[1:-1]) else "invalid UUID format"
        case 32:
            return "" if re.fullmatch("[0-9a-fA-F]{32}", text) else "invalid UUID format"
        case length:
            return f"invalid UUID length: {length}"


# CEL selectors: compilation, and the cost limit of one evaluation.
# kube: pkg/apis/resource/validation/validation.go (validateCELSelector), dynamic-resource-allocation/cel/compile.go @ v1.34.1

MOST_SELECTORS = 32
LONGEST_EXPRESSION = 10 * 1024


@dataclass(frozen=True, slots=True)
class CompileOptions:
    """Settings for compiling expressions. `stored`: the expressions were accepted before. `counters_of_pools`: of the release."""

    consumable_capacity: bool = False
    stored: bool = False
    counters_of_pools: bool = False

    def of(self, stored: bool) -> CompileOptions:
        return self if stored == self.stored else replace(self, stored=stored)


def selectors(given: Sequence[Manifest] | None, path: str, compiling: CompileOptions, errors: Errors) -> None:
    """Validate the selectors of a request, a class, or a rule."""

    def one(selector: Manifest, where: str, errors: Errors) -> None:
        if (cel := selector.get("cel")) is None:
            errors.required(f"{where}.cel")
        else:
            _expression(cel.get("expression") or "", f"{where}.cel.expression", compiling, errors)

    each(given, MOST_SELECTORS, one, path, errors)


def _expression(expression: str, path: str, compiling: CompileOptions, errors: Errors) -> None:
    if errors.too_long(path, LONGEST_EXPRESSION, when=longer(expression, LONGEST_EXPRESSION)):
        return
    try:
        if is_too_complex(expression, compiling.consumable_capacity, compiling.stored):
            errors.forbidden(path, "too complex, exceeds cost limit")
    except SelectorError as problem:
        detail = str(problem)
        if detail.startswith("program instantiation failed"):
            errors.append(internal(path, detail))
        else:
            errors.invalid(path, expression, detail)
