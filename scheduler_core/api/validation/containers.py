"""Checks of a pod's spec besides what placement needs: probes, mounts, pull policies and restart policies of containers, and host names.

kube: pkg/apis/core/validation/validation.go validateContainers, validateInitContainers, ValidateVolumeMounts, validateProbe @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from scheduler_core.api.validation.checks import NOT_NEGATIVE, Errors
from scheduler_core.objects.errors import FieldError, forbidden, invalid, not_supported, required, shown
from scheduler_core.objects.names import label_errors, qualified_name_errors
from scheduler_core.objects.resources import is_sidecar

Spec = Mapping[str, Any]
_PROBES = ("livenessProbe", "readinessProbe", "startupProbe")
_HANDLERS = ("exec", "httpGet", "tcpSocket", "grpc")
_NUMBERS = (
    "initialDelaySeconds",
    "timeoutSeconds",
    "periodSeconds",
    "successThreshold",
    "failureThreshold",
)
_ONLY_SIDECARS = "may not be set for init containers without restartPolicy=Always"


def containers(spec: Spec, path: str, errors: Errors, more_volumes: Sequence[str] = ()) -> None:
    """Of a pod's spec; `more_volumes` are names of those that a controller adds."""
    volumes = [*more_volumes, *(str(each.get("name")) for each in spec.get("volumes") or ())]
    for i, volume in enumerate(spec.get("volumes") or ()):
        _one_source(volume, f"{path}.volumes[{i}]", errors)
    for i, container in enumerate(spec.get("containers") or ()):
        where = f"{path}.containers[{i}]"
        _common(container, volumes, where, errors)
        _probes(container, where, errors)
        if container.get("restartPolicy"):
            errors.append(forbidden(f"{where}.restartPolicy", "may not be set for non-init containers"))
    for i, container in enumerate(spec.get("initContainers") or ()):
        _init_container(container, volumes, f"{path}.initContainers[{i}]", errors)
    for field in ("hostname", "subdomain"):
        name = spec.get(field) or ""
        errors += [
            invalid(f"{path}.{field}", name, problem) for problem in (label_errors(name) if name else ())
        ]
    for i, gate in enumerate(spec.get("readinessGates") or ()):
        name, where = gate.get("conditionType") or "", f"{path}.readinessGates[{i}].conditionType"
        errors += [invalid(where, name, problem) for problem in qualified_name_errors(name)]


def _one_source(volume: Spec, where: str, errors: Errors) -> None:
    sources = [name for name in volume if name != "name" and volume[name] is not None]
    for name in sources[1:]:
        errors.append(forbidden(f"{where}.{name}", "may not specify more than 1 volume type"))


def _init_container(container: Spec, volumes: Sequence[str], where: str, errors: Errors) -> None:
    _common(container, volumes, where, errors)
    policy = container.get("restartPolicy")
    if policy not in (None, "Always"):
        errors.append(not_supported(f"{where}.restartPolicy", policy, ("Always",)))
    if is_sidecar(container):
        _probes(container, where, errors)
        return
    for field in ("lifecycle", *_PROBES):
        if container.get(field) is not None:
            errors.append(forbidden(f"{where}.{field}", _ONLY_SIDECARS))


def _common(container: Spec, volumes: Sequence[str], where: str, errors: Errors) -> None:
    policy = container.get("imagePullPolicy")
    if policy and policy not in ("Always", "IfNotPresent", "Never"):
        supported = ("Always", "IfNotPresent", "Never")
        errors.append(not_supported(f"{where}.imagePullPolicy", policy, supported))
    paths: list[str] = []
    for i, mount in enumerate(container.get("volumeMounts") or ()):
        place, name = f"{where}.volumeMounts[{i}]", mount.get("name") or ""
        if not name:
            errors.append(required(f"{place}.name"))
        if name not in volumes:
            errors.append(FieldError(f"{place}.name", shown(name), "", kind="Not found"))
        mount_path = mount.get("mountPath") or ""
        if not mount_path:
            errors.append(required(f"{place}.mountPath"))
        if mount_path in paths:
            errors.append(invalid(f"{place}.mountPath", mount_path, "must be unique"))
        paths.append(mount_path)
    for i, variable in enumerate(container.get("env") or ()):
        if not variable.get("name"):
            errors.append(required(f"{where}.env[{i}].name"))
        if variable.get("value") and variable.get("valueFrom"):
            detail = "may not be specified when `value` is not empty"
            errors.append(invalid(f"{where}.env[{i}].valueFrom", "", detail))


def _probes(container: Spec, where: str, errors: Errors) -> None:
    for field in _PROBES:
        probe = container.get(field)
        if probe is None:
            continue
        place = f"{where}.{field}"
        handlers = [name for name in _HANDLERS if probe.get(name) is not None]
        if not handlers:
            errors.append(required(place, "must specify a handler type"))
        for name in handlers[1:]:
            errors.append(forbidden(f"{place}.{name}", "may not specify more than 1 handler type"))
        for name in _NUMBERS:
            if (probe.get(name) or 0) < 0:
                errors.append(invalid(f"{place}.{name}", probe[name], NOT_NEGATIVE))
        grace = probe.get("terminationGracePeriodSeconds")
        if grace is not None and field == "readinessProbe":
            detail = "must not be set for readinessProbes"
            errors.append(invalid(f"{place}.terminationGracePeriodSeconds", grace, detail))
        elif grace is not None and grace <= 0:
            errors.append(invalid(f"{place}.terminationGracePeriodSeconds", grace, "must be greater than 0"))
        if field != "readinessProbe" and probe.get("successThreshold") not in (None, 1):
            errors.append(invalid(f"{place}.successThreshold", probe["successThreshold"], "must be 1"))
