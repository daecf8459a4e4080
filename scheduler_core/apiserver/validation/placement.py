"""Validation of a pod's placement: selectors, affinity, tolerations, and topology spread.

kube: pkg/apis/core/validation/validation.go @ v1.34.1
"""

from collections.abc import Mapping, Sequence
from typing import Any

from scheduler_core.apimachinery.objects import PREFERRED, REQUIRED, Errors, FieldError
from scheduler_core.apimachinery.objects.names import label_errors, label_value_errors
from scheduler_core.apiserver.validation import checks
from scheduler_core.apiserver.validation.checks import POSITIVE
from scheduler_core.apiserver.validation.devices.slices import as_go_writes
from scheduler_core.apiserver.validation.rules import one

Spec = Mapping[str, Any]
EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_WEIGHT = "must be in the range 1-100"


def affinity(affinity: Spec, path: str, errors: Errors) -> None:
    _node_affinity(affinity.get("nodeAffinity") or {}, f"{path}.nodeAffinity", errors)
    for kind in ("podAffinity", "podAntiAffinity"):
        _pod_affinity(affinity.get(kind) or {}, f"{path}.{kind}", errors)


def _node_affinity(affinity: Spec, path: str, errors: Errors) -> None:
    if affinity.get(REQUIRED) is not None:
        checks.node_selector(affinity[REQUIRED], f"{path}.{REQUIRED}", errors)
    for i, entry in enumerate(affinity.get(PREFERRED) or ()):
        where = f"{path}.{PREFERRED}[{i}]"
        _weight(entry, where, errors)
        preference = entry.get("preference") or {}
        checks.node_selector_term(preference, f"{where}.preference", errors, check_values=False)


def _pod_affinity(affinity: Spec, path: str, errors: Errors) -> None:
    for i, term in enumerate(affinity.get(REQUIRED) or ()):
        _pod_term(term, f"{path}.{REQUIRED}[{i}]", errors)
    for i, entry in enumerate(affinity.get(PREFERRED) or ()):
        where = f"{path}.{PREFERRED}[{i}]"
        _weight(entry, where, errors)
        _pod_term(entry.get("podAffinityTerm") or {}, f"{where}.podAffinityTerm", errors)


def _weight(entry: Spec, path: str, errors: Errors) -> None:
    weight = entry.get("weight") or 0
    errors.invalid(f"{path}.weight", weight, _WEIGHT, when=not 1 <= weight <= 100)


def _pod_term(term: Spec, path: str, errors: Errors) -> None:
    for field in ("labelSelector", "namespaceSelector"):
        checks.label_selector(term.get(field), f"{path}.{field}", errors)
    for namespace in term.get("namespaces") or ():
        errors.problems(f"{path}.namespace", namespace, label_errors(namespace))
    match, mismatch = term.get("matchLabelKeys") or (), term.get("mismatchLabelKeys") or ()
    _label_keys(match, mismatch, term.get("labelSelector"), path, errors)
    key = term.get("topologyKey") or ""
    errors.required(f"{path}.topologyKey", "can not be empty", when=not key)
    checks.label_name(key, f"{path}.topologyKey", errors)


def _label_keys(
    match: Sequence[str], mismatch: Sequence[str], selector: Spec | None, path: str, errors: Errors
) -> None:
    """Validate matchLabelKeys and mismatchLabelKeys, whose expressions the selector already contains."""
    for field, keys in (("matchLabelKeys", match), ("mismatchLabelKeys", mismatch)):
        if keys and selector is None:
            errors.forbidden(f"{path}.{field}", "must not be specified when labelSelector is not set")
            continue
        for i, key in enumerate(keys):
            checks.label_name(key, f"{path}.{field}[{i}]", errors)
    if selector is not None:
        _no_key_twice(match, selector, path, errors)
    for i, key in enumerate(match):
        if key in mismatch:
            errors.invalid(f"{path}.matchLabelKeys[{i}]", key, "exists in both matchLabelKeys and mismatchLabelKeys")


def _no_key_twice(match: Sequence[str], selector: Spec, path: str, errors: Errors) -> None:
    seen, places = dict.fromkeys(selector.get("matchLabels") or ()), {key: i for i, key in enumerate(match)}
    for expression in selector.get("matchExpressions") or ():
        key = expression.get("key")
        if key in places and key in seen:
            errors.invalid(f"{path}[{places[key]}]", key, "exists in both matchLabelKeys and labelSelector")
        seen[key] = None


def validate_spread_constraints(constraints: Sequence[Spec], path: str, errors: Errors) -> None:
    last = {_pair(constraint): i for i, constraint in enumerate(constraints)}
    for i, constraint in enumerate(constraints):
        where = f"{path}[{i}]"
        if (constraint.get("maxSkew") or 0) <= 0:
            errors.invalid(f"{where}.maxSkew", constraint.get("maxSkew") or 0, POSITIVE)
        errors.required(f"{where}.topologyKey", "can not be empty", when=not constraint.get("topologyKey"))
        action = constraint.get("whenUnsatisfiable") or ""
        if action not in ("DoNotSchedule", "ScheduleAnyway"):
            errors.not_supported(f"{where}.whenUnsatisfiable", action, ("DoNotSchedule", "ScheduleAnyway"))
        pair = _pair(constraint)
        if last[pair] > i:
            errors.duplicate(f"{where}.{{topologyKey, whenUnsatisfiable}}", f"{{{pair[0]}, {pair[1]}}}")
        _min_domains(constraint, action, where, errors)
        for field in ("nodeAffinityPolicy", "nodeTaintsPolicy"):
            one(field, "Honor", "Ignore", empty=True)(constraint, where, errors)
        keys = constraint.get("matchLabelKeys") or ()
        _label_keys(keys, (), constraint.get("labelSelector"), where, errors)
        checks.label_selector(constraint.get("labelSelector"), f"{where}.labelSelector", errors)


def _pair(constraint: Spec) -> tuple[Any, Any]:
    return constraint.get("topologyKey") or "", constraint.get("whenUnsatisfiable") or ""


def _min_domains(constraint: Spec, action: str, path: str, errors: Errors) -> None:
    number = constraint.get("minDomains")
    if number is None:
        return
    errors.invalid(f"{path}.minDomains", number, POSITIVE, when=number <= 0)
    if action != "DoNotSchedule":
        detail = f"can only use minDomains if whenUnsatisfiable=DoNotSchedule, not {action}"
        errors.invalid(f"{path}.minDomains", number, detail)


def tolerations(tolerations: Sequence[Spec], path: str, errors: Errors) -> None:
    for i, toleration in enumerate(tolerations):
        _toleration(toleration, f"{path}[{i}]", errors)


def _toleration(toleration: Spec, path: str, errors: Errors) -> None:
    key, op = toleration.get("key") or "", toleration.get("operator") or ""
    value, effect = toleration.get("value") or "", toleration.get("effect") or ""
    if key:
        checks.label_name(key, f"{path}.key", errors)
    elif op != "Exists":
        detail = 'operator must be Exists when `key` is empty, which means "match all values and all keys"'
        errors.invalid(f"{path}.operator", op, detail)
    if toleration.get("tolerationSeconds") is not None and effect != "NoExecute":
        errors.invalid(f"{path}.effect", effect, "effect must be 'NoExecute' when `tolerationSeconds` is set")
    if op in ("", "Equal"):
        if problems := label_value_errors(value):
            errors.invalid(f"{path}.operator", value, ";".join(problems))
    elif op == "Exists":
        errors.invalid(f"{path}.operator", value, "value must be empty when `operator` is 'Exists'", when=value)
    else:
        errors.not_supported(f"{path}.operator", op, ("Equal", "Exists"))
    one("effect", *EFFECTS)(toleration, path, errors)


def taints(taints: Sequence[Spec], path: str, errors: Errors) -> None:
    """Validate a node's taints."""
    seen: dict[tuple[str, str], None] = {}
    for i, taint in enumerate(taints):
        key, effect = taint.get("key") or "", taint.get("effect") or ""
        where = f"{path}[{i}]"
        checks.label_name(key, f"{where}.key", errors)
        if problems := label_value_errors(taint.get("value") or ""):
            errors.invalid(f"{where}.value", taint.get("value"), ";".join(problems))
        errors.required(f"{where}.effect", when=not effect)
        one("effect", *EFFECTS)(taint, where, errors)
        if (key, effect) in seen:
            detail = "taints must be unique by key and effect pair"
            errors.append(FieldError(where, as_go_writes(taint, "Taint"), detail, kind="Duplicate value"))
        seen[key, effect] = None
