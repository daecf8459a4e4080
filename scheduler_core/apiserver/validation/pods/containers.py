"""Containers of a pod by what they are for: the regular ones, those that run first, and those that were added to look into it.

kube: pkg/apis/core/validation/validation.go (validateContainers, validateInitContainers, validateEphemeralContainers, validateProbe,
validateLifecycle) @ v1.34.1
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from scheduler_core.apimachinery.objects.errors import (
    build_required_error,
    duplicate,
    forbidden,
    invalid,
    not_found,
    not_supported,
)
from scheduler_core.apimachinery.objects.names import header_errors, port_name_errors
from scheduler_core.apimachinery.objects.resources import is_sidecar
from scheduler_core.apiserver.validation import checks
from scheduler_core.apiserver.validation.checks import Errors
from scheduler_core.apiserver.validation.pods.container import Pod, container
from scheduler_core.apiserver.validation.rules import Object, Rules, need, not_negative, one, only_one

FIELDS = ("initContainers", "containers", "ephemeralContainers")  # in the order that kube visits them
_PROBES = ("livenessProbe", "readinessProbe", "startupProbe")
_ONLY_SIDECARS = "may not be set for init containers without restartPolicy=Always"
_NOT_ADDED = (
    *("ports", "resources", "resizePolicy", "restartPolicy", "restartPolicyRules"),
    *("livenessProbe", "readinessProbe", "startupProbe", "lifecycle"),
)
_ADDED = "cannot be set for an Ephemeral Container"
_TIMES = not_negative(
    *("initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold")
)


def every_container(spec: Object, path: str) -> Iterator[tuple[Object, str]]:
    """All containers of a spec, with where they stand."""
    for field in FIELDS:
        for i, raw in enumerate(spec.get(field) or ()):
            yield raw, f"{path}.{field}[{i}]"


def containers(pod: Pod, errors: Errors) -> None:
    """Appends what is wrong with the containers of a pod."""
    _regular(pod, errors)
    _init(pod, errors)
    _ephemeral(pod, errors)


def _regular(pod: Pod, errors: Errors) -> None:
    given, where = pod.spec.get("containers") or (), f"{pod.path}.containers"
    if not given:
        errors.append(build_required_error(where))
    names: dict[str, None] = {}
    for i, raw in enumerate(given):
        container(raw, pod, f"{where}[{i}]", errors)
        checks.unique(errors, names, raw.get("name") or "", f"{where}[{i}].name")
        _course(raw, pod, f"{where}[{i}]", errors)
    _host_ports(given, where, errors)


def _init(pod: Pod, errors: Errors) -> None:
    names = {raw.get("name") or "": None for raw in pod.spec.get("containers") or ()}
    where = f"{pod.path}.initContainers"
    for i, raw in enumerate(pod.spec.get("initContainers") or ()):
        path, name, policy = f"{where}[{i}]", raw.get("name") or "", raw.get("restartPolicy")
        container(raw, pod, path, errors)
        if policy not in (None, "Always"):
            errors.append(not_supported(f"{path}.restartPolicy", policy, ("Always",)))
        if name in names:
            errors.append(duplicate(f"{path}.name", name))
        elif name:
            names[name] = None
        _host_ports([raw], where, errors)
        if is_sidecar(raw):
            _course(raw, pod, path, errors)
            continue
        for field in ("lifecycle", *_PROBES):
            if raw.get(field) is not None:
                errors.append(forbidden(f"{path}.{field}", _ONLY_SIDECARS))


def _ephemeral(pod: Pod, errors: Errors) -> None:
    others = [raw.get("name") for field in FIELDS[:2] for raw in pod.spec.get(field) or ()]
    names = dict.fromkeys(map(str, others))
    for i, raw in enumerate(pod.spec.get("ephemeralContainers") or ()):
        path, target = f"{pod.path}.ephemeralContainers[{i}]", raw.get("targetContainerName") or ""
        container(raw, pod, path, errors)
        reject_padded_image(raw, path, errors)
        checks.unique(errors, names, raw.get("name") or "", f"{path}.name")
        if target and target not in others:
            errors.append(not_found(f"{path}.targetContainerName", target))
        given = [field for field in _NOT_ADDED if raw.get(field) is not None]
        if raw.get("resources") == {}:
            given.remove("resources")
        errors += [forbidden(f"{path}.{field}", _ADDED) for field in given]
        for j, mount in enumerate(raw.get("volumeMounts") or ()):
            for field in ("subPath", "subPathExpr"):
                if mount.get(field):
                    errors.append(forbidden(f"{path}.volumeMounts[{j}].{field}", _ADDED))


def reject_padded_image(raw: Object, path: str, errors: Errors) -> None:
    """Reject spaces around the image of a pod's container; a template may have such an image."""
    image = raw.get("image") or ""
    if image != image.strip():
        errors.append(invalid(f"{path}.image", image, "must not have leading or trailing whitespace"))


def _host_ports(given: Iterable[Object], path: str, errors: Errors) -> None:
    """Ports of the host that are there twice. Of an init container kube's path is that of the first one."""
    seen: dict[str, None] = {}
    for i, raw in enumerate(given):
        for j, port in enumerate(raw.get("ports") or ()):
            if port.get("hostPort"):
                taken = f"{port.get('protocol') or 'TCP'}/{port.get('hostIP') or ''}/{port['hostPort']}"
                checks.unique(errors, seen, taken, f"{path}[{i}].ports[{j}].hostPort")


# lifecycle and probes


def _course(raw: Object, pod: Pod, path: str, errors: Errors) -> None:
    """Validate a running container's hooks and probes."""
    for field in ("postStart", "preStop"):
        hook = (raw.get("lifecycle") or {}).get(field)
        if hook is not None:
            _handler(hook, _HOOKS, pod, f"{path}.lifecycle.{field}", errors)
    for field in _PROBES:
        if raw.get(field) is not None:
            _probe(raw[field], field, pod, f"{path}.{field}", errors)


def _probe(probe: Object, field: str, pod: Pod, path: str, errors: Errors) -> None:
    _handler(probe, _HANDLERS, pod, path, errors)
    _TIMES(probe, path, errors)
    grace, where = probe.get("terminationGracePeriodSeconds"), f"{path}.terminationGracePeriodSeconds"
    if grace is not None and grace <= 0:
        errors.append(invalid(where, grace, "must be greater than 0"))
    if field == "readinessProbe":
        if grace is not None:
            errors.append(invalid(where, grace, "must not be set for readinessProbes"))
    elif probe.get("successThreshold") not in (None, 0, 1):
        errors.append(invalid(f"{path}.successThreshold", probe["successThreshold"], "must be 1"))


def _handler(value: Object, kinds: dict[str, Rules], pod: Pod, path: str, errors: Errors) -> None:
    only_one(kinds, "may not specify more than 1 handler type")(value, path, errors)
    found = [kind for kind in (*kinds, "sleep") if value.get(kind) is not None]
    if kinds is _HOOKS and "sleep" in found:
        seconds, where = value["sleep"].get("seconds") or 0, f"{path}.sleep"
        if len(found) > 1:
            errors.append(forbidden(where, "may not specify more than 1 handler type"))
        elif not 0 <= seconds <= pod.grace:
            detail = f"must be non-negative and less than terminationGracePeriodSeconds ({pod.grace})"
            errors.append(invalid(where, seconds, detail))
    if not found:
        errors.append(build_required_error(path, "must specify a handler type"))


def port_number_or_name(value: Object, path: str, errors: Errors) -> None:
    port, where = value.get("port") or 0, f"{path}.port"
    if isinstance(value.get("port"), str):
        errors += [invalid(where, value["port"], problem) for problem in port_name_errors(value["port"])]
    else:
        checks.port_number(int(port), where, errors)


def _headers(value: Object, path: str, errors: Errors) -> None:
    for header in value.get("httpHeaders") or ():
        name = header.get("name") or ""
        errors += [invalid(f"{path}.httpHeaders", name, problem) for problem in header_errors(name)]


_HOOKS: dict[str, Rules] = {
    "exec": (need("command"),),
    "httpGet": (port_number_or_name, one("scheme", "HTTP", "HTTPS"), _headers),
    "tcpSocket": (port_number_or_name,),
}
_HANDLERS: dict[str, Rules] = {**_HOOKS, "grpc": (port_number_or_name,)}
