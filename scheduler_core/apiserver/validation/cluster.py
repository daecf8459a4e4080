"""Validation by the API server: objects of all kinds, and updates.

kube: pkg/apis/*/validation, pkg/registry/*/strategy.go @ v1.34.1
"""

import base64
import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from scheduler_core.apimachinery.objects.errors import (
    Errors,
    FieldError,
    build_required_error,
    format_key_path,
    invalid,
)
from scheduler_core.apimachinery.objects.manifest import Manifest
from scheduler_core.apimachinery.objects.names import config_key_errors, path_segment_errors, subdomain_errors
from scheduler_core.apiserver.kinds import Kind
from scheduler_core.apiserver.validation import objects, rules, workloads
from scheduler_core.apiserver.validation.autoscaling import autoscaler
from scheduler_core.apiserver.validation.checks import OLDEST_RULES, UpdateRules
from scheduler_core.apiserver.validation.devices.pods import claim_statuses
from scheduler_core.apiserver.validation.jobs import job, job_spec
from scheduler_core.apiserver.validation.network.objects import endpoint_slice, endpoints, ingress, network_policy
from scheduler_core.apiserver.validation.network.services import service
from scheduler_core.apiserver.validation.pod_update import (
    pod_ephemeral_containers,
    pod_resize,
    pod_status_update,
    pod_update,
)
from scheduler_core.apiserver.validation.pods.annotations import pod_annotations
from scheduler_core.apiserver.validation.pods.spec import pod, pod_template, selector_json
from scheduler_core.apiserver.validation.policies import WEBHOOK_RULE, validate_binding, validate_policy
from scheduler_core.apiserver.validation.quota import limit_range, resource_quota
from scheduler_core.apiserver.validation.rules import Object, need, not_negative, one, validate_name, within
from scheduler_core.apiserver.validation.storage import classes, persistent
from scheduler_core.apiserver.validation.updates import object_update, status_update
from scheduler_core.apiserver.validation.workloads import budget, lease, priority_class, runtime_class
from scheduler_core.base.clock.cron import BadSchedule, is_zone, parse_schedule

# ConfigMaps and Secrets.
# kube: pkg/apis/core/validation/validation.go (ValidateConfigMap, ValidateSecret), encoding/base64 @ v1.34.1

_MOST = 1024 * 1024  # bytes
_ACCOUNT = "kubernetes.io/service-account.name"
_REDACTED = "<secret contents redacted>"
# keys that a Secret of a type must have
_NEEDED = {
    "kubernetes.io/dockercfg": (".dockercfg",),
    "kubernetes.io/dockerconfigjson": (".dockerconfigjson",),
    "kubernetes.io/ssh-auth": ("ssh-privatekey",),
    "kubernetes.io/tls": ("tls.crt", "tls.key"),
}


def decode_base64(text: str) -> bytes:
    """Decode base64. Raise binascii.Error if the text is not base64."""
    return base64.b64decode(text.replace("\n", "").replace("\r", ""), validate=True)


def _keys(data: Object, path: str, errors: Errors) -> None:
    for key in data:
        errors.problems(format_key_path(path, key), key, config_key_errors(key))


def config_map(manifest: Object, errors: Errors) -> None:
    data, binary = manifest.get("data") or {}, manifest.get("binaryData") or {}
    for key in data:
        _keys({key: None}, "data", errors)
        errors.invalid(format_key_path("data", key), key, "duplicate of key present in binaryData", when=key in binary)
    _keys(binary, "binaryData", errors)
    size = sum(len(text.encode()) for text in data.values())
    errors.too_long("[]", _MOST, when=size + sum(len(decode_base64(text)) for text in binary.values()) > _MOST)


def secret(manifest: Object, errors: Errors) -> None:
    texts = {key: text.encode() for key, text in (manifest.get("stringData") or {}).items()}
    data = {**{key: decode_base64(text) for key, text in (manifest.get("data") or {}).items()}, **texts}
    kind = manifest.get("type") or "Opaque"
    _keys(data, "data", errors)
    errors.too_long("data", _MOST, when=sum(map(len, data.values())) > _MOST)
    if "data" not in manifest and "stringData" not in manifest:  # imports remove both
        return
    if kind == "kubernetes.io/service-account-token":
        if not (manifest["metadata"].get("annotations") or {}).get(_ACCOUNT):
            errors.required(f"metadata.annotations[{_ACCOUNT}]")
    elif kind == "kubernetes.io/basic-auth":
        if "username" not in data and "password" not in data:
            errors += [build_required_error("data[username]"), build_required_error("data[password]")]
    for key in _NEEDED.get(kind, ()):
        if key not in data or (kind == "kubernetes.io/ssh-auth" and not data[key]):
            errors.required(format_key_path("data", key))
        elif key.startswith(".docker") and (problem := _json_problem(data[key])):
            errors.invalid(format_key_path("data", key), _REDACTED, problem)


def _revision(manifest: Object, errors: Errors) -> None:
    not_negative("revision")(manifest, "", errors)
    given = manifest.get("data", {})
    errors.required("data", "data must be a valid JSON object", when=not isinstance(given, Mapping))


def _json_problem(text: bytes) -> str:
    """Return the first error of Go's JSON decoder for an object, or ""."""
    try:
        found = json.loads(text)
    except ValueError as wrong:
        where = getattr(wrong, "pos", 0)
        short = where >= len(text.rstrip())
        return (
            "unexpected end of JSON input"
            if short
            else f"invalid character {chr(text[where])!r} looking for beginning of value"
        )
    if found is None or isinstance(found, dict):
        return ""
    names = {str: "string", bool: "bool", list: "array"}
    kind = names.get(type(found), "number")
    return f"json: cannot unmarshal {kind} into Go value of type map[string]interface {{}}"


# Validation of a CronJob's schedule and time zone.
# kube: pkg/apis/batch/validation/validation.go (validateCronJobSpec) @ v1.34.1

_LONGEST_NAME = 52  # the name of a Job with "-" and the minute
_ZONE_PART = re.compile(r"[A-Za-z.\-_0-9+]{1,14}\Z")


def cron_job(manifest: Mapping[str, Any], errors: Errors) -> None:
    """Validate a CronJob."""
    name, spec = manifest["metadata"].get("name") or "", manifest.get("spec") or {}
    schedule = spec.get("schedule") or ""
    if not errors.required("spec.schedule", when=not schedule):
        errors += _schedule(schedule)
    not_negative("startingDeadlineSeconds")(spec, "spec", errors)
    errors += _zone(spec.get("timeZone"))
    one("concurrencyPolicy", "Allow", "Forbid", "Replace")(spec, "spec", errors)
    job, where = (spec.get("jobTemplate") or {}).get("spec") or {}, "spec.jobTemplate.spec"
    job_spec(job, where, errors)
    if job.get("selector") is not None:
        errors.invalid(f"{where}.selector", selector_json(job["selector"]), "`selector` will be auto-generated")
    errors.not_supported(f"{where}.manualSelector", True, ("nil", "false"), when=job.get("manualSelector"))
    not_negative("successfulJobsHistoryLimit", "failedJobsHistoryLimit")(spec, "spec", errors)
    if len(name) > _LONGEST_NAME and not manifest["metadata"].get("uid"):
        errors.invalid("metadata.name", name, f"must be no more than {_LONGEST_NAME} characters")


def _schedule(schedule: str) -> list[FieldError]:
    errors = Errors()
    try:
        parse_schedule(schedule)
    except BadSchedule as problem:
        errors.invalid("spec.schedule", schedule, str(problem))
    if "TZ" in schedule:
        errors.invalid("spec.schedule", schedule, "cannot use TZ or CRON_TZ in schedule, use timeZone field instead")
    return errors


def _zone(zone: str | None) -> list[FieldError]:
    if zone is None:
        return []
    if not zone:
        detail = "timeZone must be nil or non-empty string"
    elif zone.lower() == "local":
        detail = "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones"
    elif not all(_is_part(part) for part in zone.split("/")) or not is_zone(zone):
        detail = f"unknown time zone {zone}"
    else:
        return []
    return [invalid("spec.timeZone", zone, detail)]


def _is_part(part: str) -> bool:
    return part not in (".", "..") and not part.startswith("-") and bool(_ZONE_PART.match(part))


# Roles and their bindings.
#
# kube: pkg/apis/rbac/validation/validation.go @ v1.34.1

_RBAC = "rbac.authorization.k8s.io"
_ACCOUNT_NAME = validate_name("name", subdomain_errors)


def _role(manifest: Manifest, errors: Errors) -> None:
    for i, rule in enumerate(manifest.get("rules") or ()):
        where = f"rules[{i}]"
        need("verbs", detail="verbs must contain at least one value")(rule, where, errors)
        if not (paths := rule.get("nonResourceURLs")):
            need("apiGroups", detail="resource rules must supply at least one api group")(rule, where, errors)
            need("resources", detail="resource rules must supply at least one resource")(rule, where, errors)
            continue
        if manifest["kind"] == "Role":
            errors.invalid(f"{where}.nonResourceURLs", paths, "namespaced rules cannot apply to non-resource URLs")
        if rule.get("apiGroups") or rule.get("resources") or rule.get("resourceNames"):
            said = "rules cannot apply to both regular resources and non-resource URLs"
            errors.invalid(f"{where}.nonResourceURLs", paths, said)


def _binding(manifest: Manifest, errors: Errors) -> None:
    namespaced, ref = manifest["kind"] == "RoleBinding", {"apiGroup": _RBAC, **(manifest.get("roleRef") or {})}
    kinds = ("Role", "ClusterRole") if namespaced else ("ClusterRole",)
    for field, supported in (("apiGroup", (_RBAC,)), ("kind", kinds)):
        value = ref.get(field, "")
        errors.not_supported(f"roleRef.{field}", value, supported, when=value not in supported)
    validate_name("name", path_segment_errors, needed=True)(ref, "roleRef", errors)
    for i, each in enumerate(manifest.get("subjects") or ()):
        where, kind, group = f"subjects[{i}]", each.get("kind") or "", each.get("apiGroup") or ""
        need("name")(each, where, errors)
        if kind == "ServiceAccount":
            _ACCOUNT_NAME(each, where, errors)
            if not namespaced:
                need("namespace")(each, where, errors)
        elif kind not in ("User", "Group"):
            errors.not_supported(f"{where}.kind", kind, ("ServiceAccount", "User", "Group"))
            continue
        wanted = "" if kind == "ServiceAccount" else _RBAC
        errors.not_supported(f"{where}.apiGroup", group, (wanted,), when=group != wanted)


_PARAMETERS = rules.inner(
    "parameters",
    rules.text("apiGroup", subdomain_errors),
    *(validate_name(field, path_segment_errors, needed=True) for field in ("kind", "name")),
    one("scope", "Cluster", "Namespace", empty=True),
)


def _ingress_class(manifest: Manifest, errors: Errors) -> None:
    controller = (manifest.get("spec") or {}).get("controller") or ""
    if not controller:
        errors.required("spec.controller")
    elif not all(controller.partition("/")[::2]):
        errors.invalid("spec.controller", controller, 'must be a domain-prefixed path (such as "acme.io/foo")')
    _PARAMETERS(manifest.get("spec") or {}, "spec", errors)


# kube: pkg/apis/admissionregistration/validation/validation.go @ v1.34.1, without matchConditions, which nothing evaluates
_HOOK = (
    one("failurePolicy", "Fail", "Ignore", empty=True),
    one("matchPolicy", "Equivalent", "Exact", empty=True),
    need("sideEffects", detail="must specify one of None, NoneOnDryRun"),
    one("sideEffects", "None", "NoneOnDryRun"),
    within("timeoutSeconds", 1, 30, "the timeout value must be between 1 and 30 seconds"),
)


def _webhooks(manifest: Manifest, errors: Errors) -> None:
    for i, hook in enumerate(manifest.get("webhooks") or ()):
        name, path = hook.get("name") or "", f"webhooks[{i}]"
        if not name:
            errors.required(f"{path}.name")
        elif name.count(".") < 2:
            words = "should be a domain with at least three segments separated by dots"
            errors.invalid(f"{path}.name", name, words)
        for j, rule in enumerate(hook.get("rules") or ()):
            rules.obey(WEBHOOK_RULE, rule, f"{path}.rules[{j}]", errors)
        rules.obey(_HOOK, hook, path, errors)
        client, versions = hook.get("clientConfig") or {}, hook.get("admissionReviewVersions") or []
        if (client.get("url") is None) == (client.get("service") is None):
            errors.required(f"{path}.clientConfig", "exactly one of url or service is required")
        if not versions:
            errors.required(f"{path}.admissionReviewVersions", "must specify one of v1, v1beta1")
        elif not {"v1", "v1beta1"} & set(versions):
            errors.invalid(f"{path}.admissionReviewVersions", versions, "must include at least one of v1, v1beta1")


def validate(manifest: Manifest, kind: Kind, new: bool = False) -> list[FieldError]:
    """Return all errors in an object of correct structure, after defaulting; objects about devices need more checks.

    `new`: the object is being created, not imported.
    """
    errors = Errors()
    objects.metadata(manifest, kind, errors)
    errors += objects.owners_and_finalizers(manifest["metadata"], "." in kind.key)
    if kind.key == "Pod":
        annotations = manifest["metadata"].get("annotations") or {}
        errors += pod_annotations(annotations, manifest.get("spec") or {}, "metadata.annotations")
        pod(manifest, errors, new)
    elif (check := _CHECKS.get(kind.key)) is not None:
        check(manifest, errors)
    return errors


def validate_update(
    old: Manifest, new: Manifest, kind: Kind, subresource: str, rules: UpdateRules = OLDEST_RULES
) -> list[FieldError]:
    """Return the errors of a change, except for errors in the new object itself."""
    errors = objects.metadata_update(old, new)
    if kind.key == "Pod":
        errors += _POD_UPDATES[subresource](old, new, rules)
        return errors if subresource != "status" else [*errors, *claim_statuses(new)]
    if subresource == "status":
        return [*errors, *status_update(old, new, kind.key)]
    return [*errors, *object_update(old, new, kind.key, rules)]


_POD_UPDATES = {
    "": pod_update,
    "status": pod_status_update,
    "resize": pod_resize,
    "ephemeralcontainers": pod_ephemeral_containers,
}
_CHECKS: dict[str, Callable[[Manifest, Errors], None]] = {
    "Deployment": workloads.deployment,
    "ReplicaSet": workloads.replica_set,
    "DaemonSet": workloads.daemon_set,
    "Job": job,
    "CronJob": cron_job,
    "StatefulSet": workloads.stateful_set,
    "ReplicationController": workloads.replication_controller,
    "LimitRange": limit_range,
    "Node": objects.node,
    "PriorityClass": priority_class,
    "PodGroup": workloads.pod_group,
    "RuntimeClass": runtime_class,
    "PodDisruptionBudget": budget,
    "Lease": lease,
    "PersistentVolume": persistent.volume,
    "PersistentVolumeClaim": persistent.claim,
    "StorageClass": classes.storage_class,
    "CSINode": classes.csi_node,
    "CSIDriver": classes.csi_driver,
    "CSIStorageCapacity": classes.csi_storage_capacity,
    "VolumeAttachment": classes.volume_attachment,
    "Service": service,
    "Ingress": ingress,
    "NetworkPolicy": network_policy,
    "EndpointSlice": endpoint_slice,
    "HorizontalPodAutoscaler": autoscaler,
    "ConfigMap": config_map,
    "Secret": secret,
    "ResourceQuota": resource_quota,
    "IngressClass": _ingress_class,
    "ControllerRevision": _revision,
    "Endpoints": endpoints,
    "PodTemplate": lambda manifest, errors: pod_template(manifest.get("template") or {}, "template", errors),
    "VolumeAttributesClass": classes.volume_attributes_class,
    **dict.fromkeys(("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"), _webhooks),
    "ValidatingAdmissionPolicy": validate_policy,
    "ValidatingAdmissionPolicyBinding": validate_binding,
    **dict.fromkeys(("Role", "ClusterRole"), _role),
    **dict.fromkeys(("RoleBinding", "ClusterRoleBinding"), _binding),
}
