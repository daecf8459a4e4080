"""Validation of annotations of pods and pod templates.

kube: pkg/apis/core/validation/validation.go (ValidatePodSpecificAnnotations, validateSeccompAnnotationsAndFields,
validateAppArmorAnnotationsAndFieldsMatchOnCreate), pkg/apis/core/helper/helpers.go @ v1.34.1
"""

import re
from collections.abc import Mapping
from typing import Any

from scheduler_core.apimachinery.objects.errors import Errors, FieldError, format_key_path
from scheduler_core.apiserver.validation.devices.pods import MIRROR
from scheduler_core.apiserver.validation.pods.containers import every_container
from scheduler_core.apiserver.validation.rules import Object, not_below

_CONTEXT = "securityContext"
_COST = "controller.kubernetes.io/pod-deletion-cost"
_INTEGER = re.compile(r"0|-[0-9]+|[1-9][0-9]*")


def pod_annotations(annotations: Mapping[str, str], spec: Mapping[str, Any], where: str) -> list[FieldError]:
    """Return the errors in the annotations of a pod or a pod template."""
    errors = Errors()
    if MIRROR in annotations and not spec.get("nodeName"):
        detail = "must set spec.nodeName if mirror pod annotation is set"
        errors.invalid(format_key_path(where, MIRROR), annotations[MIRROR], detail)
    cost = annotations.get(_COST)
    if cost is not None and not (_INTEGER.fullmatch(cost) and -(2**31) <= int(cost) < 2**31):
        errors.invalid(format_key_path(where, _COST), cost, "must be a 32bit integer")
    profile_annotations(annotations, spec, where, errors)
    return errors


# profiles in annotations, used before the fields existed

_SECCOMP = "seccomp.security.alpha.kubernetes.io/pod"
_SECCOMP_CONTAINER = "container.seccomp.security.alpha.kubernetes.io/"
_APP_ARMOR = "container.apparmor.security.beta.kubernetes.io/"
_LOCAL = "localhost/"
_DEFAULTS = {"seccomp": ("runtime/default", "docker/default"), "apparmor": ("runtime/default",)}


def profile_annotations(annotations: Mapping[str, str], spec: Object, where: str, errors: Errors) -> None:
    """Validate profiles in annotations, and that their containers exist."""
    ordered = sorted(annotations, key=lambda key: key != _SECCOMP)
    for key in ordered:
        profile = annotations[key]
        if key == _SECCOMP or key.startswith(_SECCOMP_CONTAINER):
            if profile.startswith(_LOCAL):
                problems = not_below(profile.removeprefix(_LOCAL))
                shown = profile.removeprefix(_LOCAL)
            else:
                known = (*_DEFAULTS["seccomp"], "unconfined")
                problems, shown = ([] if profile in known else ["must be a valid seccomp profile"]), profile
            errors.problems(f"{where}.{key}", shown, problems)
    names = [raw.get("name") or "" for raw, _ in every_container(spec, "")]
    for key in ordered:
        if not key.startswith(_APP_ARMOR):
            continue
        name, profile = key.removeprefix(_APP_ARMOR), annotations[key]
        errors.invalid(format_key_path(where, key), name, "container not found", when=name not in names)
        if profile not in ("", "runtime/default", "unconfined") and not profile.startswith(_LOCAL):
            errors.invalid(format_key_path(where, key), profile, f'invalid AppArmor profile name: "{profile}"')


def validate_seccomp_annotations(spec: Object, annotations: Mapping[str, str], path: str, errors: Errors) -> None:
    """Add errors for seccomp annotations that differ from the fields; `path` is that of the spec."""
    context = spec.get(_CONTEXT) or {}
    if context.get("seccompProfile") is not None and _SECCOMP in annotations:
        where = f"{path}.{_CONTEXT}.seccompProfile"
        _match(annotations[_SECCOMP], context["seccompProfile"], "seccomp", where, errors)
    for raw, where in every_container(spec, path):
        own = (raw.get(_CONTEXT) or {}).get("seccompProfile")
        key = f"{_SECCOMP_CONTAINER}{raw.get('name') or ''}"
        if own is not None and key in annotations:
            _match(annotations[key], own, "seccomp", f"{where}.{_CONTEXT}.seccompProfile", errors)


def validate_app_armor_annotations(spec: Object, annotations: Mapping[str, str], errors: Errors) -> None:
    """Add errors for AppArmor annotations that differ from the fields of a new pod."""
    context = spec.get(_CONTEXT) or {}
    if (spec.get("os") or {}).get("name") == "windows":
        return
    for raw, path in every_container(spec, "spec"):
        key = f"{_APP_ARMOR}{raw.get('name') or ''}"
        own = (raw.get(_CONTEXT) or {}).get("appArmorProfile")
        if own is None and not _is_profile(annotations.get(key, "")):  # else the annotation becomes the field
            own = context.get("appArmorProfile")
        if own is not None and key in annotations:
            _match(annotations[key], own, "apparmor", f"{path}.{_CONTEXT}.appArmorProfile", errors)


def _is_profile(annotation: str) -> bool:
    return annotation in ("unconfined", "runtime/default") or annotation.removeprefix(_LOCAL) not in (annotation, "")


def _match(annotation: str, profile: Mapping[str, Any], what: str, path: str, errors: Errors) -> None:
    kind = profile.get("type")
    same = {
        "Unconfined": annotation == "unconfined",
        "RuntimeDefault": annotation in _DEFAULTS[what],
        "Localhost": annotation.startswith(_LOCAL),
    }.get(str(kind), True)
    if not same:
        errors.forbidden(f"{path}.type", f"{what} type in annotation and field must match")
    elif kind == "Localhost" and annotation.removeprefix(_LOCAL) != profile.get("localhostProfile"):
        errors.forbidden(f"{path}.localhostProfile", f"{what} profile in annotation and field must match")
