"""The table of fields: all types of kube's own objects, with each field's type and its merge rule in patches.

fields.json was made once from the Go types of k8s.io/api and k8s.io/apimachinery, v0.34.1: {type: {field: expression}}. An expression is
a leaf (string, bool, int32, int64, number, quantity, time, intorstring, bytes, any) or a type of the table, after [] for a list and {}
for a map of it; after | comes the patchStrategy, and after = the patchMergeKey. devices.json has the types of resource.k8s.io in the same
form; their names begin with the version (v1beta2 equals v1). newer.json has the fields that newer releases added, {type: {field:
{release: expression}}} ("" if a release has removed the field), and their types.

kube: api/*/*/types.go, apimachinery/pkg/apis/meta/v1/types.go @ v0.34.1
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from scheduler_core.apimachinery.objects.errors import FieldError, format_value, wrong_type
from scheduler_core.apimachinery.objects.quantity import EXPECTED, BadQuantity, nanos
from scheduler_core.apimachinery.objects.times import parse_time
from scheduler_core.apiserver.kinds import VERSIONS, Kind, split_api_version
from scheduler_core.base.releases import OLDEST, Release, pick

# Leaves of the table of types: values that are no objects, lists, or maps. A leaf without a check accepts any value.

Leaf = Callable[[Any, str, list[FieldError]], None]
_NOT_BASE64 = re.compile(r"[^A-Za-z0-9+/=\r\n]|=(?!=?[\r\n]*\Z)")


def _of_type(types: type | tuple[type, ...], words: str) -> Leaf:
    """Return a check that a value has one of some types; booleans are not numbers."""

    def check(value: Any, path: str, errors: list[FieldError]) -> None:
        if not isinstance(value, types) or (isinstance(value, bool) and types is not bool):
            errors.append(wrong_type(path, value, words))

    return check


def _integer(bits: int) -> Leaf:
    bound = 1 << (bits - 1)

    def check(value: Any, path: str, errors: list[FieldError]) -> None:
        if isinstance(value, bool) or not isinstance(value, int):
            errors.append(wrong_type(path, value, "a whole number"))
        elif not -bound <= value < bound:
            errors.append(FieldError(path, format_value(value), f"does not fit into {bits} bits"))

    return check


_string, _int32 = _of_type(str, "a string"), _integer(32)


def _int_or_string(value: Any, path: str, errors: list[FieldError]) -> None:
    if not isinstance(value, str):
        _int32(value, path, errors)


def _time(value: Any, path: str, errors: list[FieldError]) -> None:
    try:
        parse_time(value)
    except (TypeError, ValueError, OverflowError):
        errors.append(FieldError(path, format_value(value), "is not a time. Write it as 2026-01-31T12:00:00Z"))


def _quantity(value: Any, path: str, errors: list[FieldError]) -> None:
    try:
        if isinstance(value, str | int | float) and not isinstance(value, bool):
            nanos(value)
            return
    except BadQuantity:
        pass
    errors.append(FieldError(path, format_value(value), EXPECTED))


def _base64(value: Any, path: str, errors: list[FieldError]) -> None:
    if not isinstance(value, str):
        _string(value, path, errors)
        return
    text = value.replace("\n", "").replace("\r", "")
    bad = _NOT_BASE64.search(value)
    if bad or len(text) % 4:
        place = bad.start() if bad else len(value) // 4 * 4
        errors.append(FieldError(path, "", f"illegal base64 data at input byte {place}"))


LEAVES: dict[str, Leaf] = {
    "string": _string,
    "bytes": _base64,
    "bool": _of_type(bool, "true or false"),
    "int32": _int32,
    "int64": _integer(64),
    "number": _of_type((int, float), "a number"),
    "quantity": _quantity,
    "time": _time,
    "intorstring": _int_or_string,
}

_VERSIONS = {"HorizontalPodAutoscaler": "v2", "PodGroup": "v1beta1"}  # of the types; all others: v1
_SERVED = {
    "HorizontalPodAutoscaler": ("v1", "v2"),
    "VolumeAttributesClass": ("v1", "v1beta1"),
    "PodGroup": ("v1beta1", "v1alpha3"),
}
_ALIKE = {"v1beta2": "v1"}
# Versions that are alike, and the one that the table has.
_SAME = {"DeviceTaintRule": ("v1alpha3", "v1beta2", "v1"), "PodGroup": ("v1beta1", "v1alpha3")}
DEVICES = "resource.k8s.io"


@dataclass(frozen=True, slots=True)
class Field:
    """A field's type: `shape` is leaf, map, list or object; `inner` is the content's type (of an object: its type, of a leaf: itself)."""

    shape: str
    inner: str
    strategies: tuple[str, ...] = ()
    merge_key: str = ""

    @property
    def object_type(self) -> str:
        """The type of the objects in the field, including those in lists and maps; "" if there are none."""
        field = self
        while field.shape in ("list", "map"):
            field = parse_expression(field.inner)
        return field.inner if field.shape == "object" else ""


@cache
def _table() -> Mapping[str, Mapping[str, str]]:
    here = Path(__file__)
    texts = [here.with_name(name).read_text(encoding="utf-8") for name in ("fields.json", "devices.json")]
    table: Mapping[str, Mapping[str, str]] = {**json.loads(texts[0]), **json.loads(texts[1]), **_newer()["types"]}
    return table


@cache
def _newer() -> Mapping[str, Mapping[str, Mapping[str, Any]]]:
    newer: Mapping[str, Mapping[str, Mapping[str, Any]]] = json.loads(
        Path(__file__).with_name("newer.json").read_text(encoding="utf-8")
    )
    return newer


@cache
def fields(type_: str, release: Release = OLDEST) -> Mapping[str, Field]:
    """Return the fields of a type in a release. Raise KeyError if the table lacks the type."""
    known = dict(_table()[type_])
    for name, history in _newer()["fields"].get(type_, {}).items():
        if expression := pick(history, release):
            known[name] = expression
        elif expression == "":
            known.pop(name, None)
    return {name: parse_expression(expression) for name, expression in known.items()}


@cache
def newer_fields(type_: str, release: Release) -> Mapping[str, Field]:
    """Return the fields that releases up to this one added to a type; all fields if the type itself is new."""
    if type_ in _newer()["types"]:
        return fields(type_)
    history = _newer()["fields"].get(type_, {})
    found = {name: pick(expressions, release) for name, expressions in history.items()}
    return {name: parse_expression(expression) for name, expression in found.items() if expression}


@cache
def parse_expression(expression: str) -> Field:
    """Parse an expression of the table."""
    text, _, strategy = expression.partition("|")
    names, _, key = strategy.partition("=")
    strategies = tuple(names.split(",")) if names else ()
    if text.startswith("[]"):
        return Field("list", text[2:], strategies, key)
    if text.startswith("{}"):
        return Field("map", text[2:], strategies, key)
    return Field("object" if text in _table() else "leaf", text, strategies, key)


def is_served(kind: Kind, api_version: str, release: Release = OLDEST) -> bool:
    """Return whether a release serves a kind in this version. For kinds outside the table, all versions are accepted."""
    group, version = split_api_version(api_version)
    history = VERSIONS.get(kind.key, {})
    if any(version in each.split() for each in history.values()):
        return version in (pick(history, release) or "").split()
    if kind.group == DEVICES:
        return bool(type_of(kind, api_version))
    return not _is_known(kind) or (group == kind.group and version in _SERVED.get(kind.key, ("v1",)))


def type_of(kind: Kind, api_version: str) -> str:
    """Return the type of a kind's objects in a version, or "" if the table lacks it."""
    _, version = split_api_version(api_version)
    if version in (alike := _SAME.get(kind.key, ())):
        version = alike[0]
    if kind.group == DEVICES:
        version = _ALIKE.get(version, version)
        name = f"resource/{version}.{kind.key}"
        return name if name in _table() else ""
    known = _is_known(kind) and version == _VERSIONS.get(kind.key, "v1")
    return kind.key if known else ""


def _is_known(kind: Kind) -> bool:
    """Return whether the table contains a kind's objects. A part of another kind may have the same name, like core's ResourceClaim."""
    return "metadata" in _table().get(kind.key, ())
