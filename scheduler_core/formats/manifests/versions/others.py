"""Older versions of PodDisruptionBudgets, role bindings, RuntimeClasses, ResourceSlices, and autoscalers.

kube: pkg/apis/policy/v1beta1/conversion.go @ v1.24.17, pkg/apis/rbac/v1beta1/defaults.go and pkg/apis/autoscaling/v2beta1/conversion.go @
v1.20.15, pkg/apis/node/v1alpha1/conversion.go @ v1.22.17, pkg/apis/resource/v1alpha3/conversion.go @ v1.33.5
"""

from collections.abc import Mapping

from scheduler_core.apimachinery.objects.manifest import Manifest

_RBAC = "rbac.authorization.k8s.io"
_EMPTY = "pdb.kubernetes.io/deprecated-v1beta1-empty-selector-match"


def budget(manifest: Manifest) -> Manifest:
    """An empty selector selects no pods in v1beta1, and all of them in v1."""
    spec = manifest.get("spec") or {}
    selector = spec.get("selector")
    if selector is None:
        return manifest
    labels, expressions = selector.get("matchLabels"), selector.get("matchExpressions") or []
    kept = [each for each in expressions if each.get("key") != _EMPTY]
    if not labels and not expressions:
        selector = {"matchExpressions": [{"key": _EMPTY, "operator": "Exists"}]}
    elif len(kept) < len(expressions):
        selector = {**selector, "matchExpressions": kept}
    return {**manifest, "spec": {**spec, "selector": selector}}


def binding(manifest: Manifest) -> Manifest:
    """Set RBAC as the group of roles and subjects without a group."""
    role = manifest.get("roleRef") or {}
    subjects = [_subject(each) for each in manifest.get("subjects") or ()]
    return {**manifest, "roleRef": {**role, "apiGroup": role.get("apiGroup") or _RBAC}, "subjects": subjects}


def _subject(subject: Manifest) -> Manifest:
    rest = {name: value for name, value in subject.items() if name != "apiVersion"}
    if rest.get("apiGroup") or rest.get("kind") not in ("User", "Group"):
        return rest
    return {**rest, "apiGroup": _RBAC}


def resource_slice(manifest: Manifest) -> Manifest:
    """Convert a device's capacity: a quantity in v1alpha3, an object with a value in v1beta1."""
    spec = manifest.get("spec") or {}
    return {**manifest, "spec": {**spec, "devices": [_device(each) for each in spec.get("devices") or ()]}}


def _device(device: Manifest) -> Manifest:
    basic = device.get("basic") or {}
    capacity = {
        name: value if isinstance(value, Mapping) else {"value": value}
        for name, value in (basic.get("capacity") or {}).items()
    }
    return {**device, "basic": {**basic, "capacity": capacity}} if capacity else device


def runtime_class(manifest: Manifest) -> Manifest:
    """Move the fields of the spec to the top, as in v1."""
    spec = manifest.get("spec") or {}
    top = {name: spec[name] for name in ("overhead", "scheduling") if spec.get(name) is not None}
    rest = {name: value for name, value in manifest.items() if name != "spec"}
    return {**rest, "handler": spec.get("runtimeHandler") or "", **top}


def autoscaler(manifest: Manifest) -> Manifest:
    spec = manifest.get("spec") or {}
    status = {name: value for name, value in (manifest.get("status") or {}).items() if name != "currentMetrics"}
    metrics = {"metrics": [_metric(each) for each in spec["metrics"]]} if spec.get("metrics") else {}
    return {**manifest, "spec": {**spec, **metrics}, **({"status": status} if "status" in manifest else {})}


def _metric(metric: Manifest) -> Manifest:
    type_ = str(metric.get("type") or "")
    field = type_[:1].lower() + type_[1:]
    source = metric.get(field)
    return {"type": type_, field: _source(type_, source)} if isinstance(source, Mapping) else metric


def _source(type_: str, source: Manifest) -> Manifest:
    if type_ in ("Resource", "ContainerResource"):
        kept = {name: source[name] for name in ("name", "container") if name in source}
        return {**kept, "target": _target(source)}
    selector = source.get("selector") or source.get("metricSelector")
    named = {"metric": {"name": source.get("metricName") or "", **({"selector": selector} if selector else {})}}
    about = {"describedObject": source.get("target") or {}} if type_ == "Object" else {}
    return {**named, **about, "target": _target(source)}


def _target(source: Manifest) -> Manifest:
    for old, new, type_ in (
        ("targetAverageUtilization", "averageUtilization", "Utilization"),
        ("targetAverageValue", "averageValue", "AverageValue"),
        ("averageValue", "averageValue", "AverageValue"),
        ("targetValue", "value", "Value"),
    ):
        if source.get(old) is not None:
            return {"type": type_, new: source[old]}
    return {"type": "Value"}
