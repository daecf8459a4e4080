"""Validation of ValidatingAdmissionPolicies and their bindings.

DEVIATION: expressions that use the authorizer are not compiled, because no authorizer is available to CEL here.

kube: pkg/apis/admissionregistration/validation/validation.go @ v1.37.2
"""

import re
from collections.abc import Mapping
from typing import Any

from scheduler_core.apimachinery.cel import BOOL, NULL, STRING, Environment, Type
from scheduler_core.apimachinery.objects.errors import Errors, child
from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apimachinery.objects.names import list_qualified_name_errors, path_segment_errors, subdomain_errors
from scheduler_core.apiserver.expressions import asks_authorizer, compile_expression, compose, environment_of
from scheduler_core.apiserver.validation.checks import label_selector
from scheduler_core.apiserver.validation.rules import Object, Rule, each, inner, need, obey, one, validate_name

WEBHOOK_RULE: tuple[Rule, ...] = (
    need("operations", "apiGroups", "apiVersions", "resources"),
    one("scope", "*", "Cluster", "Namespaced"),
)
_REASONS = ("Forbidden", "Invalid", "RequestEntityTooLarge")


def _names(value: Object, path: str, errors: Errors) -> None:
    for i, name in enumerate(value.get("resourceNames") or ()):
        errors.problems(f"{path}.resourceNames[{i}]", name, path_segment_errors(name))


def _selectors(value: Object, path: str, errors: Errors) -> None:
    for field in ("namespaceSelector", "objectSelector"):
        label_selector(value.get(field), child(path, field), errors)


_MATCH: tuple[Rule, ...] = (
    one("matchPolicy", "Equivalent", "Exact", empty=True),
    _selectors,
    each("resourceRules", _names, *WEBHOOK_RULE),
    each("excludeResourceRules", _names, *WEBHOOK_RULE),
)


def validate_policy(manifest: Manifest, errors: Errors) -> None:
    spec: Mapping[str, Any] = manifest.get("spec") or {}
    one("failurePolicy", "Fail", "Ignore", empty=True)(spec, "spec", errors)
    inner("paramKind", need("apiVersion", "kind"))(spec, "spec", errors)
    constraints = spec.get("matchConstraints")
    if constraints is None:
        errors.required("spec.matchConstraints")
    else:
        obey(_MATCH, constraints, "spec.matchConstraints", errors)
        errors.required("spec.matchConstraints.resourceRules", when=not constraints.get("resourceRules"))
    bare = compose((), spec.get("paramKind") is not None)[0]
    environment, variables = environment_of(spec)
    _expressions(spec, "matchConditions", bare, errors)
    for i, variable in enumerate(spec.get("variables") or ()):
        where, name = f"spec.variables[{i}]", str(variable.get("name") or "")
        if not errors.required(f"{where}.name", "name is not specified", when=not name.strip()):
            sound = re.fullmatch("[_a-zA-Z][_a-zA-Z0-9]*", name)
            errors.invalid(f"{where}.name", name, "must be a valid CEL identifier", when=not sound)
        text, wrong = str(variable.get("expression") or ""), variables.get(name)
        if not errors.required(f"{where}.expression", "expression is not specified", when=not text.strip()):
            refused = isinstance(wrong, str) and not asks_authorizer((text,))
            errors.invalid(f"{where}.expression", text, str(wrong), when=refused)
    if not spec.get("validations") and not spec.get("auditAnnotations"):
        for part in ("validations", "auditAnnotations"):
            errors.required(f"spec.{part}", "validations or auditAnnotations must contain at least one item")
    _expressions(spec, "validations", environment, errors)
    for i, annotation in enumerate(spec.get("auditAnnotations") or ()):
        key, where = annotation.get("key") or "", f"spec.auditAnnotations[{i}]"
        name = f"{manifest['metadata'].get('name') or ''}/{key}"
        errors.problems(f"{where}.key", name, list_qualified_name_errors(name))
        text = str(annotation.get("valueExpression") or "")
        _check(
            environment, text, f"{where}.valueExpression", errors, (STRING, NULL), "valueExpression is not specified"
        )


def _check(
    environment: Environment, text: str, path: str, errors: Errors, types: tuple[Type, ...], needed: str = ""
) -> None:
    if errors.required(path, needed, when=not text.strip()) or asks_authorizer((text,)):
        return
    wrong = compile_expression(environment, text, *types)
    errors.invalid(path, text, str(wrong), when=isinstance(wrong, str))


def _expressions(spec: Mapping[str, Any], part: str, environment: Environment, errors: Errors) -> None:
    seen: set[str] = set()
    for i, entry in enumerate(spec.get(part) or ()):
        where, text = f"spec.{part}[{i}]", str(entry.get("expression") or "")
        conditions = part == "matchConditions"
        text = text.strip() if conditions else text
        needed = "" if conditions else "expression is not specified"
        _check(environment, text, f"{where}.expression", errors, (BOOL,), needed)
        if conditions:
            validate_name("name", list_qualified_name_errors, needed=True)(entry, where, errors)
            errors.duplicate(f"{where}.name", entry.get("name"), when=entry.get("name") in seen)
            seen.add(entry.get("name") or "")
            continue
        message, said = str(entry.get("message") or ""), str(entry.get("messageExpression") or "")
        if said and not errors.invalid(
            f"{where}.messageExpression", said, "must be non-empty if specified", when=not said.strip()
        ):
            _check(environment, said, f"{where}.messageExpression", errors, (STRING,))
        if not errors.invalid(
            f"{where}.message", message, "must be non-empty if specified", when=message and not message.strip()
        ):
            breaks = re.search(r"[\n\r]", message.strip())
            errors.invalid(f"{where}.message", message, "must not contain line breaks", when=breaks)
        one("reason", *_REASONS, empty=True)(entry, where, errors)


def validate_binding(manifest: Manifest, errors: Errors) -> None:
    spec: Mapping[str, Any] = manifest.get("spec") or {}
    validate_name("policyName", subdomain_errors, needed=True)(spec, "spec", errors)
    reference = spec.get("paramRef")
    if reference is not None:
        where, name, both = "spec.paramRef", reference.get("name") or "", "name and selector are mutually exclusive"
        selects = reference.get("selector") is not None
        errors.problems(f"{where}.name", name, path_segment_errors(name) if name else ())
        errors.forbidden(f"{where}.name", both, when=name and selects)
        label_selector(reference.get("selector"), f"{where}.selector", errors)
        errors.forbidden(f"{where}.selector", both, when=name and selects)
        errors.required(where, "one of name or selector must be specified", when=not name and not selects)
        obey(
            (need("parameterNotFoundAction"), one("parameterNotFoundAction", "Deny", "Allow")), reference, where, errors
        )
    inner("matchResources", *_MATCH)(spec, "spec", errors)
    actions = list(spec.get("validationActions") or ())
    for i, action in enumerate(actions):
        where = f"spec.validationActions[{i}]"
        errors.not_supported(where, action, ("Audit", "Deny", "Warn"), when=action not in ("Audit", "Deny", "Warn"))
        errors.duplicate(where, action, when=action in actions[:i])
    why = "repeating the same validation failure information in the API response and headers serves no purpose"
    both = f"must not contain both Deny and Warn ({why})"
    errors.invalid("spec.validationActions", actions, both, when={"Deny", "Warn"} <= set(actions))
    errors.required("spec.validationActions", when=not actions)
