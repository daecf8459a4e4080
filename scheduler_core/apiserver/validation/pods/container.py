"""Validation of parts that all containers share: names, images, ports, variables, mounts, and devices.

kube: pkg/apis/core/validation/validation.go validateContainerCommon @ v1.34.1
"""

from collections.abc import Mapping
from dataclasses import dataclass

from scheduler_core.apimachinery.objects.errors import Errors
from scheduler_core.apimachinery.objects.names import (
    config_key_errors,
    label_errors,
    port_name_errors,
    subdomain_errors,
    variable_errors,
)
from scheduler_core.apiserver.validation import checks, rules
from scheduler_core.apiserver.validation.devices.pods import uses
from scheduler_core.apiserver.validation.pods.references import field_reference, resource_reference
from scheduler_core.apiserver.validation.pods.security import security_context

PULL_POLICIES = ("Always", "IfNotPresent", "Never")
_FIELDS = (
    *("metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName"),
    *("status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs"),
)
_SOURCES = ("fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef")
_MORE = "may not have more than one field specified at a time"


@dataclass(frozen=True, slots=True)
class Pod:
    """The pod whose containers are checked: its spec with path, valid volumes by name, and the names of its claims."""

    spec: rules.Object
    path: str
    volumes: Mapping[str, rules.Object]
    claims: tuple[str, ...] = ()

    @property
    def grace(self) -> int:
        """The grace period in seconds."""
        given = self.spec.get("terminationGracePeriodSeconds")
        return 30 if given is None else int(given) if given >= 0 else 1

    @property
    def never_restarts(self) -> bool:
        return self.spec.get("restartPolicy") == "Never"

    @property
    def host_users(self) -> bool:
        return self.spec.get("hostUsers") is not False


def container(raw: rules.Object, pod: Pod, path: str, errors: Errors) -> None:
    """Validate a container of any sort."""
    rules.obey(_NAMED, raw, path, errors)
    _ports(raw, path, errors)
    for i, variable in enumerate(raw.get("env") or ()):
        _variable(variable, f"{path}.env[{i}]", errors)
    for i, source in enumerate(raw.get("envFrom") or ()):
        _variables(source, f"{path}.envFrom", i, errors)
    _mounts(raw, pod, f"{path}.volumeMounts", errors)
    _devices(raw, pod, f"{path}.volumeDevices", errors)
    rules.one("imagePullPolicy", *PULL_POLICIES)(raw, path, errors)
    resources = raw.get("resources") or {}
    checks.resource_requirements(resources, f"{path}.resources", errors)
    uses(resources.get("claims") or (), pod.claims, f"{path}.resources.claims", errors)
    _resize(raw, pod, f"{path}.resizePolicy", errors)
    if (context := raw.get("securityContext")) is not None:
        security_context(context, pod.host_users, f"{path}.securityContext", errors)


_NAMED: rules.Rules = (
    rules.validate_name("name", label_errors, needed=True),
    rules.need("image"),
    rules.one("terminationMessagePolicy", "File", "FallbackToLogsOnError"),
)


def _ports(raw: rules.Object, path: str, errors: Errors) -> None:
    names: dict[str, None] = {}
    for i, port in enumerate(raw.get("ports") or ()):
        where, name = f"{path}.ports[{i}]", port.get("name") or ""
        if name and (problems := port_name_errors(name)):
            errors.problems(f"{where}.name", name, problems)
        elif name:
            errors.unique(names, name, f"{where}.name")
        if not errors.required(f"{where}.containerPort", when=not port.get("containerPort")):
            checks.port_number(port["containerPort"], f"{where}.containerPort", errors)
        if port.get("hostPort"):
            checks.port_number(port["hostPort"], f"{where}.hostPort", errors)
        rules.one("protocol", "SCTP", "TCP", "UDP")(port, where, errors)


def _variable(variable: rules.Object, path: str, errors: Errors) -> None:
    rules.validate_name("name", variable_errors, needed=True)(variable, path, errors)
    given = variable.get("valueFrom")
    if given is None:
        return
    where = f"{path}.valueFrom"
    for field in _SOURCES:
        if given.get(field) is not None:
            _source(given[field], field, f"{where}.{field}", errors)
    count = sum(given.get(field) is not None for field in (*_SOURCES, "fileKeyRef"))
    if not count:
        named_ = ", ".join(f"`{field}`" for field in _SOURCES[:-1])
        errors.invalid(where, "", f"must specify one of: {named_} or `{_SOURCES[-1]}`")
    elif variable.get("value"):
        errors.invalid(where, "", "may not be specified when `value` is not empty")
    elif count > 1:
        errors.invalid(where, "", _MORE)


def _source(source: rules.Object, field: str, path: str, errors: Errors) -> None:
    if field == "fieldRef":
        field_reference(source, path, errors, _FIELDS)
    elif field == "resourceFieldRef":
        resource_reference(source, path, errors, in_volume=False)
    else:
        rules.text("name", subdomain_errors)({"name": source.get("name") or ""}, path, errors)
        rules.validate_name("key", config_key_errors, needed=True)(source, path, errors)


def _variables(source: rules.Object, path: str, i: int, errors: Errors) -> None:
    """Validate a source of variables, a ConfigMap or Secret. The path of errors about the number of sources is the list's, as in kube."""
    rules.validate_name("prefix", variable_errors)(source, f"{path}[{i}]", errors)
    fields = ("configMapRef", "secretRef")
    for field in fields:
        rules.inner(field, rules.validate_name("name", subdomain_errors, needed=True))(source, f"{path}[{i}]", errors)
    count = sum(source.get(field) is not None for field in fields)
    errors.invalid(path, "", _MORE if count else "must specify one of: `configMapRef` or `secretRef`", when=count != 1)


def _by_name(entries: object, field: str) -> dict[str, str]:
    given = entries if isinstance(entries, list | tuple) else ()
    return {each.get("name") or "": each.get(field) or "" for each in given}


def _mounts(raw: rules.Object, pod: Pod, path: str, errors: Errors) -> None:
    devices = _by_name(raw.get("volumeDevices"), "devicePath")
    taken: dict[str, None] = {}
    for i, mount in enumerate(raw.get("volumeMounts") or ()):
        where = f"{path}[{i}]"
        name, place = mount.get("name") or "", mount.get("mountPath") or ""
        rules.need("name")(mount, where, errors)
        errors.not_found(f"{where}.name", name, when=name not in pod.volumes)
        rules.need("mountPath")(mount, where, errors)
        errors.invalid(f"{where}.mountPath", place, "must be unique", when=place in taken)
        taken[place] = None
        errors.invalid(f"{where}.name", name, "must not already exist in volumeDevices", when=name in devices)
        if place in devices.values():
            errors.invalid(f"{where}.mountPath", place, "must not already exist as a path in volumeDevices")
        # As in kube, the paths of subPath and of later errors lack the index.
        if mount.get("subPath"):
            rules.text("subPath", rules.not_below)(mount, path, errors)
        if mount.get("subPathExpr"):
            if mount.get("subPath"):
                detail = "subPathExpr and subPath are mutually exclusive"
                errors.invalid(f"{where}.subPathExpr", mount["subPathExpr"], detail)
            rules.text("subPathExpr", rules.not_below)(mount, path, errors)
        _propagation(mount, raw, path, errors)


def _propagation(mount: rules.Object, raw: rules.Object, path: str, errors: Errors) -> None:
    """Validate the propagation of a mount. The errors' paths are below the list of mounts, as in kube."""
    rules.one("mountPropagation", "Bidirectional", "HostToContainer", "None", empty=True)(mount, path, errors)
    given, recursive = mount.get("mountPropagation"), mount.get("recursiveReadOnly")
    privileged = (raw.get("securityContext") or {}).get("privileged")
    if given == "Bidirectional" and not privileged:
        detail = "Bidirectional mount propagation is available only to privileged containers"
        errors.forbidden(f"{path}.mountPropagation", detail)
    where, modes = f"{path}.recursiveReadOnly", ("Disabled", "Enabled", "IfPossible")
    if recursive not in (None, *modes):
        errors.not_supported(where, recursive, modes)
    elif recursive not in (None, "Disabled"):
        errors.forbidden(where, "may only be specified when readOnly is true", when=not mount.get("readOnly"))
        if given not in (None, "None"):
            errors.forbidden(where, "may only be specified when mountPropagation is None or not specified")


def _devices(raw: rules.Object, pod: Pod, path: str, errors: Errors) -> None:
    mounts = _by_name(raw.get("volumeMounts"), "mountPath")
    names: dict[str, None] = {}
    paths: dict[str, None] = {}
    for i, device in enumerate(raw.get("volumeDevices") or ()):
        where = f"{path}[{i}]"
        name, place = device.get("name") or "", device.get("devicePath") or ""
        volume = pod.volumes.get(name)
        rules.need("name")(device, where, errors)
        errors.invalid(f"{where}.name", name, "must be unique", when=name in names)
        if volume is None:
            errors.not_found(f"{where}.name", name)
        elif volume.get("persistentVolumeClaim") is None and volume.get("ephemeral") is None:
            detail = "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode"
            errors.invalid(f"{where}.name", name, detail)
        rules.need("devicePath")(device, where, errors)
        errors.invalid(f"{where}.devicePath", place, "must be unique", when=place in paths)
        if not errors.invalid(
            f"{where}.devicePath", place, "can not contain backsteps ('..')", when=rules.steps_back(place)
        ):
            paths[place] = None
        errors.invalid(f"{where}.name", name, "must not already exist in volumeMounts", when=name in mounts)
        if place in mounts.values():
            errors.invalid(f"{where}.devicePath", place, "must not already exist as a path in volumeMounts")
        if name:
            names[name] = None


def _resize(raw: rules.Object, pod: Pod, path: str, errors: Errors) -> None:
    """Validate resize policies. The errors' paths are the list's, as in kube, except for repeated policies."""
    seen: dict[str, None] = {}
    known = {"resourceName": ("cpu", "memory"), "restartPolicy": ("NotRequired", "RestartContainer")}
    for i, policy in enumerate(raw.get("resizePolicy") or ()):
        resource = policy.get("resourceName") or ""
        errors.unique(seen, resource, f"{path}[{i}]")
        for field, supported in known.items():
            value = policy.get(field) or ""
            if not errors.required(path, when=not value):
                errors.not_supported(path, value, supported, when=value not in supported)
        restart = policy.get("restartPolicy") or ""
        if pod.never_restarts and restart != "NotRequired":
            errors.invalid(path, restart, "must be 'NotRequired' when `restartPolicy` is 'Never'")
