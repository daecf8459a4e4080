"""Objects as the API server holds them: Go's internal structs as JSON, which some refusals print a difference of.

kube: pkg/apis/core/types.go, pkg/apis/core/validation/validation.go, apimachinery/pkg/util/diff @ v1.34.1
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Mapping
from functools import cache
from typing import Any

from scheduler_core.apimachinery.objects.errors import FieldError
from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apiserver.door.resources import fields_of, read_api
from scheduler_core.apiserver.status import Refused

_SPECIAL = ("resource.Quantity", "v1.Time", "intstr.IntOrString")
_OF_POD = (
    "HostNetwork",
    "HostPID",
    "HostIPC",
    "ShareProcessNamespace",
    "HostUsers",
)  # internally of the security context
_CONTEXT = "core.PodSecurityContext"
_POD, _VOLUME = (
    "pod updates may not change fields other than",
    "spec.persistentvolumesource is immutable after creation",
)


@cache
def _names(type_: str) -> Mapping[str, str]:
    """Go's names of a type's fields to those of JSON."""
    package, _, name = type_.partition(".")
    served = fields_of(f"core.v1.{name}" if package == "core" else f"meta.v1.{name}")
    return {(field[5] if len(field) > 5 else key[0].upper() + key[1:]): key for key, field in served.items()}


def to_internal(value: Any, expression: str, pod: Manifest | None = None) -> Any:
    """A value as Go's internal type of it is written; None where it is not there."""
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
    for name, inner, *more in fields:
        go = more[1] if len(more) > 1 else name
        source = pod if expression == _CONTEXT and name in _OF_POD else value
        given = (source or {}).get(names.get(go, go[0].lower() + go[1:]))
        if more and more[0] and given in (None, "", 0, False, [], {}):
            continue
        found[name] = to_internal(given, inner, value if expression == "core.PodSpec" else None)
    return found


def _difference(old: Manifest, new: Manifest, type_: str) -> str:
    texts = [json.dumps(to_internal(each, type_), indent=1).splitlines(keepends=True) for each in (old, new)]
    return "".join(list(difflib.unified_diff(*texts))[2:])


def describe_change(refused: Refused, old: Manifest, new: Manifest) -> Refused:
    """The refusal with the difference of the internal objects, where kube tells it."""
    if not any(_is_told(each) for each in refused.errors):
        return refused
    errors = [_described(each, old.get("spec") or {}, new.get("spec") or {}) for each in refused.errors]
    kind = refused.answer.message.partition(' "')[0]
    return Refused.invalid(kind, old["metadata"]["name"], errors)


def _is_told(error: FieldError) -> bool:
    return _POD in error.text or _VOLUME in error.text


def _described(error: FieldError, old: Manifest, new: Manifest) -> FieldError:
    if not _is_told(error):
        return error
    if _VOLUME in error.text:
        sources = [name for name in ("hostPath", "csi", "nfs", "local", "iscsi") if name in old or name in new]
        told = _difference(*(_sources(each, sources) for each in (old, new)), "core.PersistentVolumeSource")
        return FieldError(error.path, "", f"{_VOLUME}\n{told}", kind=error.kind)
    images = {each.get("name"): each.get("image") for each in old.get("containers") or ()}
    munged = [
        {**each, "image": images.get(each.get("name"), each.get("image"))} for each in new.get("containers") or ()
    ]
    said = error.expected.split("\n")[0]
    return FieldError(
        error.path, "", f"{said}\n{_difference(old, {**new, 'containers': munged}, 'core.PodSpec')}", kind=error.kind
    )


def _sources(spec: Manifest, names: list[str]) -> Manifest:
    return {name: spec[name] for name in names if name in spec}
