"""Checks for several kinds: metadata, labels, selectors, resource names, and amounts. Texts and paths are kube's.

kube: apimachinery/pkg/api/validation/objectmeta.go, apis/meta/v1/validation, pkg/apis/core/validation @ v1.34.1
"""

import re
from collections.abc import Callable, Mapping
from typing import Any

from scheduler_core.apimachinery.objects.demand import Amount
from scheduler_core.apimachinery.objects.errors import Errors, format_key_path
from scheduler_core.apimachinery.objects.names import (
    label_errors,
    label_value_errors,
    list_qualified_name_errors,
    prefix_errors,
    subdomain_errors,
)
from scheduler_core.apimachinery.objects.quantity import NANO, BadQuantity, nanos, value_of_nanos
from scheduler_core.apimachinery.objects.resources import CPU, HUGE_PAGES, MEMORY, is_extended_name

# Equality in the API server: absent, null, and empty values are equal, and so are quantities of equal amounts.
# kube: apimachinery/pkg/api/equality/semantic.go @ v1.34.1

_AMOUNTS = ("requests", "limits", "overhead", "capacity", "hard", "podFixed", "allocatable")
_PLAIN_BOOLEANS = (
    *("hostNetwork", "hostPID", "hostIPC", "stdin", "stdinOnce", "tty", "readOnly", "paused", "unschedulable"),
)
_NOTHING: tuple[Any, ...] = (None, "", [], {}, ())


# Names of base/api_rules.json, and "pod-level-resize", which is the gate InPlacePodLevelResourcesVerticalScaling.
UpdateRules = frozenset[str]
OLDEST_RULES: UpdateRules = frozenset()


def alike(one: Any, other: Any) -> bool:
    """Return whether two parts of manifests are equal."""
    return one is other or one == other or plain(one) == plain(other)


def plain(value: Any, field: str = "") -> Any:
    """Return a value without empty parts, its quantities as numbers."""
    if isinstance(value, Mapping):
        items = {name: plain(inner, field if field in _AMOUNTS else name) for name, inner in value.items()}
        kept = {name: inner for name, inner in items.items() if not _is_nothing(name, inner)}
        return kept if field not in _AMOUNTS else {name: _amount(value[name]) for name in kept}
    if isinstance(value, list | tuple):
        return [plain(entry) for entry in value]
    return value


def _is_nothing(name: str, value: Any) -> bool:
    if isinstance(value, bool):
        return not value and name in _PLAIN_BOOLEANS
    return not isinstance(value, int | float) and value in _NOTHING


def _amount(quantity: Any) -> Any:
    try:
        return nanos(quantity)
    except (BadQuantity, TypeError):
        return quantity


NameCheck = Callable[[str], tuple[str, ...]]
Check = Callable[[str, str, Errors], None]

IMMUTABLE = "field is immutable"
NOT_NEGATIVE = "must be greater than or equal to 0"
POSITIVE = "must be greater than zero"
_MOST_ANNOTATIONS = 256 * 1024  # bytes
_MILLI = NANO // 1000
_has_exponent = re.compile(r"[eE][+-]?[0-9]+\Z").search
_CONTAINER_RESOURCES = (CPU, MEMORY, "ephemeral-storage")
STANDARD_RESOURCES = (
    *_CONTAINER_RESOURCES,
    *(f"{side}.{name}" for side in ("requests", "limits") for name in _CONTAINER_RESOURCES),
    *("pods", "resourcequotas", "services", "replicationcontrollers", "secrets", "configmaps"),
    *("persistentvolumeclaims", "storage", "requests.storage", "services.nodeports", "services.loadbalancers"),
)

COUNTS = (
    *("pods", "resourcequotas", "services", "replicationcontrollers", "secrets", "configmaps"),
    *("persistentvolumeclaims", "services.nodeports", "services.loadbalancers"),
)


def metadata(manifest: Mapping[str, Any], namespaced: bool, name_check: NameCheck, errors: Errors) -> None:
    meta = manifest.get("metadata") or {}
    name, namespace = meta.get("name") or "", meta.get("namespace") or ""
    if base := meta.get("generateName"):
        errors.problems("metadata.generateName", base, prefix_errors(name_check, base))
    if name:
        errors.problems("metadata.name", name, name_check(name))
    else:
        errors.required("metadata.name", "name or generateName is required")
    if namespace and namespaced:
        errors.problems("metadata.namespace", namespace, label_errors(namespace))
    elif namespace:
        errors.forbidden("metadata.namespace", "not allowed on this type")
    if (generation := meta.get("generation") or 0) < 0:
        errors.invalid("metadata.generation", generation, NOT_NEGATIVE)
    labels(meta.get("labels"), "metadata.labels", errors)
    annotation_keys(meta.get("annotations"), "metadata.annotations", errors)


def labels(labels: Mapping[str, str] | None, path: str, errors: Errors) -> None:
    for key, value in (labels or {}).items():
        label_name(key, path, errors)
        errors.problems(path, value, label_value_errors(value))


def annotation_keys(given: Mapping[str, str] | None, path: str, errors: Errors) -> None:
    """Validate the keys of annotations, and their total size."""
    given = given or {}
    for key in given:
        errors.problems(path, key, list_qualified_name_errors(key.lower()))
    if sum(len(key.encode()) + len(text.encode()) for key, text in given.items()) > _MOST_ANNOTATIONS:
        errors.too_long(path, _MOST_ANNOTATIONS)


def token_seconds(seconds: int | None, path: str, errors: Errors) -> None:
    """Validate the expiration of a service account's token, in seconds."""
    if seconds is not None and seconds < 600:
        errors.invalid(path, seconds, "may not specify a duration less than 10 minutes")
    if seconds is not None and seconds > 2**32:
        errors.invalid(path, seconds, "may not specify a duration larger than 2^32 seconds")


def label_name(name: str, path: str, errors: Errors) -> None:
    errors.problems(path, name, list_qualified_name_errors(name))


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
    errors.required(f"{path}.nodeSelectorTerms", "must have at least one node selector term", when=not terms)
    for i, term in enumerate(terms):
        node_selector_term(term, f"{path}.nodeSelectorTerms[{i}]", errors, check_values=True)


def _requirement(expression: Mapping[str, Any], path: str, errors: Errors, *, ordered: bool) -> None:
    op, values = expression.get("operator") or "", expression.get("values") or ()
    where = f"{path}.values"
    if op in ("In", "NotIn"):
        errors.required(where, "must be specified when `operator` is 'In' or 'NotIn'", when=not values)
    elif op in ("Exists", "DoesNotExist"):
        errors.forbidden(where, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'", when=values)
    elif ordered and op in ("Gt", "Lt"):
        errors.required(where, "must be specified single value when `operator` is 'Lt' or 'Gt'", when=len(values) != 1)
    else:
        errors.invalid(f"{path}.operator", op, "not a valid selector operator")
    label_name(expression.get("key") or "", f"{path}.key", errors)


def _values(expression: Mapping[str, Any], path: str, errors: Errors) -> None:
    for i, value in enumerate(expression.get("values") or ()):
        errors.problems(f"{path}.values[{i}]", value, label_value_errors(value))


def _field_requirement(expression: Mapping[str, Any], path: str, errors: Errors) -> None:
    op, values = expression.get("operator") or "", expression.get("values") or ()
    if op not in ("In", "NotIn"):
        errors.invalid(f"{path}.operator", op, "not a valid selector operator")
    elif len(values) != 1:
        detail = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"
        errors.required(f"{path}.values", detail)
    key = expression.get("key") or ""
    if errors.invalid(f"{path}.key", key, "not a valid field selector key", when=key != "metadata.name"):
        return
    for i, value in enumerate(values):
        errors.problems(f"{path}.values[{i}]", value, subdomain_errors(value))


def quantity_text(quantity: Any) -> str:
    """Return a quantity of a resource list in kube's format: in its own notation, rounded up to thousandths."""
    found = Amount.of(quantity)
    milli = -(-found.nanos // _MILLI)
    if _has_exponent(str(quantity)) and milli % 1000 == 0:
        digits, exponent = milli // 1000, 0
        while digits and digits % 1000 == 0:
            digits, exponent = digits // 1000, exponent + 3
        return f"{digits}e{exponent}" if exponent else str(digits)
    return Amount(milli * _MILLI, found.binary).text


def amount(name: str, quantity: Any, path: str, errors: Errors) -> None:
    """Validate a quantity of a resource: not negative, and whole if it is a count."""
    count = nanos(quantity)
    if count < 0:
        errors.invalid(path, quantity_text(quantity), NOT_NEGATIVE)
    if count % NANO and (name in COUNTS or is_extended_name(name)):
        errors.invalid(path, quantity_text(quantity), "must be an integer")


def resource_requirements(
    resources: Mapping[str, Any], path: str, errors: Errors, check_name: Check | None = None
) -> None:
    """Validate requests and limits of a container or, with `check_name`, of a pod."""
    check_name = check_name or resource_name
    limits, requests = resources.get("limits") or {}, resources.get("requests") or {}
    for name, quantity in limits.items():
        where = format_key_path(f"{path}.limits", name)
        check_name(name, where, errors)
        amount(name, quantity, where, errors)
        _whole_pages(name, quantity, where, errors)
    for name, quantity in requests.items():
        where = format_key_path(f"{path}.requests", name)
        check_name(name, where, errors)
        amount(name, quantity, where, errors)
        _within_limit(name, quantity, limits, path, errors)
        _whole_pages(name, quantity, where, errors)
    names = (*limits, *requests)
    if any(name.startswith(HUGE_PAGES) for name in names) and CPU not in names and MEMORY not in names:
        errors.forbidden(path, "HugePages require cpu or memory")


def _whole_pages(name: str, quantity: Any, path: str, errors: Errors) -> None:
    if not name.startswith(HUGE_PAGES):
        return
    try:
        page = nanos(name.removeprefix(HUGE_PAGES))
    except BadQuantity:
        page = 0
    if page <= 0 or page % NANO or value_of_nanos(nanos(quantity)) % (page // NANO):
        text = quantity_text(quantity)
        errors.invalid(path, text, f"{text} is not positive integer multiple of {name}")


def standard_name(name: str, path: str, errors: Errors) -> None:
    """Validate the name of a resource: one of kube's, or a name with a domain."""
    problems = list_qualified_name_errors(name)
    errors.problems(path, name, problems)
    if problems or "/" in name:
        return
    errors.invalid(path, name, "must be a standard resource type or fully qualified", when=not is_standard(name))


def is_standard(name: str) -> bool:
    """Return whether a name without a domain is one of kube's resources, including the forms for quotas."""
    return name in STANDARD_RESOURCES or name.startswith((HUGE_PAGES, f"requests.{HUGE_PAGES}"))


def resource_name(name: str, path: str, errors: Errors) -> None:
    """Validate the name of a container's resource."""
    standard_name(name, path, errors)
    if name.count("/") == 0:
        if name not in _CONTAINER_RESOURCES and not name.startswith(HUGE_PAGES):
            errors.invalid(path, name, "must be a standard resource for containers")
    elif "kubernetes.io/" not in name and not is_extended_name(name):
        errors.invalid(path, name, "doesn't follow extended resource name standard")


def _within_limit(name: str, quantity: Any, limits: Mapping[str, Any], path: str, errors: Errors) -> None:
    shared = ("/" not in name or "kubernetes.io/" in name) and not name.startswith(HUGE_PAGES)
    if name not in limits:
        errors.required(f"{path}.limits", "Limit must be set for non overcommitable resources", when=not shared)
        return
    request, limit = Amount.of(quantity), Amount.of(limits[name])
    relation = "equal to" if request.nanos != limit.nanos and not shared else "less than or equal to"
    if request.nanos > limit.nanos or relation == "equal to":
        detail = f"must be {relation} {name} limit of {quantity_text(limits[name])}"
        errors.invalid(f"{path}.requests", quantity_text(quantity), detail)


def port_number(number: int, path: str, errors: Errors) -> None:
    errors.invalid(path, number, "must be between 1 and 65535, inclusive", when=not 1 <= number <= 65535)
