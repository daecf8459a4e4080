"""Checks that several kinds share: metadata, labels, selectors, resource names and amounts. Words and paths
are kube's.

kube: apimachinery/pkg/api/validation/objectmeta.go, apis/meta/v1/validation, pkg/apis/core/validation @
v1.34.1
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from scheduler_core.objects.errors import (
    FieldError,
    duplicate,
    forbidden,
    invalid,
    keyed,
    not_supported,
    required,
)
from scheduler_core.objects.names import (
    label_errors,
    label_value_errors,
    qualified_name_errors,
    subdomain_errors,
)
from scheduler_core.objects.quantity import NANO, nanos
from scheduler_core.objects.resources import CPU, HUGE_PAGES, MEMORY, is_extended_name

NameCheck = Callable[[str], tuple[str, ...]]
Errors = list[FieldError]

NOT_NEGATIVE = "must be greater than or equal to 0"
POSITIVE = "must be greater than zero"
_CONTAINER_RESOURCES = (CPU, MEMORY, "ephemeral-storage")
STANDARD_RESOURCES = (
    *_CONTAINER_RESOURCES,
    *(f"{side}.{name}" for side in ("requests", "limits") for name in _CONTAINER_RESOURCES),
    *("pods", "resourcequotas", "services", "replicationcontrollers", "secrets", "configmaps"),
    *(
        "persistentvolumeclaims",
        "storage",
        "requests.storage",
        "services.nodeports",
        "services.loadbalancers",
    ),
)


def one_of(errors: Errors, path: str, value: Any, supported: Iterable[str]) -> None:
    """An absent value passes."""
    names = tuple(supported)
    if value and value not in names:
        errors.append(not_supported(path, value, names))


def metadata(manifest: Mapping[str, Any], namespaced: bool, name_check: NameCheck, errors: Errors) -> None:
    meta = manifest.get("metadata") or {}
    name, namespace = meta.get("name") or "", meta.get("namespace") or ""
    if name:
        errors += [invalid("metadata.name", name, problem) for problem in name_check(name)]
    else:
        errors.append(required("metadata.name", "name or generateName is required"))
    if namespace and namespaced:
        errors += [invalid("metadata.namespace", namespace, problem) for problem in label_errors(namespace)]
    elif namespace:
        errors.append(forbidden("metadata.namespace", "not allowed on this type"))
    labels(meta.get("labels"), "metadata.labels", errors)
    for key in meta.get("annotations") or ():
        problems = qualified_name_errors(key.lower())
        errors += [invalid("metadata.annotations", key, problem) for problem in problems]


def labels(labels: Mapping[str, str] | None, path: str, errors: Errors) -> None:
    for key, value in (labels or {}).items():
        label_name(key, path, errors)
        errors += [invalid(path, value, problem) for problem in label_value_errors(value)]


def label_name(name: str, path: str, errors: Errors) -> None:
    errors += [invalid(path, name, problem) for problem in qualified_name_errors(name)]


def label_selector(selector: Mapping[str, Any] | None, path: str, errors: Errors) -> None:
    if selector is None:
        return
    labels(selector.get("matchLabels"), f"{path}.matchLabels", errors)
    for i, expression in enumerate(selector.get("matchExpressions") or ()):
        _requirement(expression, f"{path}.matchExpressions[{i}]", errors, ordered=False)
        _values(expression, f"{path}.matchExpressions[{i}]", errors)


def node_selector_term(term: Mapping[str, Any], path: str, errors: Errors, *, check_values: bool) -> None:
    for i, expression in enumerate(term.get("matchExpressions") or ()):
        where = f"{path}.matchExpressions[{i}]"
        _requirement(expression, where, errors, ordered=True)
        if check_values:
            _values(expression, where, errors)
    for i, expression in enumerate(term.get("matchFields") or ()):
        _field_requirement(expression, f"{path}.matchFields[{i}]", errors)


def node_selector(selector: Mapping[str, Any], path: str, errors: Errors) -> None:
    terms = selector.get("nodeSelectorTerms") or ()
    if not terms:
        errors.append(required(f"{path}.nodeSelectorTerms", "must have at least one node selector term"))
    for i, term in enumerate(terms):
        node_selector_term(term, f"{path}.nodeSelectorTerms[{i}]", errors, check_values=True)


def _requirement(expression: Mapping[str, Any], path: str, errors: Errors, *, ordered: bool) -> None:
    op, values = expression.get("operator") or "", expression.get("values") or ()
    where = f"{path}.values"
    if op in ("In", "NotIn"):
        if not values:
            errors.append(required(where, "must be specified when `operator` is 'In' or 'NotIn'"))
    elif op in ("Exists", "DoesNotExist"):
        if values:
            errors.append(
                forbidden(where, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")
            )
    elif ordered and op in ("Gt", "Lt"):
        if len(values) != 1:
            errors.append(required(where, "must be specified single value when `operator` is 'Lt' or 'Gt'"))
    else:
        errors.append(invalid(f"{path}.operator", op, "not a valid selector operator"))
    label_name(expression.get("key") or "", f"{path}.key", errors)


def _values(expression: Mapping[str, Any], path: str, errors: Errors) -> None:
    for i, value in enumerate(expression.get("values") or ()):
        errors += [invalid(f"{path}.values[{i}]", value, problem) for problem in label_value_errors(value)]


def _field_requirement(expression: Mapping[str, Any], path: str, errors: Errors) -> None:
    op, values = expression.get("operator") or "", expression.get("values") or ()
    if op not in ("In", "NotIn"):
        errors.append(invalid(f"{path}.operator", op, "not a valid selector operator"))
    elif len(values) != 1:
        detail = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"
        errors.append(required(f"{path}.values", detail))
    key = expression.get("key") or ""
    if key != "metadata.name":
        errors.append(invalid(f"{path}.key", key, "not a valid field selector key"))
        return
    for i, value in enumerate(values):
        errors += [invalid(f"{path}.values[{i}]", value, problem) for problem in subdomain_errors(value)]


def amount(name: str, quantity: Any, path: str, errors: Errors) -> None:
    """A quantity of a resource: not negative, whole where it counts things."""
    count = nanos(quantity)
    if count < 0:
        errors.append(invalid(path, str(quantity), NOT_NEGATIVE))
    if count % NANO and (name == "pods" or is_extended_name(name)):
        errors.append(invalid(path, quantity, "must be an integer"))


def resource_requirements(resources: Mapping[str, Any], path: str, errors: Errors) -> None:
    """Requests and limits of a container or, with paths of its own, of a pod."""
    limits, requests = resources.get("limits") or {}, resources.get("requests") or {}
    for side, amounts in (("limits", limits), ("requests", requests)):
        for name, quantity in amounts.items():
            where = keyed(f"{path}.{side}", name)
            resource_name(name, where, errors)
            amount(name, quantity, where, errors)
    for name, quantity in requests.items():
        _within_limit(name, quantity, limits, path, errors)
    names = (*limits, *requests)
    if any(name.startswith(HUGE_PAGES) for name in names) and CPU not in names and MEMORY not in names:
        errors.append(forbidden(path, "HugePages require cpu or memory"))


def resource_name(name: str, path: str, errors: Errors) -> None:
    problems = qualified_name_errors(name)
    if problems:
        errors += [invalid(path, name, problem) for problem in problems]
    elif "/" not in name:
        if name not in STANDARD_RESOURCES and not name.startswith(HUGE_PAGES):
            errors.append(invalid(path, name, "must be a standard resource type or fully qualified"))
        if name not in _CONTAINER_RESOURCES and not name.startswith(HUGE_PAGES):
            errors.append(invalid(path, name, "must be a standard resource for containers"))
    elif "kubernetes.io/" not in name and not is_extended_name(name):
        errors.append(invalid(path, name, "doesn't follow extended resource name standard"))


def _within_limit(name: str, quantity: Any, limits: Mapping[str, Any], path: str, errors: Errors) -> None:
    shared = ("/" not in name or "kubernetes.io/" in name) and not name.startswith(HUGE_PAGES)
    if name not in limits:
        if not shared:
            errors.append(required(f"{path}.limits", "Limit must be set for non overcommitable resources"))
        return
    request, limit = nanos(quantity), nanos(limits[name])
    if request != limit and not shared:
        detail = f"must be equal to {name} limit of {limits[name]}"
        errors.append(invalid(f"{path}.requests", str(quantity), detail))
    elif request > limit:
        detail = f"must be less than or equal to {name} limit of {limits[name]}"
        errors.append(invalid(f"{path}.requests", str(quantity), detail))


def unique(errors: Errors, seen: dict[str, None], value: str, path: str) -> None:
    """Reports a value met before; remembers a new one."""
    if value in seen:
        errors.append(duplicate(path, value))
    seen[value] = None
