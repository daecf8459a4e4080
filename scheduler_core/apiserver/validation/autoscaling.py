"""Validation of HorizontalPodAutoscalers.

kube: pkg/apis/autoscaling/validation/validation.go, pkg/apis/autoscaling/v2/defaults.go @ v1.34.1
"""

from scheduler_core.apimachinery.objects.errors import Errors, forbidden, not_supported
from scheduler_core.apimachinery.objects.names import label_errors, path_segment_errors
from scheduler_core.apimachinery.objects.quantity import nanos
from scheduler_core.apiserver.validation import checks
from scheduler_core.apiserver.validation.checks import POSITIVE
from scheduler_core.apiserver.validation.rules import Object, Rule, Rules, each, inner, obey, validate_name

_LONGEST_PERIOD, _LONGEST_WINDOW = 1800, 3600  # seconds
_TYPES = {  # in kube's order of the list of types
    "ContainerResource": "containerResource",
    "External": "external",
    "Object": "object",
    "Pods": "pods",
    "Resource": "resource",
}
_RAW_OR_USE = "both a target raw value and a target utilization"


def autoscaler(manifest: Object, errors: Errors) -> None:
    """Validate an autoscaler of version 2. Version 1 has fewer fields."""
    spec = manifest.get("spec") or {}
    least, most = spec.get("minReplicas"), spec.get("maxReplicas") or 0
    least = 1 if least is None else least
    errors.invalid("spec.minReplicas", least, "must be greater than or equal to 1", when=least < 1)
    errors.invalid("spec.maxReplicas", most, "must be greater than 0", when=most < 1)
    errors.invalid("spec.maxReplicas", most, "must be greater than or equal to `minReplicas`", when=most < least)
    target = spec.get("scaleTargetRef") or {}
    grouped = target.get("kind") != "ReplicationController"
    _reference(target, "spec.scaleTargetRef", errors, grouped)
    each("metrics", _metric)(spec, "spec", errors)
    kinds = [metric.get("type") for metric in spec.get("metrics") or ()]
    if least == 0 and not {"Object", "External"} & set(kinds):
        detail = "must specify at least one Object or External metric to support scaling to zero replicas"
        errors.forbidden("spec.metrics", detail)
    for field in ("scaleUp", "scaleDown"):
        inner("behavior", inner(field, _scaling))(spec, "spec", errors)


def _reference(target: Object, path: str, errors: Errors, grouped: bool = False) -> None:
    validate_name("kind", path_segment_errors, needed=True)(target, path, errors)
    validate_name("name", path_segment_errors, needed=True)(target, path, errors)
    version = target.get("apiVersion") or ""
    if version.count("/") > 1:
        errors.invalid(f"{path}.apiVersion", version, f"unexpected GroupVersion string: {version}")
    elif grouped and (version in ("", "/") or not version.rpartition("/")[0]):
        errors.invalid(f"{path}.apiVersion", version, "apiVersion must specify API group")


def _metric(metric: Object, path: str, errors: Errors) -> None:
    kind = metric.get("type") or ""
    errors.required(f"{path}.type", "must specify a metric source type", when=not kind)
    wrong = not_supported(f"{path}.type", kind, _TYPES)
    errors += [wrong] if kind not in _TYPES else []
    present = [field for field in _SOURCES if metric.get(field) is not None]
    for field in present[:1]:
        obey(_SOURCES[field], metric[field], f"{path}.{field}", errors)
    wanted = _TYPES.get(kind, "")
    if kind not in _TYPES:
        errors.append(wrong)
    elif metric.get(wanted) is None:
        errors.required(f"{path}.{wanted}", "must populate information for the given metric source")
    if len(present) != 1:
        detail = "must populate the given metric source only"
        errors += [forbidden(f"{path}.{field}", detail) for field in present if field != wanted]


def _identifier(source: Object, path: str, errors: Errors) -> None:
    name, where = (source.get("metric") or {}).get("name") or "", f"{path}.metric.name"
    errors.required(where, "must specify a metric name", when=not name)
    errors.problems(where, name, path_segment_errors(name))


def _validate_described_object(source: Object, path: str, errors: Errors) -> None:
    _reference(source.get("describedObject") or {}, f"{path}.describedObject", errors)


def _target(source: Object, path: str, errors: Errors) -> None:
    target, where = source.get("target") or {}, f"{path}.target"
    kind, use = target.get("type") or "", target.get("averageUtilization")
    errors.required(f"{where}.type", "must specify a metric target type", when=not kind)
    if kind not in ("Utilization", "Value", "AverageValue"):
        errors.invalid(f"{where}.type", kind, "must be either Utilization, Value, or AverageValue")
    for field in ("value", "averageValue"):
        if target.get(field) is not None and nanos(target[field]) <= 0:
            errors.invalid(f"{where}.{field}", checks.quantity_text(target[field]), "must be positive")
    errors.invalid(f"{where}.averageUtilization", use, "must be greater than 0", when=use is not None and use < 1)


def _either(first: str, second: str, neither: str, both: str = "", at: str = "") -> Rule:
    """Return a rule for a target that one of two fields gives. `at`: the field in an error about both."""

    def check(source: Object, path: str, errors: Errors) -> None:
        target = source.get("target") or {}
        given = [field for field in (first, second) if target.get(field) is not None]
        errors.required(f"{path}.target.{second}", neither, when=not given)
        errors.forbidden(f"{path}.target.{at}", f"may not set {both}", when=both and len(given) == 2)

    return check


def _resource(source: Object, path: str, errors: Errors) -> None:
    errors.required(f"{path}.name", "must specify a resource name", when=not source.get("name"))


def _container(source: Object, path: str, errors: Errors) -> None:
    if source.get("name"):
        checks.resource_name(source["name"], f"{path}.name", errors)
    errors.required(f"{path}.container", "must specify a container", when=not source.get("container"))
    validate_name("container", label_errors)(source, path, errors)


_BY_USE = _either(
    "averageValue",
    "averageUtilization",
    "must set either a target raw value or a target utilization",
    _RAW_OR_USE,
    "averageValue",
)
_SOURCES: dict[str, Rules] = {
    "object": (
        _validate_described_object,
        _identifier,
        _target,
        _either("value", "averageValue", "must set either a target value or averageValue"),
    ),
    "external": (
        _identifier,
        _target,
        _either(
            "value",
            "averageValue",
            "must set either a target value for metric or a per-pod target",
            "both a target value for metric and a per-pod target",
            "value",
        ),
    ),
    "pods": (
        _identifier,
        _target,
        _either("averageValue", "averageValue", "must specify a positive target averageValue"),
    ),
    "resource": (_resource, _target, _BY_USE),
    "containerResource": (_resource, _container, _target, _BY_USE),
}


def _scaling(rules: Object, path: str, errors: Errors) -> None:
    window, policies = rules.get("stabilizationWindowSeconds"), rules.get("policies")
    where = f"{path}.stabilizationWindowSeconds"
    errors.invalid(where, window, "must be greater than or equal to zero", when=window is not None and window < 0)
    if window is not None and window > _LONGEST_WINDOW:
        errors.invalid(where, window, f"must be less than or equal to {_LONGEST_WINDOW}")
    choice, known = rules.get("selectPolicy"), ("Disabled", "Max", "Min")
    errors.not_supported(f"{path}.selectPolicy", choice, known, when=choice is not None and choice not in known)
    errors.required(f"{path}.policies", "must specify at least one Policy", when=policies is not None and not policies)
    each("policies", _policy)(rules, path, errors)


def _policy(policy: Object, path: str, errors: Errors) -> None:
    kind, period = policy.get("type") or "", policy.get("periodSeconds") or 0
    errors.not_supported(f"{path}.type", kind, ("Percent", "Pods"), when=kind not in ("Pods", "Percent"))
    for field in ("value", "periodSeconds"):
        errors.invalid(f"{path}.{field}", policy.get(field) or 0, POSITIVE, when=(policy.get(field) or 0) <= 0)
    if period > _LONGEST_PERIOD:
        errors.invalid(f"{path}.periodSeconds", period, f"must be less than or equal to {_LONGEST_PERIOD}")
