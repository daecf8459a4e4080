"""Validation of pods and their specs after defaulting, with errors in kube's order.

kube: pkg/apis/core/validation/validation.go (ValidatePodSpec, ValidatePodCreate) @ v1.34.1
"""

from collections.abc import Mapping
from typing import Any

from scheduler_core.apimachinery.objects.demand import amounts, pod_amounts
from scheduler_core.apimachinery.objects.errors import Errors, format_key_path
from scheduler_core.apimachinery.objects.labels import LabelSelector
from scheduler_core.apimachinery.objects.names import (
    label_errors,
    list_qualified_name_errors,
    list_underscored_subdomain_errors,
    subdomain_errors,
)
from scheduler_core.apimachinery.objects.resources import HUGE_PAGES, is_pod_level_name
from scheduler_core.apiserver.validation import checks, placement
from scheduler_core.apiserver.validation.devices.pods import claims_of, is_mirror, uses
from scheduler_core.apiserver.validation.network.services import ip_address
from scheduler_core.apiserver.validation.pods import annotations as of_annotations
from scheduler_core.apiserver.validation.pods.annotations import pod_annotations, validate_seccomp_annotations
from scheduler_core.apiserver.validation.pods.container import Pod
from scheduler_core.apiserver.validation.pods.containers import (
    containers,
    every_container,
    host_process,
    reject_fields_of_other_systems,
    reject_padded_image,
)
from scheduler_core.apiserver.validation.pods.security import pod_security_context
from scheduler_core.apiserver.validation.pods.volumes import volumes
from scheduler_core.apiserver.validation.rules import MAX_INT32, Object, Rules, one, validate_name, within

# Pod-level resources (spec.resources).
# kube: pkg/apis/core/validation/validation.go (validatePodResources, validatePodResourceConsistency) @ v1.34.1


def pod_resources(pod: Pod, errors: Errors) -> None:
    """Validate pod-level resources: the names, at least the containers' sum, and at least each container's limit."""
    resources, where = pod.spec.get("resources"), f"{pod.path}.resources"
    if resources is None:
        return
    if (pod.spec.get("os") or {}).get("name") == "windows":
        errors.forbidden(where, "may not be set for a windows pod")
        return
    if resources.get("claims") is not None:
        errors.forbidden(f"{where}.claims", "claims may not be set for Resources at pod-level")
    checks.resource_requirements(resources, where, errors, _name)
    uses(resources.get("claims") or (), pod.claims, f"{where}.claims", errors)
    alone = {**pod.spec, "resources": None}
    requests, limits = amounts(resources.get("requests")), amounts(resources.get("limits"))
    for name, total in pod_amounts(alone, "requests", overhead=False).items():
        if name in requests and total.nanos > requests[name].nanos:
            errors.invalid(
                format_key_path(f"{where}.requests", name),
                checks.quantity_text(resources["requests"][name]),
                f"must be greater than or equal to aggregate container requests of {total.text}",
            )
    for name, total in pod_amounts(alone, "limits", overhead=False).items():
        if name.startswith(HUGE_PAGES) and name in limits and total.nanos > limits[name].nanos:
            errors.invalid(
                format_key_path(f"{where}.limits", name),
                checks.quantity_text(resources["limits"][name]),
                f"must be greater than or equal to aggregate container limits of {total.text}",
            )
    for i, raw in enumerate(pod.spec.get("containers") or ()):
        for name, limit in amounts((raw.get("resources") or {}).get("limits")).items():
            if name in limits and limit.nanos > limits[name].nanos:
                place = f"{format_key_path(f'{where}.containers[{i}]', name)}.limits"
                detail = (
                    f"must be less than or equal to pod limits of {checks.quantity_text(resources['limits'][name])}"
                )
                errors.invalid(place, checks.quantity_text(raw["resources"]["limits"][name]), detail)


def _name(name: str, path: str, errors: Errors) -> None:
    before = len(errors)
    checks.standard_name(name, path, errors)
    if len(errors) == before and not is_pod_level_name(name):
        errors.not_supported(path, name, ("cpu", "hugepages-", "memory"))


_MOST_SERVERS, _MOST_SEARCHES, _LONGEST_LIST = 3, 32, 2048
_DNS = ("ClusterFirstWithHostNet", "ClusterFirst", "Default", "None")


def _account(spec: Object, path: str, errors: Errors) -> None:
    """Validate the service account. The older field counts if the newer one is empty."""
    name = spec.get("serviceAccountName") or spec.get("serviceAccount")
    validate_name("serviceAccountName", subdomain_errors)({"serviceAccountName": name}, path, errors)


def _hostname_override(spec: Object, path: str, errors: Errors) -> None:
    """Validate hostnameOverride, which is dropped before 1.35."""
    if (name := spec.get("hostnameOverride")) is not None:
        path = f"{path}.hostnameOverride"
        errors.forbidden(path, "may not be specified when hostNetwork is true", when=spec.get("hostNetwork"))
        errors.invalid(path, name, "must be no more than 64 characters", when=len(name) > 64)
        errors.problems(path, name, subdomain_errors(name))


_PLACED: Rules = (
    _account,
    validate_name("nodeName", subdomain_errors),
    within("activeDeadlineSeconds", 1, MAX_INT32),
    validate_name("hostname", label_errors),
    validate_name("subdomain", label_errors),
    _hostname_override,
)


def pod_spec(spec: Object, errors: Errors, path: str = "spec", meta: Mapping[str, Any] | None = None) -> None:
    """Add all errors in a spec. `path`: the spec's path; `meta`: the pod's metadata, or None in a template."""
    sound = volumes(spec.get("volumes") or (), (meta or {}).get("name") or "", f"{path}.volumes", errors)
    claims_of(spec, is_mirror(meta or {}), path, errors)
    names = tuple(str(each["name"]) for each in spec.get("resourceClaims") or () if each.get("name"))
    pod = Pod(spec, path, sound, names)
    containers(pod, errors)
    pod_resources(pod, errors)
    _host_network(spec, path, meta is None, errors)
    one("restartPolicy", "Always", "OnFailure", "Never")(spec, path, errors)
    one("dnsPolicy", *_DNS)(spec, path, errors)
    checks.labels(spec.get("nodeSelector"), f"{path}.nodeSelector", errors)
    pod_security_context(spec, path, errors)
    placement.affinity(spec.get("affinity") or {}, f"{path}.affinity", errors)
    _dns(spec, f"{path}.dnsConfig", errors)
    _gates(spec, path, errors)
    placement.validate_spread_constraints(
        spec.get("topologySpreadConstraints") or (), f"{path}.topologySpreadConstraints", errors
    )
    host_process(spec, path, errors)
    _host_users(spec, path, errors)
    for rule in _PLACED:
        rule(spec, path, errors)
    placement.tolerations(spec.get("tolerations") or (), f"{path}.tolerations", errors)
    _host_aliases(spec, f"{path}.hostAliases", errors)
    validate_name("priorityClassName", subdomain_errors)(spec, path, errors)
    if (name := spec.get("runtimeClassName")) is not None:
        errors.problems(f"{path}.runtimeClassName", name, subdomain_errors(name))
    errors.required(f"{path}.preemptionPolicy", when=spec.get("preemptionPolicy") == "")
    one("preemptionPolicy", "PreemptLowerPriority", "Never")(spec, path, errors)
    if spec.get("overhead"):
        checks.resource_requirements({"limits": spec["overhead"]}, f"{path}.overhead", errors)
    reject_fields_of_other_systems(spec, path, errors)


def pod(manifest: Object, errors: Errors, new: bool = True) -> None:
    """Validate a pod, except its metadata. `new`: the pod is being created, not imported."""
    spec, meta = manifest.get("spec") or {}, manifest["metadata"]
    pod_spec(spec, errors, meta=meta)
    for field in ("containers", "initContainers"):
        for i, raw in enumerate(spec.get(field) or ()):
            reject_padded_image(raw, f"spec.{field}[{i}]", errors)
    if new and spec.get("ephemeralContainers"):
        errors.forbidden("spec.ephemeralContainers", "cannot be set on create")
    if spec.get("nodeName") and spec.get("schedulingGates"):
        errors.forbidden("spec.nodeName", "cannot be set until all schedulingGates have been cleared")
    annotations = meta.get("annotations") or {}
    of_annotations.validate_seccomp_annotations(spec, annotations, "spec", errors)
    of_annotations.validate_app_armor_annotations(spec, annotations, errors)
    one("phase", "Pending", "Running", "Succeeded", "Failed", "Unknown")(manifest.get("status") or {}, "status", errors)


def _host_network(spec: Object, path: str, in_template: bool, errors: Errors) -> None:
    """Validate host ports on the host's network. A template may omit them, because they get defaults in the pod."""
    for i, container in enumerate(spec.get("containers") or ()) if spec.get("hostNetwork") else ():
        for j, port in enumerate(container.get("ports") or ()):
            host = port.get("hostPort") or 0
            if host != (port.get("containerPort") or 0) and not (in_template and not host):
                where = f"{path}.containers[{i}].ports[{j}].hostPort"
                errors.invalid(where, host, "must match `containerPort` when `hostNetwork` is true")


def _dns(spec: Object, path: str, errors: Errors) -> None:
    config = spec.get("dnsConfig")
    servers = (config or {}).get("nameservers") or ()
    if spec.get("dnsPolicy") == "None":
        if errors.required(path, "must provide `dnsConfig` when `dnsPolicy` is None", when=config is None):
            return
        if not servers:
            errors.required(f"{path}.nameservers", "must provide at least one DNS nameserver when `dnsPolicy` is None")
            return
    if config is None:
        return
    if len(servers) > _MOST_SERVERS:
        errors.invalid(f"{path}.nameservers", list(servers), f"must not have more than {_MOST_SERVERS} nameservers")
    for i, server in enumerate(servers):
        ip_address(server, f"{path}.nameservers[{i}]", errors)
    _searches(list(config.get("searches") or ()), f"{path}.searches", errors)
    for i, option in enumerate(config.get("options") or ()):
        errors.required(f"{path}.options[{i}]", "must not be empty", when=not option.get("name"))


def _searches(searches: list[str], path: str, errors: Errors) -> None:
    if len(searches) > _MOST_SEARCHES:
        errors.invalid(path, searches, f"must not have more than {_MOST_SEARCHES} search paths")
    if len(" ".join(searches).encode()) > _LONGEST_LIST:
        detail = f"must not have more than {_LONGEST_LIST} characters (including spaces) in the search list"
        errors.invalid(path, searches, detail)
    for i, search in enumerate(searches):
        name = search.removesuffix(".")
        problems = () if search == "." else list_underscored_subdomain_errors(name)
        errors.problems(f"{path}[{i}]", name, problems)


def _gates(spec: Object, path: str, errors: Errors) -> None:
    for i, gate in enumerate(spec.get("readinessGates") or ()):
        name, where = gate.get("conditionType") or "", f"{path}.readinessGates[{i}].conditionType"
        errors.problems(where, name, list_qualified_name_errors(name))
    seen: dict[str, None] = {}
    for i, gate in enumerate(spec.get("schedulingGates") or ()):
        name, where = gate.get("name") or "", f"{path}.schedulingGates[{i}]"
        errors.problems(where, name, list_qualified_name_errors(name))
        errors.unique(seen, name, where)


def _host_users(spec: Object, path: str, errors: Errors) -> None:
    if spec.get("hostUsers") is not False:
        return
    detail = "when `hostUsers` is false"
    for field in ("hostNetwork", "HostPID", "HostIPC"):
        errors.forbidden(f"{path}.{field}", detail, when=spec.get(f"h{field[1:]}"))
    for raw, where in every_container(spec, path):
        errors.forbidden(f"{where}.volumeDevices", detail, when=raw.get("volumeDevices"))


def _host_aliases(spec: Object, path: str, errors: Errors) -> None:
    for i, alias in enumerate(spec.get("hostAliases") or ()):
        ip_address(alias.get("ip") or "", f"{path}[{i}].ip", errors)
        for j, name in enumerate(alias.get("hostnames") or ()):
            where = f"{path}[{i}].hostnames[{j}]"
            errors.problems(where, name, subdomain_errors(name))


# Pod templates, and the selectors of workloads, which must match them.
# kube: pkg/apis/core/validation/validation.go (ValidatePodTemplateSpec), pkg/apis/apps/validation/validation.go
# (ValidatePodTemplateSpecForReplicaSet) @ v1.34.1

_DIFFERENT = "`selector` does not match template `labels`"


def pod_template(template: Object, path: str, errors: Errors) -> None:
    """Validate a pod template. As in kube, labels and annotations have paths beside the spec."""
    meta, spec = template.get("metadata") or {}, template.get("spec") or {}
    annotations = meta.get("annotations") or {}
    checks.labels(meta.get("labels"), f"{path}.labels", errors)
    checks.annotation_keys(annotations, f"{path}.annotations", errors)
    errors += pod_annotations(annotations, spec, f"{path}.annotations")
    pod_spec(spec, errors, f"{path}.spec")
    validate_seccomp_annotations(spec, annotations, f"{path}.spec", errors)
    if spec.get("ephemeralContainers"):
        errors.forbidden(f"{path}.spec.ephemeralContainers", "ephemeral containers not allowed in pod template")


def validate_selector_and_template(spec: Object, errors: Errors) -> None:
    """Validate the selector and the template of a Deployment or ReplicaSet."""
    selector = spec.get("selector")
    before = len(errors)
    checks.label_selector(selector, "spec.selector", errors)
    wrong = len(errors) > before
    if selector is None:
        errors.required("spec.selector")
    elif is_empty(selector):
        errors.invalid("spec.selector", {}, "empty selector is invalid for deployment")
    if wrong:
        errors.invalid("spec.selector", selector_json(selector), "invalid label selector")
        return
    template = spec.get("template") or {}
    match(selector, template, "spec.template", errors)
    pod_template(template, "spec.template", errors)
    for_ever(template, "ReplicaSet", errors)


def match(selector: Object | None, template: Object, path: str, errors: Errors) -> None:
    """Add an error if the template's labels do not match a valid selector."""
    labels = (template.get("metadata") or {}).get("labels")
    if selector is None or not LabelSelector.of(selector).matches(labels or {}):
        errors.invalid(f"{path}.metadata.labels", None if labels is None else dict(sorted(labels.items())), _DIFFERENT)


def for_ever(template: Object, kind: str, errors: Errors) -> None:
    """Add errors for fields that are not allowed in templates of pods that never complete."""
    pod = template.get("spec") or {}
    policy = pod.get("restartPolicy")
    if policy not in (None, "", "Always"):
        errors.not_supported("spec.template.spec.restartPolicy", policy, ("Always",))
    if pod.get("activeDeadlineSeconds") is not None:
        detail = f"activeDeadlineSeconds in {kind} is not Supported"
        errors.forbidden("spec.template.spec.activeDeadlineSeconds", detail)


def is_empty(selector: Object) -> bool:
    return not selector.get("matchLabels") and not selector.get("matchExpressions")


def selector_json(selector: Object | None) -> Any:
    """Return a label selector in kube's format, without empty parts."""
    if selector is None:
        return None
    shown: dict[str, Any] = {}
    if selector.get("matchLabels"):
        shown["matchLabels"] = dict(sorted(selector["matchLabels"].items()))
    if selector.get("matchExpressions"):
        shown["matchExpressions"] = [
            {"key": each.get("key") or "", "operator": each.get("operator") or "", **_values(each)}
            for each in selector["matchExpressions"]
        ]
    return shown


def _values(expression: Object) -> dict[str, Any]:
    return {"values": list(expression["values"])} if expression.get("values") else {}
