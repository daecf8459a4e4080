"""Custom resources: pruning, defaults, and validation by the schemas of their definitions.

kube: apiextensions-apiserver/pkg/{controller/openapi,apiserver/validation,apiserver/schema} @ v0.34.1
"""

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import re2

from scheduler_core.apimachinery.cel import DYN, CompileError, Environment
from scheduler_core.apimachinery.objects.errors import FieldError, build_required_error, encode, not_supported, quote
from scheduler_core.apiserver.door.bodies.decoding import is_time
from scheduler_core.apiserver.door.resources import Resource
from scheduler_core.apiserver.door.tables.jsonpath import find_path
from scheduler_core.apiserver.status import Refused
from scheduler_core.apiserver.store import Store


def schema_of(resource: Resource) -> Mapping[str, Any]:
    """Return the schema of a custom resource, or an empty one."""
    schema: Mapping[str, Any] = ((resource.definition or {}).get("schema") or {}).get("openAPIV3Schema") or {}
    return schema


# The effect of a schema on an object: unknown fields are pruned, defaults are added, and the rest is validated.

Errors = list[FieldError]
_KEPT = ("apiVersion", "kind", "metadata")
_TYPES: Mapping[str, Any] = {"string": str, "boolean": bool, "array": list, "object": Mapping}
_COST = 10_000_000
_BLOCKING = ("Required value", "Unsupported value", "Too long", "Too many")  # rules are skipped then


def prune(resource: Resource, manifest: Mapping[str, Any], unknown: list[str]) -> dict[str, Any]:
    """Return an object without forbidden nulls and without fields that its schema lacks. `unknown` collects the paths of these fields."""
    schema = schema_of(resource)
    kept = {name: manifest[name] for name in _KEPT if name in manifest}
    rest = {name: value for name, value in manifest.items() if name not in _KEPT}
    if resource.definition is None or not schema:
        return {**kept, **rest}
    return {**kept, **prune_value(schema, rest, "", unknown)}


def schema_of_field(schema: Mapping[str, Any], name: str) -> Mapping[str, Any] | None:
    """Return the schema of an object's field, by its name or as one of the additional properties, or None."""
    properties, others = schema.get("properties") or {}, schema.get("additionalProperties")
    found: Mapping[str, Any] | None = properties.get(name, others if isinstance(others, Mapping) else None)
    return found


def prune_value(schema: Mapping[str, Any], value: Any, path: str, unknown: list[str]) -> Any:
    """Return a value without fields that its schema lacks. `unknown` collects their paths."""
    if isinstance(value, list):
        items = schema.get("items") or {}
        return [prune_value(items, each, f"{path}[{i}]", unknown) for i, each in enumerate(value)]
    if not isinstance(value, Mapping):
        return value
    keeps = schema.get("x-kubernetes-preserve-unknown-fields") or schema.get("additionalProperties") is True
    found: dict[str, Any] = {}
    for name, each in value.items():
        where = f"{path}.{name}" if path else str(name)
        if (inner := schema_of_field(schema, name)) is not None:
            if each is not None or inner.get("nullable"):
                found[name] = prune_value(inner, each, where, unknown)
        elif keeps or (schema.get("x-kubernetes-embedded-resource") and name in _KEPT):
            found[name] = each
        else:
            unknown.append(where)
    return found


def fill_defaults(schema: Mapping[str, Any], value: Any) -> Any:
    if isinstance(value, list):
        return [fill_defaults(schema.get("items") or {}, each) for each in value]
    if not isinstance(value, Mapping):
        return value
    found = dict(value)
    for name, inner in (schema.get("properties") or {}).items():
        if name not in found and "default" in inner:
            found[name] = inner["default"]
    for name, each in found.items():
        if (inner := schema_of_field(schema, name)) is not None:
            found[name] = fill_defaults(inner, each)
    return found


def check(resource: Resource, manifest: Mapping[str, Any], old: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return an object with its schema's defaults. Raise Refused (422) if the object violates the schema."""
    schema = schema_of(resource)
    rest = {name: value for name, value in manifest.items() if name not in _KEPT}
    filled = fill_defaults(schema, rest)
    errors: Errors = []
    check_value(schema, filled, "", errors)
    if old is not None:  # unchanged values are not validated again
        errors = [
            each
            for each in errors
            if each.kind == "Required value" or find_path(old, f".{each.path}") != find_path(filled, f".{each.path}")
        ]
    meta = manifest["metadata"]
    if any(each.kind in _BLOCKING or " in body must be of type " in each.expected for each in errors):
        said = "some validation rules were not checked because the object was invalid; correct the existing errors to complete validation"
        errors.append(FieldError("<nil>", "null", said, kind="Invalid value"))
    else:
        _check_rules(schema, _seen_by_rules(manifest, filled), old and _seen_by_rules(old, old), "", errors)
    if not meta.get("name") and not meta.get("generateName"):
        errors.insert(0, build_required_error("metadata.name", "name or generateName is required"))
    if errors:
        raise Refused.invalid(f"{resource.kind}.{resource.group}", str(meta.get("name", "")), errors)
    return {**{name: manifest[name] for name in _KEPT if name in manifest}, **filled}


def _seen_by_rules(manifest: Mapping[str, Any], filled: Mapping[str, Any]) -> dict[str, Any]:
    """Return an object as rules at its root get it: its metadata contains only the names."""
    meta = {name: manifest["metadata"][name] for name in ("name", "generateName") if manifest["metadata"].get(name)}
    return {**filled, "apiVersion": manifest.get("apiVersion"), "kind": manifest.get("kind"), "metadata": meta}


def check_value(schema: Mapping[str, Any], value: Any, path: str, errors: Errors) -> None:
    """Add the violations of a schema by a value."""
    type_ = schema.get("type")
    if value is None and schema.get("nullable"):
        return
    either = bool(schema.get("x-kubernetes-int-or-string"))
    types = ("integer", "string") if either else (str(type_),)
    wrong = (either or type_) and not any(_is_of(value, each) for each in types)
    if wrong:
        type_ = "integer,string" if either else type_
        found = {str: "string", bool: "boolean", list: "array", int: "integer", float: "number"}.get(
            type(value), "object"
        )
        said = f'{path} in body must be of type {type_}: "{found}"'
        errors.append(FieldError(path, json.dumps(found), said, kind="Invalid value"))
    if "enum" in schema and value not in schema["enum"]:
        errors.append(not_supported(path, value, map(str, schema["enum"])))
    if wrong:
        return
    errors.extend(_bound_errors(schema, value, path))
    _check_duplicates(schema, value, path, errors)
    if isinstance(value, list):
        for i, each in enumerate(value):
            check_value(schema.get("items") or {}, each, f"{path}[{i}]", errors)
    elif isinstance(value, Mapping):
        for name in schema.get("required") or ():
            if name not in value:
                errors.append(build_required_error(f"{path}.{name}" if path else name))
        for name, each in value.items():
            if (inner := schema_of_field(schema, name)) is not None:
                check_value(inner, each, f"{path}.{name}" if path else str(name), errors)


def _check_duplicates(schema: Mapping[str, Any], value: Any, path: str, errors: Errors) -> None:
    """Add errors for repeated items of a set or a map."""
    kind, keys = schema.get("x-kubernetes-list-type"), schema.get("x-kubernetes-list-map-keys") or ()
    if not isinstance(value, list) or kind not in ("set", "map"):
        return
    seen: list[Any] = []
    for i, each in enumerate(value):
        key = {name: each[name] for name in keys if name in each} if isinstance(each, Mapping) and keys else each
        if key in seen:
            errors.append(FieldError(f"{path}[{i}]", encode(key), "", kind="Duplicate value"))
        seen.append(key)


def _is_of(value: Any, type_: str) -> bool:
    if type_ == "integer":
        return isinstance(value, int) and not isinstance(value, bool)
    if type_ == "number":
        return isinstance(value, int | float) and not isinstance(value, bool)
    return isinstance(value, _TYPES.get(type_, object))


_BOUNDS: tuple[tuple[str, Any, Any, str], ...] = (
    ("minimum", (int, float), lambda value, bound: value < bound, "should be greater than or equal to {}"),
    ("maximum", (int, float), lambda value, bound: value > bound, "should be less than or equal to {}"),
    ("multipleOf", (int, float), lambda value, bound: value % bound, "should be a multiple of {}"),
    ("minLength", str, lambda value, bound: len(value) < bound, "should be at least {} chars long"),
    ("maxLength", str, lambda value, bound: len(value) > bound, "should be at most {} chars long"),
    ("minItems", list, lambda value, bound: len(value) < bound, "should have at least {} items"),
    ("maxItems", list, lambda value, bound: len(value) > bound, "should have at most {} items"),
    ("minProperties", Mapping, lambda value, bound: len(value) < bound, "should have at least {} properties"),
    ("maxProperties", Mapping, lambda value, bound: len(value) > bound, "should have at most {} properties"),
    ("pattern", str, lambda value, bound: not matches_pattern(bound, value), "should match '{}'"),
    ("format", str, lambda value, bound: bound == "date-time" and not is_time(value), "must be of type {}"),
)


def matches_pattern(pattern: str, value: str) -> bool:
    """Return whether a text matches a schema's pattern; RE2, as in Go, takes linear time."""
    try:
        return re2.search(pattern, value) is not None
    except re2.error:
        return False


def _bound_errors(schema: Mapping[str, Any], value: Any, path: str) -> Errors:
    found = []
    for name, types, breaks, words in _BOUNDS:
        bound = schema.get(name)
        if bound is None or not isinstance(value, types) or isinstance(value, bool) or not breaks(value, bound):
            continue
        shown = value if isinstance(value, str | int | float) else len(value)
        if name in ("maxLength", "maxItems", "maxProperties") and not isinstance(value, int):
            kind = "Too long" if name == "maxLength" else "Too many"
            items = f"must have at most {bound} item{'s' * (bound != 1)}"
            said = f"may not be more than {bound} byte{'s' * (bound != 1)}" if name == "maxLength" else items
            found.append(FieldError(path, "" if name == "maxLength" else f"{shown}", said, kind=kind))
        else:
            said = f"{path} in body {words.format(bound)}" + (f": {quote(shown)}" if name == "format" else "")
            found.append(FieldError(path, quote(shown), said, kind="Invalid value"))
        if isinstance(value, str):  # of the errors of a text, only the first is reported
            break
    return found


@lru_cache(maxsize=256)
def _program(rule: str, updates: bool) -> Any:
    names = {"self": DYN, "oldSelf": DYN} if updates else {"self": DYN}
    return Environment(names).compile(rule)


_REASONS = {
    "FieldValueForbidden": "Forbidden",
    "FieldValueRequired": "Required value",
    "FieldValueDuplicate": "Duplicate value",
}


def _message_of(rule: Mapping[str, Any], values: Mapping[str, Any], updates: bool) -> str:
    """Return the message of a violated rule."""
    if rule.get("messageExpression"):
        said = _program(rule["messageExpression"], updates).evaluate(values, limit=_COST).value
        if isinstance(said, str) and said.strip():
            return said
    return str(rule.get("message") or f"failed rule: {rule['rule']}")


def escape(name: str) -> str:
    """Return the name of a field in rules."""
    for text, words in (("__", "__underscores__"), (".", "__dot__"), ("-", "__dash__"), ("/", "__slash__")):
        name = name.replace(text, words)
    return f"__{name}__" if name in _RESERVED else name


_RESERVED = (
    *("true", "false", "null", "in", "as", "break", "const", "continue", "else", "for", "function", "if", "import"),
    *("let", "loop", "package", "namespace", "return"),
)


def _escape_all(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {escape(name): _escape_all(each) for name, each in value.items()}
    return [_escape_all(each) for each in value] if isinstance(value, list) else value


def _check_rules(schema: Mapping[str, Any], value: Any, old: Any, path: str, errors: Errors) -> None:
    """Check the CEL rules of a schema. Rules about `oldSelf` apply only if the old value exists and has changed."""
    if old == value:
        return
    for rule in schema.get("x-kubernetes-validations") or ():
        updates = "oldSelf" in rule["rule"]
        if updates and old is None:
            continue
        try:
            values = {"self": value, "oldSelf": old} if updates else {"self": value}
            values = _escape_all(values) if "__" in rule["rule"] else values
            outcome = _program(rule["rule"], updates).evaluate(values, limit=_COST)
        except CompileError as wrong:
            errors.append(FieldError(path, "", str(wrong), kind="Internal error"))
            continue
        if outcome.value is not True:
            message = _message_of(rule, values, updates)
            said = f"{outcome.error} evaluating rule: {message}" if outcome.error else message
            kind = _REASONS.get(rule.get("reason") or "", "Invalid value")
            shown = json.dumps(schema.get("type") or "object") if kind in ("Invalid value", "Duplicate value") else ""
            errors.append(FieldError(f"{path}{rule.get('fieldPath') or ''}".lstrip("."), shown, said, kind=kind))
    if isinstance(value, list):
        for i, each in enumerate(value):
            _check_rules(schema.get("items") or {}, each, None, f"{path}[{i}]", errors)
    elif isinstance(value, Mapping):
        for name, each in value.items():
            if (inner := schema_of_field(schema, name)) is not None:
                before = old.get(name) if isinstance(old, Mapping) else None
                _check_rules(inner, each, before, f"{path}.{name}" if path else str(name), errors)


def remove_objects(store: Store, definition: Mapping[str, Any]) -> None:
    """Remove the objects of a deleted definition."""
    spec = definition["spec"]
    key = f"{spec['names']['kind']}.{spec['group']}"
    for namespace, name in list(store.keys(key)):
        store.remove(key, namespace, name)
