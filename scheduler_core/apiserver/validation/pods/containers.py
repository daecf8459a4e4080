"""Validation of a pod's containers by sort: regular, init, and ephemeral containers.

kube: pkg/apis/core/validation/validation.go (validateContainers, validateInitContainers, validateEphemeralContainers, validateProbe,
validateLifecycle) @ v1.34.1
"""

from collections.abc import Iterable, Iterator

from scheduler_core.apimachinery.objects import CONTAINER_LISTS, is_sidecar
from scheduler_core.apimachinery.objects.errors import Errors, forbidden
from scheduler_core.apimachinery.objects.names import header_errors, port_name_errors
from scheduler_core.apiserver.validation import checks
from scheduler_core.apiserver.validation.pods.container import Pod, container
from scheduler_core.apiserver.validation.rules import Object, Rules, need, not_negative, one, only_one

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
    """Yield all containers of a spec with their paths."""
    for field in CONTAINER_LISTS:
        for i, raw in enumerate(spec.get(field) or ()):
            yield raw, f"{path}.{field}[{i}]"


def containers(pod: Pod, errors: Errors) -> None:
    """Validate the containers of a pod."""
    given, where = pod.spec.get("containers") or (), f"{pod.path}.containers"
    errors.required(where, when=not given)
    names: dict[str, None] = {}
    for i, raw in enumerate(given):
        container(raw, pod, f"{where}[{i}]", errors)
        errors.unique(names, raw.get("name") or "", f"{where}[{i}].name")
        _course(raw, pod, f"{where}[{i}]", errors)
    _host_ports(given, where, errors)
    _init(pod, errors)
    _ephemeral(pod, errors)


def _init(pod: Pod, errors: Errors) -> None:
    names = {raw.get("name") or "": None for raw in pod.spec.get("containers") or ()}
    where = f"{pod.path}.initContainers"
    for i, raw in enumerate(pod.spec.get("initContainers") or ()):
        path, name, policy = f"{where}[{i}]", raw.get("name") or "", raw.get("restartPolicy")
        container(raw, pod, path, errors)
        errors.not_supported(f"{path}.restartPolicy", policy, ("Always",), when=policy not in (None, "Always"))
        if name in names:
            errors.duplicate(f"{path}.name", name)
        elif name:
            names[name] = None
        _host_ports([raw], where, errors)
        if is_sidecar(raw):
            _course(raw, pod, path, errors)
            continue
        for field in ("lifecycle", *_PROBES):
            errors.forbidden(f"{path}.{field}", _ONLY_SIDECARS, when=raw.get(field) is not None)


def _ephemeral(pod: Pod, errors: Errors) -> None:
    others = [raw.get("name") for field in CONTAINER_LISTS[:2] for raw in pod.spec.get(field) or ()]
    names = dict.fromkeys(map(str, others))
    for i, raw in enumerate(pod.spec.get("ephemeralContainers") or ()):
        path, target = f"{pod.path}.ephemeralContainers[{i}]", raw.get("targetContainerName") or ""
        container(raw, pod, path, errors)
        reject_padded_image(raw, path, errors)
        errors.unique(names, raw.get("name") or "", f"{path}.name")
        errors.not_found(f"{path}.targetContainerName", target, when=target and target not in others)
        given = [field for field in _NOT_ADDED if raw.get(field) is not None]
        if raw.get("resources") == {}:
            given.remove("resources")
        errors += [forbidden(f"{path}.{field}", _ADDED) for field in given]
        for j, mount in enumerate(raw.get("volumeMounts") or ()):
            for field in ("subPath", "subPathExpr"):
                errors.forbidden(f"{path}.volumeMounts[{j}].{field}", _ADDED, when=mount.get(field))


def reject_padded_image(raw: Object, path: str, errors: Errors) -> None:
    """Reject spaces around the image of a pod's container; a template may have such an image."""
    image = raw.get("image") or ""
    errors.invalid(f"{path}.image", image, "must not have leading or trailing whitespace", when=image != image.strip())


def _host_ports(given: Iterable[Object], path: str, errors: Errors) -> None:
    """Add errors for repeated host ports. The path of init containers is that of the first one, as in kube."""
    seen: dict[str, None] = {}
    for i, raw in enumerate(given):
        for j, port in enumerate(raw.get("ports") or ()):
            if port.get("hostPort"):
                taken = f"{port.get('protocol') or 'TCP'}/{port.get('hostIP') or ''}/{port['hostPort']}"
                errors.unique(seen, taken, f"{path}[{i}].ports[{j}].hostPort")


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
    errors.invalid(where, grace, "must be greater than 0", when=grace is not None and grace <= 0)
    if field == "readinessProbe":
        errors.invalid(where, grace, "must not be set for readinessProbes", when=grace is not None)
    elif probe.get("successThreshold") not in (None, 0, 1):
        errors.invalid(f"{path}.successThreshold", probe["successThreshold"], "must be 1")


def _handler(value: Object, kinds: dict[str, Rules], pod: Pod, path: str, errors: Errors) -> None:
    only_one(kinds, "may not specify more than 1 handler type")(value, path, errors)
    found = [kind for kind in (*kinds, "sleep") if value.get(kind) is not None]
    if kinds is _HOOKS and "sleep" in found:
        seconds, where = value["sleep"].get("seconds") or 0, f"{path}.sleep"
        if len(found) > 1:
            errors.forbidden(where, "may not specify more than 1 handler type")
        elif not 0 <= seconds <= pod.grace:
            detail = f"must be non-negative and less than terminationGracePeriodSeconds ({pod.grace})"
            errors.invalid(where, seconds, detail)
    errors.required(path, "must specify a handler type", when=not found)


def port_number_or_name(value: Object, path: str, errors: Errors) -> None:
    port, where = value.get("port") or 0, f"{path}.port"
    if isinstance(value.get("port"), str):
        errors.problems(where, value["port"], port_name_errors(value["port"]))
    else:
        checks.port_number(int(port), where, errors)


def _headers(value: Object, path: str, errors: Errors) -> None:
    for header in value.get("httpHeaders") or ():
        name = header.get("name") or ""
        errors.problems(f"{path}.httpHeaders", name, header_errors(name))


_HOOKS: dict[str, Rules] = {
    "exec": (need("command"),),
    "httpGet": (port_number_or_name, one("scheme", "HTTP", "HTTPS"), _headers),
    "tcpSocket": (port_number_or_name,),
}
_HANDLERS: dict[str, Rules] = {**_HOOKS, "grpc": (port_number_or_name,)}

# Fields that depend on the pod's operating system.
# kube: pkg/apis/core/validation/validation.go (validateOS, validateWindows, validateWindowsHostProcessPod) @ v1.34.1

_SYSTEMS = ("linux", "windows")
_NOT_WINDOWS = (  # of a pod; those with a dot are of its security context
    *(".appArmorProfile", ".seLinuxOptions", "hostUsers", "hostPID", "hostIPC", ".seccompProfile"),
    *(".fsGroup", ".fsGroupChangePolicy", ".sysctls", "shareProcessNamespace", ".runAsUser", ".runAsGroup"),
    *(".supplementalGroups", ".supplementalGroupsPolicy", ".seLinuxChangePolicy"),
)
_NO_POINTERS = ("hostPID", "hostIPC", ".sysctls")  # empty ones count as absent
_CONTAINERS_NOT_WINDOWS = (
    *("appArmorProfile", "seLinuxOptions", "seccompProfile", "capabilities", "readOnlyRootFilesystem"),
    *("privileged", "allowPrivilegeEscalation", "procMount", "runAsUser", "runAsGroup"),
)
_ONLY_LINUX, _ONLY_WINDOWS = ("cannot be set for a windows pod", "windows options cannot be set for a linux pod")
_CONTEXT = "securityContext"


def reject_fields_of_other_systems(spec: Object, path: str, errors: Errors) -> None:
    """Add errors for fields that the pod's operating system does not have."""
    system = (spec.get("os") or {}).get("name") or ""
    if spec.get("os") is None:
        return
    if not system:
        errors.required(f"{path}.os.name")
    elif system not in _SYSTEMS:
        errors.not_supported(f"{path}.os", system, _SYSTEMS)
    elif system == "linux":
        for context, where in _contexts(spec, path):
            errors.forbidden(f"{where}.windowsOptions", _ONLY_WINDOWS, when=context.get("windowsOptions") is not None)
    else:
        _windows(spec, path, errors)


def _contexts(spec: Object, path: str) -> Iterator[tuple[Object, str]]:
    """Yield all security contexts with their paths, the pod's own first."""
    for raw, where in ((spec, path), *every_container(spec, path)):
        yield raw.get(_CONTEXT) or {}, f"{where}.{_CONTEXT}"


def _windows(spec: Object, path: str, errors: Errors) -> None:
    context = spec.get(_CONTEXT) or {}
    for field in _NOT_WINDOWS:
        value = (context if field.startswith(".") else spec).get(field.removeprefix("."))
        if value or (value is not None and field not in _NO_POINTERS):
            errors.forbidden(f"{path}.{_CONTEXT}{field}" if field.startswith(".") else f"{path}.{field}", _ONLY_LINUX)
    for raw, where in every_container(spec, path):
        own = raw.get(_CONTEXT) or {}
        errors += [
            forbidden(f"{where}.{_CONTEXT}.{field}", _ONLY_LINUX)
            for field in _CONTAINERS_NOT_WINDOWS
            if own.get(field) is not None
        ]


def host_process(spec: Object, path: str, errors: Errors) -> None:
    """Validate host process containers on Windows: all containers, or none."""

    def wanted(raw: Object) -> bool | None:
        return ((raw.get(_CONTEXT) or {}).get("windowsOptions") or {}).get("hostProcess")

    of_pod, found = wanted(spec), []
    for raw, where in every_container(spec, path):
        own = wanted(raw)
        if of_pod is not None and own is not None and own != of_pod:
            shown = str(of_pod).lower()
            detail = f"pod hostProcess value must be identical if both are specified, was {shown}"
            errors.invalid(f"{where}.{_CONTEXT}.windowsOptions.hostProcess", own, detail)
        found.append(own if own is not None else bool(of_pod))
    if any(found) and not all(found):
        detail = "If pod contains any hostProcess containers then all containers must be HostProcess containers"
        errors.invalid(path, "", detail)
    if any(found) and not spec.get("hostNetwork"):
        detail = "hostNetwork must be true if pod contains any hostProcess containers"
        errors.invalid(f"{path}.hostNetwork", False, detail)
