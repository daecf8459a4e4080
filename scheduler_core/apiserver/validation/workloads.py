"""Validation of fields that are specific to a kind of workload.

kube: pkg/apis/apps/validation/validation.go, pkg/apis/core/validation/validation.go @ v1.34.1
"""

import re
from typing import Any

from scheduler_core.apimachinery.objects import LabelSelector, Manifest
from scheduler_core.apimachinery.objects.errors import Errors, build_required_error, invalid, not_supported
from scheduler_core.apimachinery.objects.names import label_errors, subdomain_errors
from scheduler_core.apiserver.kinds import SYSTEM_CLASSES
from scheduler_core.apiserver.validation import checks
from scheduler_core.apiserver.validation.checks import NOT_NEGATIVE
from scheduler_core.apiserver.validation.devices.slices import as_go_writes
from scheduler_core.apiserver.validation.placement import tolerations
from scheduler_core.apiserver.validation.pods.annotations import pod_annotations
from scheduler_core.apiserver.validation.pods.spec import (
    for_ever,
    is_empty,
    match,
    pod_spec,
    pod_template,
    validate_selector_and_template,
)
from scheduler_core.apiserver.validation.rules import inner, not_negative, one
from scheduler_core.apiserver.validation.storage.persistent import claim_spec

# Validation of disruption budgets, priority classes, runtime classes and leases, and of amounts that may be percentages.
# kube: pkg/apis/policy/validation/validation.go, pkg/apis/scheduling/validation/validation.go,
# pkg/apis/node/validation/validation.go, pkg/apis/coordination/validation/validation.go,
# pkg/apis/apps/validation/validation.go (ValidatePositiveIntOrPercent, IsNotMoreThan100Percent) @ v1.34.1

_RESERVED = "priority class names with 'system-' prefix are reserved for system use only. error: "
_percent = re.compile(r"[0-9]+%\Z").match
_PERCENT = (
    "a valid percent string must be a numeric string followed by an ending '%' "
    "(e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')"
)


def int_or_percent(value: Any, where: str, errors: Errors, most: int | None = None) -> None:
    """Validate a nonnegative number or a percentage; `most`: the highest percentage."""
    if isinstance(value, str):
        if not _percent(value):
            errors.invalid(where, value, _PERCENT)
        elif most is not None and int(value[:-1]) > most:
            errors.invalid(where, value, f"must not be greater than {most}%")
    elif value is not None and value < 0:
        errors.invalid(where, value, NOT_NEGATIVE)


def budget(manifest: Manifest, errors: Errors) -> None:
    spec = manifest.get("spec") or {}
    checks.label_selector(spec.get("selector"), "spec.selector", errors)
    if spec.get("minAvailable") is not None and spec.get("maxUnavailable") is not None:
        errors.invalid("spec", dict(spec), "minAvailable and maxUnavailable cannot be both set")
    for field in ("minAvailable", "maxUnavailable"):
        int_or_percent(spec.get(field), f"spec.{field}", errors, 100)
    one("unhealthyPodEvictionPolicy", "AlwaysAllow", "IfHealthyBudget", empty=True)(spec, "spec", errors)


def pod_group(manifest: Manifest, errors: Errors) -> None:
    """Validate a PodGroup. kube: apis/scheduling/v1beta1/zz_generated.validations.go @ v1.37.2"""
    spec = manifest.get("spec") or {}
    policy = spec.get("schedulingPolicy") or {}
    _one_of(policy, ("basic", "gang"), "spec.schedulingPolicy", errors)
    count = (policy.get("gang") or {}).get("minCount")
    if policy.get("gang") is not None and (not isinstance(count, int) or count < 1):
        path = "spec.schedulingPolicy.gang.minCount"
        wrong = invalid(path, count, "must be greater than or equal to 1")
        errors.append(wrong if count else build_required_error(path, ""))
    if spec.get("disruptionMode") is not None:
        _one_of(spec["disruptionMode"], ("single", "all"), "spec.disruptionMode", errors)
    keys = (spec.get("schedulingConstraints") or {}).get("topology") or ()
    errors.invalid("spec.schedulingConstraints.topology", len(keys), "must have at most 1 item", when=len(keys) > 1)
    name = spec.get("priorityClassName") or ""
    errors.problems("spec.priorityClassName", name, subdomain_errors(name) if name else ())
    if int(spec.get("priority") or 0) > _HIGHEST_PRIORITY:
        errors.invalid("spec.priority", spec["priority"], f"must be less than or equal to {_HIGHEST_PRIORITY}")


_HIGHEST_PRIORITY = 1_000_000_000


def _one_of(union: Manifest, names: tuple[str, ...], path: str, errors: Errors) -> None:
    given = [name for name in names if union.get(name) is not None]
    choices = ", ".join(f"`{name}`" for name in names)
    if not given:
        errors.invalid(path, "", f"must specify one of: {choices}")
    elif len(given) > 1:
        errors.invalid(path, f"{{{', '.join(given)}}}", f"must specify exactly one of: {choices}")


def priority_class(manifest: Manifest, errors: Errors) -> None:
    """Validate a PriorityClass. The prefix system- is reserved for kube's own classes, which must not differ."""
    name, value = str(manifest["metadata"].get("name") or ""), manifest.get("value") or 0
    is_system = name.startswith("system-")
    detail = f"maximum allowed value of a user defined priority is {_HIGHEST_PRIORITY}"
    errors.forbidden("value", detail, when=not is_system and value > _HIGHEST_PRIORITY)
    one("preemptionPolicy", "PreemptLowerPriority", "Never")(manifest, "", errors)
    if not is_system:
        return
    if name not in SYSTEM_CLASSES:
        problem = f"{name} is not a known system priority class"
    elif int(value) != SYSTEM_CLASSES[name]:
        problem = f"value of {name} PriorityClass must be {SYSTEM_CLASSES[name]}"
    elif manifest.get("globalDefault"):
        problem = f"globalDefault of {name} PriorityClass must be false"
    else:
        return
    errors.forbidden("metadata.name", _RESERVED + problem)


def runtime_class(manifest: Manifest, errors: Errors) -> None:
    handler = str(manifest.get("handler") or "")
    errors.problems("handler", handler, label_errors(handler))
    fixed = (manifest.get("overhead") or {}).get("podFixed")
    if fixed:
        checks.resource_requirements({"limits": fixed}, "overhead", errors)
    scheduling = manifest.get("scheduling") or {}
    checks.labels(scheduling.get("nodeSelector"), "scheduling.nodeSelector", errors)
    listed = scheduling.get("tolerations") or ()
    tolerations(listed, "scheduling.tolerations.tolerations", errors)
    seen: list[tuple[Any, ...]] = []
    for i, each in enumerate(listed):
        key = tuple(each.get(name) or "" for name in ("key", "operator", "value", "effect"))
        errors.duplicate(f"scheduling.tolerations[{i}]", dict(each), when=key in seen)
        seen.append(key)


def lease(manifest: Manifest, errors: Errors) -> None:
    spec = manifest.get("spec") or {}
    seconds = spec.get("leaseDurationSeconds")
    errors.invalid(
        "spec.leaseDurationSeconds", seconds, "must be greater than 0", when=seconds is not None and seconds <= 0
    )
    not_negative("leaseTransitions")(spec, "spec", errors)
    if spec.get("preferredHolder") and not spec.get("strategy"):
        errors.forbidden("spec.preferredHolder", "may only be specified if `strategy` is defined")


def deployment(manifest: Manifest, errors: Errors) -> None:
    spec = manifest.get("spec") or {}
    not_negative("replicas")(spec, "spec", errors)
    validate_selector_and_template(spec, errors)
    _deployment_strategy(spec.get("strategy") or {}, errors)
    ready, deadline = spec.get("minReadySeconds") or 0, spec.get("progressDeadlineSeconds")
    not_negative("minReadySeconds", "revisionHistoryLimit", "progressDeadlineSeconds")(spec, "spec", errors)
    if deadline is not None and deadline <= ready:
        errors.invalid("spec.progressDeadlineSeconds", deadline, "must be greater than minReadySeconds")


def _deployment_strategy(strategy: Manifest, errors: Errors) -> None:
    where, type_ = "spec.strategy", strategy.get("type") or "RollingUpdate"
    rolling = strategy.get("rollingUpdate")
    if type_ == "Recreate":
        if rolling is not None:
            errors.forbidden(f"{where}.rollingUpdate", "may not be specified when strategy `type` is 'Recreate'")
        return
    if type_ != "RollingUpdate":
        written = as_go_writes(strategy, "DeploymentStrategy")
        errors.append(not_supported(where, "", ("Recreate", "RollingUpdate")).receiving(written))
        return
    unavailable, surge = (rolling or {}).get("maxUnavailable"), (rolling or {}).get("maxSurge")
    int_or_percent(unavailable, f"{where}.rollingUpdate.maxUnavailable", errors)
    int_or_percent(surge, f"{where}.rollingUpdate.maxSurge", errors)
    if _is_none(unavailable) and _is_none(surge):
        errors.invalid(f"{where}.rollingUpdate.maxUnavailable", unavailable, "may not be 0 when `maxSurge` is 0")
    _not_above_all(unavailable, f"{where}.rollingUpdate.maxUnavailable", errors)


def _is_none(amount: Any) -> bool:
    """Return whether an amount is zero."""
    if isinstance(amount, str):
        digits = amount.removesuffix("%")
        return not (digits.isdigit() and amount.endswith("%") and int(digits))
    return bool(amount == 0)


def _not_above_all(amount: Any, where: str, errors: Errors) -> None:
    digits = amount[:-1] if isinstance(amount, str) and amount.endswith("%") else ""
    errors.invalid(where, amount, "must not be greater than 100%", when=digits.isdigit() and int(digits) > 100)


def replica_set(manifest: Manifest, errors: Errors) -> None:
    spec = manifest.get("spec") or {}
    not_negative("replicas", "minReadySeconds")(spec, "spec", errors)
    validate_selector_and_template(spec, errors)


def replication_controller(manifest: Manifest, errors: Errors) -> None:
    spec = manifest.get("spec") or {}
    selector = spec.get("selector")
    template = spec.get("template") or {}
    labels = (template.get("metadata") or {}).get("labels") or {}
    not_negative("minReadySeconds", "replicas")(spec, "spec", errors)
    if not selector:
        errors.required("spec.selector")
    elif not selector.items() <= labels.items():
        errors.invalid("spec.template.metadata.labels", dict(labels), "`selector` does not match template `labels`")
    for_ever(template, "ReplicationController", errors)
    pod_template(template, "spec.template", errors)


def stateful_set(manifest: Manifest, errors: Errors) -> None:
    spec = manifest.get("spec") or {}
    selector, template = spec.get("selector"), spec.get("template") or {}
    policy = spec.get("podManagementPolicy")
    if policy not in (None, "OrderedReady", "Parallel"):
        errors.invalid("spec.podManagementPolicy", policy, "must be 'OrderedReady' or 'Parallel'")
    _stateful_strategy(spec.get("updateStrategy") or {}, errors)
    for name, value in (spec.get("persistentVolumeClaimRetentionPolicy") or {}).items():
        if value not in ("Retain", "Delete"):
            errors.not_supported(f"spec.persistentVolumeClaimRetentionPolicy.{name}", value, ("Retain", "Delete"))
    for i, claim in enumerate(spec.get("volumeClaimTemplates") or ()):
        claim_spec(claim.get("spec") or {}, f"spec.volumeClaimTemplates[{i}].spec", errors)
    not_negative("replicas", "minReadySeconds", "revisionHistoryLimit")(spec, "spec", errors)
    inner("ordinals", not_negative("start"))(spec, "spec", errors)
    service = spec.get("serviceName")
    errors.problems("spec.serviceName", service, label_errors(service or "x"))
    _set_template(spec, selector, template, errors)
    for_ever(template, "StatefulSet", errors)
    annotations = (template.get("metadata") or {}).get("annotations") or {}
    errors += pod_annotations(annotations, template.get("spec") or {}, "spec.template.annotations")


def _set_template(spec: Manifest, selector: Any, template: Manifest, errors: Errors) -> None:
    """Validate a StatefulSet's template, whose pods have a volume for each claim template, and the selector, which must match it."""
    before = len(errors)
    checks.label_selector(selector, "spec.selector", errors)
    if len(errors) > before:
        errors.invalid("spec.selector", dict(selector), "")
        return
    errors.required("spec.selector", when=selector is None)
    if selector is not None and is_empty(selector):
        errors.invalid("spec.selector", dict(selector), "empty selector is invalid for statefulset")
    pod, labels = template.get("spec") or {}, (template.get("metadata") or {}).get("labels") or {}
    if selector is None or not LabelSelector.of(selector).matches(labels):  # none selects nothing
        errors.invalid("spec.template.metadata.labels", dict(labels), "`selector` does not match template `labels`")
    names = [(claim.get("metadata") or {}).get("name") for claim in spec.get("volumeClaimTemplates") or ()]
    if names:
        own = [volume for volume in pod.get("volumes") or () if volume.get("name") not in names]
        made = [{"name": name, "persistentVolumeClaim": {"claimName": name}} for name in names]
        pod = {**pod, "volumes": [*own, *made]}
    pod_spec(pod, errors, "spec.template.spec")
    checks.labels(labels, "spec.template.metadata.labels", errors)


def _stateful_strategy(strategy: Manifest, errors: Errors) -> None:
    where, type_, rolling = "spec.updateStrategy", strategy.get("type"), strategy.get("rollingUpdate")
    if type_ not in (None, "RollingUpdate", "OnDelete"):
        errors.invalid(where, dict(strategy), "must be 'RollingUpdate' or 'OnDelete'")
    elif type_ == "OnDelete" and rolling is not None:
        errors.invalid(f"{where}.rollingUpdate", dict(rolling), "only allowed for updateStrategy 'RollingUpdate'")
    elif rolling and (rolling.get("partition") or 0) < 0:
        errors.invalid(f"{where}.rollingUpdate.partition", rolling["partition"], NOT_NEGATIVE)


def daemon_set(manifest: Manifest, errors: Errors) -> None:
    spec = manifest.get("spec") or {}
    selector, template, before = spec.get("selector"), spec.get("template") or {}, len(errors)
    checks.label_selector(selector, "spec.selector", errors)
    if len(errors) == before:
        match(selector, template, "spec.template", errors)
    if selector is not None and is_empty(selector):
        errors.invalid("spec.selector", {}, "empty selector is invalid for daemonset")
    pod_template(template, "spec.template", errors)
    for_ever(template, "DaemonSet", errors)
    not_negative("minReadySeconds")(spec, "spec", errors)
    _daemon_strategy(spec.get("updateStrategy") or {}, errors)
    not_negative("revisionHistoryLimit")(spec, "spec", errors)


def _daemon_strategy(strategy: Manifest, errors: Errors) -> None:
    where, type_ = "spec.updateStrategy", strategy.get("type") or "RollingUpdate"
    if type_ not in ("RollingUpdate", "OnDelete"):
        written = as_go_writes(strategy, "DaemonSetUpdateStrategy")
        errors.append(not_supported(where, "", ("RollingUpdate", "OnDelete")).receiving(written))
    if type_ != "RollingUpdate":
        return
    rolling = strategy.get("rollingUpdate") or {}
    amounts = {name: rolling.get(name, default) for name, default in _ROLLING.items()}
    for check in (int_or_percent, _not_above_all):
        for name, amount in amounts.items():
            check(amount, f"{where}.rollingUpdate.{name}", errors)
    none = [name for name, amount in amounts.items() if _is_none(amount)]
    if not none:
        detail = "may not be set when maxUnavailable is non-zero"
        errors.invalid(f"{where}.rollingUpdate.maxSurge", amounts["maxSurge"], detail)
    elif len(none) == 2:
        errors.required(f"{where}.rollingUpdate.maxUnavailable", "cannot be 0 when maxSurge is 0")


_ROLLING = {"maxUnavailable": 1, "maxSurge": 0}
