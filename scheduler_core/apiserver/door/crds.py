"""CustomResourceDefinitions: what they say of objects.

kube: apiextensions-apiserver/pkg/{controller/openapi,apiserver/validation,apiserver/schema} @ v0.34.1
"""

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import re2

from scheduler_core.apimachinery.cel import DYN, CompileError, Environment
from scheduler_core.apimachinery.objects.errors import (
    FieldError,
    build_required_error,
    encode,
    invalid,
    not_supported,
    quote,
)
from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apiserver.door.bodies.decoding import is_time
from scheduler_core.apiserver.door.resources import Resource
from scheduler_core.apiserver.door.tables.jsonpath import find_path
from scheduler_core.apiserver.status import Refused
from scheduler_core.apiserver.store import Store


def schema_of(resource: Resource) -> Mapping[str, Any]:
    """The schema of a custom resource; empty where its definition has none."""
    schema: Mapping[str, Any] = ((resource.definition or {}).get("schema") or {}).get("openAPIV3Schema") or {}
    return schema


# What a schema makes of an object: fields it does not have go, defaults come, and the rest is checked.

Errors = list[FieldError]
_KEPT = ("apiVersion", "kind", "metadata")
_TYPES: Mapping[str, Any] = {"string": str, "boolean": bool, "array": list, "object": Mapping}
_COST = 10_000_000
_BLOCKING = ("Required value", "Unsupported value", "Too long", "Too many")  # no rule is looked at then


def prune(resource: Resource, manifest: Mapping[str, Any], unknown: list[str]) -> dict[str, Any]:
    """An object without the fields that its schema does not have, whose paths are noted; nulls that may not be are gone."""
    schema = schema_of(resource)
    kept = {name: manifest[name] for name in _KEPT if name in manifest}
    rest = {name: value for name, value in manifest.items() if name not in _KEPT}
    if resource.definition is None or not schema:
        return {**kept, **rest}
    return {**kept, **_prune(schema, rest, "", unknown)}


def _prune(schema: Mapping[str, Any], value: Any, path: str, unknown: list[str]) -> Any:
    if isinstance(value, list):
        items = schema.get("items") or {}
        return [_prune(items, each, f"{path}[{i}]", unknown) for i, each in enumerate(value)]
    if not isinstance(value, Mapping):
        return value
    properties, others = schema.get("properties") or {}, schema.get("additionalProperties")
    keeps = schema.get("x-kubernetes-preserve-unknown-fields") or others is True
    found: dict[str, Any] = {}
    for name, each in value.items():
        where = f"{path}.{name}" if path else str(name)
        inner = properties.get(name, others if isinstance(others, Mapping) else None)
        if inner is not None:
            if each is not None or inner.get("nullable"):
                found[name] = _prune(inner, each, where, unknown)
        elif keeps or (schema.get("x-kubernetes-embedded-resource") and name in _KEPT):
            found[name] = each
        else:
            unknown.append(where)
    return found


def _with_defaults(schema: Mapping[str, Any], value: Any) -> Any:
    if isinstance(value, list):
        return [_with_defaults(schema.get("items") or {}, each) for each in value]
    if not isinstance(value, Mapping):
        return value
    found = dict(value)
    others = schema.get("additionalProperties")
    for name, inner in (schema.get("properties") or {}).items():
        if name not in found and "default" in inner:
            found[name] = inner["default"]
    for name, each in found.items():
        inner = (schema.get("properties") or {}).get(name, others if isinstance(others, Mapping) else None)
        if inner is not None:
            found[name] = _with_defaults(inner, each)
    return found


def check(resource: Resource, manifest: Mapping[str, Any], old: Mapping[str, Any] | None) -> dict[str, Any]:
    """An object with its schema's defaults. Refused: 422, where it is not as the schema says."""
    schema = schema_of(resource)
    rest = {name: value for name, value in manifest.items() if name not in _KEPT}
    filled = _with_defaults(schema, rest)
    errors: Errors = []
    _check(schema, filled, "", errors)
    if old is not None:  # what an update leaves as it was is not judged again
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
    """An object as the rules at its root see it: of the metadata, the names alone."""
    meta = {name: manifest["metadata"][name] for name in ("name", "generateName") if manifest["metadata"].get(name)}
    return {**filled, "apiVersion": manifest.get("apiVersion"), "kind": manifest.get("kind"), "metadata": meta}


def _check(schema: Mapping[str, Any], value: Any, path: str, errors: Errors) -> None:
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
            _check(schema.get("items") or {}, each, f"{path}[{i}]", errors)
    elif isinstance(value, Mapping):
        for name in schema.get("required") or ():
            if name not in value:
                errors.append(build_required_error(f"{path}.{name}" if path else name))
        others = schema.get("additionalProperties")
        for name, each in value.items():
            inner = (schema.get("properties") or {}).get(name, others if isinstance(others, Mapping) else None)
            if inner is not None:
                _check(inner, each, f"{path}.{name}" if path else str(name), errors)


def _check_duplicates(schema: Mapping[str, Any], value: Any, path: str, errors: Errors) -> None:
    """Refuses items of a set or a map that are there twice."""
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
            said = f"may not be more than {bound} bytes" if name == "maxLength" else items
            found.append(FieldError(path, "" if name == "maxLength" else f"{shown}", said, kind=kind))
        else:
            said = f"{path} in body {words.format(bound)}" + (f": {quote(shown)}" if name == "format" else "")
            found.append(FieldError(path, quote(shown), said, kind="Invalid value"))
        if isinstance(value, str):  # of a text, the first alone is told
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
    """The words of a rule that does not hold."""
    if rule.get("messageExpression"):
        said = _program(rule["messageExpression"], updates).evaluate(values, limit=_COST).value
        if isinstance(said, str) and said.strip():
            return said
    return str(rule.get("message") or f"failed rule: {rule['rule']}")


def _check_rules(schema: Mapping[str, Any], value: Any, old: Any, path: str, errors: Errors) -> None:
    """Checks the CEL rules of a schema; those about `oldSelf` only where there is an old value that has changed."""
    if old == value:
        return
    for rule in schema.get("x-kubernetes-validations") or ():
        updates = "oldSelf" in rule["rule"]
        if updates and old is None:
            continue
        try:
            values = {"self": value, "oldSelf": old} if updates else {"self": value}
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
        others = schema.get("additionalProperties")
        for name, each in value.items():
            inner = (schema.get("properties") or {}).get(name, others if isinstance(others, Mapping) else None)
            if inner is not None:
                before = old.get(name) if isinstance(old, Mapping) else None
                _check_rules(inner, each, before, f"{path}.{name}" if path else str(name), errors)


# A definition's own life.


_SCHEMA_TYPES = ("array", "boolean", "integer", "number", "object", "string")


def _check_structure(schema: Mapping[str, Any], path: str, errors: Errors) -> None:
    """Refuses a schema whose fields and items have no type."""
    for name, inner in (schema.get("properties") or {}).items():
        here = f"{path}.properties[{name}]"
        free = ("x-kubernetes-int-or-string", "x-kubernetes-preserve-unknown-fields")
        if not inner.get("type") and not any(inner.get(each) for each in free):
            errors.append(build_required_error(f"{here}.type", "must not be empty for specified object fields"))
        if inner.get("type", "object") not in _SCHEMA_TYPES:
            errors.append(not_supported(f"{here}.type", inner["type"], _SCHEMA_TYPES))
        if inner.get("type") == "array" and "items" not in inner:
            errors.append(build_required_error(f"{here}.items", "must be specified"))
        _check_structure(inner, here, errors)
    for name in ("items", "additionalProperties"):
        if isinstance(schema.get(name), Mapping):
            _check_structure(schema[name], f"{path}.{name}", errors)


def _is_of_group(definition: Mapping[str, Any], group: str) -> bool:
    return bool(definition["spec"]["group"] == group)


def _find_conflict(names: Mapping[str, Any], others: Sequence[Mapping[str, Any]]) -> tuple[str, str] | None:
    """The reason and the words where another definition of the group has one of the names."""
    resources = {each[name] for each in others for name in ("plural", "singular")}
    resources |= {short for each in others for short in each.get("shortNames") or ()}
    kinds = {each[name] for each in others for name in ("kind", "listKind")}
    asked = [("Plural", names["plural"], resources), ("Singular", names["singular"], resources)]
    asked += [("ShortNames", short, resources) for short in names.get("shortNames") or ()]
    asked += [("Kind", names["kind"], kinds), ("ListKind", names["listKind"], kinds)]
    found = [(f"{what}Conflict", f'"{name}" is already in use') for what, name, taken in asked if name in taken]
    return found[-1] if found else None


def establish(manifest: dict[str, Any], timestamp: str, others: Sequence[Manifest] = ()) -> dict[str, Any]:
    """A new definition, accepted and established. Refused: 422, where its name or scope is wrong."""
    spec = dict(manifest.get("spec") or {})
    names, name = dict(spec.get("names") or {}), str(manifest["metadata"].get("name"))
    wanted = f"{names.get('plural')}.{spec.get('group')}"
    errors: Errors = []
    if name != wanted:
        errors.append(invalid("metadata.name", name, 'must be spec.names.plural+"."+spec.group'))
    if "." not in str(spec.get("group") or ""):
        errors.append(invalid("spec.group", spec.get("group"), "should be a domain with at least one dot"))
    if spec.get("scope") not in ("Cluster", "Namespaced"):
        errors.append(not_supported("spec.scope", spec.get("scope") or "", ("Cluster", "Namespaced")))
    versions = [each for each in spec.get("versions") or () if isinstance(each, Mapping)]
    if sum(bool(each.get("storage")) for each in versions) != 1:
        errors.append(invalid("spec.versions", versions, "must have exactly one version marked as storage version"))
    if not names.get("kind"):
        errors.append(build_required_error("spec.names.kind"))
    for i, each in enumerate(versions):
        where = "spec.validation" if len(versions) == 1 else f"spec.versions[{i}].schema"
        schema = (each.get("schema") or {}).get("openAPIV3Schema")
        if schema is None:
            errors.append(build_required_error(f"spec.versions[{i}].schema.openAPIV3Schema", "schemas are required"))
        else:
            _check_structure(schema, f"{where}.openAPIV3Schema", errors)
    if errors:
        raise Refused.invalid("CustomResourceDefinition.apiextensions.k8s.io", name, errors)
    names.setdefault("singular", str(names["kind"]).lower())
    names.setdefault("listKind", f"{names['kind']}List")
    spec |= {"names": names, "conversion": spec.get("conversion") or {"strategy": "None"}}
    words = (
        ("NamesAccepted", "NoConflicts", "no conflicts found"),
        ("Established", "InitialNamesAccepted", _ESTABLISHED),
    )
    status_of = "True"
    if taken := _find_conflict(names, [each["spec"]["names"] for each in others if _is_of_group(each, spec["group"])]):
        words = (("NamesAccepted", *taken), ("Established", "NotAccepted", "not all names are accepted"))
        status_of = "False"
    conditions = [
        {"type": type_, "status": status_of, "lastTransitionTime": timestamp, "reason": reason, "message": said}
        for type_, reason, said in words
    ]
    stored = [each["name"] for each in versions if each.get("storage")]
    status = {"conditions": conditions, "acceptedNames": names, "storedVersions": stored}
    return {**manifest, "spec": spec, "status": status}


_ESTABLISHED = "the initial names have been accepted"


def remove_objects(store: Store, definition: Mapping[str, Any]) -> None:
    """Takes the objects of a deleted definition away."""
    spec = definition["spec"]
    key = f"{spec['names']['kind']}.{spec['group']}"
    for namespace, name in list(store.keys(key)):
        store.remove(key, namespace, name)
