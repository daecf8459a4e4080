"""Label and field selectors of queries.

kube: apimachinery/pkg/labels/selector.go, pkg/apis/core/v1/conversion.go, pkg/registry/*/strategy.go @ v1.34.1
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from scheduler_core.apimachinery.objects.errors import encode
from scheduler_core.apimachinery.objects.labels import DOES_NOT_EXIST, EXISTS, GT, IN, LT, NOT_IN, Requirement
from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apimachinery.objects.names import label_value_errors, list_qualified_name_errors
from scheduler_core.apiserver.door.answers import bad_request
from scheduler_core.apiserver.door.events import convert_back
from scheduler_core.apiserver.door.resources import Resource
from scheduler_core.apiserver.door.tables.jsonpath import find_path

_TOKEN = re.compile(r"\s*(==|!=|[=,()!<>]|[^\s=,()!<>]+)")
_COMMON = ("metadata.name", "metadata.namespace")
_FIELDS: Mapping[str, Sequence[str]] = json.loads(Path(__file__).with_suffix(".json").read_text())
_DEFAULTS = {"spec.hostNetwork": "false", "spec.unschedulable": "false", "status.replicas": "0"}
_WORDS = {
    "Job": 'field label "{}" not supported for Job',
    "ResourceSlice": "field label not supported for resource.k8s.io/v1, Kind=ResourceSlice: {}",
}
_OWN_WORDS = ("Pod", "Event", "Node", "Namespace", "Secret", "ReplicationController", "Service", *_WORDS)
Test = Callable[[Manifest], bool]


def _check(problems: Sequence[str], path: str, value: str) -> None:
    if problems:
        raise bad_request(f"unable to parse requirement: {path}: Invalid value: {encode(value)}: {problems[0]}")


class _Parser:
    def __init__(self, text: str) -> None:
        self.tokens = _TOKEN.findall(text)
        self.at = 0

    def peek(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take(self) -> str:
        token = self.peek()
        self.at += 1
        return token

    def requirements(self) -> list[Requirement]:
        found: list[Requirement] = []
        while self.peek():
            found.append(self._requirement())
            following = self.take()
            if following not in ("", ","):
                raise bad_request(f"found '{following}', expected: ',' or 'end of string'")
            after = self.peek()
            if following and (not after or re.match(r"[=,()<>]", after)):
                raise bad_request(f"found '{after}', expected: identifier after ','")
        return found

    def _requirement(self) -> Requirement:
        negated = self.peek() == "!"
        if negated:
            self.take()
        key = self.take()
        if not re.match(r"[^\s=,()!<>]", key):
            if negated:
                raise bad_request(f"unable to parse requirement: found '{key}', expected: identifier")
            raise bad_request(f"found '{key}', expected: !, identifier, or 'end of string'")
        _check(list_qualified_name_errors(key), "<nil>", key)
        if negated or self.peek() in ("", ","):
            return Requirement(key, DOES_NOT_EXIST if negated else EXISTS)
        operator = self.take()
        if operator in ("in", "notin"):
            return Requirement(key, IN if operator == "in" else NOT_IN, self._values())
        if operator not in ("=", "==", "!=", "<", ">"):
            expected = "in, notin, =, ==, !=, gt, lt"
            raise bad_request(f"unable to parse requirement: found '{operator}', expected: {expected}")
        value = "" if self.peek() in ("", ",") else self.take()
        if operator in "<>":
            if not re.fullmatch(r"[+-]?\d+", value):
                why = "for 'Gt', 'Lt' operators, the value must be an integer"
                raise bad_request(f"unable to parse requirement: values[0]: Invalid value: {encode(value)}: {why}")
            return Requirement(key, LT if operator == "<" else GT, (value,))
        _check(label_value_errors(value), f"values[0][{key}]", value)
        return Requirement(key, NOT_IN if operator == "!=" else IN, (value,))

    def _values(self) -> tuple[str, ...]:
        opening = self.take()
        if opening != "(":
            raise bad_request(f"unable to parse requirement: found '{opening}' expected: '('")
        values = [""]
        while (token := self.take()) != ")":
            if not token:
                expected = "',' or ')'" if values[-1] else "',', ')' or identifier"
                raise bad_request(f"unable to parse requirement: found '', expected: {expected}")
            values = [*values, ""] if token == "," else [*values[:-1], token]  # noqa: S105 - a comma
        return tuple(values)


@lru_cache(maxsize=256)
def parse_labels(text: str) -> tuple[Requirement, ...]:
    """Return the requirements of a labelSelector. Raise Failure (400)."""
    return tuple(_Parser(text).requirements())


def _split_fields(text: str) -> list[tuple[str, str, str]]:
    """Return field, operator, and value of each part. Raise Failure (400)."""
    found = []
    for part in sorted(filter(None, re.split(r"(?<!\\),", text))):
        match = re.match(r"([^=!]*)(==|!=|=)(.*)", part)
        if match is None:
            raise bad_request(f"invalid selector: '{text}'; can't understand '{part}'")
        found.append((match[1], match[2], match[3]))
    return found


def check_selectors(query: Mapping[str, Any]) -> None:
    """Raise Failure (400) for invalid selectors of a query."""
    parse_labels(str(query.get("labelSelector") or ""))
    _split_fields(str(query.get("fieldSelector") or ""))


def _parse_fields(resource: Resource, text: str) -> list[tuple[str, bool, str]]:
    """Return each field, whether the value must be equal, and the value."""
    own = tuple(f["jsonPath"].lstrip(".") for f in (resource.definition or {}).get("selectableFields") or ())
    known = (*_COMMON, *_FIELDS.get(resource.kind if resource.definition is None else "", ()), *own)
    parts = _split_fields(text)
    for name, _, _ in parts:
        if name not in known:
            if own or (resource.kind in _OWN_WORDS and resource.definition is None):
                raise bad_request(_WORDS.get(resource.kind, "field label not supported: {}").format(name))
            names = '"metadata.name", "metadata.namespace"'
            raise bad_request(f'"{name}" is not a known field selector: only {names}')
    return [(name, operator != "!=", re.sub(r"\\(.)", r"\1", value)) for name, operator, value in parts]


def field_value(manifest: Manifest, name: str) -> str:
    """Return the value of a field that selectors compare."""
    if "regarding" in manifest:  # an Event of events.k8s.io
        manifest = convert_back(manifest)
    if name == "source" and "source" in manifest:
        return str((manifest["source"] or {}).get("component", ""))
    if name.startswith("regarding."):
        name = name.replace("regarding", "involvedObject", 1)
    name = {"reportingController": "reportingComponent", "status.successful": "status.succeeded"}.get(name, name)
    values = find_path(manifest, f".{name}")
    value = values[0] if values else _DEFAULTS.get(name, "")
    return str(value).lower() if isinstance(value, bool) else str(value)


def make_test(resource: Resource, query: Mapping[str, Any]) -> Test | None:
    """Return a function that tests objects by a query's selectors, or None if all objects pass. Raise Failure (400)."""
    requirements = parse_labels(str(query.get("labelSelector") or ""))
    wanted = _parse_fields(resource, str(query.get("fieldSelector") or ""))
    if not requirements and not wanted:
        return None

    def test(manifest: Manifest) -> bool:
        labels = manifest["metadata"].get("labels") or {}
        return all(each.matches(labels) for each in requirements) and all(
            (field_value(manifest, name) == value) is equal for name, equal, value in wanted
        )

    return test
