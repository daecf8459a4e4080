"""Objects as JSON of Go's internal structs. Some refusals print a difference of these.

kube: pkg/apis/core/types.go, pkg/apis/core/validation/validation.go, apimachinery/pkg/util/diff @ v1.34.1
"""

import difflib
import json
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any

from scheduler_core.apimachinery.objects.errors import FieldError, encode
from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apiserver.schema.api import fields_of, read_api
from scheduler_core.apiserver.status import Refused

_SPECIAL = ("resource.Quantity", "v1.Time", "intstr.IntOrString")
_OF_POD = ("HostNetwork", "HostPID", "HostIPC", "ShareProcessNamespace", "HostUsers")  # of the security context
_CONTEXT = "core.PodSecurityContext"
_POD, _VOLUME = (
    "pod updates may not change fields other than",
    "spec.persistentvolumesource is immutable after creation",
)


@cache
def _names(type_: str) -> Mapping[str, str]:
    """Return the JSON names of a type's fields by their names in Go."""
    package, _, name = type_.partition(".")
    served = fields_of(f"{package}.v1.{name}" if package != "v1" else f"meta.v1.{name}")
    return {(field[5] if len(field) > 5 else key[0].upper() + key[1:]): key for key, field in served.items()}


def to_internal(value: Any, expression: str, pod: Manifest | None = None) -> Any:
    """Convert a value to Go's internal type, or return None if it is absent."""
    if expression in _SPECIAL:
        return value
    if expression.startswith("*"):
        return None if value is None else to_internal(value, expression[1:], pod)
    if expression.startswith("[]"):
        return None if value is None else [to_internal(each, expression[2:]) for each in value]
    if expression.startswith("{}"):
        return None if value is None else {key: to_internal(value[key], expression[2:]) for key in sorted(value)}
    fields = read_api()["internal"].get(expression)
    if fields is None:
        return {"string": "", "bool": False}.get(expression, 0) if value is None else value
    names, value, found = _names(expression), value or {}, {}
    if expression == "core.PodTemplateSpec":  # its metadata is embedded
        value = {**(value.get("metadata") or {}), "spec": value.get("spec")}
    for name, inner, *more in fields:
        go = more[1] if len(more) > 1 else name
        source = pod if expression == _CONTEXT and name in _OF_POD else value
        given = (source or {}).get(names.get(go, go[0].lower() + go[1:]))
        if more and more[0] and given in (None, "", 0, False, [], {}):
            continue
        found[name] = to_internal(given, inner, value if expression == "core.PodSpec" else None)
    return found


def _difference(old: Manifest, new: Manifest, type_: str) -> str:
    before, after = (
        f"{json.dumps(to_internal(each, type_), indent=1)}\n".splitlines(keepends=True) for each in (old, new)
    )
    return "".join(list(difflib.unified_diff(before, after))[2:])


_DUMPED = {
    ("Job", "spec.template"): "core.PodTemplateSpec",
    ("PodDisruptionBudget", "spec"): "policy.PodDisruptionBudgetSpec",
}
_KEPT = ("tolerations", "priority", "preemptionPolicy", "nodeName", "serviceAccountName", "enableServiceLinks")
_SOURCES = ("hostPath", "csi", "nfs", "local", "iscsi")


def describe_change(refused: Refused, old: Manifest, new: Manifest) -> Refused:
    """Return the refusal in kube's form for internal objects: with the wrong value, or a difference."""
    if not refused.errors or refused.answer.reason != "Invalid":
        return refused
    errors = [
        _describe(each, old.get("spec") or {}, new.get("spec") or {}, str(old["kind"])) for each in refused.errors
    ]
    if errors == list(refused.errors):
        return refused
    return Refused.invalid(refused.answer.message.partition(' "')[0], old["metadata"]["name"], errors)


def _describe(error: FieldError, old: Manifest, new: Manifest, kind: str) -> FieldError:
    if kind == "Node" and error.path.startswith("spec.taints"):  # kube's own path
        return replace(error, path=error.path.replace("spec", "metadata", 1))
    if error.received.startswith("{") and (kind, error.path) in _DUMPED:
        return error.receiving(encode(to_internal(json.loads(error.received), _DUMPED[kind, error.path])))
    if _VOLUME in error.text:
        before, after = ({name: each[name] for name in _SOURCES if name in each} for each in (old, new))
        said, shown = _VOLUME, _difference(before, after, "core.PersistentVolumeSource")
    elif _POD in error.text:
        images = {each.get("name"): each.get("image") for each in old.get("containers") or ()}
        munged = [{**each, "image": images.get(each["name"], each.get("image"))} for each in new["containers"]]
        said = error.expected.split("\n")[0]
        kept = {name: old[name] for name in _KEPT if name in old}  # admission adds them again
        shown = _difference(old, {**kept, **new, "containers": munged}, "core.PodSpec")
    else:
        return error
    return FieldError(error.path, "", f"{said}\n{shown}", kind=error.kind)
