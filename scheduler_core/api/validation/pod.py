"""Checks of a pod's spec, after defaulting: containers, resources, ports and the rest that is not about
placement.

kube: pkg/apis/core/validation/validation.go ValidatePodSpec @ v1.34.1
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from scheduler_core.api.validation import checks
from scheduler_core.api.validation.checks import Errors
from scheduler_core.api.validation.placement import placement
from scheduler_core.objects.errors import forbidden, invalid, keyed, not_supported, required
from scheduler_core.objects.names import label_errors, qualified_name_errors, subdomain_errors
from scheduler_core.objects.quantity import NANO, format_quantity, nanos
from scheduler_core.objects.resources import is_pod_level_name, pod_request_nanos

Spec = Mapping[str, Any]
_PROTOCOLS = ("SCTP", "TCP", "UDP")
_PORT_RANGE = "must be between 1 and 65535, inclusive"
_is_port_name = re.compile(r"[-a-z0-9]+\Z").match


def pod_spec(spec: Spec, errors: Errors, path: str = "spec") -> None:
    """Appends all that is wrong; `path` is where the spec stands (a template's is deeper)."""
    _containers(spec, path, errors)
    _pod_level(spec, path, errors)
    _host_network(spec, path, errors)
    checks.one_of(
        errors, f"{path}.restartPolicy", spec.get("restartPolicy"), ("Always", "OnFailure", "Never")
    )
    placement(spec, path, errors)
    _names(spec, path, errors)
    _times(spec, path, errors)
    checks.one_of(
        errors, f"{path}.preemptionPolicy", spec.get("preemptionPolicy"), ("PreemptLowerPriority", "Never")
    )
    if spec.get("overhead"):
        checks.resource_requirements({"limits": spec["overhead"]}, f"{path}.overhead", errors)


def pod(manifest: Mapping[str, Any], errors: Errors) -> None:
    spec = manifest.get("spec") or {}
    pod_spec(spec, errors)
    if spec.get("nodeName") and spec.get("schedulingGates"):
        errors.append(forbidden("spec.nodeName", "cannot be set until all schedulingGates have been cleared"))
    phase = (manifest.get("status") or {}).get("phase")
    checks.one_of(errors, "status.phase", phase, ("Pending", "Running", "Succeeded", "Failed", "Unknown"))


def _containers(spec: Spec, path: str, errors: Errors) -> None:
    containers = spec.get("containers") or ()
    if not containers:
        errors.append(required(f"{path}.containers"))
    names: dict[str, None] = {}
    ports: dict[str, None] = {}
    for i, container in enumerate(containers):
        where = f"{path}.containers[{i}]"
        _container(container, where, errors)
        checks.unique(errors, names, container.get("name") or "", f"{where}.name")
        _host_ports(container, ports, where, errors)
    for i, container in enumerate(spec.get("initContainers") or ()):
        where = f"{path}.initContainers[{i}]"
        _container(container, where, errors)
        checks.unique(errors, names, container.get("name") or "", f"{where}.name")
        _host_ports(container, {}, where, errors)


def _container(container: Spec, path: str, errors: Errors) -> None:
    name = container.get("name") or ""
    if name:
        errors += [invalid(f"{path}.name", name, problem) for problem in label_errors(name)]
    else:
        errors.append(required(f"{path}.name"))
    if not container.get("image"):
        errors.append(required(f"{path}.image"))
    checks.one_of(
        errors, f"{path}.restartPolicy", container.get("restartPolicy"), ("Always", "OnFailure", "Never")
    )
    _ports(container, path, errors)
    checks.resource_requirements(container.get("resources") or {}, f"{path}.resources", errors)


def _ports(container: Spec, path: str, errors: Errors) -> None:
    names: dict[str, None] = {}
    for i, port in enumerate(container.get("ports") or ()):
        where = f"{path}.ports[{i}]"
        name = port.get("name") or ""
        if problems := _port_name_problems(name):
            errors += [invalid(f"{where}.name", name, problem) for problem in problems]
        elif name:
            checks.unique(errors, names, name, f"{where}.name")
        number = port.get("containerPort") or 0
        if not number:
            errors.append(required(f"{where}.containerPort"))
        elif not 1 <= number <= 65535:
            errors.append(invalid(f"{where}.containerPort", number, _PORT_RANGE))
        host = port.get("hostPort") or 0
        if host and not 1 <= host <= 65535:
            errors.append(invalid(f"{where}.hostPort", host, _PORT_RANGE))
        checks.one_of(errors, f"{where}.protocol", port.get("protocol"), _PROTOCOLS)


def _port_name_problems(name: str) -> list[str]:
    if not name:
        return []
    problems = []
    if len(name) > 15:
        problems.append("must be no more than 15 characters")
    if not _is_port_name(name):
        problems.append("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)")
    if not any("a" <= letter <= "z" for letter in name):
        problems.append("must contain at least one letter (a-z)")
    if "--" in name:
        problems.append("must not contain consecutive hyphens")
    if name.startswith("-") or name.endswith("-"):
        problems.append("must not begin or end with a hyphen")
    return problems


def _host_ports(container: Spec, seen: dict[str, None], path: str, errors: Errors) -> None:
    for i, port in enumerate(container.get("ports") or ()):
        if port.get("hostPort"):
            taken = f"{port.get('protocol') or 'TCP'}/{port.get('hostIP') or ''}/{port['hostPort']}"
            checks.unique(errors, seen, taken, f"{path}.ports[{i}].hostPort")


def _host_network(spec: Spec, path: str, errors: Errors) -> None:
    """A template may leave the port of the host open: it is filled in when a pod is made of it."""
    if not spec.get("hostNetwork"):
        return
    in_template = path != "spec"
    for i, container in enumerate(spec.get("containers") or ()):
        for j, port in enumerate(container.get("ports") or ()):
            host = port.get("hostPort") or 0
            if host != (port.get("containerPort") or 0) and not (in_template and not host):
                where = f"{path}.containers[{i}].ports[{j}].hostPort"
                errors.append(invalid(where, host, "must match `containerPort` when `hostNetwork` is true"))


def _pod_level(spec: Spec, path: str, errors: Errors) -> None:
    """spec.resources: names that count there, at least what the containers sum up to."""
    resources = spec.get("resources")
    if not resources:
        return
    where = f"{path}.resources"
    before = len(errors)
    checks.resource_requirements(resources, where, errors)
    for side in ("limits", "requests"):
        for name in resources.get(side) or {}:
            if not is_pod_level_name(name):
                errors.append(
                    not_supported(keyed(f"{where}.{side}", name), name, ("cpu", "hugepages-", "memory"))
                )
    if len(errors) > before:
        return
    requests = resources.get("requests") or {}
    for name, total in pod_request_nanos({**spec, "overhead": None}, pod_level=False, non_missing={}).items():
        if name in requests and total > nanos(requests[name]):
            text = format_quantity(Fraction(total, NANO), binary=name != "cpu")
            detail = f"must be greater than or equal to aggregate container requests of {text}"
            errors.append(invalid(keyed(f"{where}.requests", name), str(requests[name]), detail))


def _names(spec: Spec, path: str, errors: Errors) -> None:
    for field in ("nodeName", "priorityClassName", "serviceAccountName", "runtimeClassName"):
        name = spec.get(field)
        if isinstance(name, str) and name:
            errors += [invalid(f"{path}.{field}", name, problem) for problem in subdomain_errors(name)]
    seen: dict[str, None] = {}
    for i, gate in enumerate(spec.get("schedulingGates") or ()):
        name, where = gate.get("name") or "", f"{path}.schedulingGates[{i}]"
        errors += [invalid(where, name, problem) for problem in qualified_name_errors(name)]
        checks.unique(errors, seen, name, where)
    volumes: dict[str, None] = {}
    for i, volume in enumerate(spec.get("volumes") or ()):
        name, where = volume.get("name") or "", f"{path}.volumes[{i}].name"
        if name:
            errors += [invalid(where, name, problem) for problem in label_errors(name)]
            checks.unique(errors, volumes, name, where)
        else:
            errors.append(required(where))


def _times(spec: Spec, path: str, errors: Errors) -> None:
    deadline = spec.get("activeDeadlineSeconds")
    if deadline is not None and not 1 <= deadline <= 2**31 - 1:
        detail = "must be between 1 and 2147483647, inclusive"
        errors.append(invalid(f"{path}.activeDeadlineSeconds", deadline, detail))
