"""What a pod may say on the operating system that it is for, and annotations that say the same as fields.

kube: pkg/apis/core/validation/validation.go (validateOS, validateWindows, validateWindowsHostProcessPod,
validateSeccompAnnotationsAndFields) @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from scheduler_core.api.validation.checks import Errors
from scheduler_core.api.validation.pods.containers import every_container
from scheduler_core.api.validation.rules import Object, not_below
from scheduler_core.objects.errors import forbidden, invalid, keyed, not_supported, required

_SYSTEMS = ("linux", "windows")
_NOT_WINDOWS = (  # of a pod; those with a dot are of its security context
    *(".appArmorProfile", ".seLinuxOptions", "hostUsers", "hostPID", "hostIPC", ".seccompProfile"),
    *(".fsGroup", ".fsGroupChangePolicy", ".sysctls", "shareProcessNamespace", ".runAsUser", ".runAsGroup"),
    *(".supplementalGroups", ".supplementalGroupsPolicy", ".seLinuxChangePolicy"),
)
_NO_POINTERS = ("hostPID", "hostIPC", ".sysctls")  # empty, they count as not there
_CONTAINERS_NOT_WINDOWS = (
    *("appArmorProfile", "seLinuxOptions", "seccompProfile", "capabilities", "readOnlyRootFilesystem"),
    *("privileged", "allowPrivilegeEscalation", "procMount", "runAsUser", "runAsGroup"),
)
_ONLY_LINUX, _ONLY_WINDOWS = (
    "cannot be set for a windows pod",
    "windows options cannot be set for a linux pod",
)
_CONTEXT = "securityContext"


def fields_of(spec: Object, path: str, errors: Errors) -> None:
    """Fields that the pod's operating system does not have."""
    system = (spec.get("os") or {}).get("name") or ""
    if spec.get("os") is None:
        return
    if not system:
        errors.append(required(f"{path}.os.name"))
    elif system not in _SYSTEMS:
        errors.append(not_supported(f"{path}.os", system, _SYSTEMS))
    elif system == "linux":
        for context, where in _contexts(spec, path):
            if context.get("windowsOptions") is not None:
                errors.append(forbidden(f"{where}.windowsOptions", _ONLY_WINDOWS))
    else:
        _windows(spec, path, errors)


def _contexts(spec: Object, path: str) -> Iterator[tuple[Object, str]]:
    """All security contexts, the pod's own first."""
    for raw, where in ((spec, path), *every_container(spec, path)):
        yield raw.get(_CONTEXT) or {}, f"{where}.{_CONTEXT}"


def _windows(spec: Object, path: str, errors: Errors) -> None:
    context = spec.get(_CONTEXT) or {}
    for field in _NOT_WINDOWS:
        value = (context if field.startswith(".") else spec).get(field.removeprefix("."))
        if value or (value is not None and field not in _NO_POINTERS):
            where = f"{path}.{_CONTEXT}{field}" if field.startswith(".") else f"{path}.{field}"
            errors.append(forbidden(where, _ONLY_LINUX))
    for raw, where in every_container(spec, path):
        own = raw.get(_CONTEXT) or {}
        errors += [
            forbidden(f"{where}.{_CONTEXT}.{field}", _ONLY_LINUX)
            for field in _CONTAINERS_NOT_WINDOWS
            if own.get(field) is not None
        ]


def host_process(spec: Object, path: str, errors: Errors) -> None:
    """Containers of Windows that are processes of the host: all of them or none."""

    def wanted(raw: Object) -> bool | None:
        return ((raw.get(_CONTEXT) or {}).get("windowsOptions") or {}).get("hostProcess")

    of_pod, found = wanted(spec), []
    for raw, where in every_container(spec, path):
        own = wanted(raw)
        if of_pod is not None and own is not None and own != of_pod:
            shown = str(of_pod).lower()
            detail = f"pod hostProcess value must be identical if both are specified, was {shown}"
            errors.append(invalid(f"{where}.{_CONTEXT}.windowsOptions.hostProcess", own, detail))
        found.append(own if own is not None else bool(of_pod))
    if any(found) and not all(found):
        detail = (
            "If pod contains any hostProcess containers then all containers must be HostProcess containers"
        )
        errors.append(invalid(path, "", detail))
    if any(found) and not spec.get("hostNetwork"):
        detail = "hostNetwork must be true if pod contains any hostProcess containers"
        errors.append(invalid(f"{path}.hostNetwork", False, detail))


# profiles in annotations, as they were written before there were fields

_SECCOMP = "seccomp.security.alpha.kubernetes.io/pod"
_SECCOMP_CONTAINER = "container.seccomp.security.alpha.kubernetes.io/"
_APP_ARMOR = "container.apparmor.security.beta.kubernetes.io/"
_LOCAL = "localhost/"
_DEFAULTS = {"seccomp": ("runtime/default", "docker/default"), "apparmor": ("runtime/default",)}


def profile_annotations(annotations: Mapping[str, str], spec: Object, where: str, errors: Errors) -> None:
    """Profiles that are no profiles, and those of containers that are not there."""
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
            errors += [invalid(f"{where}.{key}", shown, problem) for problem in problems]
    names = [raw.get("name") or "" for raw, _ in every_container(spec, "")]
    for key in ordered:
        if not key.startswith(_APP_ARMOR):
            continue
        name, profile = key.removeprefix(_APP_ARMOR), annotations[key]
        if name not in names:
            errors.append(invalid(keyed(where, key), name, "container not found"))
        if profile not in ("", "runtime/default", "unconfined") and not profile.startswith(_LOCAL):
            detail = f'invalid AppArmor profile name: "{profile}"'
            errors.append(invalid(keyed(where, key), profile, detail))


def annotated_seccomp(spec: Object, annotations: Mapping[str, str], path: str, errors: Errors) -> None:
    """Annotations on seccomp that differ from the fields; `path` is where the spec stands."""
    context = spec.get(_CONTEXT) or {}
    if context.get("seccompProfile") is not None and _SECCOMP in annotations:
        where = f"{path}.{_CONTEXT}.seccompProfile"
        _match(annotations[_SECCOMP], context["seccompProfile"], "seccomp", where, errors)
    for raw, where in every_container(spec, path):
        own = (raw.get(_CONTEXT) or {}).get("seccompProfile")
        key = f"{_SECCOMP_CONTAINER}{raw.get('name') or ''}"
        if own is not None and key in annotations:
            _match(annotations[key], own, "seccomp", f"{where}.{_CONTEXT}.seccompProfile", errors)


def annotated_app_armor(spec: Object, annotations: Mapping[str, str], errors: Errors) -> None:
    """Annotations on AppArmor that differ from the fields of a new pod."""
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
    return annotation in ("unconfined", "runtime/default") or annotation.removeprefix(_LOCAL) not in (
        annotation,
        "",
    )


def _match(annotation: str, profile: Mapping[str, Any], what: str, path: str, errors: Errors) -> None:
    kind = profile.get("type")
    same = {
        "Unconfined": annotation == "unconfined",
        "RuntimeDefault": annotation in _DEFAULTS[what],
        "Localhost": annotation.startswith(_LOCAL),
    }.get(str(kind), True)
    if not same:
        errors.append(forbidden(f"{path}.type", f"{what} type in annotation and field must match"))
    elif kind == "Localhost" and annotation.removeprefix(_LOCAL) != profile.get("localhostProfile"):
        detail = f"{what} profile in annotation and field must match"
        errors.append(forbidden(f"{path}.localhostProfile", detail))
