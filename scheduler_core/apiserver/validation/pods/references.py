"""Validation of the downward API's references: fields of a pod, and resources of a container.

kube: pkg/apis/core/validation/validation.go (validateObjectFieldSelector, validateContainerResourceFieldSelector),
pkg/apis/core/pods/helpers.go (ConvertDownwardAPIFieldLabel) @ v1.34.1
"""

from collections.abc import Sequence

from scheduler_core.apimachinery.objects.demand import Amount
from scheduler_core.apimachinery.objects.errors import Errors
from scheduler_core.apimachinery.objects.names import list_qualified_name_errors
from scheduler_core.apiserver.validation.rules import Object

_MAPS = ("metadata.annotations", "metadata.labels")
_LABELS = (
    *_MAPS,
    *("metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.restartPolicy"),
    *("spec.serviceAccountName", "spec.schedulerName", "status.phase", "status.hostIP", "status.hostIPs"),
    *("status.podIP", "status.podIPs"),
)
_RESOURCES = (
    *("limits.cpu", "limits.ephemeral-storage", "limits.memory"),
    *("requests.cpu", "requests.ephemeral-storage", "requests.memory"),
)
_BYTES = ("1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei")
_OF_RESOURCE = {"memory": "memory", "ephemeral-storage": "local ephemeral storage"}


def field_reference(value: Object, path: str, errors: Errors, supported: Sequence[str]) -> None:
    """Validate a reference to a field of the pod. `supported`: the fields that are allowed here."""
    version, field = value.get("apiVersion") or "v1", value.get("fieldPath") or ""
    where = f"{path}.fieldPath"
    if errors.required(where, when=not field):
        return
    name, subscript, has_subscript = _split(field)
    problem = ""
    if version != "v1":
        problem = f"unsupported pod version: {version}"
    elif has_subscript and name not in _MAPS:
        problem = f"field label does not support subscript: {field}"
    elif not has_subscript and field not in (*_LABELS, "spec.host"):
        problem = f"field label not supported: {field}"
    if problem:
        errors.invalid(where, field, f"error converting fieldPath: {problem}")
    elif has_subscript:
        key = subscript.lower() if name == "metadata.annotations" else subscript
        errors.problems(path, key, list_qualified_name_errors(key))
    else:
        name = "spec.nodeName" if field == "spec.host" else field
        errors.not_supported(where, name, supported, when=name not in supported)


def _split(field: str) -> tuple[str, str, bool]:
    """Split off the key in brackets and quotes at the end of a path: the path, the key or "", and whether there is a key."""
    name, bracket, subscript = field.removesuffix("']").partition("['")
    if not field.endswith("']") or not bracket or not name:
        return field, "", False
    return name, subscript, True


def resource_reference(value: Object, path: str, errors: Errors, in_volume: bool) -> None:
    """Validate a reference to a resource of a container. A volume must name the container."""
    resource = value.get("resource") or ""
    huge = resource.startswith(("requests.hugepages-", "limits.hugepages-"))
    if in_volume and not value.get("containerName"):
        errors.required(f"{path}.containerName")
    elif not resource:
        errors.required(f"{path}.resource")
    elif resource not in _RESOURCES and not huge:
        errors.not_supported(f"{path}.resource", resource, _RESOURCES)
    divisor = Amount.of(value.get("divisor") or "0").text
    kind = "hugepages" if huge else _OF_RESOURCE.get(resource.partition(".")[2], "")
    if divisor == "0":
        return
    if resource in ("limits.cpu", "requests.cpu"):
        if divisor not in ("1m", "1"):
            detail = "only divisor's values 1m and 1 are supported with the cpu resource"
            errors.invalid(f"{path}.divisor", resource, detail)
    elif (huge or resource in _RESOURCES) and divisor not in _BYTES:
        detail = f"only divisor's values {', '.join(_BYTES)} are supported with the {kind} resource"
        errors.invalid(f"{path}.divisor", resource, detail)
