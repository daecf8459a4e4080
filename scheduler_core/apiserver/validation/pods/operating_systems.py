"""What a pod may say on the operating system that it is for, as its fields are of one system or the other.

kube: pkg/apis/core/validation/validation.go (validateOS, validateWindows, validateWindowsHostProcessPod) @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Iterator

from scheduler_core.apimachinery.objects.errors import build_required_error, forbidden, invalid, not_supported
from scheduler_core.apiserver.validation.checks import Errors
from scheduler_core.apiserver.validation.pods.containers import every_container
from scheduler_core.apiserver.validation.rules import Object

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
_ONLY_LINUX, _ONLY_WINDOWS = ("cannot be set for a windows pod", "windows options cannot be set for a linux pod")
_CONTEXT = "securityContext"


def fields_of(spec: Object, path: str, errors: Errors) -> None:
    """Fields that the pod's operating system does not have."""
    system = (spec.get("os") or {}).get("name") or ""
    if spec.get("os") is None:
        return
    if not system:
        errors.append(build_required_error(f"{path}.os.name"))
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
        detail = "If pod contains any hostProcess containers then all containers must be HostProcess containers"
        errors.append(invalid(path, "", detail))
    if any(found) and not spec.get("hostNetwork"):
        detail = "hostNetwork must be true if pod contains any hostProcess containers"
        errors.append(invalid(f"{path}.hostNetwork", False, detail))
