"""CustomResourceDefinitions: validation and establishing. definitions.json has the rules, in CEL.

A rule has the field to check ("": always), the field of the error, the error's class and text, and the condition of the error.

kube: apiextensions-apiserver/pkg/{apis/apiextensions/validation/validation.go,apiserver/schema/{validation,structural}.go} @ v0.34.1
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import re2

from scheduler_core.apimachinery import cel
from scheduler_core.apimachinery.cel.types import DOUBLE
from scheduler_core.apimachinery.objects.errors import Errors, FieldError, encode
from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apimachinery.objects.names import label1035_errors
from scheduler_core.apiserver.door.custom.crds import check_value, escape, prune_value, schema_of_field
from scheduler_core.apiserver.status import Refused

Schema = Mapping[str, Any]
_DATA: Mapping[str, Any] = json.loads(Path(__file__).with_suffix(".json").read_text())
_COST = 1_000_000
_LIST = "x-kubernetes-list-type"
_FREE = ("x-kubernetes-int-or-string", "x-kubernetes-preserve-unknown-fields", "$ref")
_INT_OR_STRING = [{"type": "integer"}, {"type": "string"}]  # the only types that kube allows in anyOf
_PARTS = ("schema", "subresources", "additionalPrinterColumns", "selectableFields")
_QUIET = re2.Options()
_QUIET.log_errors = False


@cache
def _program(when: str) -> cel.Program:
    return cel.Environment({"self": cel.DYN}).compile(when, None)


def _judge(part: str, place: str, node: Schema, errors: Errors) -> None:
    """Add the errors of the rules of a part."""
    node = {**_DATA["blanks"].get(part, {}), **node}
    for field, suffix, kind, words, when in _DATA["rules"][part]:
        if not field or node.get(field) is not None:
            if _program(when).evaluate({"self": node}, limit=_COST).value is True:
                shown: Any = node
                for quoted, bare in re.findall(r"\[([^\]]*)\]|([^.\[]+)", suffix):
                    shown = _mapping(shown).get(quoted or bare)
                received = encode(shown) if kind not in ("Forbidden", "Required value") else ""
                errors.append(FieldError(f"{place}{suffix}", received, words, kind=kind))


def _mapping(value: Any) -> Schema:
    return value if isinstance(value, Mapping) else {}


def _children(schema: Schema, path: str, within: str) -> Iterator[tuple[Schema, str, str, str]]:
    """Yield the schemas directly below one, each with its path, the outermost list without keys that contains it, and its role."""
    for name, inner in (schema.get("properties") or {}).items():
        yield inner, f"{path}.properties[{name}]", within, "object fields"
    if isinstance(schema.get("items"), Mapping):
        yield schema["items"], f"{path}.items", within or ("" if schema.get(_LIST) == "map" else path), "array items"
    if isinstance(schema.get("additionalProperties"), Mapping):
        yield schema["additionalProperties"], f"{path}.additionalProperties", within, "object fields"


def _check_schema(schema: Schema, path: str, errors: Errors) -> None:
    """Add errors for violations of structural schemas."""
    _judge("schema", f"{path}.", schema, errors)
    item = _mapping(schema.get("items"))
    for key in schema.get("x-kubernetes-list-map-keys") or () if schema.get(_LIST) == "map" else ():
        if inner := (item.get("properties") or {}).get(key):
            _judge(
                "key",
                f"{path}.items.properties[{key}].",
                {**inner, "required": key in (item.get("required") or ())},
                errors,
            )
    either = bool(schema.get(_FREE[0])) and [dict(each) for each in schema.get("anyOf") or ()] == _INT_OR_STRING
    for name in ("anyOf", "allOf", "oneOf"):
        for i, each in enumerate(() if either and name == "anyOf" else schema.get(name) or ()):
            _judge("within", f"{path}.{name}[{i}].", each, errors)
    try:
        re2.compile(str(schema.get("pattern") or ""), _QUIET)
    except re2.error as wrong:
        what, _, part = wrong.args[0].decode().replace("missing )", "missing closing )").partition(": ")
        said = f"must be a valid regular expression, but isn't: error parsing regexp: {what}: `{part}`"
        errors.invalid(f"{path}.pattern", schema["pattern"], said)
    if schema.get("default") is not None and not errors:
        found, unknown = Errors(), list[str]()
        check_value(schema, prune_value(schema, schema["default"], "", unknown), "", found)
        errors.invalid(f"{path}.default", schema["default"], "must not have unknown fields", when=unknown)
        for each in found:
            place = f"{path}.default{'.' * bool(each.path)}{each.path}"
            errors.append(FieldError(place, each.received, each.expected, kind=each.kind))
    for inner, place, _, what in _children(schema, path, ""):
        needs = not inner.get("type") and not any(inner.get(each) for each in _FREE)
        errors.required(f"{place}.type", f"must not be empty for specified {what}", when=needs)
        _check_schema(inner, place, errors)


def _declare(schema: Schema, name: str, structs: dict[str, dict[str, cel.Type]], is_root: bool = False) -> cel.Type:
    """Return the type of a schema in rules. `structs`: the fields of its objects, by their names in rules."""
    others, type_ = schema.get("additionalProperties"), schema.get("type") or ""
    if schema.get(_FREE[0]) or schema.get("format") in ("byte", "date", "date-time", "duration"):
        return cel.DYN
    if type_ == "array":
        return cel.list_of(_declare(_mapping(schema.get("items")), f"{name}.@idx", structs))
    if type_ == "object" and isinstance(others, Mapping):
        return cel.map_of(cel.STRING, _declare(others, f"{name}.@elem", structs))
    if type_ != "object" or not (is_root or schema.get("properties")):
        scalars = {"string": cel.STRING, "boolean": cel.BOOL, "integer": cel.INT, "number": DOUBLE}
        return scalars.get(type_, cel.DYN)
    fields = {
        escape(key): _declare(each, f"{name}.{key}", structs) for key, each in (schema.get("properties") or {}).items()
    }
    if is_root or schema.get("x-kubernetes-embedded-resource"):
        fields |= {"apiVersion": cel.STRING, "kind": cel.STRING, "metadata": cel.struct(f"{name}.metadata")}
        structs[f"{name}.metadata"] = {"name": cel.STRING, "generateName": cel.STRING}
    structs[name] = fields
    return cel.struct(name)


def _check_rules(schema: Schema, path: str, within: str, errors: Errors, is_root: bool = True) -> None:
    """Refuse rules that do not compile."""
    for i, rule in enumerate(schema.get("x-kubernetes-validations") or ()):
        place, text = f"{path}.x-kubernetes-validations[{i}].", rule.get("rule") or ""
        _judge("rule", place, rule, errors)
        lost = rule.get("fieldPath") and _find_field(schema, rule["fieldPath"]) is None
        errors.invalid(f"{place}fieldPath", rule.get("fieldPath"), "must be a valid path", when=lost)
        said = f"oldSelf cannot be used on the uncorrelatable portion of the schema within {within}"
        errors.invalid(f"{place}rule", text, said, when="oldSelf" in text and within)
        structs: dict[str, dict[str, cel.Type]] = {}
        own = _declare(schema, "object", structs, is_root)
        environment = cel.Environment({"self": own, "oldSelf": own}, structs)
        shown = encode(_show("shownRule", rule))
        for name, type_, start, other in _EXPRESSIONS:
            if str(rule.get(name) or "").strip():
                try:
                    said = "" if environment.compile(rule[name], None).tree.type in (type_, cel.DYN, cel.ANY) else other
                except cel.CompileError as wrong:
                    said = f"{start}compilation failed: {wrong}"
                if said:
                    errors.append(FieldError(f"{place}{name}", shown, said, kind="Invalid value"))
    for inner, place, free, _ in _children(schema, path, within):
        _check_rules(inner, place, free, errors, False)


_EXPRESSIONS = (
    ("rule", cel.BOOL, "", "cel expression must evaluate to a bool"),
    ("messageExpression", cel.STRING, "messageExpression ", "messageExpression must evaluate to a string"),
)


def _find_field(schema: Schema, path: str) -> Schema | None:
    """Return the schema at a path such as `.spec.size`."""
    found: Any = schema if path.startswith((".", "[")) else None
    for name, key in re.findall(r"\.([^.\[]+)|\['([^']*)'\]", path):
        found = schema_of_field(_mapping(found), name or key)
    return None if found is None else _mapping(found)


def _check_version(version: Schema, place: str, errors: Errors) -> None:
    """Add the errors in a version, except its name. `place`: the path of its parts."""
    schema = _mapping(_mapping(version.get("schema")).get("openAPIV3Schema"))
    if schema:
        where = f"{place}{'validation' if place == 'spec.' else 'schema'}.openAPIV3Schema"
        _judge("root", f"{where}.", schema, errors)
        _check_schema(schema, where, errors)
        if not errors:
            _check_rules(schema, where, "", errors)
    if scale := (version.get("subresources") or {}).get("scale"):
        _judge("scale", f"{place}subresources.scale.", scale, errors)
    for i, column in enumerate(version.get("additionalPrinterColumns") or ()):
        node = {**column, "JSONPath": column.get("jsonPath") or ""}
        _judge("column", f"{place}additionalPrinterColumns[{i}].", node, errors)
    paths = [each.get("jsonPath") or "" for each in version.get("selectableFields") or ()]
    for i, path in enumerate(paths):
        node = {
            "jsonPath": path,
            "seen": path in paths[:i],
            "type": (_find_field(schema, path) or {}).get("type") or "",
        }
        said = f"is an invalid path: expected [ or . but got: {path.partition('.')[0]}"
        bare = path and not node["seen"] and not path.startswith((".", "["))
        errors.invalid(f"{place}selectableFields[{i}].jsonPath", path, said, when=bare)
        _judge("field", f"{place}selectableFields[{i}].", node, errors)


def check_definition(manifest: Manifest, old: Manifest | None = None) -> None:
    """Raise Refused (422) if a definition is invalid."""
    spec, meta, errors = manifest.get("spec") or {}, manifest["metadata"], Errors()
    versions = [each for each in spec.get("versions") or () if isinstance(each, Mapping)]
    filled = {**_DATA["blanks"]["spec"], **spec, "scope": spec.get("scope") or ""}
    filled |= {name: {**_DATA["blanks"][name], **(spec.get(name) or {})} for name in ("names", "conversion")}
    filled |= {"versions": [_show("shownVersion", each, *_PARTS) for each in versions]} if "versions" in spec else {}
    node = {"metadata": {"name": "a", **meta}, "spec": filled, "old": (old or {}).get("spec")}
    node["approved"] = (meta.get("annotations") or {}).get("api-approved.kubernetes.io") or ""
    _judge("first", "", node, errors)
    alike = all(one.get(part) == other.get(part) for one, other in pairwise(versions) for part in _PARTS)
    for i, each in enumerate(versions):
        _judge("version", f"spec.versions[{i}].", each, errors)
        if not alike:
            _check_version(each, f"spec.versions[{i}].", errors)
    _judge("versions", "", node, errors)
    _judge("names", "spec.names.", filled["names"], errors)
    for part in ("shortNames", "categories"):
        for i, each in enumerate(filled["names"].get(part) or ()):
            errors.problems(f"spec.names.{part}[{i}]", each, label1035_errors(str(each)))
    if alike and versions:
        _check_version(versions[0], "spec.", errors)
    stored = [str(each.get("name")) for each in versions if each.get("storage")]
    kept = (manifest.get("status") or {}).get("storedVersions") if old else sorted(set(stored)) or None
    node["status"] = {"storedVersions": kept}
    _judge("last", "", node, errors)
    errors.invalid("status.storedVersions", None, "must have at least one stored version", when=kept is None)
    for i, each in enumerate(kept or ()):
        why = f"missing from spec.versions; {each} was previously a storage version, and must remain in spec.versions until a storage "
        why += f"migration ensures no data remains persisted in {each} and removes {each} from status.storedVersions"
        errors.invalid(
            f"status.storedVersions[{i}]", each, why, when=each not in {version.get("name") for version in versions}
        )
    _judge("change" if old else "approval", "", node, errors)
    if errors:
        raise Refused.invalid("CustomResourceDefinition.apiextensions.k8s.io", str(meta.get("name") or ""), errors)


def _show(blank: str, given: Schema, *without: str) -> dict[str, Any]:
    """Return a rule or a version in the form of Go's struct."""
    whole = {**_DATA["blanks"][blank], **given, **dict.fromkeys(without)}
    return {name[0].upper() + name[1:]: each for name, each in whole.items()}


def renew(manifest: dict[str, Any], old: Manifest) -> dict[str, Any]:
    """Return an updated definition; versions that were ever stored stay in storedVersions. Raise Refused (422) if it is invalid."""
    spec, known = manifest.get("spec") or {}, (old.get("status") or {}).get("storedVersions") or []
    stored = [each.get("name") for each in spec.get("versions") or () if each.get("storage")]
    more = {"storedVersions": [*known, *(each for each in stored[:1] if each not in known)]}
    manifest = {**manifest, "status": {**(old.get("status") or {}), **more, "acceptedNames": spec.get("names")}}
    check_definition(manifest, old)
    return manifest


def _find_conflict(names: Mapping[str, Any], others: Sequence[Mapping[str, Any]]) -> tuple[str, str] | None:
    """Return the reason and the message if another definition of the group uses one of the names, or None."""
    resources = {each[name] for each in others for name in ("plural", "singular")}
    resources |= {short for each in others for short in each.get("shortNames") or ()}
    kinds = {each[name] for each in others for name in ("kind", "listKind")}
    asked = [("Plural", names["plural"], resources), ("Singular", names["singular"], resources)]
    asked += [("ShortNames", short, resources) for short in names.get("shortNames") or ()]
    asked += [("Kind", names["kind"], kinds), ("ListKind", names["listKind"], kinds)]
    found = [(f"{what}Conflict", f'"{name}" is already in use') for what, name, taken in asked if name in taken]
    return found[-1] if found else None


def establish(manifest: dict[str, Any], timestamp: str, others: Sequence[Manifest] = ()) -> dict[str, Any]:
    """Return a new definition, accepted and established. Raise Refused (422) if it is invalid."""
    spec, names = dict(manifest.get("spec") or {}), dict((manifest.get("spec") or {}).get("names") or {})
    if kind := names.get("kind"):
        names |= {"singular": names.get("singular") or kind.lower(), "listKind": names.get("listKind") or f"{kind}List"}
    spec |= {"names": names, "conversion": spec.get("conversion") or {"strategy": "None"}}
    check_definition({**manifest, "spec": spec})
    words = (
        ("NamesAccepted", "NoConflicts", "no conflicts found"),
        ("Established", "InitialNamesAccepted", _ESTABLISHED),
    )
    status_of = "True"
    of_group = [each["spec"]["names"] for each in others if each["spec"]["group"] == spec["group"]]
    if taken := _find_conflict(names, of_group):
        words = (("NamesAccepted", *taken), ("Established", "NotAccepted", "not all names are accepted"))
        status_of = "False"
    conditions = [
        {"type": type_, "status": status_of, "lastTransitionTime": timestamp, "reason": reason, "message": said}
        for type_, reason, said in words
    ]
    stored = [each["name"] for each in spec["versions"] if each.get("storage")]
    status = {"conditions": conditions, "acceptedNames": names, "storedVersions": stored}
    return {**manifest, "spec": spec, "status": status}


_ESTABLISHED = "the initial names have been accepted"
